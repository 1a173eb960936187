"""Rules for front matter, figures and tables never remove running text."""

from __future__ import annotations

from pdf2tei import abstract, furniture, guard
from pdf2tei.measures import measure
from pdf2tei.model import Document, Kind, Line
from tests.unit.layout.drawn import BOLD, HEAD, ROMAN, SMALL, Row, draw

SENTENCE = "Tulsi is indigenous to the continent and was used there for a very long time, as many say."
TEXT = [Row(SENTENCE)] * 30
SUBHEAD = 11.5


def kinds(document: Document, text: str) -> set[Kind]:
    return {line.kind for page in document.pages for line in page.lines if text in line.text}


def all_lines(document: Document) -> list[Line]:
    return [line for page in document.pages for line in page.lines]


def test_prose_of_front_returns_to_body() -> None:
    summary = [Row(SENTENCE.replace("Tulsi", "Basil"), SMALL, block=not i) for i in range(6)]
    document = draw([Row("Basil of the World", HEAD), *summary, *TEXT])
    for line in document.pages[0].lines[:7]:
        line.kind = Kind.FRONT
    assert guard.restore_front(document, measure(all_lines(document))) == 6
    assert kinds(document, "Basil is") == {Kind.BODY}
    assert document.pages[0].lines[0].kind is Kind.FRONT


def test_imprint_is_not_moved_to_the_body() -> None:
    imprint = "Copyright 2020 by the authors, who keep all that is theirs and let the others use it for free"
    document = draw([*[Row(imprint, SMALL, block=not i) for i in range(6)], *TEXT])
    for line in document.pages[0].lines[:6]:
        line.kind = Kind.FRONT
    assert guard.restore_front(document, measure(all_lines(document))) == 0


def test_paragraph_labelled_table_returns_to_body() -> None:
    document = draw([*TEXT, *[Row(SENTENCE, block=not i, gap=12.0 if not i else 2.0) for i in range(5)]])
    for line in document.pages[0].lines[30:]:
        line.kind = Kind.TABLE
    assert guard.restore_floats(document, measure(all_lines(document))) == 5


def test_cells_of_a_table_are_not_moved_to_the_body() -> None:
    document = draw([*TEXT, *[Row("Site North 12 0.4", block=not i) for i in range(9)]])
    for line in document.pages[0].lines[30:]:
        line.kind = Kind.TABLE
    assert guard.restore_floats(document, measure(all_lines(document))) == 0


def test_kind_that_takes_most_of_paper_is_wrong() -> None:
    document = draw(
        [Row(f"See https://example.org/{i} for what we found there and in all other places") for i in range(90)]
    )
    for line in document.pages[0].lines[:60]:
        line.kind = Kind.FRONT
    assert guard.restore_floats(document, measure(all_lines(document))) == 60


def test_abstract_continues_over_larger_subheads() -> None:
    large = HEAD.__class__("times", SUBHEAD, bold=True)
    parts = [
        Row("Abstract", HEAD),
        Row("Background", large, block=True),
        *[Row(SENTENCE, SMALL)] * 3,
        Row("Methodology/Principal findings", large, block=True, gap=14),
        *[Row(SENTENCE.replace("Tulsi", "Mint"), SMALL)] * 3,
        Row("Author summary", HEAD, block=True, gap=14),
        *[Row(SENTENCE.replace("Tulsi", "Thyme"), SMALL)] * 3,
    ]
    document = draw([*parts, *TEXT])
    found = [
        line.text for line in abstract.find_abstract(document.pages[0].lines, 0.0, measure(all_lines(document)), "en")
    ]
    assert [text for text in found if "Mint" in text]
    assert "Methodology/Principal findings" in found
    assert not [text for text in found if "Thyme" in text]


def test_abstract_continues_on_next_page() -> None:
    first = [Row("Abstract", HEAD), *[Row(SENTENCE)] * 4, Row("(Continued on next page)", SMALL, block=True)]
    second = [
        Row("(Continued from previous page)", SMALL),
        Row("Methods: " + SENTENCE, block=True),
        Row("The second line of what was measured in the end."),
        Row("Keywords: basil, mint", block=True),
        Row("Background", BOLD, block=True),
        *[Row(SENTENCE, ROMAN, block=not i) for i in range(30)],
    ]
    document = draw(first, second)
    furniture.mark_furniture(document)
    assert kinds(document, "Continued") == {Kind.FURNITURE}
    measures = measure(all_lines(document))
    top = abstract.find_abstract([x for x in document.pages[0].lines if x.kind is Kind.BODY], 0.0, measures, "en")
    after = [x for x in document.pages[1].lines if x.kind is Kind.BODY]
    assert len(abstract.find_continuation(top, after, False, measures, is_continued=True)) == 2
    assert not abstract.find_continuation(top, after, False, measures)
