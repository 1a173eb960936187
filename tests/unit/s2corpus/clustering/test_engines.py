"""Edges, clusters and members are equal on DuckDB, with functions that get few rows, and on Spark."""

import importlib.util
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.arrow import batches
from s2corpus.sources.record import WorkType
from s2corpus.spec import ReleaseSpec, ResourceRules
from s2corpus.stages.cluster import ClusterStage
from s2corpus.storage import engine
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES, MEMBERS
from s2corpus.tables.parses import PDF_RECORDS
from tests.unit.s2corpus.clustering.samples import TITLE, record

HAS_SPARK = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None
SPARK = [pytest.mark.long, pytest.mark.skipif(not HAS_SPARK, reason="needs PySpark (extra: spark) and Java")]


def _made_up(rng: np.random.Generator, count: int) -> Iterator[Record]:
    """Yield many records with few titles, identifiers and years: most records join, and many edges are cut."""
    stems = [TITLE, TITLE[:-1], "Random walks on graphs, part II", "Editorial", None]
    for i in range(count):
        stem = stems[rng.integers(5)]
        tail = f" of {chr(97 + rng.integers(20)) * 4} and {chr(97 + rng.integers(3)) * 4}"
        yield record(
            f"{['s', 'scienceparse', 'declared'][rng.integers(3)]}:{i:04d}",
            stem if stem in (None, "Editorial") else stem + tail,
            ["Ada Lovelace", "Ada Lovelace, Alan Turing", "Kurt Gödel", ""][rng.integers(4)],
            [None, 2018, 2019, 2020][rng.integers(4)],
            kind=list(RecordKind)[rng.integers(3)],
            doi=[None, None, f"10.18653/v1/d{rng.integers(150)}", f"10.48550/arxiv.{rng.integers(9)}"][rng.integers(4)],
            arxiv_id=f"1911.{rng.integers(10000, 10200)}" if rng.random() < 0.2 else None,
            pubmed_id=str(rng.integers(1, 300)) if rng.random() < 0.2 else None,
            file_sha1=f"{rng.integers(60):040x}" if rng.random() < 0.3 else None,
            journal=[None, None, "Blood", "J Biol Chem", "Journal of Biological Chemistry"][rng.integers(5)],
            volume=[None, "12", "14"][rng.integers(3)],
            issue=[None, "1", "2"][rng.integers(3)],
            type=[None, None, WorkType.PREPRINT, WorkType.ARTICLE][rng.integers(4)],
            pages=[None, "1-9", "33", "e1754"][rng.integers(4)],
        )


def _cut_titles() -> Iterator[Record]:
    """Yield pairs of a cut and a complete title, with equal authors, year and first page."""
    for i, subject in enumerate(["anaemia", "malaria", "hypertension", "asthma", "measles", "dengue"]):
        title = f"Treatment of {subject} in children"
        subtitle = f": a systematic review and network meta-analysis of {2 * i + 11} randomised trials of {subject}"
        for source, end in (("a", ""), ("z", subtitle)):
            yield record(f"{source}:{i}", title + end, "Maria Garcia, John Smith", 2019, pages=f"{i + 101}-{i + 112}")


def _release(folder: Path, made: Iterable[Record], parent: str | None = None, day: int = 1) -> Run:
    """Return a release before the stage cluster, with its records in random order in three parts."""
    spec = ReleaseSpec(name="rounds", resources=ResourceRules(papers_per_shard=200))
    run = Run(spec, datetime(2023, 2, day, tzinfo=UTC), open_lake(str(folder / "lake")), folder)
    records = pa.Table.from_batches(batches(made, ready_at="2023-01-05T00:00:00Z"), schema=RECORDS.schema)
    part = np.random.default_rng(1).integers(3, size=len(records))
    for number in range(3):
        run.table(RECORDS).write(number, records.filter(pa.array(part == number)))
    run.table(RECORDS).commit(range(3))
    for table, facts in ((PDF_RECORDS, {}), (DELIVERIES, {"inputs": "", "parent": parent})):
        run.table(table).write(0, [])
        run.table(table).commit([0], facts)
    return run


def _clustered(run: Run) -> dict[str, pa.Table]:
    metrics = ClusterStage().finish(run)
    tables = {table.name: run.table(table).read() for table in (EDGES, CLUSTERS, ALIASES)}
    tables |= {f"members {shard}": run.table(MEMBERS).read(shard=shard) for shard in range(run.paper_shards)}
    return tables | {"metrics": pa.Table.from_pylist([dict(sorted(metrics.items()))])}


def _same(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, pa.Table]:
    """Cluster on DuckDB, then on another engine, or with functions that get 150 rows. Compare every row."""
    stage = ClusterStage()
    monkeypatch.delenv("ENGINE", raising=False)
    stage.work(run, stage.plan(run)[0])
    expected = _clustered(run)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_ROWS", 150)
        patch.setenv("ENGINE", name)
        stage.work(run, stage.plan(run)[0])
    again = _clustered(run)
    assert again.keys() == expected.keys()
    for table, rows in expected.items():
        assert again[table].equals(rows), table
    return expected


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["here", pytest.param("local[2]", marks=SPARK)])
def test_engines_return_equal_rows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _release(tmp_path, [*_made_up(np.random.default_rng(5), 600), *_cut_titles()])
    tables = _same(run, name, monkeypatch)
    edges = tables["edges"]
    assert edges["taken"].to_pylist().count(False) > 10, "there is something to cut"
    assert set(edges["reason"].to_pylist()) == {
        "declared", "doi", "arxiv_id", "pubmed_id", "file_sha1", "title", "place", "prefix", "contradiction", "unrelated",
        "authors", "years", "weak", "dois",
    }  # fmt: skip
    assert any(0.8 < strength < 1 for strength in edges["strength"].to_pylist()), "some titles are only similar"

    parent = "rounds-20230201-0a1b2c3d"
    for table in ("clusters", "aliases"):
        pq.write_table(tables[table], tmp_path / "table.parquet")
        run.lake.upload(f"snapshots/{parent}/{table}.parquet", tmp_path / "table.parquet")
    later = _release(tmp_path, _made_up(np.random.default_rng(6), 700), parent, day=2)
    renamed = _same(later, name, monkeypatch)["aliases"]
    assert len(renamed) > 10, "papers that the parent had were merged"


@pytest.mark.parametrize(
    "name, expected",
    [
        pytest.param("yarn", "expected here, local", id="unknown"),
        pytest.param("spark://127.0.0.1:9", "PYSPARK_PYTHON is not set", id="executors without this package"),
    ],
)
def test_unusable_engine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str) -> None:
    monkeypatch.setenv("ENGINE", name)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    run = _release(tmp_path, _cut_titles())
    with pytest.raises(UserError, match=expected):
        ClusterStage().work(run, ClusterStage().plan(run)[0])


def test_records_of_frequent_title_meet_the_next_64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two million pairs of 2,000 records would be quadratic work (SPEC §4.16)."""
    run = _release(tmp_path, (record(f"s:{i:05d}", "Introduction", "", None) for i in range(2_000)))
    counts = list[int]()
    run_statement = engine.DuckEngine.run

    def count_pairs(self: engine.DuckEngine, name: str, sql: str) -> None:
        run_statement(self, name, sql)
        if name == "equal":
            counts.extend(self.fetch("SELECT count(*) AS pairs FROM equal")["pairs"].to_pylist())

    monkeypatch.setattr(engine.DuckEngine, "run", count_pairs)
    ClusterStage().work(run, ClusterStage().plan(run)[0])
    assert counts == [sum(min(64, 1_999 - place) for place in range(2_000))]
