"""Objects of the lake, on S3 or in a local folder, behind the same few verbs.

Keys are relative (`releases/x/papers/part-00000.parquet`). A conditional write is how two writers never overwrite each other:
`put(key, data, expect=ABSENT)` or `expect=<etag read before>` raises `Conflict` where somebody else was first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol
from urllib.parse import unquote

from s2corpus.errors import UserError

if TYPE_CHECKING:
    import pyarrow.fs

ABSENT: Final = ""
"""Etag of an object that is not there: `expect=ABSENT` writes only what does not exist yet."""


class NotAFile(UserError, FileNotFoundError):
    """A key of a local lake that is a folder, a FIFO, a device or a socket, or a link that leads out of the lake."""


class Conflict(Exception):
    """A conditional write came second: the object is not what the writer had read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An object as a listing shows it."""

    key: str
    bytes: int


class Lake(Protocol):
    """What a lake can do. Keys never start with `/` and hold no `..`."""

    root: str

    def get(self, key: str) -> tuple[bytes, str]:
        """The object's bytes and its etag; `FileNotFoundError` where there is none."""

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """Write an object whole and return its etag; with `expect` only over that etag, else `Conflict`."""

    def etag(self, key: str) -> str:
        """The object's etag, `ABSENT` where there is none."""

    def size(self, key: str) -> int | None:
        """The object's size in bytes, None where there is none."""

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        """Write a local file's bytes to an object, whole or not at all; with `move` the file is given up, and may become the object."""

    def download(self, key: str, path: Path, *, link: bool = False) -> None:
        """Write an object's bytes to a local file; with `link` the file may be the object itself, so that nobody may write to it."""

    def open(self, key: str) -> BinaryIO:
        """The object as a stream of bytes; `FileNotFoundError` where there is none."""

    def list(self, prefix: str) -> Iterator[Entry]:
        """The objects whose keys start with `prefix`, in key order."""

    def folders(self, prefix: str) -> Sequence[str]:
        """Names of the folders directly under `prefix` (which ends in `/`), sorted."""

    def delete(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""

    def uri(self, key: str) -> str:
        """The object's address outside of the lake, `s3://…` or a path."""

    def check_file(self, key: str) -> None:
        """Raise `NotAFile` if opening the key by `filesystem` could block or leave the lake; objects of S3 never do."""

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """The lake as an Arrow file system, and the prefix that its keys have there."""


def open_lake(uri: str, *, confined: bool = False) -> Lake:
    """The lake at `s3://bucket[/prefix]`, `file:///path` (with `%20` for a space, as `Lake.root` says it) or a path.

    `confined` refuses to read through links that lead out of a local folder.

    Raises:
        UserError: no such bucket, no rights on it, or not an address of a lake.
    """
    from s2corpus.storage.local_lake import LocalLake
    from s2corpus.storage.s3_lake import S3Lake

    if uri.startswith("s3://"):
        return S3Lake(uri)
    path = unquote(uri.removeprefix("file://"), errors="surrogateescape") if uri.startswith("file:///") else uri
    if not path.strip() or "\0" in path or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", path):  # `s3:/bucket` too
        raise UserError(f"{uri!r} is not a lake: expected s3://bucket[/prefix], file:///folder or a path")
    return LocalLake(Path(path), confined=confined)


def lake_uri() -> str:
    """The lake that the environment names.

    Raises:
        UserError: S2CORPUS_LAKE is not set.
    """
    if not (uri := os.environ.get("S2CORPUS_LAKE")):
        raise UserError("no lake given: set S2CORPUS_LAKE to s3://bucket[/prefix] or a folder")
    return uri


def checked(key: str) -> str:
    """A key of the lake; anything else is an error of ours."""
    if not key or key.startswith("/") or ".." in key.split("/") or "\0" in key:
        raise ValueError(f"{key!r} is not a key of the lake")
    return key
