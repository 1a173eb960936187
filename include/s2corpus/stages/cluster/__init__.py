"""Cluster: group the records and files of one paper, and assign its id (SPEC §4)."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus import spec
from s2corpus.clustering.identity import Parent
from s2corpus.compiled import MAX_PYTHON_ROWS, interpret_if_small
from s2corpus.pipeline import gold
from s2corpus.pipeline.run import MAX_SHARDS, Metrics, Run, Shard, Stage, commit_all
from s2corpus.stages.cluster.many import cluster_in_rounds, run_locally, workers
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES, MEMBERS
from s2corpus.tables.parses import PDF_RECORDS
from s2corpus.tables.schema import Table
from s2orc_parse.scratch import private

_FEW = 8
"""below this number of buckets, about 400,000 papers, one export task may write all files"""


class ClusterStage(Stage):
    """The cluster stage. It reads records and PDF headers, and writes clusters, edges, aliases, and the records of each paper.

    The task of its only shard drives the rounds; the workers of ENGINE run their tasks.
    """

    name = "cluster"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Cluster all records in rounds, and write the records of each paper into its bucket."""
        engine = os.environ.get("ENGINE") or "here"
        with workers(engine, run.spec.resources.memory_mb) as found, interpret_if_small(_comparisons(run)):
            counts = cluster_in_rounds(run, found, lambda papers: _buckets(run, papers))
        run.lake.put(_counts_key(run), orjson.dumps(counts))

    def finish(self, run: Run) -> Metrics:
        """Commit the tables, which fixes the number of buckets of all later stages; return metrics."""
        counts = orjson.loads(run.lake.get(_counts_key(run))[0])
        parts, papers = counts["parts"], counts["papers"]
        buckets = _buckets(run, papers)
        metrics = commit_all(run, (EDGES, CLUSTERS), parts) | commit_all(run, (ALIASES,), 1)
        metrics |= commit_all(
            run, (MEMBERS,), buckets, {"paper_shards": buckets, "files": run.spec.export.count_files(papers)}
        )
        cluster = lambda records: cluster_records(records, run.spec.cluster).clusters  # noqa: E731
        metrics["papers"] = float(papers)
        return metrics | gold.measure_clusters(run, papers, cluster).metrics("clusters")


def _comparisons(run: Run) -> int:
    """Return the number of compared characters if all records were similar; see `compiled.interpret_if_small`."""
    tables = [run.table(table) for table in (RECORDS, PDF_RECORDS)]
    rows = sum(table.committed().rows for table in tables)
    if rows > MAX_PYTHON_ROWS:
        return sys.maxsize
    return (rows + 10) * sum(int(table.read(["title", "authors"]).nbytes) for table in tables)


def _counts_key(run: Run) -> str:
    return f"{run.folder}/_counts/cluster.json"


def _buckets(run: Run, papers: int) -> int:
    """Return papers / `papers_per_shard`, made a multiple of the snapshot's file numbers if it is `_FEW` or more."""
    buckets = max(1, min(MAX_SHARDS, -(-papers // run.spec.resources.papers_per_shard)))
    files = math.lcm(*run.spec.export.count_files(papers))
    return buckets if buckets < _FEW else files * max(1, min(-(-buckets // files), MAX_SHARDS // files))


_PARENT = "records-20000101-00000000"
_ROWS_PER_PART = 250_000


@dataclass(frozen=True)
class Clustering:
    """The tables `clusters`, `aliases` and `edges`, sorted by key."""

    clusters: pa.Table
    aliases: pa.Table
    edges: pa.Table

    @property
    def conflicts(self) -> int:
        """Number of edges that were cut."""
        return len(self.edges) - int(pc.sum(self.edges["taken"]).as_py() or 0)


def cluster_records(
    records: pa.Table, rules: spec.ClusterRules | None = None, parent: Parent | None = None
) -> Clustering:
    """Cluster records with the columns of `records`, or some of them, in any order.

    Raises:
        ValueError: a record_id occurs twice.
    """
    with tempfile.TemporaryDirectory(prefix="s2corpus-cluster-", dir=private()) as name:
        folder = Path(name)
        release = spec.ReleaseSpec(name="records", cluster=rules or spec.ClusterRules())
        run = Run(release, datetime(2000, 1, 2, tzinfo=UTC), LocalLake(folder / "lake"), folder)
        _write_records(run, records)
        for table in (PDF_RECORDS, DELIVERIES):
            run.table(table).write(0, [])
        run.table(PDF_RECORDS).commit([0])
        run.table(DELIVERIES).commit([0], {"parent": _PARENT if parent else None})
        if parent:
            _write_parent(run, folder, CLUSTERS, parent.clusters)
            _write_parent(run, folder, ALIASES, parent.aliases)
        counts = cluster_in_rounds(run, run_locally, buckets_of=None)
        parts = range(counts["parts"])
        run.table(EDGES).commit(parts)
        run.table(CLUSTERS).commit(parts)
        run.table(ALIASES).commit([0])
        return Clustering(run.table(CLUSTERS).read(), run.table(ALIASES).read(), run.table(EDGES).read())


def _write_records(run: Run, records: pa.Table) -> None:
    """Write the table `records`; columns that are not given are null."""
    columns = {
        field.name: records[field.name].cast(field.type)
        if field.name in records.column_names
        else pa.nulls(len(records), field.type)
        for field in RECORDS.schema
    }
    table = pa.table(columns, schema=RECORDS.schema)
    parts = range(max(1, -(-len(table) // _ROWS_PER_PART)))
    for part in parts:
        run.table(RECORDS).write(part, table.slice(part * _ROWS_PER_PART, _ROWS_PER_PART))
    run.table(RECORDS).commit(parts)


def _write_parent(run: Run, folder: Path, table: Table, rows: pa.Table) -> None:
    path = folder / table.name
    pq.write_table(rows.cast(table.schema).sort_by(table.schema.names[0]), path)
    run.lake.upload(f"snapshots/{_PARENT}/{table.name}.parquet", path)
