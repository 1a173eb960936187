"""Tables are found by their rows, and captions by their layout. Text that is printed twice counts once."""

from __future__ import annotations

from pdf2tei import floats, furniture, grids
from pdf2tei.body import _may_end_paragraph
from pdf2tei.measures import Measures
from pdf2tei.model import Document, Font, Kind, Line, Page, Token
from pdf2tei.text import Joiner

TEXT = Font("times", 10.0)
SMALL = Font("times", 8.0)
MEASURES = Measures(10.0, "times", 480.0)
PROSE = (
    "The strength of this relation differed between the sites, but its direction never did in any of the three forests"
)


def line(text: str, x: float, y: float, font: Font = TEXT, block: int = 1) -> Line:
    tokens: list[Token] = []
    for word in text.split():
        width = 0.42 * font.size * len(word)
        tokens.append(Token(word, x, y, x + width, y + font.size, font, bool(tokens)))
        x += width + 0.3 * font.size
    return Line(tokens, 1, block)


def page(lines: list[Line]) -> Page:
    return Page(1, 595.0, 842.0, lines, [])


def test_table_wider_than_its_caption_is_complete() -> None:
    caption = [line("Table 1 Patients", 50, 100, SMALL, 1)]
    cells = [
        line(text, x, 120 + 12 * row, SMALL, 2 + row)
        for row, texts in enumerate(
            (("Age", "LAR", "APER", "p"), ("<30", "170 (64.9)", "92 (35.1)", "0.04"), ("30–40", "66", "69", "0.1"))
        )
        for text, x in zip(texts, (50, 200, 330, 460), strict=True)
    ]
    body = [line(PROSE, 50, 220 + 12 * i, TEXT, 9) for i in range(4)]
    document = Document([page([*caption, *cells, *body])])
    [table] = floats.take_floats(document, MEASURES, Joiner(document.pages[0].lines))
    assert table.rows == [
        ["Age", "LAR", "APER", "p"],
        ["<30", "170 (64.9)", "92 (35.1)", "0.04"],
        ["30–40", "66", "69", "0.1"],
    ]
    assert [x.kind for x in body] == [Kind.BODY] * 4


def test_two_columns_of_text_are_not_a_table() -> None:
    lines = [line(PROSE[:60], x, 100 + 12 * i, TEXT, block) for block, x in ((1, 50), (2, 310)) for i in range(6)]
    assert grids.find_tables(page(lines), {1, 2}, MEASURES) == []


def test_sentence_about_a_table_is_not_a_caption() -> None:
    lines = [
        line(PROSE + " as given in", 50, 100),
        line("Table 2. The null hypothesis was rejected for every microorganism.", 50, 112),
        line("Table 2. Zones of inhibition", 50, 300, SMALL, 2),
    ]
    document = Document([page(lines)])
    floats.take_floats(document, MEASURES, Joiner(lines))
    assert [x.kind for x in lines] == [Kind.BODY, Kind.BODY, Kind.CAPTION]


def test_text_hidden_under_an_image_is_read_once() -> None:
    texts = [f"{PROSE} in year {word}" for word in ("one", "two", "three", "four", "five", "six")]
    shown = [line(text, 50, 100 + 14 * i, TEXT, 1) for i, text in enumerate(texts)]
    hidden = [line(text, 48, 104 + 14 * i, Font("courier", 10.0), 2) for i, text in enumerate(texts[:-1])]
    furniture.mark_furniture(Document([page([*shown, *hidden])]))
    assert {x.kind for x in hidden} == {Kind.FURNITURE}
    assert Kind.FURNITURE not in {x.kind for x in shown[1:]}


def test_paragraph_does_not_end_inside_a_citation() -> None:
    for text in (
        "as was shown (Xiong et al.,",
        "as shown by Xiong et al.",
        "for ranking (e.g.",
        "the first (Weihs, 2017; Lo. 2020.",
        "in Fig.",
    ):
        assert not _may_end_paragraph([line(text, 50, 100)])
    for text in ("of the litter.", "of the litter (Xiong et al., 2017).", "of the litter [12].", "as follows:"):
        assert _may_end_paragraph([line(text, 50, 100)])
