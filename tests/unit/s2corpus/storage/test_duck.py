"""Every DuckDB connection spills to a separate folder, so parallel processes never read each other's pages."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.transient import convert_errors

ROWS = 400_000


def sort_many_rows(scratch: Path, seed: int) -> tuple[int, int]:
    """Sort more rows than fit in memory. Return the number of rows and the number of wrong or unsorted rows."""
    with duckdb_connection(memory_mb=128, scratch=scratch) as connection:
        reader = connection.execute(
            "SELECT id, text FROM (SELECT hash(range + ?) AS id, repeat(md5((range + ?)::VARCHAR), 8) AS text, "
            "md5((range + ?)::VARCHAR) AS one FROM range(?)) ORDER BY text, id",
            [seed, seed, seed, ROWS],
        ).to_arrow_reader(10_000)
        rows = wrong = 0
        before = ""
        for batch in reader:
            for text in batch["text"].to_pylist():
                wrong += text < before or text != text[:32] * 8
                before = text
            rows += batch.num_rows
        return rows, wrong


@pytest.mark.slow
def test_concurrent_processes_spill_to_separate_folders(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(sort_many_rows, [tmp_path] * 4, range(4)))
    assert found == [(ROWS, 0)] * 4
    assert not list(tmp_path.iterdir()), "the folders go with their connections"


def test_too_little_memory_gives_a_sentence_with_advice(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match=r"^memory_mb is too small .* double it in the spec \(Out of Memory"),
        convert_errors(),
        duckdb_connection(memory_mb=64, scratch=tmp_path) as connection,
    ):
        connection.execute("SELECT list(range) FROM range(20_000_000)").fetchall()


def test_connection_has_its_limits(tmp_path: Path) -> None:
    with duckdb_connection(memory_mb=64, scratch=tmp_path) as connection:
        names = (
            "memory_limit",
            "threads",
            "autoinstall_known_extensions",
            "autoload_known_extensions",
            "enable_progress_bar",
        )
        (found,) = connection.execute(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}").fetchall()
    assert found == ("61.0 MiB", 2, False, False, False)
