"""Cluster: which records are one paper, and under which id (SEMANTICS: Cluster)."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from s2corpus.clustering.cluster import COLUMNS, Clustering, cluster
from s2corpus.clustering.identity import Parent
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all
from s2corpus.stages.cluster.spark import clustered
from s2corpus.stages.cluster.spark_exchange import Work
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.engine import chosen, engine
from s2corpus.tables import ALIASES, CLUSTERS, EDGES, MEMBERS, PDF_RECORDS, RECORDS, paper_shard

_MEMBERS = """
SELECT bucket, paper_id, records.* FROM records JOIN papers USING (record_id) ORDER BY bucket, paper_id, record_id
"""


log = logging.getLogger(__name__)


class Cluster:
    """Records and PDFs' headers → clusters, the edges behind them, aliases, and the records by paper."""

    name = "cluster"
    reads = (RECORDS, PDF_RECORDS)
    writes = (EDGES, CLUSTERS, ALIASES, MEMBERS)

    def plan(self, run: Run) -> list[Shard]:
        """One shard: what is one paper is decided over all records."""
        return [Shard(0)]

    def work(self, run: Run, shard: Shard) -> None:
        """Cluster, then write every paper's records into its bucket in one sorted pass that spills to disk."""
        pa.set_memory_pool(
            pa.system_memory_pool()
        )  # Arrow's own takes a second more of a million records, to get pages cleared
        records = ds.dataset([run.table(RECORDS).dataset(), run.table(PDF_RECORDS).dataset()])
        rules = run.spec.cluster
        known, former = run.parent_table(CLUSTERS.name), run.parent_table(ALIASES.name)
        parent = Parent() if known is None or former is None else Parent(known, former)
        settings: dict[str, Any] = {
            "preprint_prefixes": rules.preprint_prefixes,
            "min_title_score": rules.min_title_score,
            "max_preprint_years": rules.max_preprint_years,
            "parent": parent,
        }
        log.info("cluster: %d records and PDFs to cluster", records.count_rows())
        found = cluster(_batches(run), **settings) if chosen() == "duckdb" else _by_engine(run, settings)
        log.info("cluster: %d edges found among %d records", found.edges.num_rows, found.clusters.num_rows)
        run.table(EDGES).write(0, found.edges)
        run.table(CLUSTERS).write(0, found.clusters)
        run.table(ALIASES).write(0, found.aliases)
        self._write_members(run, records, found.clusters)

    def finish(self, run: Run) -> Metrics:
        """Commit; the number of buckets is fixed here for all later stages."""
        metrics = commit_all(run, (EDGES, CLUSTERS, ALIASES), 1)
        papers = pc.count_distinct(run.table(CLUSTERS).read(["paper_id"])["paper_id"]).as_py()
        buckets = _buckets(run, papers)
        metrics |= commit_all(run, (MEMBERS,), buckets, {"paper_shards": buckets})
        edges = run.table(EDGES).read(["reason", "taken"])
        taken = edges.filter(edges["taken"])["reason"].value_counts().to_pylist()
        return {
            **metrics,
            "papers": float(papers),
            "conflicts": float(edges.num_rows - sum(row["counts"] for row in taken)),
            **{f"edges.{row['values']}": float(row["counts"]) for row in taken},
        }

    def _write_members(self, run: Run, records: ds.Dataset, clusters: pa.Table) -> None:
        papers = clusters["paper_id"].unique()
        buckets = _buckets(run, len(papers))
        bucket_of = pa.table(
            {"paper_id": papers, "bucket": pa.array([paper_shard(p, buckets) for p in papers.to_pylist()], pa.int32())}
        )
        left = set(range(buckets))
        log.info("cluster: %d papers; writing their records into %d buckets", len(papers), buckets)
        with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
            connection.register("records", records)
            connection.register("clusters", clusters)
            connection.register("buckets", bucket_of)
            connection.execute(
                "CREATE TABLE papers AS SELECT record_id, paper_id, bucket FROM clusters JOIN buckets USING (paper_id)"
            )
            reader = connection.execute(_MEMBERS).to_arrow_reader(10_000)
            for bucket, batches in groupby(_by_bucket(reader), key=lambda item: item[0]):
                run.table(MEMBERS).write(bucket, (batch for _, batch in batches))
                left.remove(bucket)
        for bucket in left:
            run.table(MEMBERS).write(bucket, [])


def _batches(run: Run) -> Iterator[pa.RecordBatch]:
    """What decides of all records, a batch after the other; of the authors no more than their names."""
    fs, root = run.lake.filesystem()
    for table in (RECORDS, PDF_RECORDS):
        for key in run.table(table).keys():  # noqa: SIM118 - a method of TableRef
            with fs.open_input_file(root + key) as file:
                yield from pq.ParquetFile(file).iter_batches(columns=list(COLUMNS))


def _by_engine(run: Run, settings: dict[str, Any]) -> Clustering:
    """The same by the engine that ENGINE names; what is put into the lake for it is removed."""
    prefix = f"releases/{run.release_id}/_joins"
    with (
        tempfile.TemporaryDirectory(prefix="s2corpus-cluster-", dir=run.scratch) as scratch,
        engine(memory_mb=run.spec.resources.memory_mb, scratch=Path(scratch)) as at_work,
    ):
        try:
            return clustered(Work(at_work, run.lake, prefix, Path(scratch)), _batches(run), **settings)
        finally:
            for entry in run.lake.list(f"{prefix}/"):
                run.lake.delete(entry.key)


def _buckets(run: Run, papers: int) -> int:
    resources = run.spec.resources
    return max(1, min(resources.max_shards, -(-papers // resources.papers_per_shard)))


def _by_bucket(reader: pa.RecordBatchReader) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches cut where the bucket changes."""
    for batch in reader:
        buckets = batch.column("bucket")
        for bucket in pc.unique(buckets).to_pylist():
            yield bucket, batch.filter(pc.equal(buckets, bucket)).select(MEMBERS.schema.names)
