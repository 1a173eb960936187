"""The same edges and clusters by arrays on one machine, on DuckDB and on Spark."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench import cluster as bench
from bench import cluster_records
from s2corpus import spec
from s2corpus.clustering.cluster import Clustering, cluster
from s2corpus.clustering.identity import Parent
from s2corpus.sources import Kind, Record, batches
from s2corpus.stages.cluster import spark, spark_exchange
from s2corpus.stages.cluster.spark_components import STARS, connected
from s2corpus.storage.engine import Engine, engine
from s2corpus.storage.lake import open_lake
from s2corpus.tables import RECORDS
from tests.unit.cluster.test_cluster import record

SPARK_MISSING = "PySpark is not installed (extra: spark)" if importlib.util.find_spec("pyspark") is None else (
    "" if shutil.which("java") else "no Java"
)  # fmt: skip


@pytest.fixture(
    scope="module",
    params=[
        "duckdb",
        pytest.param(
            "local[2]", marks=[pytest.mark.slow, pytest.mark.skipif(bool(SPARK_MISSING), reason=SPARK_MISSING)]
        ),
    ],
)
def at_work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with engine(request.param, memory_mb=1024, scratch=tmp_path_factory.mktemp("engine")) as found:
        yield found


def test_components_of_a_chain_a_star_and_pairs(at_work: Engine, tmp_path: Path) -> None:
    chain = [(i, i + 1) for i in range(20)]
    star = [(1000, 1000 + i) for i in range(1, 50)]
    pairs = [(2001, 2000), (2003, 2002), (2002, 2003)]
    u, v = zip(*(chain[::-1] + star + pairs), strict=True)
    pq.write_table(pa.table({"u": pa.array(u, pa.int64()), "v": pa.array(v, pa.int64())}), tmp_path / "edges.parquet")
    found = at_work.arrow(connected(at_work, at_work.read([str(tmp_path / "edges.parquet")]), tmp_path), STARS)
    expected = dict.fromkeys(range(1, 21), 0) | {1000 + i: 1000 for i in range(1, 50)} | {2001: 2000, 2003: 2002}
    assert dict(zip(found["u"].to_pylist(), found["v"].to_pylist(), strict=True)) == expected


def _made_up(rng: np.random.Generator, count: int) -> Iterator[Record]:
    """Few titles, identifiers and years for many records: everything is joined by something, and much is cut."""
    stems = [
        "Deep parsing of scientific papers", "Deep parsing of scientific paper", "Random walks on graphs, part II", "Editorial", None,
    ]  # fmt: skip
    for i in range(count):
        stem = stems[rng.integers(5)]
        tail = f" of {chr(97 + rng.integers(20)) * 4} and {chr(97 + rng.integers(3)) * 4}"
        yield record(
            f"{['s', 'scienceparse', 'declared'][rng.integers(3)]}:{i:04d}",
            stem if stem in (None, "Editorial") else stem + tail,
            ["Ada Lovelace", "Ada Lovelace, Alan Turing", "Kurt Gödel", ""][rng.integers(4)],
            [None, 2018, 2019, 2020][rng.integers(4)],
            kind=list(Kind)[rng.integers(3)],
            doi=[None, None, f"10.18653/v1/d{rng.integers(150)}", f"10.48550/arxiv.{rng.integers(9)}"][rng.integers(4)],
            arxiv_id=f"1911.{rng.integers(10000, 10200)}" if rng.random() < 0.2 else None,
            pubmed_id=str(rng.integers(1, 300)) if rng.random() < 0.2 else None,
            pdf_sha1=f"{rng.integers(60):040x}" if rng.random() < 0.3 else None,
            journal=[None, None, "Blood", "J Biol Chem", "Journal of Biological Chemistry"][rng.integers(5)],
            volume=[None, "12", "14"][rng.integers(3)],
            issue=[None, "1"][rng.integers(2)],
            pages=[None, "1-9", "33", "e1754"][rng.integers(4)],
        )


def _same_by(at_work: Engine, records: pa.Table, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Clustering:
    """The clustering of records; the engine's is the same in every row, whatever fits here at once."""
    rules = {
        "preprint_prefixes": spec.Cluster().preprint_prefixes,
        "min_title_score": spec.Cluster().min_title_score,
        "max_preprint_years": spec.Cluster().max_preprint_years,
    }
    expected = cluster(records, **rules)  # type: ignore[arg-type]
    monkeypatch.setattr(spark_exchange, "SHARE", 2000)
    work = spark_exchange.Work(at_work, open_lake(str(folder / "lake")), "releases/r/_joins", folder)
    found = spark.clustered(work, records.to_batches(max_chunksize=3000), **rules, parent=Parent())  # type: ignore[arg-type]
    assert found.clusters.equals(expected.clusters)
    assert found.edges.equals(expected.edges)
    return expected


def _table(records: Iterable[Record]) -> pa.Table:
    return pa.Table.from_batches(batches(records), schema=RECORDS.schema)


@pytest.mark.slow
def test_whatever_is_joined_and_cut_is_the_same_by_an_engine(
    at_work: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _same_by(at_work, _table(_made_up(np.random.default_rng(5), 600)), tmp_path, monkeypatch)
    assert found.conflicts > 10, "there is something to cut"
    assert set(found.edges["reason"].to_pylist()) == {
        "declared", "doi", "arxiv_id", "pubmed_id", "pdf_sha1", "title", "place", "contradiction", "unrelated",
    }  # fmt: skip
    assert any(0.8 < strength < 1 for strength in found.edges["strength"].to_pylist()), "some titles are only similar"


@pytest.mark.slow
def test_thousands_of_records_have_the_same_clusters_by_an_engine(
    at_work: Engine, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Generated ones, and the bibliographies that entity resolution is measured on, in one corpus."""
    rows = [{**row, "truth": None} for row in cluster_records.rows(4000, Random(0))]
    generated = pa.Table.from_pylist(rows, schema=RECORDS.schema)
    real = _table([*bench.dblp_acm_records().values(), *bench.cora_records().values()])
    found = _same_by(at_work, pa.concat_tables([generated, real]), tmp_path, monkeypatch)
    assert found.edges.num_rows > 4000
