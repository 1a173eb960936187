"""Texts for models contain the content that a reader finds in the paper, without the sections that cleaning removed."""

from pathlib import Path
from typing import Any

import pytest

from s2corpus.spec import ModelTextRules
from s2corpus.text.model_text import model_text
from s2corpus_reader.layout import TextRules, Unit, build_blocks, document_text, list_sections, list_units
from s2orc_parse import latex, tei

ALL = ModelTextRules(headings="markdown", citations="linked", captions=True, tables="markdown", formulas="latex")
CARD = TextRules("card")


def card(parse: Any, title: str = "A title", abstract: str = "An abstract.", own: TextRules = CARD) -> str:
    return document_text(title, abstract, [block.text for block in list_sections(list_units(parse), own)])


@pytest.fixture(scope="module")
def scifact(shared_data: Path) -> Any:
    return tei.to_s2orc(latex.convert((shared_data / "latex" / "2004.14974.gz").read_bytes(), sha1="0" * 40))


def test_model_text_without_options_is_the_card_text(scifact: Any) -> None:
    assert model_text(card(scifact), scifact, {}, ModelTextRules(), CARD) == card(scifact)


def test_model_text_lacks_sections_removed_by_cleaning(scifact: Any) -> None:
    """Check Table 8 (journals), which only one section of the appendix mentions."""
    found = build_blocks(list_units(scifact))[0]
    key = next(
        key for key, e in scifact["ref_entries"].items() if e["text"].startswith("Number of cited documents by journal")
    )
    mention = {n for n, p in enumerate(scifact["body_text"]) if any(span["ref_id"] == key for span in p["ref_spans"])}
    (gone,) = [block for block in found if mention & set(block.units)]
    kept = [block.text for block in found if block is not gone]
    whole = model_text(card(scifact), scifact, {}, ALL, CARD)
    written = model_text(document_text("T", "A", kept), scifact, {}, ALL, CARD)
    for words in (f"# {gone.header}\n", "Number of cited documents by journal", "| Journal | Count |"):
        assert words in whole and words not in written


def test_text_of_another_paper_is_refused(scifact: Any) -> None:
    with pytest.raises(ValueError, match="does not occur in the parse"):
        model_text(document_text("T", "A", ["A paragraph of another paper."]), scifact, {}, ALL, CARD)


def paragraph(text: str, *spans: tuple[str, str | None], **more: Any) -> Any:
    cites = [{"start": text.index(s), "end": text.index(s) + len(s), "text": s, "ref_id": ref} for s, ref in spans]
    linked, unlinked = [c for c in cites if c["ref_id"]], [c for c in cites if not c["ref_id"]]
    return {"section": "", "text": text, "cite_spans": linked, "unlinked_spans": unlinked, **more}


def write(
    *paragraphs: Any, entries: list[Any] | None = None, rules: ModelTextRules = ALL, own: TextRules = CARD
) -> list[str]:
    """Return the parts of a text after its title and abstract."""
    parse = {"body_text": paragraphs, "ref_entries": {f"REF{n}": entry for n, entry in enumerate(entries or ())}}
    return model_text(card(parse, own=own), parse, {"A": "a", "B": "b"}, rules, own).split("\n\n")[2:]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (paragraph("as shown [1], and so", ("1", "A")), "as shown [@a], and so"),
        (paragraph("see (Bo, 2001; Cy, 2002).", ("Bo, 2001", "A"), ("Cy, 2002", "X")), "see ([@a]; Cy, 2002)."),
        (paragraph("in [1]-[3].", ("[1]-[3]", "A"), ("[1]-[3]", "B")), "in [@a; @b]."),
        (paragraph("in [1]-[3].", ("[1]-[3]", "A"), ("[1]-[3]", "X")), "in [1]-[3] [@a]."),
        (paragraph("in [9], lost", ("[9]", None)), "in [9], lost"),
        (paragraph("as [1 so", ("1", "A")), "as [[@a] so"),
    ],
)
def test_citations_are_written_with_paper_ids(given: Any, expected: str) -> None:
    assert write(given) == [expected]
    assert write(given, rules=ModelTextRules(citations="printed")) == [given["text"]]


