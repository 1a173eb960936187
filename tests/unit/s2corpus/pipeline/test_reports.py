"""docs/operations.md: the summary of a release lists wrong deliveries, and the outcome of every name under which a PDF was delivered.

A trace states the last result of a paper or PDF in one sentence.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest

from devtools.papers_report import format_papers_report
from s2corpus.clustering.explain import Explanation
from s2corpus.pipeline.quality import CheckVerdict
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.summary import format_summary
from s2corpus.pipeline.trace import PaperTrace, PdfTrace
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS
from tests.unit.s2corpus.snapshot.release import lay_out

A, B = "a" * 40, "b" * 40


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    return lay_out(lake, tmp_path, ReleaseSpec(name="t"), iter(()), buckets=1)


def rewrite(run: Run, table: Table, *rows: dict[str, Any], facts: dict[str, Any] | None = None) -> None:
    run.table(table).write(0, [{**dict.fromkeys(table.schema.names), **row} for row in rows])
    run.table(table).commit([0], facts)


def test_every_name_of_a_pdf_has_a_line(run: Run) -> None:
    names = [{"drop": "d", "name": name} for name in ("a.pdf", "sub/copy of a.pdf")]
    rewrite(
        run, PDFS,
        {"file_sha1": A, "bytes": 1, "places": names, "first_seen": "2023"},
        {"file_sha1": B, "bytes": 1, "places": [{"drop": "d", "name": "b.pdf"}], "first_seen": "2023"},
        facts={"pdf_shards": 1},
    )  # fmt: skip
    rewrite(run, SELECTIONS, {"file_sha1": A, "outcome": "landscape"}, {"file_sha1": B, "outcome": "encrypted"})
    for table in (EXTRACTIONS, FILTERED, DOCUMENTS, SPLITS):
        rewrite(run, table)
    rewrite(run, PAPERS)
    lines = [line.split("  ") for line in format_papers_report(run).splitlines()[2:]]
    said = [[part.strip() for part in line if part.strip()] for line in lines]
    assert said == [
        ["select: landscape", "a.pdf"],
        ["select: encrypted", "b.pdf"],
        ["the same file as a.pdf", "sub/copy of a.pdf"],
    ]


def test_summary_lists_wrong_deliveries(run: Run) -> None:
    rows = [{"drop": "d", "warning": f"records.jsonl, line {n}: titel: is not a key"} for n in range(1, 8)]
    found = CheckVerdict("intake", "declarations_are_usable", "warn", "warn", False, 7, rows, None, "cannot be used")
    run.lake.put(f"releases/{run.release_id}/_quality/intake.json", orjson.dumps([asdict(found)]))
    lines = format_summary(run).splitlines()
    at = next(i for i, line in enumerate(lines) if "declarations_are_usable: 7" in line)
    assert [line.strip() for line in lines[at + 1 : at + 6]] == [f"d, {row['warning']}" for row in rows[:5]]


# -- Traces.


KEPT = [{"set": "s2orc", "outcome": "kept"}]
BOTH_FAILED = [{"set": "s2orc", "outcome": "closed"}, {"set": "s2ag", "outcome": "no_abstract"}]


@pytest.mark.parametrize(
    ("is_voted", "filtered", "documents", "split", "sentence"),
    [
        (False, None, [], None, "clustered; the vote has not run"),
        (True, "no_authors", [], None, "excluded by filter: no_authors"),
        (True, "kept", BOTH_FAILED, None, "excluded by clean: s2orc closed; s2ag no_abstract"),
        (True, "kept", KEPT, None, "document of s2orc; not split yet"),
        (True, "kept", KEPT, ("train", "2021"), "document of s2orc: train"),
        (True, "kept", KEPT, ("held_back:duplicate", "4ae"), "held back from s2orc: held_back:duplicate of 4ae"),
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
    found = {"paper_id": "1f0", "set": "s2orc", "split": "held_back:near_duplicate", "duplicate_of": "4ae"}
    trace.duplicates = [found | {"reason": "words", "jaccard": 0.875}]
    assert trace.duplicate_descriptions == [
        "1f0 (s2orc, held_back:near_duplicate) duplicates 4ae: words, Jaccard index 0.875"
    ]


@pytest.mark.parametrize(
    ("selected", "extracted", "parsed", "sentence"),
    [
        ("landscape", None, [], "excluded by select: landscape"),
        ("selected", None, [], "in progress"),
        ("selected", "timeout", [], "excluded by extract: timeout"),
        ("selected", "ok", ["ok"], "parsed"),
    ],
)
def test_pdf_trace_states_last_result(selected: str, extracted: str | None, parsed: list[str], sentence: str) -> None:
    extraction = None if extracted is None else {"outcome": extracted}
    trace = PdfTrace("a" * 40, {}, {"outcome": selected}, extraction, [{"outcome": outcome} for outcome in parsed])
    assert trace.end == sentence
