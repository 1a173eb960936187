"""Named statements in SQL files."""

from pathlib import Path

import pytest

from s2corpus.storage.engine import ALL
from s2corpus.storage.statements import Statement, read_statements
from tests.releases import ROOT

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
