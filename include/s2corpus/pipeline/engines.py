"""The engine on which the rows of a stage meet."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

import pyarrow as pa

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.storage.engine import Engine, open_duckdb
from s2corpus.storage.spark import open_spark
from s2corpus.tables.schema import paper_shard

BUCKETS = pa.schema({"paper_id": pa.string(), "part": pa.int64()})


def open_engine(run: Run) -> AbstractContextManager[Engine]:
    """Open the engine that ENGINE names: DuckDB if it is empty, else a Spark.

    Raises:
        UserError: unknown engine, or PySpark or Java is missing.
    """
    name, memory_mb = os.environ.get("ENGINE") or "here", run.spec.resources.memory_mb
    if name == "here":
        return open_duckdb(memory_mb, run.scratch)
    if name.startswith(("local[", "sc://", "spark://")):
        return open_spark(name, memory_mb, run.lake, f"{run.folder}/_tables")
    raise UserError(f"ENGINE is {name!r}: expected here, local[<cores>], sc://<host>:<port> or spark://<host>:<port>")


def find_buckets(papers: pa.Table, buckets: int) -> pa.Table:
    """Return the buckets of papers: rows of BUCKETS."""
    parts = [paper_shard(paper, buckets) for paper in papers["paper_id"].to_pylist()]
    return pa.table([papers["paper_id"], parts], schema=BUCKETS)
