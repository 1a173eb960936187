"""Cluster a table of records outside a release: the same rounds, in a temporary lake."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus import spec
from s2corpus.clustering.identity import Parent
from s2corpus.pipeline.run import Run
from s2corpus.stages.cluster.many import cluster_in_rounds
from s2corpus.stages.cluster.workers import do_here
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES
from s2corpus.tables.parses import PDF_RECORDS
from s2corpus.tables.schema import Table
from s2orc_parse.scratch import private

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
        counts = cluster_in_rounds(run, do_here, buckets_of=None)
        parts = range(int(counts["parts"]))
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
    """Write a table of the parent snapshot."""
    path = folder / table.name
    pq.write_table(rows.cast(table.schema).sort_by(table.schema.names[0]), path)
    run.lake.upload(f"snapshots/{_PARENT}/{table.name}.parquet", path)
