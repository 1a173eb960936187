"""Rules for front matter, figures and tables never remove running text. Tables are found by their rows.

Text that is printed twice counts once.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pdf2tei import abstract, floats, fragments, furniture, grids, guard
from pdf2tei.body import _may_end_paragraph
from pdf2tei.measures import Measures, measure
from pdf2tei.model import Document, Font, Kind, Line, Page
from pdf2tei.text import Joiner
from tests.unit.pdf2tei.samples import HEAD, ROMAN, SMALL, Row, all_lines, draw, draw_line

SENTENCE = "Tulsi is indigenous to the continent and was used there for a very long time, in all villages."
TEXT = [Row(SENTENCE)] * 30
MEASURES = Measures(10.0, "times", 480.0)
LONG = (
    "The strength of this relation differed between the sites, but its direction never did in any of the three forests"
)


def line(text: str, x: float, y: float, font: Font = ROMAN, block: int = 1) -> Line:
    return draw_line((text, font), x=x, y=y, block=block, width=0.42)


def place(lines: list[Line]) -> Document:
    return Document([Page(1, 595.0, 842.0, lines, [])])


PROSE_IN_FRONT = [Row(SENTENCE.replace("Tulsi", "Basil"), SMALL, block=not i) for i in range(6)]
IMPRINT = Row("Copyright 2020 by the authors, who own all parts of it and let the others use it for free", SMALL)
PARAGRAPH = [Row(SENTENCE, block=not i, gap=2.0 if i else 12.0) for i in range(5)]
CELLS = [Row("Site North 12 0.4", block=not i) for i in range(9)]
ADDRESSES = [Row(f"See https://example.org/{i} for what we found there and in all other places") for i in range(90)]


@pytest.mark.parametrize(
    ("rows", "part", "kind", "restore", "restored"),
    [
        pytest.param([*PROSE_IN_FRONT, *TEXT], slice(6), Kind.FRONT, guard.restore_front, 6, id="prose in the front"),
        pytest.param([*[IMPRINT] * 6, *TEXT], slice(6), Kind.FRONT, guard.restore_front, 0, id="an imprint"),
        pytest.param([*TEXT, *PARAGRAPH], slice(30, 35), Kind.TABLE, guard.restore_floats, 5, id="a paragraph"),
        pytest.param([*TEXT, *CELLS], slice(30, 39), Kind.TABLE, guard.restore_floats, 0, id="cells"),
        pytest.param(ADDRESSES, slice(60), Kind.FRONT, guard.restore_floats, 60, id="most of the paper"),
    ],
)  # fmt: skip
def test_running_text_returns_to_body(
    rows: list[Row], part: slice, kind: Kind, restore: Callable[[Document, Measures], int], restored: int
) -> None:
    document = draw(rows)
    lines = all_lines(document)
    for line in lines[part]:
        line.kind = kind
    assert restore(document, measure(lines)) == restored
    assert {line.kind for line in lines[part]} == {Kind.BODY if restored else kind}


def test_abstract_continues_over_larger_subheads() -> None:
    large = Font("times", 11.5, bold=True)
    parts = [
        Row("Abstract", HEAD),
        Row("Background", large, block=True),
        *[Row(SENTENCE, SMALL)] * 3,
        Row("Methodology/Principal findings", large, block=True, gap=14),
        *[Row(SENTENCE.replace("Tulsi", "Mint"), SMALL)] * 3,
        Row("Author summary", HEAD, block=True, gap=14),
        *[Row(SENTENCE.replace("Tulsi", "Thyme"), SMALL)] * 3,
    ]
    lines = all_lines(draw([*parts, *TEXT]))
    found = [line.text for line in abstract.find_abstract(lines, 0.0, measure(lines), "en")]
    assert [text for text in found if "Mint" in text]
    assert "Methodology/Principal findings" in found
    assert not [text for text in found if "Thyme" in text]


def test_table_wider_than_its_caption_is_complete() -> None:
    rows = [["Age", "LAR", "APER", "p"], ["<30", "170 (64.9)", "92 (35.1)", "0.04"], ["30–40", "66", "69", "0.1"]]
    cells = [
        line(text, x, 120 + 12 * i, SMALL, 2 + i)
        for i, texts in enumerate(rows)
        for text, x in zip(texts, (50, 200, 330, 460), strict=True)
    ]
    body = [line(LONG, 50, 220 + 12 * i, block=9) for i in range(4)]
    document = place([line("Table 1 Patients", 50, 100, SMALL), *cells, *body])
    [table] = floats.take_floats(document, MEASURES, Joiner(all_lines(document)))
    assert table.rows == rows
    assert [x.kind for x in body] == [Kind.BODY] * 4


def test_two_columns_of_text_are_not_a_table() -> None:
    lines = [line(LONG[:60], x, 100 + 12 * i, block=block) for block, x in ((1, 50), (2, 310)) for i in range(6)]
    assert grids.find_tables(place(lines).pages[0], {1, 2}, MEASURES) == []


def test_sentence_about_a_table_is_not_a_caption() -> None:
    lines = [
        line(LONG + " as given in", 50, 100),
        line("Table 2. The null hypothesis was rejected for every microorganism.", 50, 112),
        line("Table 2. Zones of inhibition", 50, 300, SMALL, 2),
    ]
    floats.take_floats(place(lines), MEASURES, Joiner(lines))
    assert [x.kind for x in lines] == [Kind.BODY, Kind.BODY, Kind.CAPTION]


def test_text_hidden_under_an_image_is_read_once() -> None:
    texts = [f"{LONG} in year {word}" for word in ("one", "two", "three", "four", "five", "six")]
    shown = [line(text, 50, 100 + 14 * i) for i, text in enumerate(texts)]
    hidden = [line(text, 48, 104 + 14 * i, Font("courier", 10.0), 2) for i, text in enumerate(texts[:-1])]
    furniture.mark_furniture(place([*shown, *hidden]))
    assert {x.kind for x in hidden} == {Kind.FURNITURE}
    assert Kind.FURNITURE not in {x.kind for x in shown[1:]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as was shown (Xiong et al.,", False),
        ("for ranking (e.g.", False),
        ("in Fig.", False),
        ("of the litter.", True),
        ("of the litter [12].", True),
        ("as follows:", True),
    ],
)
def test_paragraph_does_not_end_inside_a_citation(text: str, expected: bool) -> None:
    assert _may_end_paragraph([line(text, 50, 100)]) is expected


@pytest.mark.parametrize(("step", "kind"), [(5, Kind.FURNITURE), (1, Kind.BODY)])
def test_every_fifth_line_number_is_furniture(step: int, kind: Kind) -> None:
    """Labels of a list have steps of 1."""
    prose = [draw_line((SENTENCE[:60], ROMAN), x=60, y=100.0 + 12 * i) for i in range(15)]
    numbers = [draw_line((str(20 + step * i), SMALL), x=40, y=100.0 + 60 * i) for i in range(3)]
    page = Page(1, 600.0, 800.0, [*numbers, *prose], [])
    furniture.mark_furniture(Document([page]))
    fragments.join_fragments(page)
    assert [number.kind for number in numbers] == [kind] * 3
    assert (page.lines[-15].text[:3] == "Tul") is (kind is Kind.FURNITURE)


def test_number_of_heading_is_joined_with_its_text() -> None:
    """`3.4.1.` and `Thymus vulgaris.` are two lines of pdfalto."""
    page = Page(1, 600.0, 800.0, [draw_line(("3.4.1.", ROMAN), x=60), draw_line((SENTENCE[:60], ROMAN), x=108)], [])
    fragments.join_fragments(page)
    assert [line.text for line in page.lines] == [f"3.4.1. {SENTENCE[:60].strip()}"]
