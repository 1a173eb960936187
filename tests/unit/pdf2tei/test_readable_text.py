"""Signs, compounds, formulas and paragraphs of running text are written as the paper prints them.

Texts and distances are from the papers.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from lxml import etree

from pdf2tei.body.callouts import Linker, Style
from pdf2tei.body.sections import BodyParagraph, Formula, Section, read_sections
from pdf2tei.pages.fragments import join_fragments
from pdf2tei.pages.measures import measure
from pdf2tei.pages.model import Document, Font, Line, Page, Token
from pdf2tei.pages.text import Joiner, Text
from pdf2tei.tei import _write_section
from tests.unit.pdf2tei.samples import LAST, PROSE, ROMAN, TITLE, Row, draw, draw_line, join_body, list_texts, read

RAISED = Font("times", 7.0, raised=True)
ENGLISH = "The prevalence of the disease was measured in all of these patients before the treatment was started."


def set_tokens(*tokens: tuple[str, Font, float]) -> Line:
    """Return tokens with their gap to the token before; pdfalto writes a space before each."""
    x, made = 50.0, list[Token]()
    for text, font, gap in tokens:
        x += gap
        end = x + 0.5 * font.size * len(text)
        made.append(Token(text, x, 100.0, end, 100.0 + font.size, font, bool(made)))
        x = end
    return Line(made, 1, 1)


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        # Nanomaterials 2020, 10(3), 583
        ([("mAh", ROMAN, 0), ("g", ROMAN, 2.5), ("−1", RAISED, 0.0), (",", ROMAN, 0.5), ("and", ROMAN, 2.5)], "mAh g−1, and"),
        ([("volume", ROMAN, 0), ("(1.13", ROMAN, 2.5), ("cm", ROMAN, 2.5), ("3", RAISED, 0.0), ("g", ROMAN, 3.1)], "volume (1.13 cm3 g"),
        ([("5", ROMAN, 0), ("◦", RAISED, 0.1), ("C", ROMAN, 0.1), ("min", ROMAN, 2.5)], "5◦C min"),
        ([("by", ROMAN, 0), ("13", RAISED, 2.5), ("C", ROMAN, 0.0), ("NMR", ROMAN, 2.5)], "by 13C NMR"),
        ([("10", ROMAN, 0), ("th", RAISED, 0.0), ("and", ROMAN, 2.5)], "10th and"),
        # A citation, ten to the eighth and the mark of a note remain separate.
        ([("pain", ROMAN, 0), ("12", RAISED, 0.0), (",", ROMAN, 0.1), ("and", ROMAN, 2.5)], "pain 12, and"),
        ([("10", ROMAN, 0), ("8", RAISED, 0.0), ("UFC/mL.", ROMAN, 2.2)], "10 8 UFC/mL."),
        ([("1", RAISED, 0), ("You", ROMAN, 0.0), ("can", ROMAN, 2.5)], "1 You can"),
    ],
)  # fmt: skip
def test_raised_signs_belong_to_their_word(tokens: Sequence[tuple[str, Font, float]], text: str) -> None:
    line = set_tokens(*tokens)
    assert Joiner([line]).text([line]).text == text


@pytest.mark.parametrize(
    ("letter", "word", "text"),
    [("M", "OBILE", "MOBILE"), ("P", "rimary", "Primary"), ("A", "RTIFICIAL", "ARTIFICIAL"), ("A", "NEW", "A NEW")],
)
def test_drop_capital_begins_its_word(letter: str, word: str, text: str) -> None:
    large = Font("times", 25.0)
    line = set_tokens((letter, large, 0), (word, ROMAN, 3.0), ("robots", ROMAN, 2.5))
    assert Joiner([line, draw_line(("Artificial robots are new.", ROMAN))]).text([line]).text == f"{text} robots"


@pytest.mark.parametrize(
    ("language", "lines", "text"),
    [
        # PMC7870244, PMC5964621, PMC5426739
        (ENGLISH, ["of non-", "communicable diseases"], "of non-communicable diseases"),
        (ENGLISH, ["a time-", "consuming method"], "a time-consuming method"),
        (ENGLISH, ["the highly-", "unsaturated acids"], "the highly-unsaturated acids"),
        (ENGLISH, ["of inflam-", "mation and trans-", "formation"], "of inflammation and transformation"),
        # The paper's own spelling has priority.
        (f"{ENGLISH} noncommunicable", ["of non-", "communicable diseases"], "of noncommunicable diseases"),
        # An English word list says nothing about French.
        ("Les résultats montrent que la concentration était supérieure dans tous les cas de cette étude.",
         ["le contre-", "sens", ], "le contresens"),
    ],
)  # fmt: skip
def test_compound_at_line_end_keeps_its_hyphen(language: str, lines: list[str], text: str) -> None:
    made = [draw_line((x, ROMAN), y=12.0 * i) for i, x in enumerate(lines)]
    assert Joiner([*made, draw_line((language, ROMAN), y=100.0)]).text(made).text == text


@pytest.mark.parametrize(
    "lines, text",
    [
        (["(https://www.un.", "org/en/)"], "(https://www.un.org/en/)"),
        (["at https://", "doi.org/10.3989/arbor.2021"], "at https://doi.org/10.3989/arbor.2021"),
        (["doi:10.17605/OSF.IO/", "9ZW34)."], "doi:10.17605/OSF.IO/9ZW34)."),
        (["http://tree.bio.ed.ac.uk/", "software/)."], "http://tree.bio.ed.ac.uk/software/)."),
        (["https://www.uzis.cz/category/", "tematicke-rady/", "zdravotnicka-statistika/novotvary."],
         "https://www.uzis.cz/category/tematicke-rady/zdravotnicka-statistika/novotvary."),
        (["www.youtube.com/watch", "?v=YzD7Z2yRL7Y"], "www.youtube.com/watch?v=YzD7Z2yRL7Y"),
        (["https://a.org/the-trans-", "formation-2"], "https://a.org/the-trans-formation-2"),
        # A complete URL ends before the next sentence, word or work.
        (["http://www.un.org/.", "FAO"], "http://www.un.org/. FAO"),
        (["doi.org/10.1002/pa.333.", "Carvalho, J."], "doi.org/10.1002/pa.333. Carvalho, J."),
        (["https://creativecommons.org/licenses/by/4.0/", "The authors"], "https://creativecommons.org/licenses/by/4.0/ The authors"),
        (["www.ibm.com/blogs/", "(accessed 2020)"], "www.ibm.com/blogs/ (accessed 2020)"),
        (["the ratio and/", "or 3.5 mg"], "the ratio and/ or 3.5 mg"),
    ],
)  # fmt: skip
def test_url_that_was_broken_at_a_sign_is_whole(lines: list[str], text: str) -> None:
    made = [draw_line((x, ROMAN), y=12.0 * i) for i, x in enumerate(lines)]
    assert Joiner(made).text(made).text == text


LINES = [
    Row(f"{ENGLISH} Then they were treated as before, until the end of the study in {n}.") for n in range(2000, 2012)
]
MATH = Font("rmtmi", 10.0, mathematical=True)


def read_items(*rows: Row, after: str) -> list[BodyParagraph]:
    """Return the paragraphs of a page with lines between prose."""
    document = draw([*LINES, *rows, Row(after, gap=8.0), *LINES])
    lines = [line for page in document.pages for line in page.lines]
    [section] = read_sections(document, measure(lines), Joiner(lines))
    return section.items


def test_paragraph_goes_on_around_a_formula() -> None:
    """Lim et al., Temporal Fusion Transformers, eq. (19): the name of a function is long, and its number is another line."""
    shown = Row("B(t) = InterpretableMultiHead(Θ(t), Θ(t), Θ(t)),", left=90.0, gap=8.0, block=True)
    items = read_items(
        Row("Self-attention is applied at each forecast time:", gap=2.0), shown, Row("(19)", left=420.0, gap=-10.0, block=True),
        after="where the matrix of all inputs is given in the section before this one and the heads are chosen.",
    )  # fmt: skip
    with_formula = [item for item in items if item.formulas]
    assert [[formula for _, formula in item.formulas] for item in with_formula] == [[Formula(shown.text, "(19)")]]
    [(at, _)] = with_formula[0].formulas
    text = with_formula[0].content.text
    assert (text[:at].endswith("at each forecast time:"), text[at:].startswith(" where the matrix")) == (True, True)


def test_parts_of_a_formula_are_one_formula() -> None:
    """Limits and fractions are lines of pdfalto: eq. (8) of the same paper."""
    parts = [Row("ξt =", MATH, left=90.0, gap=10.0, block=True), Row("mχ", left=115.0, gap=-18.0, block=True),
             Row("∑", MATH, left=115.0, gap=0.0, block=True), Row("j=1", left=115.0, gap=0.0, block=True)]  # fmt: skip
    items = read_items(
        *parts, after="Thus all of the inputs are weighted by their variable selection weights and combined."
    )
    assert [formula.text for item in items for _, formula in item.formulas] == ["ξt = mχ ∑ j=1"]
    assert sum(len(item.content.text.split()) < 5 for item in items) == 0


@pytest.mark.parametrize("last", ["[161].", "p = 0.03).", "where"])
def test_last_line_of_a_paragraph_is_no_formula(last: str) -> None:
    items = read_items(
        Row("These were found in two types of food, pork lard and sunflower oil"), Row(last), after=ENGLISH
    )
    assert not any(item.formulas for item in items)


def test_formula_is_written_inside_its_paragraph() -> None:
    body = etree.Element("body")
    text = "The rate is given by where k is a constant [2]."
    paragraph = BodyParagraph(Text(text), [(text.index(" where"), Formula("k = ln 2", "(3)"))])
    linker = Linker(Style.BRACKET, [], [], {})
    sections = [Section("", "", [paragraph]), Section("", "", [BodyParagraph(Text(), [(0, Formula("a = b", ""))])])]
    ids = iter(["formula_0", "formula_1"])
    for section in sections:
        _write_section(body, section, linker, ids)
    div, alone = body
    assert ["".join(div[0].itertext()), div[0][0].text, div[0][0].tail] == [
        "The rate is given byk = ln 2(3) where k is a constant [2].", "k = ln 2", " where k is a constant [2].",
    ]  # fmt: skip
    assert [etree.QName(element).localname for element in alone] == ["formula"]


def test_number_of_a_formula_is_not_joined_with_the_next_column() -> None:
    left = [draw_line((ENGLISH[:42], ROMAN), y=100.0 + 12 * i, width=0.5) for i in range(4)]
    end = left[0].x1
    number = draw_line(("(14)", ROMAN), x=end - 20.0, y=160.0)
    right = draw_line((ENGLISH[:42], ROMAN), x=end + 24.0, y=160.0, block=2)
    page = Page(1, 600.0, 800.0, [*left, number, right], [])
    join_fragments(page)
    assert [line.text for line in page.lines][-2:] == ["(14)", right.text]
    assert Document([page]).pages


PARAGRAPHS = [
    [f"{PROSE} Let $g(t)$ be the number of beetles in the litter,", "$ g(t) = sum_(i=1)^n x_i + integral_0^t f(s) dif s $",
     f"where $g(t)$ grows with the time. {PROSE}"],
    [f"We study the beetles of three forests, and the state $X_t^((n))$ of each forest over time. {PROSE}"],
    [PROSE, "$ f(x) = cases(x^2 & \"if\" x > 0\\,, 0 & \"otherwise.\") $", "and the claim follows, because the traits of the beetles are "
     "bounded by the litter that they live in."],
    [f"{PROSE} {PROSE}"],
]  # fmt: skip


def test_double_spaced_mathematical_text_has_its_paragraphs_and_formulas(tmp_path: Path) -> None:
    par = "first-line-indent: 1.5em, justify: true, leading: 1.3em, spacing: 1.3em"
    texts = [" ".join(parts) for parts in PARAGRAPHS]
    head = f'#set page(paper: "a4", margin: 3cm)\n#set text(size: 10pt)\n#set par({par})\n#text(size: 16pt)[{TITLE}]\n\n= Introduction'
    tei = read("\n\n".join([head, *texts]), tmp_path)
    assert len(list_texts(tei, ".//t:body//t:p")) == len(texts)
    formulas = list_texts(tei, ".//t:body//t:formula")
    assert ["𝑔(𝑡) =" in text for text in formulas] == [True, False], "one element for each display formula"
    assert "𝑓(𝑥) =" in formulas[1]


def test_prose_above_a_figure_is_body(tmp_path: Path) -> None:
    """It has another size than the running text. The figure contains one label."""
    above = f"#text(size: 9pt)[{PROSE} {LAST}]\n\n#figure(rect(width: 60%, height: 3cm)[axis label], caption: [The traits of beetles.])"
    pages = f"{PROSE} {PROSE}\n\n{PROSE} {PROSE}\n#pagebreak()\n{above}\n#pagebreak()\n{PROSE} {PROSE}"
    tei = read(
        f'#set page(paper: "a4")\n#set text(size: 10pt)\n#text(size: 16pt)[{TITLE}]\n\n= Introduction\n{pages}',
        tmp_path,
    )
    assert join_body(tei).count(LAST) == 1
    assert "axis label" not in join_body(tei)
