"""A bold phrase at the start of a paragraph is its heading; a surname may be a place name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pdf2tei import authors
from pdf2tei.heads import run_in
from pdf2tei.model import Line
from tests.unit.layout.drawn import BOLD, ROMAN, Row, draw


def draw_first_line(bold: str, rest: str) -> Line:
    """Return a paragraph's first line with these first words in bold."""
    line = draw([Row(f"{bold} {rest}")]).pages[0].lines[0]
    for token in line.tokens[: len(bold.split())]:
        token.font = BOLD
    for token in line.tokens[len(bold.split()) :]:
        token.font = ROMAN
    return line


@pytest.mark.parametrize(
    ("bold", "rest", "is_begun", "head"),
    [
        ("DNA damage protective effect.", "The protection effects of the oil", True, "DNA damage protective effect."),
        ("Sampling.", "We sampled three forests over two summers", True, "Sampling."),
        ("Formal analysis:", "Elvina Brown and Helen Faddy did it", True, None),
        ("DNA damage protective effect", "of the essential oil was high", True, None),
        ("DNA damage protective effect.", "The protection effects of the oil", False, None),
        ("the protective effect.", "The protection effects of the oil", True, None),
        ("Assumption 3.", "Every list that ends has a last line", True, None),
    ],
)
def test_bold_phrase_heads_its_paragraph(bold: str, rest: str, is_begun: bool, head: str | None) -> None:
    line = draw_first_line(bold, rest)
    before = line if is_begun else draw([Row("The text before goes on here without an end")]).pages[0].lines[0]
    found = run_in(line, before, is_begun)
    assert (found[0].text if found else None) == head


@pytest.mark.parametrize(
    ("bold", "italic", "head"),
    [
        ("Growth of Escherichia coli.", range(2, 4), "Growth of Escherichia coli."),
        ("Escherichia coli in rivers.", range(2), "Escherichia coli in rivers."),
        ("Growth of Escherichia coli", range(2, 4), None),
    ],
)
def test_bold_run_in_heading_may_contain_italic_words(bold: str, italic: range, head: str | None) -> None:
    line = draw_first_line(bold, "We grew the cells over two summers")
    for i in italic:
        line.tokens[i].font = replace(BOLD, italic=True)
    found = run_in(line, None, True)
    assert (found[0].text if found else None) == head


@pytest.mark.parametrize(
    ("text", "surname"),
    [
        ("Ryo Doi", "Doi"),
        ("Giorgio Israel", "Israel"),
        ("Christopher Poland", "Poland"),
        ("Noor ul Huda", "ul Huda"),
        ("Jean\u2011Luc Picard\u200d", "Picard"),
        ("United Kingdom", None),
        ("Tel Aviv University Israel", None),
    ],
)
def test_name_may_be_word_of_imprint(text: str, surname: str | None) -> None:
    found = authors.parse(text)
    assert (found.surname if found else None) == surname
