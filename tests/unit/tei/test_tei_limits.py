"""Sizes, depths, headings and labels are tested at their limits."""

from __future__ import annotations

import pytest
from lxml import etree

from s2orc_parse import tei
from s2orc_parse.tei.read import NAMES, BadTei
from s2orc_parse.tei.text import TeiTextReader
from tests.unit.tei import teis


def test_cache_of_tag_names_is_bounded_and_correct() -> None:
    assert [NAMES[f"{{urn:n{n}}}tag{n}"] for n in range(5_000)] == [f"tag{n}" for n in range(5_000)]
    assert len(NAMES) == 4_096


@pytest.mark.parametrize(
    "data",
    [
        b"<TEI/>".ljust(12_000_000),
        b"<TEI>" + b"<a/>" * 499_998 + b"</TEI>",
        b"<TEI.2/>",
        b"<?a <!DOCTYPE ?> <!-- <!DOCTYPE TEI> --> <?b?><TEI/>",
        b"<TEI><teiHeader/><text/></TEI>",
    ],
)
def test_tei_at_its_limits_gives_an_empty_parse(data: bytes) -> None:
    parse = tei.convert(data, file_sha1="a" * 40)
    assert (parse.body_text, parse.abstract, parse.bib_entries) == ((), (), ())
    assert parse.provenance.extractor == "unknown"
    found = tei.build_header(parse)
    assert found.pop("authors") == [] and set(found.values()) == {None}


@pytest.mark.parametrize(("depth", "read_whole"), [(149, True), (150, False)])
def test_nesting_depth_is_limited(depth: int, read_whole: bool) -> None:
    container = etree.fromstring("<body>" + "<hi>" * depth + "x" + "</hi>" * depth + "</body>")
    reader = TeiTextReader()
    if read_whole:
        reader.read(container)
        assert [draft.text for draft in reader.drafts] == ["x"]
    else:
        with pytest.raises(BadTei):
            reader.read(container)


@pytest.mark.parametrize(("length", "is_head"), [(500, True), (501, False)])
def test_long_heading_becomes_a_paragraph(length: int, is_head: bool) -> None:
    found = teis.parse(f"<div><head>{'x' * length}</head><p>y</p></div>").body_text
    assert [p.text for p in found] == (["y"] if is_head else ["x" * length, "y"])
    assert found[-1].section == ("x" * length if is_head else "")


@pytest.mark.parametrize(("last", "kept"), [(200, 3), (201, 2)])
def test_long_section_path_loses_outermost_headings(last: int, kept: int) -> None:
    heads = ["a" * 500, "b" * 300, "c" * last]
    body = "".join(f"<div><head>{head}</head>" for head in heads) + "<p>x</p>" + "</div>" * 3
    assert teis.parse(body).body_text[0].section == "::".join(heads[-kept:])


@pytest.mark.parametrize(
    ("label", "num"),
    [("(3)", "3"), ("[A.2]", "A.2"), ("3′", "3′"), ("(a quite long label)", None), ("", None), ("( 12 ) ,", "12")],
)
def test_formula_label_gives_its_number(label: str, num: str | None) -> None:
    (entry,) = teis.parse(f"<p>a</p><formula xml:id='formula_0'>x<label>{label}</label> y</formula>").ref_entries
    assert (entry.num, entry.text) == (num, "x y")


@pytest.mark.parametrize(
    ("ids", "keys"),
    [(("fig_3", "fig_5"), (3, 5)), (("fig_3", "fig_3"), (0, 1)), (("fig_3", "x"), (0, 1)), (("", ""), (0, 1))],
)
def test_figure_keys_are_the_extractors_numbers_if_unique(ids: tuple[str, str], keys: tuple[int, int]) -> None:
    body = "".join(f'<figure xml:id="{one}"><figDesc>One</figDesc></figure>' if one else "<figure/>" for one in ids)
    assert [entry.key for entry in teis.parse(f"<p>x</p>{body}").ref_entries] == [f"FIGREF{n}" for n in keys]
