"""The reference list is complete if the segmentation labels only some of its lines."""

from __future__ import annotations

from pdf2tei import references
from pdf2tei.measures import measure
from pdf2tei.model import Document, Kind
from pdf2tei.segmentation import SegmentLabel
from pdf2tei.text import Joiner
from tests.unit.layout.drawn import HEAD, ROMAN, SMALL, Row, draw

PEOPLE = "Alice Brown, Benjamin Mann, Nick Ryder, Melanie Subbiah, Jared Kaplan, Prafulla Dhariwal"
BODY = [Row("The models that we trained learn from few examples and do not forget them.")] * 30


def entry(year: int, authors: int = 0) -> list[Row]:
    """Return the two rows of an entry, after `authors` rows of names."""
    names = [Row(PEOPLE + ",", left=60) for _ in range(authors)]
    first = Row(f"J. Wu, K. Williams, and C. L. Giles. {year}. Searching", block=True)
    return [first, *names, Row("for papers. Journal of Libraries, 12(3):4–19.", left=60)]


def list_found_entries(document: Document, labelled: list[int]) -> list[str]:
    """Return the entries if only these lines of the document are labeled as references."""
    lines = [line for page in document.pages for line in page.lines]
    labels = {id(line): SegmentLabel.BODY for line in lines} | {id(lines[i]): SegmentLabel.REFERENCE for i in labelled}
    return [e.raw for e in references.take_references(document, labels, measure(lines), Joiner(lines))]


def test_long_author_blocks_do_not_end_list() -> None:
    rows = [
        *BODY,
        Row("References", HEAD, block=True),
        *entry(2001),
        *entry(2002),
        *entry(2003, authors=20),
        *entry(2004),
    ]
    hole = range(36, 57)
    found = list_found_entries(draw(rows), [i for i in range(30, len(rows)) if i not in hole])
    assert [raw for raw in found if "2004" in raw]
    assert sum("Searching" in raw for raw in found) == 4


def test_missed_tail_belongs_to_list() -> None:
    rows = [*BODY, Row("References", HEAD, block=True), *(row for year in range(1990, 2010) for row in entry(year))]
    found = list_found_entries(draw(rows), list(range(30, 45)))
    assert len(found) == 20
    assert "2009" in found[-1]


def test_list_begins_at_its_head() -> None:
    credits = [Row("Writing: Elvina V. Brown, Helen M. Faddy.", block=True) for _ in range(12)]
    rows = [*BODY, *credits, Row("References", HEAD, block=True), *(r for y in range(2000, 2010) for r in entry(y))]
    document = draw(rows)
    found = list_found_entries(document, list(range(30, len(rows))))
    assert len(found) == 10
    assert all(line.kind is Kind.BODY for line in document.pages[0].lines[30:42])


def test_appendix_is_not_part_of_the_reference_list() -> None:
    appendix = [Row("Proofs of the theorems", HEAD, block=True), *BODY]
    rows = [*BODY, Row("References", HEAD, block=True), *(r for y in range(2000, 2010) for r in entry(y)), *appendix]
    document = draw([*rows, *entry(2010), *entry(2011)])
    list_found_entries(document, [*range(30, 51), *range(len(rows), len(rows) + 4)])
    assert all(line.kind is Kind.BODY for line in document.pages[0].lines[51 : len(rows)])


def test_text_in_other_size_ends_list() -> None:
    small = [Row(row.text, SMALL, row.block, row.gap, row.left) for y in range(2000, 2010) for row in entry(y)]
    behind = [Row("The authors of Brown et al. (2001) and J. Wu (2002) agreed, p. 12.", ROMAN)] * 10
    rows = [*BODY, Row("References", HEAD, block=True), *small, *behind]
    document = draw(rows)
    assert len(list_found_entries(document, list(range(30, 51)))) == 10
    assert all(line.kind is Kind.BODY for line in document.pages[0].lines[51:])
