"""What others read a snapshot with: pandas, DuckDB, Hugging Face datasets, MLCommons Croissant."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest

from s2corpus.snapshot.pointer import publish
from tests.unit.snapshot.test_export import release


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot's folder."""
    run = release(tmp_path_factory.mktemp("readers"))
    publish(run.lake, run.snapshot_id)
    return Path(run.lake.uri(f"snapshots/{run.snapshot_id}"))


@pytest.fixture(scope="module")
def expected(folder: Path) -> set[str]:
    """Ids of s2orc/train."""
    index = pq.read_table(folder / "index.parquet").to_pylist()
    found = {row["id"] for row in index if (row["set"], row["split"]) == ("s2orc", "train")}
    assert len(found) > 20
    return found


def test_pandas(folder: Path, expected: set[str]) -> None:
    files = sorted((folder / "v2/s2orc/train").glob("*.jsonl.gz"))
    frames = [pd.read_json(file, lines=True, dtype=False) for file in files]
    assert {id_ for frame in frames if len(frame) for id_ in frame["id"]} == expected


def test_duckdb(folder: Path, expected: set[str]) -> None:
    found = duckdb.sql(f"SELECT id, length(text) FROM '{folder}/v2/s2orc/train/*.jsonl.gz'").fetchall()
    assert {id_ for id_, _ in found} == expected
    words = duckdb.sql(f"SELECT sum(words) FROM '{folder}/index.parquet'").fetchone()
    stats = json.loads((folder / "stats.json").read_bytes())
    assert words == (sum(counted["words"] for splits in stats["sets"].values() for counted in splits.values()),)
    graph = duckdb.sql(f"SELECT count(*) FROM '{folder}/graph/links/*.parquet' WHERE cited_paper_id IS NULL").fetchone()
    assert graph == (0,)


def test_datasets(folder: Path, expected: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    files = str(folder / "v2/s2orc/train/*.jsonl.gz")
    loaded = datasets.load_dataset("json", data_files=files, split="train", cache_dir=str(tmp_path))
    assert set(loaded["id"]) == expected


def test_croissant(folder: Path, expected: set[str]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not dataset.metadata.issues.errors
    assert not dataset.metadata.issues.warnings
    records = list(dataset.records("s2orc-train"))
    assert {record["s2orc-train/id"].decode() for record in records} == expected
