"""docs/operations.md: the summary of a release lists wrong deliveries, and the outcome of every name under which a PDF was delivered."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import orjson
import pytest

from devtools.local.release import print_next_steps
from devtools.papers_report import format_papers_report
from s2corpus.pipeline.quality import CheckVerdict
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.summary import format_summary
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
    empty = {"open_access": False, "editorial_by": [], "access": [], "provenance": {}, "record_ids": []}
    rewrite(run, PAPERS, *({**empty, "paper_id": n * 15, "canonical_pdf": A if n == "1" else None} for n in "123"))
    report = format_papers_report(run)
    assert "3 papers: 1 with a PDF, 2 without. A record of metadata without a PDF is a paper too." in report
    rewrite(run, PAPERS)
    lines = [line.split("  ") for line in format_papers_report(run).splitlines()[2:]]
    said = [[part.strip() for part in line if part.strip()] for line in lines]
    assert said == [
        ["select: landscape", "a.pdf"],
        ["select: encrypted", "b.pdf"],
        ["the same file as a.pdf", "sub/copy of a.pdf"],
    ]


def test_each_next_step_is_printed_once(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    endpoints = Mock(airflow_url="http://airflow.test", airflow_user="admin", airflow_password="secret")
    print_next_steps(endpoints)
    printed = format_summary(run) + capsys.readouterr().out
    assert printed.count(" read ") == 1, "the summary contains the command that reads a document"
    assert "make release" not in printed, "only the demo names the command that the user would run next"


def test_summary_lists_wrong_deliveries(run: Run) -> None:
    rows = [{"drop": "d", "warning": f"records.jsonl, line {n}: titel: is not a key"} for n in range(1, 8)]
    found = CheckVerdict("intake", "declarations_are_usable", "warn", "warn", False, 7, rows, None, "cannot be used")
    run.lake.put(f"releases/{run.release_id}/_quality/intake.json", orjson.dumps([asdict(found)]))
    lines = format_summary(run).splitlines()
    at = next(i for i, line in enumerate(lines) if "declarations_are_usable: 7" in line)
    assert [line.strip() for line in lines[at + 1 : at + 6]] == [f"d, {row['warning']}" for row in rows[:5]]
