"""The layout of `text` is title, abstract and blocks, and it can be parsed back (SPEC §10.4, §8.4, §8.5)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus_reader import layout
from s2corpus_reader.layout import Unit, build_blocks, document_text, list_units, to_one_line


@pytest.mark.parametrize(
    ("units", "words", "expected"),
    [
        pytest.param([("A", "one"), ("A", "two words")], 4, [["A", "one", "two words"]], id="a section is one block"),
        pytest.param([("A::B", "one")], 3, [["A"], ["B", "one"]], id="a header without paragraphs is a separate block"),
        pytest.param([("A::B", "1"), ("C::B", "2")], 6, [["A"], ["B", "1"], ["C"], ["B", "2"]], id="equal innermost headers"),
        pytest.param([("A::B", "1"), ("A", "2")], 5, [["A"], ["B", "1"], ["A", "2"]], id="return to an open section"),
        pytest.param([("A", "EQUATION"), ("B", "1")], 4, [["A"], ["B", "1"]], id="paragraph with only formulas"),
        pytest.param([("A", "EQUATION ."), ("A", "1")], 4, [["A", "1"]], id="paragraph with formulas and a full stop"),
        pytest.param([("A", "so EQUATION holds EQUATIONS")], 5, [["A", "so holds EQUATIONS"]], id="a formula counts as a word"),
        pytest.param([("A\u0301", " x\n\ny\u2028z\t"), (None, "  ")], 4, [["Á", "x y z"]], id="NFC, white space single"),
    ],
)  # fmt: skip
def test_units_form_blocks(units: list[tuple[str | None, str | None]], words: int, expected: list[list[str]]) -> None:
    blocks, found = build_blocks(Unit(*unit) for unit in units)
    assert ([block.lines for block in blocks], found) == (expected, words)


def test_formula_in_a_sentence_can_leave_its_placeholder() -> None:
    made, words = build_blocks(
        [Unit("A", "so EQUATION, where"), Unit("A", "EQUATION ."), Unit("B", "1")], keep_formulas=True
    )
    assert ([block.lines for block in made], words) == ([["A", "so EQUATION, where"], ["B", "1"]], 8)


@pytest.mark.parametrize("abstract", ["AIM: To  parse.\nWe did.", "::: AIM: To parse. ::: ::: We did.\n\n"])
def test_each_part_of_a_structured_abstract_is_a_line(abstract: str) -> None:
    assert document_text(" A  title\n", abstract) == "A title\n\nAIM: To parse.\nWe did."


text = st.text(max_size=30)
units = st.lists(st.tuples(st.none() | text, text), max_size=12)


@given(text, text, units)
def test_text_round_trips_to_same_blocks(title: str, abstract: str, given_units: list[tuple[str | None, str]]) -> None:
    made, _ = build_blocks(Unit(*unit) for unit in given_units)
    whole = document_text(title, abstract, [block.text for block in made])
    lines = [block.lines for block in made]
    assert layout.split_document_text(whole) == (to_one_line(title), layout.format_abstract(abstract), lines)
    assert unicodedata.is_normalized("NFC", whole)


@given(units)
def test_only_formulas_are_removed_from_paragraphs(given_units: list[tuple[str | None, str]]) -> None:
    made, _ = build_blocks(Unit(*unit) for unit in given_units)
    found = [word for block in made for paragraph in block.paragraphs for word in paragraph.split()]
    assert found == [word for _, text in given_units for word in to_one_line(text).split()]


def test_section_of_a_unit_is_the_path_of_headers() -> None:
    given = [{"section": "A"}, {"section": "A", "section_path": "B::A"}, {"section": ""}]
    units = list_units({"body_text": [{"text": "x", **one} for one in given], "back_matter": [{"text": "x"}]})
    assert [unit.section for unit in units] == ["A", "B::A", None]


@pytest.mark.parametrize(
    ("text", "citations", "expected"),
    [
        ("As shown [3] (Lyons and Waite, 2011), cells grow [1, 2].", ("[3]", "Lyons and Waite, 2011", "[1, 2]"), "As shown, cells grow."),
        ("[1] as", ("[1]",), " as"),
        ("(as [1])", ("[1]",), "(as)"),
        ("Cells grow [1, 2] and divide.", ("[1, 2]", "1"), "Cells grow and divide."),  # a nested citation
        # Each end of a range has a span, and each work between them has a span on the complete range.
        ("Cells grow [1–4] and divide.", ("1", "1–4", "1–4", "4"), "Cells grow and divide."),
    ],
)  # fmt: skip
def test_dropped_citations_leave_no_brackets(text: str, citations: tuple[str, ...], expected: str) -> None:
    spans = [{"start": text.index(s), "end": text.index(s) + len(s), "text": s, "ref_id": "BIBREF0"} for s in citations]
    for kept in range(len(spans) + 1):
        paragraph = {"section": "", "text": text, "cite_spans": spans[:kept], "unlinked_spans": spans[kept:]}
        assert list_units({"body_text": [paragraph]}) == (Unit(None, text),)
        assert list_units({"body_text": [paragraph]}, drop_citations=True) == (Unit(None, expected),)
