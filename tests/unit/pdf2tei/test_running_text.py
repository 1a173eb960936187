"""Rules for front matter, figures and tables never remove running text, and text that is printed twice counts once.

Headings and run-in headings are recognized as publishers' LaTeX classes typeset them.
"""

import re
from collections.abc import Callable

import pytest

from pdf2tei.body import guard
from pdf2tei.body.heads import head_length
from pdf2tei.body.run_in_heads import split_run_in
from pdf2tei.body.sections import read_sections
from pdf2tei.floats import figures_and_tables as floats
from pdf2tei.front.title import is_cover
from pdf2tei.pages import fragments, furniture
from pdf2tei.pages.measures import Measures, measure
from pdf2tei.pages.model import Document, Font, Kind, Line, Page
from pdf2tei.pages.text import Joiner
from tests.unit.pdf2tei.samples import BOLD, ROMAN, SMALL, Row, all_lines, draw, draw_line

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
    restore(document, measure(lines))
    assert {line.kind for line in lines[part]} == {Kind.BODY if restored else kind}


def test_table_wider_than_its_caption_is_complete() -> None:
    rows = [["Age", "LAR", "APER", "p"], ["<30", "170 (64.9)", "92 (35.1)", "0.04"], ["30–40", "66", "69", "0.1"]]
    cells = [
        line(text, x, 120 + 12 * i, SMALL, 2 + i)
        for i, texts in enumerate(rows)
        for text, x in zip(texts, (50, 200, 330, 460), strict=True)
    ]
    body = [line(LONG, 50, 220 + 12 * i, block=9) for i in range(4)]
    document = place([line("Table 1 Patients", 50, 100, SMALL), *cells, *body])
    [table] = floats.build_floats(floats.take_floats(document, MEASURES), Joiner(all_lines(document)))
    assert table.rows == rows
    assert [x.kind for x in body] == [Kind.BODY] * 4


def test_sentence_about_a_table_is_not_a_caption() -> None:
    lines = [
        line(LONG + " as given in", 50, 100),
        line("Table 2. The null hypothesis was rejected for every microorganism.", 50, 112),
        line("Table 2. Zones of inhibition", 50, 300, SMALL, 2),
    ]
    floats.take_floats(place(lines), MEASURES)
    assert [x.kind for x in lines] == [Kind.BODY, Kind.BODY, Kind.CAPTION]


def test_text_hidden_under_an_image_is_read_once() -> None:
    texts = [f"{LONG} in year {word}" for word in ("one", "two", "three", "four", "five", "six")]
    shown = [line(text, 50, 100 + 14 * i) for i, text in enumerate(texts)]
    hidden = [line(text, 48, 104 + 14 * i, Font("courier", 10.0), 2) for i, text in enumerate(texts[:-1])]
    furniture.mark_furniture(place([*shown, *hidden]))
    assert {x.kind for x in hidden} == {Kind.FURNITURE}
    assert Kind.FURNITURE not in {x.kind for x in shown[1:]}


def test_running_head_in_the_text_area_is_furniture() -> None:
    """IOS Press prints it below the margin. A notice on every page makes no page a cover (IEEE's accepted manuscripts).

    A line on a few pages of a long paper is text: the head of a table, a source that is cited again.
    """
    running = [
        ("This is the author's version which has not been fully edited and", SMALL, 2.0),
        ("S. Ferrada et al. / Similarity Joins and Clustering for SPARQL", ROMAN, 104.0),
    ]
    pages = []
    for number in range(1, 21):
        few = [("Amrit Rai, Māncarit: vv. 182-3, 190", ROMAN, 118.0)] * (number < 5)
        heads = [draw_line((text, font), x=60, y=y) for text, font, y in [*running, *few]]
        prose = [
            draw_line((f"{chr(97 + number)}{chr(97 + i)} {SENTENCE[:60]}", ROMAN), x=60, y=130.0 + 12 * i)
            for i in range(15)
        ]
        pages.append(Page(number, 600.0, 842.0, [*heads, *prose], []))
    furniture.mark_furniture(Document(pages))
    assert [[line.kind for line in page.lines[:3]] for page in pages] == [
        [Kind.FURNITURE, Kind.FURNITURE, Kind.BODY]
    ] * 20
    assert not any(map(is_cover, pages))


