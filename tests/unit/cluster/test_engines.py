"""The same clusters by union-find, on DuckDB and on Spark."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from s2corpus import spec
from s2corpus.clustering.components import Fate, joined
from s2corpus.clustering.nodes import nodes_of
from s2corpus.engine import Engine, engine
from s2corpus.sources import Record, batches
from s2corpus.stages.components import _shares, components_by_engine, connected
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
    import pyarrow.parquet as pq

    chain = [(i, i + 1) for i in range(20)]
    star = [(1000, 1000 + i) for i in range(1, 50)]
    pairs = [(2001, 2000), (2003, 2002), (2002, 2003)]
    u, v = zip(*(chain[::-1] + star + pairs), strict=True)
    pq.write_table(pa.table({"u": pa.array(u, pa.int64()), "v": pa.array(v, pa.int64())}), tmp_path / "edges.parquet")
    found = connected(at_work, at_work.read([str(tmp_path / "edges.parquet")]), tmp_path)
    expected = dict.fromkeys(range(1, 21), 0) | {1000 + i: 1000 for i in range(1, 50)} | {2001: 2000, 2003: 2002}
    assert dict(zip(found["u"].to_pylist(), found["v"].to_pylist(), strict=True)) == expected


def test_clusters_are_those_of_union_find(at_work: Engine, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    stems = [
        "Deep parsing of scientific papers",
        "Deep parsing of scientific paper",
        "Random walks on graphs in the plane",
    ]
    records: list[Record] = []
    for i in range(600):
        doi = f"10.18653/v1/d{rng.integers(150)}" if rng.random() < 0.4 else None
        title = f"{stems[rng.integers(3)]} of {chr(97 + rng.integers(20)) * 4} and {chr(97 + rng.integers(3)) * 4}"
        year = [None, 2019, 2020][rng.integers(3)]
        records.append(
            record(
                f"s:{i:04d}",
                title,
                "Ada Lovelace",
                year,
                doi=doi,
                pubmed_id=str(rng.integers(1, 300)) if rng.random() < 0.3 else None,
            )
        )
    table = pa.Table.from_batches(batches(records), schema=RECORDS.schema)
    nodes = nodes_of(table, spec.Cluster().preprint_prefixes)
    edges, labels, fates = joined(nodes)
    assert np.count_nonzero(fates == Fate.CONFLICT) > 10, "there is something to cut"
    found, found_fates = components_by_engine(at_work, nodes, edges, 2, tmp_path)
    assert np.array_equal(found, labels) and np.array_equal(found_fates, fates)


def test_no_component_is_decided_in_two_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s2corpus.stages.components._SHARE", 3)
    of_edge = np.array([0, 0, 1, 1, 1, 1, 1, 2, 3, 4])
    shares = _shares(of_edge)
    assert np.concatenate([of_edge[share] for share in shares]).tolist() == of_edge.tolist()
    pieces = [set(of_edge[share]) for share in shares]
    assert sum(map(len, pieces)) == len(set().union(*pieces)) and len(shares) > 2
