"""One query, one result, on DuckDB and on Spark; parts are read from folders and from S3."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.errors import UserError
from s2corpus.local import Endpoints
from s2corpus.storage.engine import Engine, _s3_secret, chosen, engine
from s2corpus.storage.lake import open_lake

SPARK_MISSING = (
    "PySpark is not installed (extra: spark)"
    if importlib.util.find_spec("pyspark") is None
    else "Spark needs Java 17; there is none"
    if shutil.which("java") is None
    else ""
)
ENGINES = [
    "duckdb",
    pytest.param("local[2]", marks=[pytest.mark.slow, pytest.mark.skipif(bool(SPARK_MISSING), reason=SPARK_MISSING)]),
]
COUNTS = pa.schema([("venue", pa.string()), ("papers", pa.int64()), ("latest", pa.int32())])


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    rows = [("ACL", 2019), ("ACL", 2021), ("PLOS", 2020), (None, 2018), ("ACL", None)]
    paths = []
    for number, some in enumerate((rows[:2], rows[2:])):
        path = tmp_path / f"part-{number}.parquet"
        table = {
            "venue": pa.array([v for v, _ in some], pa.string()),
            "year": pa.array([y for _, y in some], pa.int32()),
        }
        pq.write_table(pa.table(table), path)
        paths.append(str(path))
    return paths


def _counts(at_work: Engine, uris: list[str]) -> list[dict[str, object]]:
    f = at_work.functions
    frame = at_work.read(uris).where(f.col("venue").isNotNull()).groupBy("venue")
    frame = frame.agg(f.count(f.lit(1)).alias("papers"), f.max("year").alias("latest"))
    table = at_work.arrow(frame, COUNTS)
    assert table.schema.equals(COUNTS)
    rows: list[dict[str, object]] = table.sort_by("venue").to_pylist()
    return rows


@pytest.mark.parametrize("name", ENGINES)
def test_one_query_one_result(name: str, parts: list[str], tmp_path: Path) -> None:
    for _ in range(2):  # a second session is not the first one, closed
        with engine(name, memory_mb=256, scratch=tmp_path) as at_work:
            assert _counts(at_work, parts) == [
                {"venue": "ACL", "papers": 3, "latest": 2021},
                {"venue": "PLOS", "papers": 1, "latest": 2020},
            ]


@pytest.mark.services
def test_parts_on_s3_are_read_like_files(
    services: Endpoints, parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)
    lake = open_lake(os.environ["S2CORPUS_LAKE"])
    for number, part in enumerate(parts):
        lake.upload(f"engine-test/part-{number}.parquet", Path(part))
    uris = [lake.uri(f"engine-test/part-{number}.parquet") for number in range(len(parts))]
    with engine("duckdb", memory_mb=256, scratch=tmp_path) as at_work:
        on_s3 = _counts(at_work, uris)
        assert on_s3 == _counts(at_work, parts)
    assert all(uri.startswith("s3://") for uri in uris)


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ENGINE", raising=False)
    assert chosen() == "duckdb"
    monkeypatch.setenv("ENGINE", "postgres")
    with pytest.raises(UserError, match=r"'postgres'.*duckdb"), engine(memory_mb=256, scratch=tmp_path):
        pass


@pytest.mark.parametrize(
    ("environment", "parts"),
    [
        ({}, ["REGION 'us-east-1'"]),
        ({"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "it's"}, ["KEY_ID 'k'", "SECRET 'it''s'"]),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:8333"},
            ["ENDPOINT '127.0.0.1:8333'", "URL_STYLE 'path'", "USE_SSL false"],
        ),
        ({"AWS_ENDPOINT_URL": "https://s3.example.org", "AWS_REGION": "eu"}, ["USE_SSL true", "REGION 'eu'"]),
    ],
)
def test_the_secret_says_what_the_environment_says(environment: dict[str, str], parts: list[str]) -> None:
    statement = _s3_secret(environment)
    assert all(part in statement for part in parts)
    assert ("ENDPOINT" in statement) is ("AWS_ENDPOINT_URL" in environment)