def test_rows_of_numbers_are_no_running_head() -> None:
    """The rows of a table that continues over pages differ only in their digits."""
    pages = []
    for number in range(1, 9):
        rows = [f"{number}.12 {row}.34 7.56 8.78 9.91 4.4" for row in range(3)]
        prose = [f"{chr(96 + number)}{chr(97 + row)} {SENTENCE[:60]}" for row in range(15)]
        texts = [prose[0], *rows, *prose[1:]]
        lines = [draw_line((text, ROMAN), x=60, y=92.0 + 12 * at) for at, text in enumerate(texts)]
        pages.append(Page(number, 600.0, 842.0, lines, []))
    furniture.mark_furniture(Document(pages))
    assert {line.kind for page in pages for line in page.lines} == {Kind.BODY}


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


STRETCHED = """. . . Wallom, D. C. H.|(2019).|Parametric sensitivity of vegetation dy-
namics in the triffid model and the associated uncertainty in projected
climate change impacts on western u.s. forests.|Journal of Advances in
Modeling Earth Systems, 11 (8), 2787-2813.|Retrieved from https://
(1995, April).|The Project for Intercomparison of Land Surface Param-
eterization Schemes (PILPS): Phases 2 and 3*. Bulletin of the Ameri-"""


@pytest.mark.parametrize("edge", [500.0, None])
def test_parts_of_a_stretched_line_are_joined(edge: float | None) -> None:
    """The parts of a justified line end at the right edge; cells of a table end anywhere."""
    lines = []
    for row, text in enumerate(STRETCHED.split("\n")):
        *parts, last = text.split("|")
        left = 60.0
        for part in parts:
            lines.append(draw_line((part, ROMAN), x=left, y=12.0 * row, block=row))
            left = lines[-1].x1 + 25
        right = draw_line((last, ROMAN), y=12.0 * row, block=row)
        shift = (edge or left + 40 * row + right.x1) - right.x1
        lines.append(draw_line((last, ROMAN), x=shift, y=12.0 * row, block=row))
    page = Page(1, 600.0, 800.0, lines, [])
    fragments.join_fragments(page)
    assert [line.text for line in page.lines] == re.split(
        r"\n" if edge else r"[\n|]", STRETCHED.replace("|", " " if edge else "|")
    )


def test_number_of_heading_is_joined_with_its_text() -> None:
    """`3.4.1.` and `Thymus vulgaris.` are two lines of pdfalto."""
    page = Page(1, 600.0, 800.0, [draw_line(("3.4.1.", ROMAN), x=60), draw_line((SENTENCE[:60], ROMAN), x=108)], [])
    fragments.join_fragments(page)
    assert [line.text for line in page.lines] == [f"3.4.1. {SENTENCE[:60].strip()}"]


COLUMN = Measures(10.0, "times", 250.0)
ITALIC = Font("times-italic", 10.0, italic=True)
BOLD_ITALIC = Font("times-bold-italic", 10.0, bold=True, italic=True)
SLANTED = Font("sfti1000", 10.0)
"""Computer Modern Italic, a font without italic in its name"""
Runs = list[tuple[str, Font]]

NUMBERED: list[tuple[Runs, str | None]] = [
    ([("1.2.", ROMAN), ("Ethics Statement.", BOLD), ("For Studies 2–4 approval was obtained", ROMAN)], "1.2. Ethics Statement."),
    ([("3.1.1.", ROMAN), ("Participants.", SLANTED), ("We recruited twelve adolescents", ROMAN)], "3.1.1. Participants."),
    ([("3.2. Marrubium vulgare. Marrubium vulgare", ITALIC), ("grows in dry places", ROMAN)], "3.2. Marrubium vulgare."),
    ([("3.2. Marrubium vulgare", ITALIC), ("grows in dry places", ROMAN)], None),
    ([("12.", ROMAN), ("Smith, J.", SLANTED), ("Ecology of the north", ROMAN)], None),
]  # fmt: skip
PHRASES: list[tuple[Runs, str | None]] = [
    ([("DNA damage protective effect.", BOLD), ("The effects of the oil", ROMAN)], "DNA damage protective effect."),
    ([("Growth of", BOLD), ("Escherichia coli.", BOLD_ITALIC), ("We grew the cells", ROMAN)], "Growth of Escherichia coli."),
    ([("Formal analysis:", BOLD), ("Elvina Brown and Helen Faddy did it", ROMAN)], None),
    ([("DNA damage protective effect", BOLD), ("of the essential oil was high", ROMAN)], None),
    ([("Assumption 3.", BOLD), ("Every list that ends has a last line", ROMAN)], None),
]  # fmt: skip


