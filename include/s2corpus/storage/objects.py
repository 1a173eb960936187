"""Interface of the lake: objects on S3 or in a local folder.

Keys are relative (`releases/x/papers/part-00000.parquet`). Conditional writes prevent two writers from overwriting each other:
`put(key, data, expect=ABSENT)` or `expect=<etag read before>` raises `Conflict` if another writer was first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

from s2corpus.errors import UserError

if TYPE_CHECKING:
    import pyarrow.fs

ABSENT: Final = ""
"""ETag of a missing object: `expect=ABSENT` writes only if the object does not exist."""
NO_SIZES: Final[Mapping[str, int]] = MappingProxyType({})


class NotALakeFile(UserError, FileNotFoundError):
    """A key of a local lake that is a folder, a FIFO, a device or a socket, or a link that leads out of the lake."""


class DamagedPart(UserError):
    """A part or its metadata is damaged or missing."""


class Conflict(Exception):
    """A conditional write failed: the object has changed since the writer read it."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    """Object in a listing: key and size."""

    key: str
    bytes: int


class Lake(Protocol):
    """Operations of a lake. Keys never start with `/` and contain no `..`."""

    root: str

    def get(self, key: str) -> tuple[bytes, str]:
        """Return the bytes and the ETag of the object; raise `FileNotFoundError` if it does not exist."""

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """Write an object atomically and return its ETag; raise `Conflict` if its current ETag is not `expect`."""

    def etag(self, key: str) -> str:
        """Return the ETag of the object, or `ABSENT` if it does not exist."""

    def size(self, key: str) -> int | None:
        """Return the size of the object in bytes, or None if it does not exist."""

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        """Write a local file to an object atomically; with `move`, the file may be moved instead of copied."""

    def download(self, key: str, path: Path) -> None:
        """Write an object to a local file."""

    def open(self, key: str) -> BinaryIO:
        """Open the object as a stream of bytes; raise `FileNotFoundError` if it does not exist."""

    def open_ranges(self, key: str) -> BinaryIO:
        """Open the object for random access; raise `FileNotFoundError` if it does not exist."""

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """Yield the objects with keys that start with `prefix`, in key order."""

    def folders(self, prefix: str) -> Sequence[str]:
        """Return the sorted names of the folders directly under `prefix` (which ends in `/`)."""

    def delete(self, key: str) -> None:
        """Delete an object if it exists."""

    def uri(self, key: str) -> str:
        """Return the address of the object outside the lake: `s3://…` or a path."""

    def check_file(self, key: str) -> None:
        """Raise `NotALakeFile` if the key is no regular file in the lake. Call this before reading through `filesystem`."""

    def filesystem(self, sizes: Mapping[str, int] = NO_SIZES) -> tuple[pyarrow.fs.FileSystem, str]:
        """Return the lake as an Arrow file system, and the prefix of its keys there.

        A file of another size than in `sizes` raises `DamagedPart`: immediately in a folder; on S3, when it is opened.
        """


def check_size(uri: str, expected: int | None, found: int | None) -> None:
    """Raise `DamagedPart` if a file of a table does not have its committed size. None means no size, or no file."""
    if expected not in (None, found):
        what = "the file is missing" if found is None else f"found {found}"
        table = uri.rsplit("/", 2)[-2]
        raise DamagedPart(f"{uri}: committed with {expected} bytes, {what}: run the stage that writes {table} again")


def check_key(key: str) -> str:
    """Return the key if it is valid; raise ValueError otherwise."""
    if not key or key.startswith("/") or ".." in key.split("/") or "\0" in key:
        raise ValueError(f"{key!r} is not a key of the lake")
    return key
