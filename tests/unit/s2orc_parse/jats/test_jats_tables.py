"""Spans in XHTML and OASIS (CALS) tables leave every cell in its column."""

from __future__ import annotations

import pytest

from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.jats.articles import cite, parse

CALS = 'xmlns:oasis="http://docs.oasis-open.org/ns/oasis-exchange/table"'


def rows(table: str) -> list[list[str]]:
    found = parse(f'<p>x</p><table-wrap id="t"><label>Table 1</label>{table}</table-wrap>', 3)
    check_laws(found)
    (entry,) = found.ref_entries
    return [list(row) for row in entry.cells or ()]


def oasis(content: str) -> str:
    for name in ("tgroup", "colspec", "spanspec", "thead", "tbody", "tfoot", "row", "entry"):
        content = content.replace(f"<{name}", f"<oasis:{name}").replace(f"</{name}", f"</oasis:{name}")
    return f"<oasis:table {CALS}>{content}</oasis:table>"


COLUMNS = "".join(f'<colspec colname="c{n}" colnum="{n}"/>' for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("group", "cells"),
    [
        ("<thead><row><entry>A</entry><entry>B</entry></row></thead><tbody><row><entry>1</entry><entry><p>2</p></entry></row></tbody>",
         [["A", "B"], ["1", "2"]]),
        (COLUMNS + '<tbody><row><entry namest="c1" nameend="c2">AB</entry><entry>C</entry></row><row><entry>1</entry><entry/>'
         "<entry>3</entry></row></tbody>", [["AB", "", "C"], ["1", "", "3"]]),
        (COLUMNS + '<tbody><row><entry morerows="1">A</entry><entry>B</entry></row><row><entry>2</entry></row></tbody>',
         [["A", "B"], ["", "2"]]),
        (COLUMNS + '<tbody><row><entry colname="c2">B</entry><entry colname="c3">C</entry></row></tbody>', [["", "B", "C"]]),
        (COLUMNS + '<spanspec spanname="s" namest="c2" nameend="c3"/><tbody><row><entry>A</entry><entry spanname="s">BC</entry></row>'
         "</tbody>", [["A", "BC", ""]]),
        ('<colspec colname="x"/><colspec colname="y"/><tbody><row><entry namest="x" nameend="y" morerows="1">XY</entry><entry>Z</entry>'
         "</row><row><entry>z</entry></row></tbody>", [["XY", "", "Z"], ["", "", "z"]]),
    ],
)  # fmt: skip
def test_oasis_table_has_its_cells(group: str, cells: list[list[str]]) -> None:
    assert rows(oasis(f'<tgroup cols="3">{group}</tgroup>')) == cells
    assert rows(f"<alternatives><graphic/>{oasis(f'<tgroup>{group}</tgroup>')}</alternatives>") == cells


def test_citation_in_oasis_cell_is_linked_and_not_in_a_paragraph() -> None:
    body = oasis(f"<tgroup><tbody><row><entry>A</entry><entry>{cite(2)}</entry></row></tbody></tgroup>")
    found = parse(f"<p>Before.</p><table-wrap>{body}</table-wrap>{body}<p>After.</p>", 3)
    assert [paragraph.text for paragraph in found.body_text] == ["Before.", "After."]
    (cell,) = found.ref_entries[0].cell_cites
    assert (cell.row, cell.column, cell.span.text, cell.span.ref_id) == (0, 1, "2", "BIBREF1")


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ("<tr><td rowspan='2'>A</td><td>B</td></tr><tr><td>2</td></tr><tr><td>3</td><td>4</td></tr>",
         [["A", "B"], ["", "2"], ["3", "4"]]),
        ("<tr><td>A</td><td rowspan='2' colspan='2'>B</td><td>C</td></tr><tr><td>1</td><td>2</td></tr>",
         [["A", "B", "", "C"], ["1", "", "", "2"]]),
        ("<thead><tr><th rowspan='3'>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody>",
         [["A", "B"], ["1", "2"]]),
        ("<tr><td>A</td><td rowspan='2'>B</td></tr><tr><td>1</td></tr>", [["A", "B"], ["1", ""]]),
        ("<tr><td rowspan='x' colspan='-1'>A</td><td colspan='0'>B</td></tr>", [["A", "B"]]),
    ],
)  # fmt: skip
def test_cell_over_rows_leaves_empty_cells_below(table: str, cells: list[list[str]]) -> None:
    assert rows(f"<table>{table}</table>") == cells
