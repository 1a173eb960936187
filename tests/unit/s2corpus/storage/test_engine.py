"""Named statements in SQL files make tables, which are dropped after their last use."""

import importlib.util
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from s2corpus.storage.engine import ALL, Engine, make_tables, open_duckdb
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.spark import open_spark
from s2corpus.storage.statements import Statement, read_statements
from tests.releases import ROOT

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


SQL = """-- Some rules. This line names no statement.

-- open: entries
-- without a paper
SELECT * FROM entries WHERE size <= $most;

-- found [find by a, b]: papers
SELECT *
FROM ($open) WHERE reason = $reason
ORDER BY a, b;
"""


def test_statements_have_names_functions_and_texts_of_earlier_ones(tmp_path: Path) -> None:
    (tmp_path / "some.sql").write_text(SQL)
    opened = "SELECT * FROM entries WHERE size <= 64"
    assert read_statements(tmp_path / "some.sql", most=64) == {
        "open": Statement(opened, None, ()),
        "found": Statement(f"SELECT *\nFROM ({opened}) WHERE reason = $reason\nORDER BY a, b", "find", ("a", "b")),
    }


@pytest.mark.parametrize(
    "path", sorted((ROOT / "include" / "s2corpus" / "stages").glob("*.sql")), ids=lambda path: path.name
)
def test_rows_of_a_function_are_ordered_by_their_own_columns(path: Path) -> None:
    """Spark orders them after it has distributed the rows of the statement by columns."""
    sqlglot = pytest.importorskip("sqlglot")
    ordered = {name: made.sql for name, made in read_statements(path).items() if made.by and made.by != ALL}
    for name, sql in ordered.items():
        tree = sqlglot.parse_one(sql.replace("$", ""), read="duckdb")
        columns = tree.args["order"].find_all(sqlglot.exp.Column) if tree.args.get("order") else ()
        assert {column.sql() for column in columns} <= set(tree.named_selects), name
