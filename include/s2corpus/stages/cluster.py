"""Cluster: group the records and files of one paper, and assign its id (SPEC §4)."""

from __future__ import annotations

import math
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import spec
from s2corpus.clustering.edges import TITLE, UNRELATED
from s2corpus.clustering.functions import EDGE, FUNCTIONS
from s2corpus.compiled import MAX_PYTHON_ROWS, interpret_if_small
from s2corpus.errors import UserError
from s2corpus.pipeline import gold
from s2corpus.pipeline.engines import BUCKETS, find_buckets, open_engine
from s2corpus.pipeline.run import MAX_SHARDS, Metrics, Run, Shard, Stage, commit_all
from s2corpus.storage.engine import Engine, make_tables, open_duckdb
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.statements import Statement
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES, MEMBERS
from s2corpus.tables.parses import PDF_RECORDS
from s2orc_parse.scratch import private

_FEW = 8
"""below this number of buckets, about 400,000 papers, one export task may write all files"""


class ClusterStage(Stage):
    """The cluster stage. It reads records and PDF headers, and writes clusters, edges, aliases, and the records of each paper.

    Its only shard runs the statements of `cluster.sql` on the engine that ENGINE names.
    """

    name = "cluster"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Cluster all records, and write the records of each paper into its bucket."""
        with interpret_if_small(_comparisons(run)), open_engine(run) as engine:
            counts = _write_clusters(run, engine)
            _write_members(run, engine, _buckets(run, counts["papers"]))
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
        measured = lambda records: cluster_records(records).clusters  # noqa: E731
        metrics["papers"] = float(papers)
        return metrics | gold.measure_clusters(run, papers, measured).metrics("clusters")


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


_ROWS_PER_PART = 250_000


STATEMENTS = Path(__file__).with_suffix(".sql")
NAMES = ("aged", "heirs", "papers", "alias_rows", "cluster_rows")
"""The tables that name papers."""
_FOUND = ("edges", "connected", "decided", "clustered")
ORDER = (
    *("facts", "numbers", "titles", "forms", "nodes"),
    *("identified", "asked", "answered", "asked: asked_apart", "answered_apart: answered", "edges_0"),
    *_FOUND,
    *("equal", "edges_1"),
    *_FOUND,
    *("open_titles", "keys", "candidates", "scored", "most_similar", "edges_2", "fronts", "cut", "edges_3"),
    *_FOUND,
    "edge_rows",
    *NAMES,
)
"""The tables in the order of their making. The clusters of all edges so far are found three times."""
_KEPT = ("numbers", "clustered", "papers", "edge_rows", "alias_rows", "cluster_rows")
"""The tables that are read after the last statement."""


def _write_clusters(run: Run, engine: Engine) -> dict[str, int]:
    """Write EDGES, CLUSTERS and ALIASES; return the numbers of papers, and of parts.

    Raises:
        ValueError: a record_id occurs twice.
        UserError: two papers would have the same id.
    """
    keys = [key for table in (RECORDS, PDF_RECORDS) for key in run.table(table).keys()]  # noqa: SIM118 - a method of TableRef
    engine.load("records", run.lake, keys, RECORDS.schema)
    for table in (CLUSTERS, ALIASES):
        key = f"snapshots/{run.parent}/{table.name}.parquet"
        engine.load(f"parent_{table.name}", run.lake, [key] if run.parent else [], table.schema)
    for later in ("edges_1", "edges_2", "edges_3"):
        engine.load(later, run.lake, [], EDGE)
    make_tables(engine, STATEMENTS, FUNCTIONS, ORDER, _KEPT, title=TITLE, unrelated=UNRELATED)
    _check_ids(engine)
    counts = engine.fetch("SELECT count(*) AS records, count(DISTINCT label) AS papers FROM clustered").to_pylist()[0]
    parts = max(1, -(-counts["records"] // _ROWS_PER_PART))
    engine.write(run.table(EDGES), f"SELECT *, a // {_ROWS_PER_PART} AS part FROM edge_rows", '"left", "right"', parts)
    engine.write(
        run.table(CLUSTERS), f"SELECT *, node // {_ROWS_PER_PART} AS part FROM cluster_rows", "record_id", parts
    )
    engine.write(run.table(ALIASES), "SELECT *, 0 AS part FROM alias_rows", "alias", 1)
    return {"papers": counts["papers"], "parts": parts}


def _check_ids(engine: Engine) -> None:
    twice = "SELECT {0} AS id, min(record_id) AS a, max(record_id) AS b FROM {1} GROUP BY {0} HAVING count(*) > 1 ORDER BY id LIMIT 1"
    for row in engine.fetch(twice.format("record_id", "numbers")).to_pylist():
        raise ValueError(f"record_id {row['id']!r} occurs twice")
    for row in engine.fetch(twice.format("paper_id", "papers")).to_pylist():
        raise UserError(
            f"two papers would have the id {row['id']}: the hashes of their records {row['a']} and {row['b']} begin with "
            f"the same 60 bits. Deliver {row['b']} under another native id and its old one as deleted, and make "
            f"the release again (docs/sizing.md#same-id)"
        )


def _write_members(run: Run, engine: Engine, buckets: int) -> None:
    """Write the records of each paper into its bucket."""
    papers = Statement("SELECT paper_id FROM papers", None, ())
    engine.map("buckets", papers, partial(find_buckets, buckets=buckets), BUCKETS)
    sql = "SELECT r.*, paper_id, part FROM records r JOIN cluster_rows USING (record_id) JOIN buckets USING (paper_id)"
    engine.write(run.table(MEMBERS), sql, "paper_id, record_id", buckets)


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


def cluster_records(records: pa.Table) -> Clustering:
    """Cluster records with the columns of `records`, or some of them, in any order.

    Raises:
        ValueError: a record_id occurs twice.
    """
    with tempfile.TemporaryDirectory(prefix="s2corpus-cluster-", dir=private()) as name:
        folder = Path(name)
        release = spec.ReleaseSpec(name="records")
        run = Run(release, datetime(2000, 1, 2, tzinfo=UTC), LocalLake(folder / "lake"), folder)
        _write_records(run, records)
        for table in (PDF_RECORDS, DELIVERIES):
            run.table(table).write(0, [])
        run.table(PDF_RECORDS).commit([0])
        run.table(DELIVERIES).commit([0], {"parent": None})
        with open_duckdb(release.resources.memory_mb, folder) as engine:
            counts = _write_clusters(run, engine)
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
