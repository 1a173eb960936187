"""Cluster: group the records and files of one paper, and assign its id (SPEC §4)."""

from __future__ import annotations

import math
import os
import sys

import orjson

from s2corpus.compiled import MAX_PYTHON_ROWS, interpret_if_small
from s2corpus.pipeline import gold
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all
from s2corpus.stages.cluster.local import cluster_records
from s2corpus.stages.cluster.many import cluster_in_rounds
from s2corpus.stages.cluster.workers import workers
from s2corpus.tables.intake import RECORDS
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES, MEMBERS
from s2corpus.tables.parses import PDF_RECORDS

_FEW = 8
"""below this number of buckets, about 400,000 papers, one export task may write all files"""


class ClusterStage:
    """The cluster stage. It reads records and PDF headers, and writes clusters, edges, aliases, and the records of each paper."""

    name = "cluster"

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """Return one shard. Its task drives the rounds; the workers of ENGINE run their tasks."""
        return [Shard(0)]

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Cluster all records in rounds, and write the records of each paper into its bucket."""
        engine = os.environ.get("ENGINE") or "here"
        with workers(engine, run.spec.resources.memory_mb) as found, interpret_if_small(_comparisons(run)):
            counts = cluster_in_rounds(run, found, lambda papers: _buckets(run, papers))
        run.lake.put(_counts_key(run), orjson.dumps(counts))

    def finish(self, run: Run) -> Metrics:
        """Commit the tables, which fixes the number of buckets of all later stages; return metrics."""
        counts: Metrics = orjson.loads(run.lake.get(_counts_key(run))[0])
        parts, papers = int(counts.pop("parts")), int(counts["papers"])
        buckets = _buckets(run, papers)
        metrics = commit_all(run, (EDGES, CLUSTERS), parts) | commit_all(run, (ALIASES,), 1)
        metrics |= commit_all(run, (MEMBERS,), buckets, {"paper_shards": buckets})
        cluster = lambda records: cluster_records(records, run.spec.cluster).clusters  # noqa: E731
        return metrics | counts | gold.measure_clusters(run, papers, cluster).metrics("clusters")


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
    resources, export = run.spec.resources, run.spec.export
    buckets = max(1, min(resources.max_shards, -(-papers // resources.papers_per_shard)))
    files = math.lcm(export.files, export.corpus_file_count)
    return buckets if buckets < _FEW else files * max(1, min(-(-buckets // files), resources.max_shards // files))
