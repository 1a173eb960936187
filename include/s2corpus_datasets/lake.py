"""The files that datasets read and write: a snapshot's folder, and the lake that contains `datasets/`.

`s2corpus_reader.folder.Folder` reads snapshots. `LocalLake` writes to a folder; the pipeline's lake, which may be a bucket, has the same
methods.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

import orjson

from s2orc_parse.outputs import atomic_path, open_atomic

if TYPE_CHECKING:
    import pyarrow.fs


class SnapshotFiles(Protocol):
    """The files of a snapshot."""

    @property
    def root(self) -> str:
        """The address of the folder."""

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading from its start; raise `FileNotFoundError` if it does not exist."""

    def open_ranges(self, key: str) -> BinaryIO:
        """Open a file for random access; raise `FileNotFoundError` if it does not exist."""


class Entry(Protocol):
    """A file in a listing."""

    @property
    def key(self) -> str:
        """The path in the lake."""

    @property
    def bytes(self) -> int:
        """The size."""


class Lake(Protocol):
    """A folder or a bucket. Files are written atomically."""

    def get(self, key: str) -> tuple[bytes, str]:
        """Return the content of a file and a value that identifies it; raise `FileNotFoundError` if it does not exist."""

    def put(self, key: str, data: bytes) -> object:
        """Write a file."""

    def upload(self, key: str, path: Path) -> None:
        """Write a local file to a file of the lake."""

    def size(self, key: str) -> int | None:
        """Return the size of a file in bytes, or None if it does not exist."""

    def list(self, prefix: str) -> Iterator[Entry]:
        """Yield the files with keys that start with `prefix`, in key order."""

    def folders(self, prefix: str) -> Sequence[str]:
        """Return the sorted names of the folders directly under `prefix` (which ends in `/`)."""

    def uri(self, key: str) -> str:
        """Return the address of a file outside the lake."""

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """Return the lake as an Arrow file system, and the prefix of its keys there."""


def read_json(lake: Lake, key: str) -> Any | None:
    """Return the JSON value of a file, or None if it does not exist."""
    try:
        return orjson.loads(lake.get(key)[0])
    except FileNotFoundError:
        return None


class LocalEntry(NamedTuple):
    """A file in a listing: key and size."""

    key: str
    bytes: int


class LocalLake:
    """A lake in a local folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    def get(self, key: str) -> tuple[bytes, str]:
        """Implement `Lake.get`."""
        data = (self._folder / key).read_bytes()
        return data, hashlib.sha256(data).hexdigest()

    def put(self, key: str, data: bytes) -> None:
        """Implement `Lake.put`."""
        (self._folder / key).parent.mkdir(parents=True, exist_ok=True)
        with open_atomic(self._folder / key) as file:
            file.write(data)

    def upload(self, key: str, path: Path) -> None:
        """Implement `Lake.upload`."""
        (self._folder / key).parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(self._folder / key) as temporary:
            shutil.copyfile(path, temporary)

    def size(self, key: str) -> int | None:
        """Implement `Lake.size`."""
        path = self._folder / key
        return path.stat().st_size if path.is_file() else None

    def list(self, prefix: str) -> Iterator[LocalEntry]:
        """Implement `Lake.list`."""
        folder = (self._folder / prefix.rpartition("/")[0]).rglob("*")
        keys = sorted(path.relative_to(self._folder).as_posix() for path in folder if path.is_file())
        yield from (LocalEntry(key, (self._folder / key).stat().st_size) for key in keys if key.startswith(prefix))

    def folders(self, prefix: str) -> Sequence[str]:
        """Implement `Lake.folders`."""
        folder = self._folder / prefix
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def uri(self, key: str) -> str:
        """Implement `Lake.uri`."""
        return str(self._folder / key)

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """Implement `Lake.filesystem`."""
        import pyarrow.fs

        return pyarrow.fs.LocalFileSystem(), f"{self._folder}/"
