"""Named statements in SQL files."""

from pathlib import Path

from s2corpus.storage.statements import Statement, read_statements

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
