"""Statements make tables, which are dropped after their last use."""

from pathlib import Path

import duckdb
import pytest

from s2corpus.storage.engine import make_tables, open_duckdb

STATEMENTS = """\
-- numbers: two numbers
SELECT * FROM range(2) AS t(n);

-- doubled: their doubles
SELECT 2 * n AS n FROM numbers;

-- common: numbers and doubles
SELECT count(*) AS n FROM numbers JOIN doubled USING (n);
"""


def test_a_table_is_dropped_after_its_last_use(tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text(STATEMENTS)
    with open_duckdb(64, tmp_path) as engine:
        make_tables(engine, file, {}, ("numbers", "doubled", "numbers", "common"), ("common",))
        assert engine.fetch("SELECT n FROM common")["n"].to_pylist() == [1]
        for dropped in ("numbers", "doubled"):
            with pytest.raises(duckdb.CatalogException, match=dropped):
                engine.fetch(f"SELECT n FROM {dropped}")
