"""A DuckDB connection for SQL over Parquet files of the lake: bounded in memory, spilling to a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
from fsspec.implementations.arrow import ArrowFSWrapper


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
            "enable_external_file_cache": "false",
        }
        with duckdb.connect(":memory:", config=settings) as connection:
            connection.execute("SET enable_progress_bar = false")  # it is drawn into tasks' logs
            yield connection


def view(connection: duckdb.DuckDBPyConnection, name: str, paths: Sequence[str], filesystem: pa.fs.FileSystem) -> None:
    """Parquet files of one schema as a view, read within the connection's memory: an Arrow dataset reads ahead outside of it."""
    protocol = f"lake-{name}"
    if not connection.filesystem_is_registered(protocol):
        connection.register_filesystem(_Files(filesystem, protocol))
    files = ", ".join("'" + f"{protocol}://{path}".replace("'", "''") + "'" for path in paths)
    connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS FROM read_parquet([{files}])')


class _Files(ArrowFSWrapper):  # type: ignore[misc]
    """The files of an Arrow file system; a star in a path is a star."""

    cachable = False

    def __init__(self, filesystem: pa.fs.FileSystem, protocol: str) -> None:
        self._protocol = protocol
        super().__init__(filesystem)

    @property
    def protocol(self) -> str:
        """What its paths begin with, before `://`."""
        return self._protocol

    def _strip_protocol(self, path: str) -> str:
        return path.removeprefix(f"{self._protocol}://")

    def glob(self, path: str, **_: object) -> list[str]:
        """The path itself."""
        return [path]
