"""Every DuckDB connection spills into a folder of its own: processes that spill at once do not read each other's pages."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.transient import explained

ROWS = 400_000


def spilled(scratch: Path, seed: int) -> tuple[int, int]:
    """Sort more than the memory holds; how many rows came, and how many lay out of order or were not what was put in."""
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
def test_four_processes_that_spill_at_once_get_their_own_rows(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(spilled, [tmp_path] * 4, range(4)))
    assert found == [(ROWS, 0)] * 4
    assert not list(tmp_path.iterdir()), "the folders go with their connections"


def test_too_little_memory_is_a_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match=r"^memory_mb is too little .* give the spec twice as much \(Out of Memory"),
        explained(),
        duckdb_connection(memory_mb=64, scratch=tmp_path) as connection,
    ):
        connection.execute("SELECT list(range) FROM range(20_000_000)").fetchall()
