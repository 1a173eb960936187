"""Cluster: which records are one paper, and under which id (SEMANTICS: Cluster)."""

from __future__ import annotations

import logging
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.clustering.cluster import COLUMNS, REPEATED, cluster
from s2corpus.clustering.identity import Parent
from s2corpus.clustering.nodes import TooManyRecords
from s2corpus.compiled import FEW_ROWS, for_few
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all
from s2corpus.stages.cluster.many import cluster_in_rounds
from s2corpus.stages.cluster.workers import chosen, workers
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.exchange import Writer, rows_of
from s2corpus.tables import ALIASES, CLUSTERS, EDGES, MEMBERS, PDF_RECORDS, RECORDS, paper_shard

_MEMBERS = """
SELECT bucket, paper_id, both_kinds.* FROM (FROM records UNION ALL FROM pdf_records) AS both_kinds JOIN papers USING (record_id)
"""


BYTES_PER_RECORD = 700
"""Memory that clustering takes in one process, beside some 400 MB: 681 from 250,000 to 1,000,000 records (bench `cluster.py scale`)."""
_FEW = 8
"""Buckets of which one task of the export may write all files: some 400,000 papers."""
log = logging.getLogger(__name__)


class Cluster:
    """Records and PDFs' headers → clusters, the edges behind them, aliases, and the records by paper."""

    name = "cluster"

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """One shard: what is one paper is decided over all records."""
        return [Shard(0)]

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Cluster in memory, or in rounds by the workers that ENGINE names, and write every paper's records into its bucket."""
        if name := chosen():
            with workers(name, run.spec.resources.memory_mb) as found:
                counts = cluster_in_rounds(run, found, lambda papers: _buckets(run, papers))
        else:
            counts = self._in_memory(run)
        run.lake.put(_counts_key(run), orjson.dumps(counts))

    def finish(self, run: Run) -> Metrics:
        """Commit; the number of buckets is fixed here for all later stages."""
        counts: Metrics = orjson.loads(run.lake.get(_counts_key(run))[0])
        parts = int(counts.pop("parts"))
        buckets = _buckets(run, int(counts["papers"]))
        metrics = commit_all(run, (EDGES, CLUSTERS), parts) | commit_all(run, (ALIASES,), 1)
        metrics |= commit_all(run, (MEMBERS,), buckets, {"paper_shards": buckets})
        return metrics | counts

    def _in_memory(self, run: Run) -> dict[str, float]:
        """Cluster all records in this process; what was counted.

        Raises:
            TooManyRecords: for the memory that the spec allows.
        """
        pa.set_memory_pool(
            pa.system_memory_pool()
        )  # Arrow's own takes a second more of a million records, to get pages cleared
        rules = run.spec.cluster
        known, former = run.parent_table(CLUSTERS.name), run.parent_table(ALIASES.name)
        with for_few(_comparisons(run, _not_too_many(run))):
            found = cluster(
                _batches(run),
                preprint_prefixes=rules.preprint_prefixes,
                min_title_score=rules.min_title_score,
                max_preprint_years=rules.max_preprint_years,
                parent=Parent() if known is None or former is None else Parent(known, former),
            )
        log.info("cluster: %d edges found among %d records", found.edges.num_rows, found.clusters.num_rows)
        run.table(EDGES).write(0, found.edges)
        run.table(CLUSTERS).write(0, found.clusters)
        run.table(ALIASES).write(0, found.aliases)
        self._write_members(run, found.clusters)
        taken = found.edges.filter(found.edges["taken"])["reason"].value_counts().to_pylist()
        return {
            "parts": 1.0,
            "papers": float(pc.count_distinct(found.clusters["paper_id"]).as_py()),
            "conflicts": float(found.edges.num_rows - sum(row["counts"] for row in taken)),
            **{f"edges.{row['values']}": float(row["counts"]) for row in taken},
        }

    def _write_members(self, run: Run, clusters: pa.Table) -> None:
        papers = clusters["paper_id"].unique()
        buckets = _buckets(run, len(papers))
        bucket_of = pa.table(
            {"paper_id": papers, "bucket": pa.array([paper_shard(p, buckets) for p in papers.to_pylist()], pa.int32())}
        )
        log.info("cluster: %d papers; writing their records into %d buckets", len(papers), buckets)
        memory = run.spec.resources.memory_mb // 2  # beside the clusters of all records
        with tempfile.TemporaryDirectory(prefix="s2corpus-members-", dir=run.scratch) as folder:
            writer = Writer(Path(folder), buckets, MEMBERS.schema)
            with duckdb_connection(memory_mb=memory, scratch=run.scratch) as connection:
                for table in (RECORDS, PDF_RECORDS):
                    run.table(table).view(connection)
                connection.register("clusters", clusters)
                connection.register("buckets", bucket_of)
                connection.execute(
                    "CREATE TABLE papers AS SELECT record_id, paper_id, bucket FROM clusters JOIN buckets USING (paper_id)"
                )
                connection.execute("SET preserve_insertion_order = false")
                connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")  # it holds ids only
                for batch in connection.execute(_MEMBERS).to_arrow_reader(10_000):
                    rows = pa.Table.from_batches([batch]).select(MEMBERS.schema.names).cast(MEMBERS.schema)
                    writer.add(rows, batch["bucket"].to_numpy())
            with pa.OSFile(str(writer.finish())) as file:
                for bucket in range(buckets):
                    rows = rows_of(file, bucket, bucket + 1, MEMBERS.schema)
                    rows = rows.sort_by([("paper_id", "ascending"), ("record_id", "ascending")])
                    run.table(MEMBERS).write(bucket, iter(rows.to_batches(max_chunksize=10_000)))


