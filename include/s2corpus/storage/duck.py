"""A DuckDB connection for SQL over Arrow datasets of the lake: bounded in memory, spilling to a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb


@contextmanager
def duckdb_connection(*, memory_mb: int, scratch: Path, threads: int = 2) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory database that spills below `scratch`; it loads nothing from the network and keeps row order.

    Every connection has a temporary folder of its own, removed with it: two connections that share one read each
    other's pages (segmentation faults, vectors of nonsense sizes, possibly wrong rows).
    """
    with tempfile.TemporaryDirectory(prefix="s2corpus-duckdb-", dir=scratch, ignore_cleanup_errors=True) as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{memory_mb}MB",
            "temp_directory": folder,
            "threads": threads,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        with duckdb.connect(":memory:", config=settings) as connection:
            yield connection
