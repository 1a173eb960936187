"""Statements make tables, which are dropped after their last use."""

import importlib.util
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from s2corpus.storage.engine import Engine, make_tables, open_duckdb
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.spark import open_spark

HAS_SPARK = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None
SPARK = [pytest.mark.long, pytest.mark.skipif(not HAS_SPARK, reason="needs PySpark (extra: spark) and Java")]
STATEMENTS = """\
-- numbers: two numbers
SELECT * FROM (VALUES (0), (1)) AS t(n);

-- doubled: their doubles
SELECT 2 * n AS n FROM numbers;

-- common: numbers and doubles
SELECT count(*) AS n FROM numbers JOIN doubled USING (n);
"""


@pytest.mark.parametrize("name", ["duckdb", pytest.param("local[1]", marks=SPARK)])
def test_a_table_is_dropped_after_its_last_use(name: str, tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text(STATEMENTS)
    lake = LocalLake(tmp_path / "lake")
    is_duckdb = name == "duckdb"
    opened: AbstractContextManager[Engine] = (
        open_duckdb(64, tmp_path) if is_duckdb else open_spark(name, 1024, lake, "tables")
    )
    with opened as engine:
        make_tables(engine, file, {}, ("numbers", "doubled", "numbers", "common"), ("common",))
        assert engine.fetch("SELECT n FROM common")["n"].to_pylist() == [1]
        for dropped in ("numbers", "doubled"):
            with pytest.raises(Exception, match=f"{dropped}|PATH_NOT_FOUND"):
                engine.fetch(f"SELECT n FROM {dropped}")
        assert is_duckdb or {entry.key.split("/")[1] for entry in lake.list("tables/")} == {"common"}
