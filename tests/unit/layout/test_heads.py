"""Headings and run-in headings are recognized as publishers' LaTeX classes typeset them."""

from __future__ import annotations

import pytest

from pdf2tei.heads import head_length
from pdf2tei.measures import Measures
from pdf2tei.model import Font, Line, Token
from pdf2tei.run_in_heads import split_run_in

MEASURES = Measures(10.0, "times", 250.0)
UPRIGHT, ITALIC, BOLD, BOLD_ITALIC = (
    Font("times", 10.0),
    Font("times-italic", 10.0, italic=True),
    Font("times-bold", 10.0, bold=True),
    Font("times-bold-italic", 10.0, bold=True, italic=True),
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


NUMBERED = [
    ([("1.2.", UPRIGHT), ("Ethics Statement.", BOLD), ("For Studies 2–4 approval was obtained", UPRIGHT)], "1.2. Ethics Statement."),
    ([("3.1.1.", UPRIGHT), ("Participants.", SLANTED), ("We recruited twelve adolescents", UPRIGHT)], "3.1.1. Participants."),
    ([("2) HCP90 data set:", ITALIC), ("The HCP90 data set was acquired at", UPRIGHT)], "2) HCP90 data set:"),
    ([("2.4. Fatty Acid Profiles.", ITALIC), ("Official", UPRIGHT)], "2.4. Fatty Acid Profiles."),
    ([("3.2. Marrubium vulgare. Marrubium vulgare", ITALIC), ("grows in dry places", UPRIGHT)], "3.2. Marrubium vulgare."),
    ([("3.3. Sideritis scardica. S. scardica", ITALIC), ("grows in dry places", UPRIGHT)], "3.3. Sideritis scardica."),
    ([("3.2. Marrubium vulgare", ITALIC), ("grows in dry places", UPRIGHT)], None),
    ([("0.18", UPRIGHT), ("μm).", SLANTED), ("The column was heated to 60 degrees", UPRIGHT)], None),
    ([("12.", UPRIGHT), ("Smith, J.", SLANTED), ("Ecology of the north", UPRIGHT)], None),
]  # fmt: skip
PHRASES = [
    ([("DNA damage protective effect.", BOLD), ("The effects of the oil", UPRIGHT)], "DNA damage protective effect."),
    ([("Sampling.", BOLD), ("We sampled three forests", UPRIGHT)], "Sampling."),
    ([("Growth of", BOLD), ("Escherichia coli.", BOLD_ITALIC), ("We grew the cells", UPRIGHT)], "Growth of Escherichia coli."),
    ([("Escherichia coli", BOLD_ITALIC), ("in rivers.", BOLD), ("We grew the cells", UPRIGHT)], "Escherichia coli in rivers."),
    ([("Box designs (BBD).", ITALIC), ("In this study, a total of", UPRIGHT)], "Box designs (BBD)."),
    ([("Ibid.", ITALIC), ("The author of the note says", UPRIGHT)], None),
    ([("Growth of", BOLD), ("Escherichia coli", BOLD_ITALIC), ("We grew the cells", UPRIGHT)], None),
    ([("Formal analysis:", BOLD), ("Elvina Brown and Helen Faddy did it", UPRIGHT)], None),
    ([("DNA damage protective effect", BOLD), ("of the essential oil was high", UPRIGHT)], None),
    ([("the protective effect.", BOLD), ("The effects of the oil", UPRIGHT)], None),
    ([("Assumption 3.", BOLD), ("Every list that ends has a last line", UPRIGHT)], None),
]  # fmt: skip


@pytest.mark.parametrize(("runs", "head"), NUMBERED + PHRASES)
def test_paragraph_begins_with_its_heading(runs: list[tuple[str, Font]], head: str | None) -> None:
    found = split_run_in([line(*runs)], 0, begins=True, is_numbered=False)
    assert (found[0][0].text if found else None) == head


@pytest.mark.parametrize(("runs", "head"), PHRASES)
def test_bold_phrase_within_paragraph_or_numbered_paper_is_no_heading(
    runs: list[tuple[str, Font]], head: str | None
) -> None:
    before = line(("The text before goes on here without an end", UPRIGHT), y=-11.0)
    assert split_run_in([before, line(*runs)], 1, begins=False, is_numbered=False) is None
    assert split_run_in([line(*runs)], 0, begins=True, is_numbered=True) is None


def test_heading_of_paragraph_continues_on_next_line() -> None:
    lines = [
        line(("Determination of the minimum inhibitory concentration and bacteri-", BOLD)),
        line(("cidal concentration.", BOLD), ("The MIC was determined by dilution of", UPRIGHT), y=11.0),
    ]
    found = split_run_in(lines, 0, begins=True, is_numbered=False)
    assert found is not None
    assert [x.text for x in found[0]] == [lines[0].text, "cidal concentration."]
    assert found[1].text == "The MIC was determined by dilution of"


def test_hyphenated_heading_is_joined() -> None:
    """IEEEtran: subsections in italics, as wide as the column."""
    lines = [
        line(("B. The classical model suggests inhibition per-", ITALIC), width=5.2),
        line(("ception as the origin of disorders", ITALIC), y=12.0),
        line(("To understand how the timing of organ initiation could", UPRIGHT), y=27.0),
    ]
    assert head_length(lines, 0, MEASURES) == 2


def test_hyphenated_line_of_a_paragraph_is_not_a_heading() -> None:
    lines = [
        line(("Words that are set in italics for the sake of em-", ITALIC), width=5.2),
        line(("phasis stand in a paragraph of the text, which goes on", UPRIGHT), y=12.0),
    ]
    assert head_length(lines, 0, MEASURES) == 0


@pytest.mark.parametrize(
    ("row", "count"),
    [
        ([("Every 12", 50.0), ("Baseline", 110.0)], 0),
        ([("2.1", 50.0), ("Baseline", 110.0)], 1),
        ([("Baseline", 110.0), ("Every 12", 300.0)], 1),
        ([("Yield = 12 plants", 50.0)], 0),
    ],
)
def test_cell_of_table_or_equation_is_no_heading(row: list[tuple[str, float]], count: int) -> None:
    lines = [line((text, BOLD)) for text, _ in row]
    for block, (piece, (_, left)) in enumerate(zip(lines, row, strict=True)):
        piece.block = block
        for token in piece.tokens:
            token.x0, token.x1 = token.x0 + left, token.x1 + left
        piece.__post_init__()
    at = next(i for i, piece in enumerate(lines) if piece.text in ("Baseline", "Yield = 12 plants"))
    assert head_length(lines, at, MEASURES) == count


@pytest.mark.parametrize(("before", "count"), [("leaves of thyme and of", 0), ("leaves of thyme and sage.", 1)])
def test_emphasized_line_within_sentence_is_no_heading(before: str, count: int) -> None:
    lines = [
        line((f"The oil comes from the dried {before}", UPRIGHT)),
        line(("Origanum majorana", ITALIC), y=11.0),
        line(("and other herbs of the family.", UPRIGHT), y=22.0),
    ]
    assert head_length(lines, 1, MEASURES) == count
