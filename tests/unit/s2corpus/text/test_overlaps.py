"""A document that shares 13 consecutive words with a benchmark is listed, regardless of case and punctuation."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest

from s2corpus.errors import UserError
from s2corpus.spec import ReleaseSpec
from s2corpus.text.overlaps import Benchmarks
from tests.unit.s2corpus.snapshot.release import papers, release

QUESTION = "Which of the following enzymes unwinds the double helix ahead of the replication fork in bacteria?"
ANSWER = "helicase"


def test_ngrams_of_benchmark_questions_are_found() -> None:
    line = orjson.dumps({"question": {"stem": QUESTION}, "choices": [ANSWER, 3, None], "n": 1})
    benchmarks = Benchmarks({"exam": line + b"\n" + b"in plain lines: " + b"word " * 12 + b"\n"}, 13)
    text = (
        f"We ask: WHICH of the following enzymes unwinds -- the double helix, ahead of the replication fork? {ANSWER}"
    )
    ((name, ngrams, share),) = benchmarks.overlaps(text)
    words = len(QUESTION.split())
    assert (name, ngrams) == ("exam", 14 - 13 + 1)
    assert share == pytest.approx(ngrams / (words - 12 + len({"line 1", "line 2", "line 3"})))
    assert list(benchmarks.overlaps(text.replace("double", "twofold"))) == []
    with pytest.raises(UserError, match="no item of 13 words"):
        Benchmarks({"short": b"too short\n"}, 13)


def test_overlapping_documents_are_listed_and_published(tmp_path: Path) -> None:
    abstract = next(paper.row["abstract"] for paper in papers(12) if paper.row["record_ids"] == ["crossref:5"])
    path = tmp_path / "exam.jsonl"
    path.write_bytes(orjson.dumps({"passage": " ".join(abstract.split()[10:30])}))
    named = {"name": "exam", "uri": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2, "benchmarks": [named]}})
    run = release(tmp_path, count=12, spec=spec)
    folder = tmp_path / "lake" / "snapshots" / run.snapshot_id
    rows = pq.read_table(folder / "overlaps.parquet").to_pylist()
    index = {row["id"]: row for row in pq.read_table(folder / "index.parquet").to_pylist()}
    assert [(row["benchmark"], row["ngrams"], row["share"]) for row in rows] == [("exam", 8, 1.0)]
    assert all((index[row["id"]]["set"], index[row["id"]]["split"]) == (row["set"], row["split"]) for row in rows)
