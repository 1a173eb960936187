"""Display formulas are not text: no dataset made of body text contains the token `EQUATION`."""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.datasets.contexts import Contexts, ContextsParams
from s2corpus.datasets.protocol import Made
from s2corpus.datasets.source import SnapshotPaper
from s2corpus.datasets.vectors.dataset import Vectors
from s2corpus.datasets.vectors.learning import PAPER, VectorsParams

CITED = "f" * 15


def citing(text: str) -> SnapshotPaper:
    """Return a paper with one paragraph that has a citation at each `[1]`."""
    spans = []
    at = text.find("[1]")
    while at >= 0:
        spans.append({"start": at, "end": at + 3, "text": "[1]", "ref_id": "BIBREF0"})
        at = text.find("[1]", at + 3)
    paragraph = {"section": "Methods", "text": text, "cite_spans": spans, "ref_spans": []}
    parse: dict[str, Any] = {"body_text": [paragraph], "bib_entries": {"BIBREF0": {"link": CITED}}}
    return SnapshotPaper(
        {"paper_id": "a" * 15, "title": "A", "mag_field_of_study": None}, {"licence": None}, {"pdf": parse}
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("We solve EQUATION as shown [1] before.", "We solve as shown [1] before."),
        ("EQUATION EQUATION where x is a state [1].", "where x is a state [1]."),
        ("As shown [1] it follows that EQUATION EQUATION.", "As shown [1] it follows that."),
        ("The EQUATIONS package [1] solves an equation.", "The EQUATIONS package [1] solves an equation."),
    ],
)
def test_context_contains_no_formula_and_exact_offsets(text: str, sentence: str) -> None:
    (row,) = Contexts().rows(ContextsParams(), citing(text), Made())
    assert row["sentence"] == sentence
    assert row["sentence"][row["start"] : row["end"]] == "[1]"


def test_formula_is_no_neighbor_of_a_context() -> None:
    paper = citing("We follow Lee. EQUATION. This was shown [1] before. It holds.")
    (row,) = Contexts().rows(ContextsParams(window=1), paper, Made())
    assert not any("EQUATION" in text for text in (*row["before"], *row["after"]))
    assert row["before"] == ["We follow Lee."] and row["after"] == ["It holds."]


def test_formula_is_no_word_of_the_vectors() -> None:
    rows = list(Vectors().rows(VectorsParams(), citing("The equation EQUATION was shown by Lee [1]."), Made()))
    assert rows[1]["text"].split() == ["the", "equation", "was", "shown", "by", "lee", f"{PAPER}{CITED}"]