def test_formulas_are_written_as_latex() -> None:
    known = {"text": "EQUATION", "latex": "x = 1 % so\n+ 2", "ref_id": "EQREF0"}
    given = [
        paragraph("with EQUATION and EQUATION", eq_spans=[{**known, "start": 5, "end": 13}]),
        paragraph("EQUATION", eq_spans=[{**known, "start": 0, "end": 8}]),
        paragraph("so x is", eq_spans=[{**known, "text": "x", "latex": "x", "start": 3, "end": 4}]),
        paragraph("and EQUATION is", eq_spans=[{**known, "latex": None, "start": 4, "end": 12}]),
    ]
    assert write(*given) == ["with $$x = 1 + 2$$ and", "$$x = 1 + 2$$", "so $x$ is", "and is"]
    assert write(*given, rules=ModelTextRules(headings="markdown")) == ["with and", "so x is", "and is"]
    own = TextRules("card", formulas="placeholder")
    assert write(*given, own=own) == [
        "with $$x = 1 + 2$$ and EQUATION", "$$x = 1 + 2$$", "so $x$ is", "and EQUATION is",
    ]  # fmt: skip
    assert write(*given, rules=ModelTextRules(headings="markdown"), own=own)[1:] == ["so x is", "and EQUATION is"]


def test_headers_have_levels_in_markdown() -> None:
    """The path has the levels, at most six; an empty line follows a header only in Markdown."""
    found, _ = build_blocks([Unit("A", "one"), Unit("A::B::C", "two"), Unit("D", "three"), Unit(None, "four")])
    assert [(block.header, block.level, block.units) for block in found] == [
        ("A", 1, [0]), ("B", 2, []), ("C", 3, [1]), ("D", 1, [2]), (None, 1, [3]),
    ]  # fmt: skip
    given = [paragraph("one", section_path="A::B::C::D::E::F::G"), paragraph("two", section_path="A::B::C::D::E::F::G")]
    heads = ["## A", "### B", "#### C", "##### D", "###### E", "###### F", "###### G"]
    assert write(*given) == [*heads, "one", "two"]
    assert write(*given, rules=ModelTextRules()) == ["A", "B", "C", "D", "E", "F", "G\none\ntwo"]
    assert model_text("T\n\nAn abstract.", None, {}, ALL, CARD) == "# T\n\nAn abstract."


def float_(kind: str, text: str, num: str | None, **more: Any) -> Any:
    return {"type": kind, "text": text, "num": num, "cite_spans": [], **more}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (float_("figure", "Cells grow.", "1"), ["Figure 1: Cells grow."]),
        (float_("figure", "FIGURE 1. Cells grow.", "1"), ["FIGURE 1. Cells grow."]),
        (float_("table", "Tab. 2: Sizes.", "2"), ["Tab. 2: Sizes."]),
        (float_("table", "", "2", cells=[["a", "b"], ["1|2"]]), ["| a | b |\n| --- | --- |\n| 1\\|2 |  |"]),
        (float_("table", "", "1", cells=[["by", "of"], ["Bo", "Bo"]],
                cell_cite_spans=[{"row": 1, "column": 0, "start": 0, "end": 2, "text": "Bo", "ref_id": "A"}]),
         ["| by | of |\n| --- | --- |\n| [@a] | Bo |"]),
        (float_("equation", "x = 1", "1"), []),
    ],
)  # fmt: skip
def test_caption_and_table_follow_the_first_mention_once(entry: Any, expected: list[str]) -> None:
    """They are at the end if no paragraph mentions them."""
    spans = [{"start": 3, "end": 7, "text": "here", "ref_id": "REF0"}]
    mentions = [paragraph("as here", ref_spans=spans, section="A"), paragraph("as here", ref_spans=spans, section="B")]
    assert write(*mentions, entries=[entry]) == ["## A", "as here", *expected, "## B", "as here"]
    assert write(paragraph("text"), entries=[entry]) == ["text", *expected]
    without = write(*mentions, entries=[entry], rules=ModelTextRules(headings="markdown"))
    assert without == ["## A", "as here", "## B", "as here"]


def test_part_of_a_table_is_not_repeated() -> None:
    whole, part, other = [["a"], ["1"], ["2"]], [["a"], ["1"]], [["a"], ["3"]]
    tables = [("2", whole), ("2a", part), ("2(b)", part), ("2c", other), ("3", part), (None, part)]
    found = write(paragraph("text"), entries=[float_("table", "", num, cells=cells) for num, cells in tables])
    assert [table.count("\n") for table in found[1:]] == [3, 2, 2, 2], "2, then 2c, 3 and the one without a number"
