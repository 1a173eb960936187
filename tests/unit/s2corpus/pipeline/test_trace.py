"""docs/operations.md: a trace states the last result of a paper or PDF in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.clustering.explain import Explanation
from s2corpus.pipeline.trace import PaperTrace, PdfTrace

KEPT = [{"set": "s2orc", "outcome": "kept"}]
BOTH_FAILED = [{"set": "s2orc", "outcome": "closed"}, {"set": "s2ag", "outcome": "no_abstract"}]


@pytest.mark.parametrize(
    ("is_voted", "filtered", "documents", "split", "sentence"),
    [
        (False, None, [], None, "clustered; the vote has not run"),
        (True, None, [], None, "voted; the filter has not run"),
        (True, "no_authors", [], None, "excluded by filter: no_authors"),
        (True, "kept", [], None, "kept; clean has not run"),
        (True, "kept", BOTH_FAILED, None, "excluded by clean: s2orc closed; s2ag no_abstract"),
        (True, "kept", KEPT, None, "document of s2orc; not split yet"),
        (True, "kept", KEPT, ("train", "2021"), "document of s2orc: train"),
        (True, "kept", KEPT, ("held_back:late", "2023-01-20"), "held back from s2orc: held_back:late"),
        (True, "kept", KEPT, ("held_back:undated", None), "held back from s2orc: held_back:undated"),
        (True, "kept", KEPT, ("held_back:duplicate", "4ae"), "held back from s2orc: held_back:duplicate of 4ae"),
        (True, "kept", KEPT, ("held_back:near_duplicate", "4ae"), "held back from s2orc: held_back:near_duplicate of 4ae"),
    ],
)  # fmt: skip
def test_paper_trace_states_last_result(
    is_voted: bool, filtered: str | None, documents: list[dict[str, Any]], split: tuple[str, str] | None, sentence: str
) -> None:
    trace = PaperTrace(
        paper_id="1f0", alias_of=None, records=[], explanation=Explanation("1f0", [], [], []),
        paper={"title": "T"} if is_voted else None, pdfs=[], fulltexts=[],
        filtered=None if filtered is None else {"outcome": filtered},
        links=[], cited_by=[], documents=documents,
        splits={"s2orc": {"split": split[0], "reason": split[1]}} if split else {},
    )  # fmt: skip
    assert trace.end == sentence
    assert trace.published == (split is not None and split[0] == "train")


def test_paper_trace_describes_duplicates() -> None:
    trace = PaperTrace("1f0", None, [], Explanation("1f0", [], [], []), None, [], [], None, [], [], [], {})
    first = {"paper_id": "4ae", "set": "s2orc", "split": "train", "duplicate_of": None, "reason": None, "jaccard": None}
    near = {"split": "held_back:near_duplicate", "duplicate_of": "4ae", "reason": "words", "jaccard": 0.875}
    trace.duplicates = [first, {**first, **near, "paper_id": "1f0"}]
    [line] = trace.duplicate_descriptions
    assert line == "1f0 (s2orc, held_back:near_duplicate) duplicates 4ae: words, Jaccard index 0.875"


@pytest.mark.parametrize(
    ("selected", "extracted", "parsed", "sentence"),
    [
        ("landscape", None, [], "excluded by select: landscape"),
        ("selected", None, [], "in progress"),
        ("selected", "timeout", [], "excluded by extract: timeout"),
        ("selected", "ok", ["bad_tei"], "excluded by postprocess: bad_tei"),
        ("selected", "ok", ["ok"], "parsed"),
    ],
)
def test_pdf_trace_states_last_result(selected: str, extracted: str | None, parsed: list[str], sentence: str) -> None:
    extraction = None if extracted is None else {"outcome": extracted}
    trace = PdfTrace("a" * 40, {}, {"outcome": selected}, extraction, [{"outcome": outcome} for outcome in parsed])
    assert trace.end == sentence
