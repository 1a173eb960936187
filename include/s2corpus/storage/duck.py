"""A DuckDB connection for SQL over Arrow datasets of the lake: bounded in memory, spilling to the scratch folder."""

from __future__ import annotations

from pathlib import Path

import duckdb


def duckdb_connection(*, memory_mb: int, scratch: Path, threads: int = 2) -> duckdb.DuckDBPyConnection:
    """An in-memory database that spills below `scratch`; it loads nothing from the network and keeps row order."""
    return duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{memory_mb}MB",
            "temp_directory": str(scratch / "duckdb"),
            "threads": threads,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        },
    )