def _batches(run: Run) -> Iterator[pa.RecordBatch]:
    """What decides of all records, a batch after the other; of the authors no more than their names."""
    fs, root = run.lake.filesystem()
    for table in (RECORDS, PDF_RECORDS):
        for key in run.table(table).keys():  # noqa: SIM118 - a method of TableRef
            with fs.open_input_file(root + key) as file:
                yield from pq.ParquetFile(file, read_dictionary=REPEATED).iter_batches(columns=list(COLUMNS))


def _not_too_many(run: Run) -> int:
    """How many records there are to cluster, where memory allows it."""
    rows = sum(run.table(table).committed().rows for table in (RECORDS, PDF_RECORDS))
    memory = run.spec.resources.memory_mb
    log.info("cluster: %d records and PDFs to cluster", rows)
    if rows * BYTES_PER_RECORD > memory << 20:
        raise TooManyRecords(
            f"{rows} records to cluster need {rows * BYTES_PER_RECORD >> 20} MB in one process, and resources.memory_mb is "
            f"{memory}: give it more, or set ENGINE to a Spark, whose tasks need no more for more records (docs/sizing.md)"
        )
    return rows


def _comparisons(run: Run, rows: int) -> int:
    """Of characters, were all records similar; what is done to each record alone counts as ten."""
    if rows > FEW_ROWS:
        return sys.maxsize
    return (rows + 10) * sum(
        int(run.table(table).read(["title", "authors"]).nbytes) for table in (RECORDS, PDF_RECORDS)
    )


def _counts_key(run: Run) -> str:
    return f"{run.folder}/_counts/cluster.json"


def _buckets(run: Run, papers: int) -> int:
    """As many as `papers_per_shard` asks for; of many, a multiple of the snapshot's files, so that each file is made of whole buckets."""
    resources, export = run.spec.resources, run.spec.export
    buckets = max(1, min(resources.max_shards, -(-papers // resources.papers_per_shard)))
    files = math.lcm(export.files, export.of_corpus)
    return buckets if buckets < _FEW else files * max(1, min(-(-buckets // files), resources.max_shards // files))
