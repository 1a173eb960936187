"""Display formulas are not text: no dataset contains the token `EQUATION` that replaces them in parses."""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.datasets.contexts import Contexts, ContextsParams
from s2corpus.datasets.protocol import StepResult
from s2corpus.datasets.source import SnapshotPaper
from s2corpus.datasets.spec import DATASETS, load_dataset
from s2corpus.datasets.vectors.dataset import Vectors
from s2corpus.datasets.vectors.learning import PAPER, VectorsParams
from tests.unit.s2corpus.datasets.conftest import KNOWN, METADATA

CITED = "f" * 15
CITEWORTHY = "We saw {} frogs in the ponds. They are common in the north. They were shown in the south [1]."


def citing(*texts: str) -> SnapshotPaper:
    """Return a paper with a paragraph for each text that has a citation at each `[1]`."""
    body = []
    for text in texts:
        starts = [at for at in range(len(text)) if text.startswith("[1]", at)]
        spans = [{"start": at, "end": at + 3, "text": "[1]", "ref_id": "BIBREF0"} for at in starts]
        refs = [{"start": 0, "end": 2, "ref_id": "FIGREF0"}]
        body.append({"section": "Methods", "text": text, "cite_spans": spans, "ref_spans": refs})
    parse: dict[str, Any] = {
        "body_text": body, "bib_entries": {"BIBREF0": {"title": "T", "authors": [], "link": CITED}}, "_pdf_hash": "0" * 40,
        "ref_entries": {"FIGREF0": {"type": "figure", "num": "1", "text": "Frogs by EQUATION in ponds."}},
    }  # fmt: skip
    metadata = {**METADATA, "abstract": "We have EQUATION. We saw many frogs."}
    return SnapshotPaper(metadata, KNOWN, {"pdf": parse}, {"pdf": 0})


PARAMS: dict[str, dict[str, Any]] = {
    "citeworth": {"min_citations": 1}, "elsevier": {"min_sentences": 1, "max_removed_share": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", DATASETS)
def test_no_dataset_contains_the_token(name: str) -> None:
    one = load_dataset(name)
    params = one.params.model_validate(PARAMS.get(name, {}))
    texts = CITEWORTHY.format("many"), CITEWORTHY.format("EQUATION"), "Here is EQUATION EQUATION [1].", "EQUATION"
    paper = citing(*texts)
    rows = list(one.rows(params, paper, StepResult()))
    text = " ".join(repr(value) for row in rows for key, value in row.items() if (name, key) != ("figures", "caption"))
    assert rows and "EQUATION" not in text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("We solve EQUATION as shown [1] before.", "We solve as shown [1] before."),
        ("EQUATION EQUATION where x is a state [1].", "where x is a state [1]."),
        ("As shown [1] it follows that EQUATION EQUATION.", "As shown [1] it follows that."),
        ("The EQUATIONS package [1] solves an equation.", "The EQUATIONS package [1] solves an equation."),
    ],
)
def test_context_has_exact_offsets_without_formulas(text: str, sentence: str) -> None:
    (row,) = Contexts().rows(ContextsParams(), citing(text), StepResult())
    assert row["sentence"] == sentence
    assert row["sentence"][row["start"] : row["end"]] == "[1]"


def test_formula_is_not_a_neighbor_of_a_context() -> None:
    paper = citing("We follow Lee. EQUATION. This was shown [1] before. It holds.")
    (row,) = Contexts().rows(ContextsParams(window=1), paper, StepResult())
    assert row["before"] == ["We follow Lee."] and row["after"] == ["It holds."]


def test_formula_is_not_a_word_of_the_vectors() -> None:
    rows = list(Vectors().rows(VectorsParams(), citing("The equation EQUATION was shown by Lee [1]."), StepResult()))
    assert rows[1]["text"].split() == ["the", "equation", "was", "shown", "by", "lee", f"{PAPER}{CITED}"]
