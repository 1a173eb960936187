"""The layout of `text` is title, abstract and blocks, and it can be parsed back."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text.layout import (
    Unit,
    build_blocks,
    document_text,
    format_abstract,
    list_units,
    split_document_text,
    to_one_line,
)


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        pytest.param([("A", "one"), ("A", "two")], [["A", "one", "two"]], id="a section is one block"),
        pytest.param([("A", "one"), ("B", "two")], [["A", "one"], ["B", "two"]], id="each head opens a block"),
        pytest.param([("A::B", "one")], [["A"], ["B", "one"]], id="a head without paragraphs is a block of its own"),
        pytest.param(
            [("A", "1"), ("A::B", "2"), ("A::C", "3")], [["A", "1"], ["B", "2"], ["C", "3"]], id="subsections"
        ),
        pytest.param(
            [("A::B", "1"), ("C::B", "2")], [["A"], ["B", "1"], ["C"], ["B", "2"]], id="equal innermost heads"
        ),
        pytest.param([("A::B", "1"), ("A", "2")], [["A"], ["B", "1"], ["A", "2"]], id="back to a head already open"),
        pytest.param([(None, "1"), (None, "2")], [["1", "2"]], id="no header: paragraphs only"),
        pytest.param([("A", "1"), (None, "2")], [["A", "1"], ["2"]], id="after a section, none"),
        pytest.param([("", "1"), (" :: ", "2")], [["1", "2"]], id="blank heads are none"),
        pytest.param([("A", None), ("B", "1")], [["A"], ["B", "1"]], id="a head given without paragraph"),
        pytest.param([("A", "EQUATION"), ("B", "1")], [["A"], ["B", "1"]], id="a paragraph of formulas is none"),
        pytest.param([("A", "EQUATION ."), ("A", "1")], [["A", "1"]], id="nor is one with a full stop left"),
        pytest.param([("A", "so EQUATION holds")], [["A", "so holds"]], id="a formula goes"),
        pytest.param([("A", "EQUATIONS hold")], [["A", "EQUATIONS hold"]], id="a word that only starts so stays"),
        pytest.param([("A\u0301", " x\n\ny\u2028z\t")], [["Á", "x y z"]], id="NFC, white space single"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_units_form_blocks(units: list[tuple[str | None, str | None]], expected: list[list[str]]) -> None:
    assert [block.lines for block in build_blocks(Unit(*unit) for unit in units)[0]] == expected


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ([("Two words", "three more words")], 5),
        ([("Head", "one"), ("Head", "two")], 3),  # A header counts once.
        ([("A::B", "one")], 3),
        ([("A", "EQUATION"), ("A", "we have EQUATION here")], 6),  # The count includes everything before removal.
        ([(None, "  ")], 0),
        ([], 0),
    ],
)
def test_words_include_headers_before_removal(units: list[tuple[str, str]], words: int) -> None:
    assert build_blocks(Unit(*unit) for unit in units)[1] == words


def test_text_without_body_is_title_and_abstract() -> None:
    assert document_text(" A  title\n", "An  abstract") == "A title\n\nAn abstract"


@pytest.mark.parametrize(
    "abstract", ["AIM: To  parse.\nWe did.", "AIM: To parse. ::: We did.", "::: AIM: To parse. ::: ::: We did.\n\n"]
)
def test_each_part_of_a_structured_abstract_is_a_line(abstract: str) -> None:
    assert document_text("Title", abstract) == "Title\n\nAIM: To parse.\nWe did."


text = st.text(max_size=30)
units = st.lists(st.tuples(st.none() | text, text), max_size=12)


@given(text, text, units)
def test_text_round_trips_to_the_same_blocks_and_lines(
    title: str, abstract: str, given_units: list[tuple[str | None, str]]
) -> None:
    made, _ = build_blocks(Unit(*unit) for unit in given_units)
    whole = document_text(title, abstract, [block.text for block in made])
    assert split_document_text(whole) == (
        to_one_line(title),
        format_abstract(abstract),
        [block.lines for block in made],
    )
    assert unicodedata.is_normalized("NFC", whole)


@given(units)
def test_only_formulas_are_removed_from_paragraphs(given_units: list[tuple[str | None, str]]) -> None:
    made, _ = build_blocks(Unit(*unit) for unit in given_units)
    found = [word for block in made for paragraph in block.paragraphs for word in paragraph.split()]
    expected = [word for _, text in given_units for word in to_one_line(text).split()]
    assert found == expected


CITING = "As shown [3] (Lyons and Waite, 2011), cells grow [1, 2]."
PARAGRAPH = {
    "section": "Intro",
    "text": CITING,
    "cite_spans": [
        {"start": CITING.index(surface), "end": CITING.index(surface) + len(surface), "text": surface, "ref_id": None}
        for surface in ("[3]", "Lyons and Waite, 2011", "[1, 2]")
    ],
}


def test_path_of_headers_is_read_if_present() -> None:
    assert [u.section for u in list_units({"body_text": [{**PARAGRAPH, "section_path": "Methods::Intro"}]})] == [
        "Methods::Intro"
    ]


def test_unlinked_citations_are_dropped_too() -> None:
    paragraph = {**PARAGRAPH, "cite_spans": PARAGRAPH["cite_spans"][:2], "unlinked_spans": PARAGRAPH["cite_spans"][2:]}
    (unit,) = list_units({"body_text": [paragraph]}, drop_citations=True)
    assert to_one_line(unit.text or "") == "As shown, cells grow."


@pytest.mark.parametrize(("drop", "expected"), [(False, CITING), (True, "As shown, cells grow.")], ids=["keep", "drop"])
def test_citations_are_printed_or_dropped_with_brackets(drop: bool, expected: str) -> None:
    parse = {"body_text": [PARAGRAPH]}
    (unit,) = list_units(parse, drop_citations=drop)
    assert (unit.section, to_one_line(unit.text or "")) == ("Intro", expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as [1] so", "as so"),
        ("as [1]b)", "as b)"),
        ("as [1]. B", "as. B"),
        ("as [1]", "as"),
        ("[1] as", " as"),
        ("(as [1])", "(as)"),
        ("as ([1]) so", "as so"),
        ("as [1][1] so", "as so"),
    ],
)
def test_text_around_a_dropped_citation_is_repaired(text: str, expected: str) -> None:
    places = [at for at in range(len(text)) if text.startswith("[1]", at)]
    spans = [{"start": at, "end": at + 3, "text": "[1]", "ref_id": "BIBREF0"} for at in places]
    (unit,) = list_units({"body_text": [{"section": "", "text": text, "cite_spans": spans}]}, drop_citations=True)
    assert unit == Unit(None, expected)


def test_nested_citation_is_dropped_with_the_outer_one() -> None:
    text = "Cells grow [1, 2] and divide."
    spans = [
        {"start": start, "end": end, "text": text[start:end], "ref_id": None} for start, end in ((11, 17), (12, 13))
    ]
    (unit,) = list_units({"body_text": [{"section": "", "text": text, "cite_spans": spans}]}, drop_citations=True)
    assert unit.text == "Cells grow and divide."


def test_range_of_citations_is_dropped_once() -> None:
    """Check a range of citations: its ends have separate spans, and each work between them has a span on the complete range."""
    text = "Cells grow [1–4] and divide."
    spans = [
        {"start": text.index(s), "end": text.index(s) + len(s), "text": s, "ref_id": "BIBREF0"}
        for s in ("1", "1–4", "1–4", "4")
    ]
    (unit,) = list_units({"body_text": [{"section": "", "text": text, "cite_spans": spans}]}, drop_citations=True)
    assert to_one_line(unit.text or "") == "Cells grow and divide."
