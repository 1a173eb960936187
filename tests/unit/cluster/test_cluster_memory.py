"""Clustering on one machine never exceeds `resources.memory_mb`. The records themselves need only a small part."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run, Shard
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.cluster import ClusterStage
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.papers import MEMBERS
from s2corpus.tables.parses import PDF_RECORDS
from s2corpus.tables.schema import paper_shard


def run_of(folder: Path, count: int, abstract: str | None = None) -> Run:
    """Return a release of `count` records of separate papers, with 64 MB. The first record has the highest id."""
    spec = ReleaseSpec.model_validate({"name": "t", "resources": {"memory_mb": 64, "papers_per_shard": 10_000}})
    run = Run(spec, datetime(2023, 2, 1, tzinfo=UTC), LocalLake(folder / "lake"), folder)
    numbers = pa.array(range(count, 0, -1)).cast(pa.string())
    given = {
        "record_id": pc.binary_join_element_wise("jsonl:", pc.utf8_lpad(numbers, 9, "0"), ""),
        "title": pc.binary_join_element_wise("Paper", numbers, " "),
        "source": pa.array(["jsonl"] * count),
        "kind": pa.array(["archive"] * count),
        "abstract": pa.array([abstract] * count, pa.string()),
    }
    columns = [given.get(field.name, pa.nulls(count, field.type)) for field in RECORDS.schema]
    run.table(RECORDS).write(0, pa.Table.from_arrays(columns, schema=RECORDS.schema))
    for table in (PDF_RECORDS, DELIVERIES):
        run.table(table).write(0, [])
    for table in (RECORDS, PDF_RECORDS):
        run.table(table).commit([0])
    run.table(DELIVERIES).commit([0], {"parent": None})
    return run


def test_records_larger_than_memory_are_sorted_by_paper(tmp_path: Path) -> None:
    run = run_of(tmp_path, 25_000, abstract="What we found, in some words. " * 200)
    ClusterStage().work(run, Shard(0))
    ClusterStage().finish(run)
    seen: set[str] = set()
    for bucket in range(3):
        rows = run.table(MEMBERS).read(["paper_id", "record_id", "abstract"], shard=bucket)
        ids = rows["paper_id"].to_pylist()
        assert ids == sorted(ids) and {paper_shard(id_, 3) for id_ in ids} == {bucket}
        assert pc.min(pc.utf8_length(rows["abstract"])).as_py() == 6000
        seen.update(rows["record_id"].to_pylist())
    assert len(seen) == 25_000
