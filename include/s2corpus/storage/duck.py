"""A DuckDB connection for SQL over Parquet files of the lake: bounded in memory, spilling to a folder of its own."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from fsspec.implementations.arrow import ArrowFSWrapper

# Bytes of a file that is kept, and of all that the view of one table keeps: a dozen tables may be seen at once.
_SMALL, _KEPT = 1 << 18, 4 << 20


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
    """The files of an Arrow file system, none of which changes meanwhile; a star in a path is a star.

    DuckDB asks for a file's size and time each time a query names it, and reads its footer: what was answered once is kept, and small
    files are, else a dozen checks of a small release ask S3 for the same hundreds of times.
    """

    cachable = False

    def __init__(self, filesystem: pa.fs.FileSystem, protocol: str) -> None:
        self._protocol = protocol
        self._infos: dict[str, dict[str, Any]] = {}
        self._small: dict[str, bytes] = {}
        self._kept = 0
        super().__init__(filesystem)

    @property
    def protocol(self) -> str:
        """What its paths begin with, before `://`."""
        return self._protocol

    def _strip_protocol(self, path: str) -> str:
        return path.removeprefix(f"{self._protocol}://")

    def info(self, path: str, **_: object) -> dict[str, Any]:
        """Kind, size and time of change of a file, asked for once."""
        if path not in self._infos:
            self._infos[path] = super().info(path)
        return self._infos[path]

    def modified(self, path: str) -> datetime:
        """When a file was changed."""
        changed: datetime = self.info(path)["mtime"]
        return changed

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        size = self.info(path)["size"]
        if path not in self._small and size <= _SMALL and self._kept + size <= _KEPT:
            with super()._open(path, mode, **kwargs) as file:
                self._small[path] = file.read()
            self._kept += size
        return io.BytesIO(self._small[path]) if path in self._small else super()._open(path, mode, **kwargs)

    def glob(self, path: str, **_: object) -> list[str]:
        """The path itself."""
        return [path]
