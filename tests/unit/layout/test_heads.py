"""Headings and run-in headings are recognized as publishers' LaTeX classes typeset them."""

from __future__ import annotations

import pytest

from pdf2tei.heads import head_length, run_in
from pdf2tei.measures import Measures
from pdf2tei.model import Font, Line, Token

MEASURES = Measures(10.0, "times", 12.0, 250.0)
UPRIGHT, ITALIC, BOLD = (
    Font("times", 10.0),
    Font("times-italic", 10.0, italic=True),
    Font("times-bold", 10.0, bold=True),
)
SLANTED = Font("sfti1000", 10.0)
"""Computer Modern Italic, a font without italic in its name"""


def line(*runs: tuple[str, Font], y: float = 0.0, width: float = 5.0) -> Line:
    """Return words in several fonts as one line; `width` is the width of a character."""
    tokens: list[Token] = []
    x = 0.0
    for text, font in runs:
        for word in text.split():
            tokens.append(Token(word, x, y, x + width * len(word), y + 10, font, bool(tokens)))
            x += width * (len(word) + 1)
    return Line(tokens, 1, 1)


@pytest.mark.parametrize(
    ("runs", "head"),
    [
        ([("1.2.", UPRIGHT), ("Ethics Statement.", BOLD), ("For Studies 2–4 approval was obtained", UPRIGHT)], "1.2. Ethics Statement."),
        ([("3.1.1.", UPRIGHT), ("Participants.", SLANTED), ("We recruited twelve adolescents", UPRIGHT)], "3.1.1. Participants."),
        ([("2) HCP90 data set:", ITALIC), ("The HCP90 data set was acquired at", UPRIGHT)], "2) HCP90 data set:"),
        ([("0.18", UPRIGHT), ("μm).", SLANTED), ("The column was heated to 60 degrees", UPRIGHT)], None),
        ([("12.", UPRIGHT), ("Smith, J.", SLANTED), ("Ecology of the north", UPRIGHT)], None),
    ],
)  # fmt: skip
def test_numbered_run_in_heading(runs: list[tuple[str, Font]], head: str | None) -> None:
    split = run_in(line(*runs), None, begins=True)
    assert (split[0].text if split else None) == head


def test_a_head_breaks_at_a_hyphen() -> None:
    """IEEEtran: subsections in italics, as wide as the column."""
    lines = [
        line(("B. The classical model suggests inhibition per-", ITALIC), width=5.2),
        line(("ception as the origin of disorders", ITALIC), y=12.0),
        line(("To understand how the timing of organ initiation could", UPRIGHT), y=27.0),
    ]
    assert head_length(lines, 0, MEASURES) == 2


def test_hyphenated_line_of_paragraph_is_no_heading() -> None:
    lines = [
        line(("Words that are set in italics for the sake of em-", ITALIC), width=5.2),
        line(("phasis stand in a paragraph of the text, which goes on", UPRIGHT), y=12.0),
    ]
    assert head_length(lines, 0, MEASURES) == 0
