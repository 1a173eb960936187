"""Headings and run-in headings are recognized as publishers' LaTeX classes typeset them."""

from __future__ import annotations

import pytest

from pdf2tei.heads import head_length
from pdf2tei.measures import Measures
from pdf2tei.model import Font
from pdf2tei.run_in_heads import split_run_in
from tests.unit.pdf2tei.samples import BOLD, ROMAN, draw_line

MEASURES = Measures(10.0, "times", 250.0)
ITALIC = Font("times-italic", 10.0, italic=True)
BOLD_ITALIC = Font("times-bold-italic", 10.0, bold=True, italic=True)
SLANTED = Font("sfti1000", 10.0)
"""Computer Modern Italic, a font without italic in its name"""
Runs = list[tuple[str, Font]]

NUMBERED: list[tuple[Runs, str | None]] = [
    ([("1.2.", ROMAN), ("Ethics Statement.", BOLD), ("For Studies 2–4 approval was obtained", ROMAN)], "1.2. Ethics Statement."),
    ([("3.1.1.", ROMAN), ("Participants.", SLANTED), ("We recruited twelve adolescents", ROMAN)], "3.1.1. Participants."),
    ([("2) HCP90 data set:", ITALIC), ("The HCP90 data set was acquired at", ROMAN)], "2) HCP90 data set:"),
    ([("3.2. Marrubium vulgare. Marrubium vulgare", ITALIC), ("grows in dry places", ROMAN)], "3.2. Marrubium vulgare."),
    ([("3.2. Marrubium vulgare", ITALIC), ("grows in dry places", ROMAN)], None),
    ([("0.18", ROMAN), ("μm).", SLANTED), ("The column was heated to 60 degrees", ROMAN)], None),
    ([("12.", ROMAN), ("Smith, J.", SLANTED), ("Ecology of the north", ROMAN)], None),
]  # fmt: skip
PHRASES: list[tuple[Runs, str | None]] = [
    ([("DNA damage protective effect.", BOLD), ("The effects of the oil", ROMAN)], "DNA damage protective effect."),
    ([("Sampling.", BOLD), ("We sampled three forests", ROMAN)], "Sampling."),
    ([("Growth of", BOLD), ("Escherichia coli.", BOLD_ITALIC), ("We grew the cells", ROMAN)], "Growth of Escherichia coli."),
    ([("Formal analysis:", BOLD), ("Elvina Brown and Helen Faddy did it", ROMAN)], None),
    ([("DNA damage protective effect", BOLD), ("of the essential oil was high", ROMAN)], None),
    ([("the protective effect.", BOLD), ("The effects of the oil", ROMAN)], None),
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


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        # IEEEtran: subsections in italics, as wide as the column
        ("B. The classical model suggests inhibition per-", ("ception as the origin of disorders", ITALIC), 2),
        ("Many words are printed in italics for the sake of em-", ("phasis inside a paragraph of the text", ROMAN), 0),
    ],
)
def test_hyphenated_heading_is_joined(first: str, second: tuple[str, Font], count: int) -> None:
    last = draw_line(("To understand how the timing of organ initiation could", ROMAN), y=27.0)
    lines = [draw_line((first, ITALIC), width=0.52), draw_line(second, y=12.0), last]
    assert head_length(lines, 0, MEASURES) == count


@pytest.mark.parametrize(
    ("row", "count"),
    [
        ([("Baseline", 110.0), ("Every 12", 50.0)], 0),
        ([("Baseline", 110.0), ("2.1", 50.0)], 1),
        ([("Baseline", 110.0), ("Every 12", 300.0)], 1),
        ([("Yield = 12 plants", 50.0)], 0),
    ],
)
def test_cell_of_table_or_equation_is_no_heading(row: list[tuple[str, float]], count: int) -> None:
    lines = [draw_line((text, BOLD), x=x, block=block) for block, (text, x) in enumerate(row)]
    lines.sort(key=lambda line: line.x0)
    at = next(i for i, line in enumerate(lines) if line.text == row[0][0])
    assert head_length(lines, at, MEASURES) == count


@pytest.mark.parametrize(("following", "count"), [("2. Progression free survival", 0), ("1.1. Survival", 1)])
def test_item_of_numbered_list_is_no_heading(following: str, count: int) -> None:
    lines = [draw_line((text, SLANTED), y=12.0 * i) for i, text in enumerate(("1. Overall survival (OS)", following))]
    assert head_length(lines, 0, MEASURES) == count


@pytest.mark.parametrize(("before", "count"), [("leaves of thyme and of", 0), ("leaves of thyme and sage.", 1)])
def test_emphasized_line_within_sentence_is_no_heading(before: str, count: int) -> None:
    texts = (
        (f"The oil comes from the dried {before}", ROMAN),
        ("Origanum majorana", ITALIC),
        ("and other herbs.", ROMAN),
    )
    assert head_length([draw_line(text, y=11.0 * i) for i, text in enumerate(texts)], 1, MEASURES) == count
