"""Citation contexts: a row for each linked citation, with exact offsets, neighbors, and negatives of the same field.

Text for pretraining (S2ORC §5): well-formed sentences only, one per line.
"""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus_datasets.contexts import Contexts, ContextsParams
from s2corpus_datasets.job import Job
from s2corpus_datasets.pretraining import Pretraining, PretrainingParams, classify_paragraph
from s2corpus_datasets.protocol import StepResult
from s2corpus_datasets.source import SnapshotPaper
from tests.unit.s2corpus_datasets.conftest import PIECE, citing, papers, rows


def test_citation_context_has_mark_neighbors_and_negatives(made: dict[str, Job]) -> None:
    cites = {row["paper_id"]: set(row["outbound"]) for row in papers()}
    fields = {row["paper_id"]: row["fields_of_study"][0] for row in papers()}
    found = rows(made["contexts"], ".parquet")
    assert len(found) == 60 * 3 * 3
    for row in found:
        assert row["sentence"][row["start"] : row["end"]] == f"[{int(row['ref_id'][-1]) + 1}]"
        assert row["cited_title"] == f"Paper {row['cited_paper_id']}"
        assert len(row["before"]) <= 2 and len(row["after"]) <= 2 and len(row["before"]) + len(row["after"]) >= 2
        assert len(set(row["negatives"])) == 2
        for negative in row["negatives"]:
            assert negative not in cites[row["paper_id"]] | {row["paper_id"]} and fields[negative] == row["cited_field"]


@given(st.lists(st.tuples(PIECE, PIECE, PIECE), min_size=1, max_size=4), st.integers(0, 3))
def test_offsets_of_citations_in_contexts_are_exact(drawn: list[tuple[str, str, str]], window: int) -> None:
    body: list[dict[str, Any]] = []
    for pieces in drawn:
        text = "".join(pieces).strip()
        marks = re.finditer(r"\[1\]|\(Lee, 2010\)", text)
        spans = [{"start": m.start(), "end": m.end(), "text": m[0], "ref_id": "BIBREF0"} for m in marks]
        body.append({"section": "S", "text": text, "cite_spans": spans})
    parse = {"body_text": body, "bib_entries": {"BIBREF0": {"title": "T", "authors": [], "year": None, "link": "c"}}}
    one = SnapshotPaper({"paper_id": "p"}, {}, {"pdf": parse})
    found = list(Contexts().rows(ContextsParams(window=window), one, StepResult()))
    assert len(found) <= sum(len(paragraph["cite_spans"]) for paragraph in body)
    for row in found:
        text, mark = body[row["paragraph"]]["text"], row["sentence"][row["start"] : row["end"]]
        assert mark in ("[1]", "(Lee, 2010)") or re.fullmatch(r"(?:(?:\[1\]|\(Lee, 2010\))[.\s]*)+", mark), mark
        assert len(row["before"]) <= window and len(row["after"]) <= window
        assert re.search(r"\s*".join(map(re.escape, [*row["before"], row["sentence"], *row["after"]])), text)
    marked = {row["paragraph"] for row in found}
    assert marked == {number for number, paragraph in enumerate(body) if paragraph["cite_spans"]}


def test_context_has_exact_offsets_without_formulas() -> None:
    one = citing("We do. EQUATION. It EQUATION is [1] so. It holds.")
    (row,) = Contexts().rows(ContextsParams(window=1), one, StepResult())
    assert (row["before"], row["sentence"], row["after"]) == (["We do."], "It is [1] so.", ["It holds."])
    assert row["sentence"][row["start"] : row["end"]] == "[1]"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Figure 3 (continued)", "too_short"), ("Table S1: Numbers of frogs in ten ponds.", "caption"),
        ("Group A 12.3 14.5 16.7 18.9 21.0 33.1 12.2", "too_many_digits"),
        ("we set x to y and z if a b c d", "too_many_single_characters"),
        (f"The sequence {'ACGT' * 30} was found in it.", "too_long_a_word"), ("No data no data no no no no no no", "repeats_itself"),
    ],
)  # fmt: skip
def test_ill_formed_paragraphs_are_dropped_with_the_reason(text: str, outcome: str) -> None:
    assert classify_paragraph(PretrainingParams(), text) == outcome


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("We saw very many frogs here. EQUATION. (12). They sang.", ["We saw very many frogs here.", "They sang."]),
        ("Ablation Study We start with frogs in ponds.", ["We start with frogs in ponds."]),
    ],
)
def test_lines_are_sentences_without_formulas_and_headings(text: str, lines: list[str]) -> None:
    metadata = {"paper_id": "p", "abstract": None, "mag_field_of_study": None}
    parse: dict[str, Any] = {"body_text": [{"section": "Aims", "text": text, "cite_spans": []}], "bib_entries": {}}
    (row,) = Pretraining().rows(PretrainingParams(), SnapshotPaper(metadata, {}, {"pdf": parse}), StepResult())
    assert row["text"].split("\n") == lines
