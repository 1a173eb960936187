"""Convert figures, tables, formulas and footnotes to reference entries with their printed numbers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from s2orc_parse.jats.text import plain, read_flat_draft
from s2orc_parse.parse_model import RefType
from s2orc_parse.tei.drafts import TextDraft
from s2orc_parse.xml import Element

MAX_CELLS = 20_000  # per table
MAX_SPAN = 100  # maximum number of columns that a cell spans
_LABEL = re.compile(
    r"\s*(?:(?:supplementary|extended data|online)\s+)?"
    r"(?:fig(?:ur[ae]s?|s(?![a-z]?\d))?|abb(?:ildung)?|gr[áa]fi[ck][ao]?|imagen|tab(?:le|l|ela|elle|ella|la|leau)?|[cq]uadro|рис(?:унок)?|табл(?:ица)?"
    r"|[图圖図表]|scheme|chart|algorithm|plate|movie|video)(?![^\W\d_](?!\d))\.?\s*(?P<num>.*?)[\s.:|]*",
    re.IGNORECASE | re.DOTALL,
)
_TABLE = re.compile(r"\btable\b", re.IGNORECASE)
_AFTER = re.compile(r"(?P<num>[A-Z]?\d+)\s+(?:fig(?:ure)?|table)[\s.:|]*", re.IGNORECASE)  # S1 Fig.
_GROUPS = {"fig-group": RefType.FIGURE, "table-wrap-group": RefType.TABLE}
_ROWS = ("thead", "tbody", "tfoot", "table", "array", "tgroup")
_CELLS = frozenset(("td", "th", "entry", "entrytbl"))


def find_floats(element: Element) -> Iterator[tuple[RefType, Element]]:
    """Yield the figures and tables of a float: a group before its members; a group without caption or label is skipped."""
    name = element.tag
    if name in _GROUPS:
        if element.find("caption") is not None or element.find("label") is not None:
            yield _GROUPS[name], element
        for child in element:
            if child.tag in ("fig", "table-wrap", "fig-group", "media"):
                yield from find_floats(child)
    elif name == "fig":
        yield RefType.FIGURE, element
    elif name in ("media", "chem-struct-wrap", "supplementary-material") and (
        element.find("label") is not None or element.find("caption") is not None
    ):
        yield RefType.TABLE if _TABLE.search(plain(element.find("label"))) else RefType.FIGURE, element
    elif name in ("table-wrap", "table", "array"):
        yield RefType.TABLE, element


def read_number(element: Element) -> str | None:
    """Return the printed number of a float ("3", "S2", "1—figure supplement 1"), or None."""
    label = plain(element.find("label"))
    match = _LABEL.fullmatch(label) or _AFTER.fullmatch(label)
    num = match["num"].strip() if match else label.strip(" .:")
    return num or None


def read_caption(element: Element, entries: Container[str]) -> TextDraft:
    """Return title, caption and table notes of a float as one text."""
    wanted = ("caption", "table-wrap-foot", "p", "attrib", "statement", "list", "def-list", "disp-quote")
    return read_flat_draft((child for child in element if child.tag in wanted), entries)


def read_rows(element: Element, entries: Container[str]) -> tuple[list[list[str]], list[tuple[int, int, TextDraft]]]:
    """Return the cells of a table by row, and (row, column, draft) of cells with references.

    A cell that spans several columns or rows leaves empty cells in the other positions. Tables are XHTML or OASIS
    (CALS).
    """
    rows: list[list[str]] = []
    referring: list[tuple[int, int, TextDraft]] = []
    tables = [element] if element.tag in ("table", "array") else _find_tables(element)
    total = 0
    covered: dict[int, int] = {}  # column → number of following rows that a cell above covers
    group: Element | None = None
    for row, columns in (found for table in tables for found in _find_rows(table, {})):
        if row.getparent() is not group:  # a cell cannot span beyond its row group
            group, covered = row.getparent(), {}
        cells: list[str] = []
        below = {column: left - 1 for column, left in covered.items() if left > 1}
        for cell in row:
            if cell.tag not in _CELLS:
                continue
            first, width, height = _read_span(cell, columns)
            while len(cells) in covered or len(cells) < first:
                cells.append("")
            if len(cell):
                draft = read_flat_draft([cell], entries)
                text = draft.text
                if draft.marks:
                    referring.append((len(rows), len(cells), draft))
            else:
                text = " ".join((cell.text or "").split())
            if height:
                below.update(dict.fromkeys(range(len(cells), len(cells) + width), height))
            cells.extend([text, *[""] * (width - 1)])
        if covered:
            cells.extend([""] * (max(covered) + 1 - len(cells)))
        covered = below
        if cells:
            rows.append(cells)
            total += len(cells)
        if total > MAX_CELLS:
            break
    return rows, referring


def _read_span(cell: Element, columns: Mapping[str, int]) -> tuple[int, int, int]:
    """Return the named first column of a cell (0 if none), the number of columns, and the number of covered rows below."""
    if cell.tag in ("td", "th"):
        return 0, max(_parse_count(cell.get("colspan"), 1), 1), max(_parse_count(cell.get("rowspan"), 1) - 1, 0)
    name = cell.get("namest") or cell.get("colname") or f"{cell.get('spanname')} start"
    first = columns.get(name, 0)
    last = columns.get(cell.get("nameend") or f"{cell.get('spanname')} end", first)
    return first, min(max(last - first, 0), MAX_SPAN) + 1, _parse_count(cell.get("morerows"), 0)


def _parse_count(text: str | None, default: int) -> int:
    """Return a number of columns or rows from an attribute, limited to the maximum."""
    is_number = text is not None and text.isascii() and text.isdecimal() and len(text) < 4
    return min(int(text or 0), MAX_SPAN + 1) if is_number else default


def _read_columns(group: Element) -> dict[str, int]:
    """Return the column numbers, from 0, by the names in a `tgroup`. A `spanspec` adds `<name> start` and `<name> end`."""
    found: dict[str, int] = {}
    number = 0
    for spec in group.iterchildren("colspec"):
        number = _parse_count(spec.get("colnum"), number + 1)
        if name := spec.get("colname"):
            found.setdefault(name, min(max(number - 1, 0), MAX_SPAN))
    for spec in group.iterchildren("spanspec"):
        start, end = found.get(spec.get("namest") or ""), found.get(spec.get("nameend") or "")
        if start is not None and end is not None:
            found[f"{spec.get('spanname')} start"], found[f"{spec.get('spanname')} end"] = start, end
    return found


def _find_tables(element: Element) -> list[Element]:
    """Return the tables of a `table-wrap`, only the first of alternative forms; none if it contains only a picture."""
    found: list[Element] = []
    for child in element:
        if child.tag in ("table", "array"):
            found.append(child)
        elif child.tag == "alternatives":
            found += _find_tables(child)[:1]
    return found


def _find_rows(table: Element, columns: Mapping[str, int]) -> Iterator[tuple[Element, Mapping[str, int]]]:
    """Yield the rows of a table, each with its named columns."""
    for child in table:
        name = child.tag
        if name in ("tr", "tbody-row", "row"):
            yield child, columns
        elif name in _ROWS:
            yield from _find_rows(
                child, {**columns, **_read_columns(child)} if name in ("tgroup", "thead", "tfoot") else columns
            )
