"""Write drops and deliveries, run intake on them, and read the result."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run, load_stage
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.intake import DELIVERIES, PDFS, RECORDS

AS_OF = datetime(2023, 2, 1, tzinfo=UTC)
WHEN = "2023-01-01T00:00:00Z"
PAPER = {"record_id": "dblp:1", "title": "T"}


class Racing(LocalLake):
    """A lake in which another process writes each small file first."""

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """Write the key first as another writer would."""
        super().put(key, b"another")
        return super().put(key, data, expect=expect)


def deliver(
    lake: Lake,
    folder: str,
    files: Mapping[str, bytes],
    ready_at: str = WHEN,
    listed: Mapping[str, bytes] | None = None,
    **others: str,
) -> None:
    """Write a drop or delivery with a `_READY` that lists its files, or the files `listed`."""
    for name, data in files.items():
        lake.put(f"{folder}/{name}", data)
    named = [
        {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in (files if listed is None else listed).items()
    ]
    lake.put(f"{folder}/_READY", json.dumps({"ready_at": ready_at, "files": named, **others}).encode())


def lines(*rows: Mapping[str, object], name: str = "records.jsonl") -> dict[str, bytes]:
    """Return a file of JSON lines."""
    return {name: b"".join(json.dumps(row).encode() + b"\n" for row in rows)}


def intake(run: Run) -> dict[str, float]:
    """Run the stage intake and return its metrics."""
    runner.work(run, "intake", runner.plan(run, "intake"))
    runner.run_rounds(run, "intake", first=1)
    return load_stage("intake").finish(run)


def change_spec(run: Run, **changed: Any) -> Run:
    """Return the run of a changed spec over the same lake."""
    return Run(run.spec.model_copy(update=changed), run.as_of, run.lake, run.scratch)


def outcome(run: Run, delivery: str = "d") -> dict[str, Any]:
    """Run intake and return the row of one delivery."""
    intake(run)
    (row,) = [row for row in run.table(DELIVERIES).read().to_pylist() if row["delivery"] == delivery]
    found: dict[str, Any] = row
    return found


def records(run: Run) -> dict[str, dict[str, Any]]:
    """Return the records of a run by id."""
    return {row["record_id"]: row for row in run.table(RECORDS).read().to_pylist()}


def places(run: Run) -> list[dict[str, Any]]:
    """Return the places of all PDFs of a run."""
    return [place for pdf in run.table(PDFS).read().to_pylist() for place in pdf["places"]]
