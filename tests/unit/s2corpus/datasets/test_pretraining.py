"""Text for pretraining (S2ORC §5): well-formed sentences only, one a line, and a cased vocabulary."""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.datasets.pretraining import Pretraining, PretrainingParams, classify_paragraph
from s2corpus.datasets.protocol import StepResult
from s2corpus.datasets.source import SnapshotPaper


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("We measured the pH of 12 ponds.", "kept"),
        ("Figure 3 (continued)", "too_short"),
        ("Figure 2a shows the growth of frogs in ponds.", "kept"),
        ("Figure 2. The growth of frogs in ponds.", "caption"),
        ("Table S1: Numbers of frogs in ten ponds.", "caption"),
        ("∂ ∑ √ ∫ ≈ ≠ ≤ ≥ x y z = + + + = 1", "too_many_symbols"),
        ("Group A 12.3 14.5 16.7 18.9 21.0 33.1 12.2", "too_many_digits"),
        ("we set x to y and z if a b c d", "too_many_single_characters"),
        (f"The sequence {'ACGT' * 30} was found in it.", "too_long_a_word"),
        ("No data no data no no no no no no", "repeats_itself"),
    ],
)
def test_ill_formed_paragraphs_are_dropped_with_the_reason(text: str, outcome: str) -> None:
    assert classify_paragraph(PretrainingParams(), text) == outcome


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("We saw very many frogs here. EQUATION. (12). They sang.", ["We saw very many frogs here.", "They sang."]),
        ("We solve EQUATION where x is a state. EQUATION The end.", ["We solve where x is a state.", "The end."]),
        ("Ablation Study We start with frogs in ponds.", ["We start with frogs in ponds."]),
        ("Setup: The server draws a key at random.", ["The server draws a key at random."]),
    ],
)
def test_lines_are_sentences_without_formulas_and_headings(text: str, lines: list[str]) -> None:
    metadata = {"paper_id": "p", "abstract": None, "mag_field_of_study": None}
    parse: dict[str, Any] = {"body_text": [{"section": "Aims", "text": text, "cite_spans": []}], "bib_entries": {}}
    (row,) = Pretraining().rows(PretrainingParams(), SnapshotPaper(metadata, {}, {"pdf": parse}), StepResult())
    assert row["text"].split("\n") == lines
