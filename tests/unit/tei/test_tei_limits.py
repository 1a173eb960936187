"""Sizes, depths, headings and labels are tested at their limits."""

from __future__ import annotations

import pytest
from lxml import etree

from s2orc_parse import tei
from s2orc_parse.tei.callouts import _Intervals
from s2orc_parse.tei.read import NAMES, BadTei, TeiRefusal, read_tei
from s2orc_parse.tei.sections import _roman_value
from s2orc_parse.tei.text import TeiTextReader
from tests.unit.tei import teis


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<TEI/>".ljust(12_000_000), None),
        (b"<TEI/>".ljust(12_000_001), TeiRefusal.TOO_LARGE),
        (b"<TEI>" + b"<a/>" * 499_998 + b"</TEI>", None),
        (b"<TEI>" + b"<a/>" * 499_999 + b"</TEI>", TeiRefusal.TOO_LARGE),
        (b"<TEI.2/>", None),
        (b"<?a <!DOCTYPE ?> <!-- <!DOCTYPE TEI> --> <?b?><TEI/>", None),
        (b"<TEI><!DOCTYPE TEI></TEI>", TeiRefusal.NOT_WELL_FORMED),
        (b"<?a ", TeiRefusal.NOT_WELL_FORMED),
        (b"<!-- ", TeiRefusal.NOT_WELL_FORMED),
        (b"<!-- a --> <!DOCTYPE TEI><TEI/>", TeiRefusal.DOCTYPE),
    ],
)
def test_sizes_and_depths_are_limited(data: bytes, reason: TeiRefusal | None) -> None:
    if reason is None:
        assert read_tei(data).tag in ("TEI", "TEI.2")
    else:
        with pytest.raises(BadTei) as bad:
            read_tei(data)
        assert bad.value.reason is reason


def test_cache_of_tag_names_is_bounded_and_correct() -> None:
    assert [NAMES[f"{{urn:n{n}}}tag{n}"] for n in range(5_000)] == [f"tag{n}" for n in range(5_000)]
    assert len(NAMES) == 4_096


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


def test_depth_counts_open_elements_only() -> None:
    assert len(teis.parse("<div><p>x</p></div>" * 400).body_text) == 400


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
    ("numeral", "value"),
    [
        ("I", 1),
        ("III", 3),
        ("IV", 4),
        ("VI", 6),
        ("IX", 9),
        ("XIV", 14),
        ("XL", 40),
        ("XC", 90),
        ("CX", 110),
        ("A", 0),
        ("IA", 0),
    ],
)
def test_roman_numerals_have_values(numeral: str, value: int) -> None:
    assert _roman_value(numeral) == value


def test_intervals_know_occupied_characters() -> None:
    taken = _Intervals([(10, 20), (2, 4), (12, 13)])
    held = {at for at in range(25) if taken.overlaps(at, at + 1)}
    assert held == {2, 3, *range(10, 20)}
    assert taken.overlaps(4, 11) and not taken.overlaps(4, 10) and not taken.overlaps(20, 25)
    assert not _Intervals([]).overlaps(0, 9)


def test_figure_keys_are_the_extractors_numbers_if_unique() -> None:
    for ids, keys in ((("fig_3", "fig_5"), (3, 5)), (("fig_3", "fig_3"), (0, 1)), (("fig_3", "x"), (0, 1))):
        body = "".join(f'<figure xml:id="{id_}"><figDesc>One</figDesc></figure>' for id_ in ids)
        assert [entry.key for entry in teis.parse(f"<p>x</p>{body}").ref_entries] == [f"FIGREF{n}" for n in keys]


@pytest.mark.parametrize(
    ("label", "num"),
    [("(3)", "3"), ("[A.2]", "A.2"), ("3′", "3′"), ("(a quite long label)", None), ("", None), ("( 12 ) ,", "12")],
)
def test_formula_label_gives_its_number(label: str, num: str | None) -> None:
    (entry,) = teis.parse(f"<p>a</p><formula xml:id='formula_0'>x<label>{label}</label> y</formula>").ref_entries
    assert (entry.num, entry.text) == (num, "x y")


def test_affiliation_is_printed_text_or_its_parts() -> None:
    author_of = "<author><persName><surname>Lee</surname></persName>{}</author>"
    head = f"<sourceDesc><biblStruct><analytic>{author_of}</analytic></biblStruct></sourceDesc>"
    printed = '<note type="raw_affiliation"><label>1</label> MIT, Boston</note><orgName>No</orgName>'
    parts = "<orgName>Lab</orgName><orgName>MIT</orgName><orgName>MIT</orgName><address><country>US</country></address>"
    for said, expected in ((printed, "MIT, Boston"), (parts, "Lab, MIT, US")):
        filled = head.format(f"<affiliation>{said}</affiliation>")
        (author,) = tei.build_header(teis.parse("<p>x</p>", header=filled))["authors"]
        assert [a["name"] if isinstance(a, dict) else a for a in author["affiliations"]] == [expected]
