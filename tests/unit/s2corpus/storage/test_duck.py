"""Every DuckDB connection spills to a separate folder, so parallel processes never read each other's pages."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.local import LocalFileSystem

from s2corpus.errors import UserError
from s2corpus.storage.duck import create_view, duckdb_connection
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


class Asked(LocalFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A file system that counts how often each file is opened."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.requests: Counter[str] = Counter()

    def _open(self, path: str, *args: object, **kwargs: object) -> object:
        self.requests[f"open {Path(path).name}"] += 1
        return super()._open(path, *args, **kwargs)


@pytest.mark.parametrize(
    ("largest", "together", "cached"), [(0, 0, (True, True)), (-1, 0, (False, False)), (0, -1, (True, False))],
    ids=["small", "large", "too many"],
)  # fmt: skip
def test_small_files_are_read_once_for_several_queries(
    largest: int, together: int, cached: tuple[bool, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files are literal: `*` is no wildcard, and `'` ends no text."""
    names = ("a*.parquet", "b'.parquet", "ab.parquet")
    for name in names:
        pq.write_table(pa.table({"number": range(1000)}), tmp_path / name)
    size = (tmp_path / names[0]).stat().st_size
    monkeypatch.setattr("s2corpus.storage.duck._MAX_CACHED_FILE", size + largest)
    monkeypatch.setattr("s2corpus.storage.duck._MAX_CACHE", 2 * size + together)
    files = Asked()
    with duckdb_connection(memory_mb=128, scratch=tmp_path, threads=1) as connection:
        lake = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(files))
        for _ in range(2):
            create_view(connection, "numbers", [str(tmp_path / name) for name in names[:2]], lake)
        for least in range(10):
            found = connection.execute("SELECT count(*) FROM numbers WHERE number >= ?", [least]).fetchall()
            assert found == [(2 * (1000 - least),)]
    opened = [files.requests[f"open {name}"] for name in names]
    assert [count <= 2 for count in opened[:2]] == list(cached), "two threads may both be the first"
    assert opened[2] == 0
    assert all(count >= 10 for count, once in zip(opened, cached, strict=False) if not once)


def test_connection_has_its_limits(tmp_path: Path) -> None:
    with duckdb_connection(memory_mb=64, scratch=tmp_path) as connection:
        names = (
            "memory_limit", "threads", "autoinstall_known_extensions", "autoload_known_extensions", "enable_external_file_cache",
            "enable_progress_bar", "preserve_insertion_order",
        )  # fmt: skip
        (found,) = connection.execute(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}").fetchall()
    assert found == ("61.0 MiB", 2, False, False, False, False, True)