@pytest.mark.parametrize(("runs", "head"), NUMBERED + PHRASES)
def test_paragraph_begins_with_its_heading(runs: Runs, head: str | None) -> None:
    found = split_run_in([draw_line(*runs)], 0, begins=True, is_numbered=False)
    assert (found[0][0].text if found else None) == head


@pytest.mark.parametrize("runs", [runs for runs, head in PHRASES if head])
def test_bold_phrase_within_paragraph_or_numbered_paper_is_no_heading(runs: Runs) -> None:
    before = draw_line(("The text before continues here without an end", ROMAN), y=-11.0)
    assert split_run_in([before, draw_line(*runs)], 1, begins=False, is_numbered=False) is None
    assert split_run_in([draw_line(*runs)], 0, begins=True, is_numbered=True) is None


@pytest.mark.parametrize(("following", "count"), [("2. Progression free survival", 0), ("1.1. Survival", 1)])
def test_item_of_numbered_list_is_no_heading(following: str, count: int) -> None:
    lines = [draw_line((text, SLANTED), y=12.0 * i) for i, text in enumerate(("1. Overall survival (OS)", following))]
    assert head_length(lines, 0, COLUMN) == count


FULL = "Fishes are now ready to the anaerobic fermentation process, in which they were left in the year {}."


def read_heads(*lines: list[tuple[str, Font]], gaps: float = 1.4) -> list[tuple[str, str]]:
    """Return number and head of the sections of a page with these lines, each of runs, between prose."""
    prose = [[(FULL.format(year), ROMAN)] for year in range(1990, 1996)]
    drawn, y = list[Line](), 60.0
    for block, part in enumerate((prose, *([line] for line in lines), prose)):
        y += gaps
        for runs in part:
            drawn.append(draw_line(*runs, x=50.0, y=y, block=block if gaps > 10 else 1))
            y += 11.4
    document = Document([Page(1, 600.0, 842.0, drawn, [])])
    return [(x.number, x.head) for x in read_sections(document, measure(drawn), Joiner(drawn))]


def test_numbered_heading_may_fill_its_line() -> None:
    """PMC5507808: headings in the type of the text between gaps, one of them as long as the lines of the text."""
    first, second = (
        "3.1 Collection of Plant Leaves",
        "3.2 Gas Chromatography–Mass Spectrometry Analysis of the Essential Oil of All the Fresh Leaves",
    )
    after = [(FULL.format(2000), ROMAN)]
    assert read_heads([(first, ROMAN)], after, [(second, ROMAN)], after, gaps=16.0) == [
        ("", ""), ("3.1", first[4:]), ("3.2", second[4:]),
    ]  # fmt: skip


def test_bold_heading_follows_a_short_line() -> None:
    """PMC4391421: run-in headings without an indent or a gap. A bold word within a sentence is no heading."""
    heading = [
        ("Isolation of essential oils.", BOLD),
        ("The oil was obtained by hydrodistillation as in the last edition", ROMAN),
    ]
    end = [("University of Medicine and Pharmacy, Timișoara, Romania.", ROMAN)]
    assert read_heads(end, heading) == [("", ""), ("", "Isolation of essential oils.")]
    for before in ([(FULL.format(2000), ROMAN)], [("University of Medicine and Pharmacy, as", ROMAN)]):
        assert read_heads(before, heading) == [("", "")]
