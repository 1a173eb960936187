"""DuckDB connections for SQL over Parquet files of the lake, with bounded memory and a separate spill folder."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from fsspec.implementations.arrow import ArrowFSWrapper

_MAX_CACHED_FILE = 1 << 18
"""Maximum bytes of one cached file."""
_MAX_CACHE = 4 << 20
"""Maximum bytes of all cached files of one view. A query may use a dozen views."""


@contextmanager
def duckdb_connection(*, memory_mb: int, scratch: Path, threads: int = 2) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield an in-memory DuckDB that spills below `scratch`, never uses the network and keeps row order.

    Every connection has a separate temporary folder, removed at the end. Connections that share a folder read each other's pages,
    which causes crashes and wrong rows.
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
            connection.execute("SET enable_progress_bar = false")  # The bar would fill the logs of tasks.
            yield connection


def create_view(
    connection: duckdb.DuckDBPyConnection, name: str, paths: Sequence[str], filesystem: pa.fs.FileSystem
) -> None:
    """Create a view over Parquet files of one schema.

    DuckDB reads the files within its memory limit. An Arrow dataset would read ahead outside this limit.
    """
    protocol = f"lake-{name}"
    if not connection.filesystem_is_registered(protocol):
        connection.register_filesystem(_ImmutableFiles(filesystem, protocol))
    files = ", ".join("'" + f"{protocol}://{path}".replace("'", "''") + "'" for path in paths)
    connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS FROM read_parquet([{files}])')


class _ImmutableFiles(ArrowFSWrapper):  # type: ignore[misc]
    """Immutable files of an Arrow file system; paths are literal, so `*` is no wildcard.

    DuckDB requests the size, time and footer of a file for every query. Sizes and small files are cached, and immutable files need no
    time. Without the cache, a dozen checks of a small release would send hundreds of identical requests to S3.
    """

    cachable = False

    def __init__(self, filesystem: pa.fs.FileSystem, protocol: str) -> None:
        self._protocol = protocol
        self._infos: dict[str, dict[str, Any]] = {}
        self._cache: dict[str, bytes] = {}
        self._cached_bytes = 0
        super().__init__(filesystem)

    @property
    def protocol(self) -> str:
        """Protocol of the paths, before `://`."""
        return self._protocol

    def _strip_protocol(self, path: str) -> str:
        return path.removeprefix(f"{self._protocol}://")

    def info(self, path: str, **_: object) -> dict[str, Any]:
        """Return the kind and size of a file. The first request opens it; a small file is cached."""
        if path not in self._infos:
            with self.fs.open_input_file(self._strip_protocol(path)) as file:
                size = file.size()
                if size <= _MAX_CACHED_FILE and self._cached_bytes + size <= _MAX_CACHE:
                    self._cache[path] = file.read()
                    self._cached_bytes += size
            self._infos[path] = {"name": path, "size": size, "type": "file"}
        return self._infos[path]

    def modified(self, path: str) -> datetime:
        """Return one time for all files."""
        return datetime(2000, 1, 1, tzinfo=UTC)

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        self.info(path)
        return io.BytesIO(self._cache[path]) if path in self._cache else super()._open(path, mode, **kwargs)

    def glob(self, path: str, **_: object) -> list[str]:
        """Return the path itself."""
        return [path]
