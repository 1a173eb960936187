"""Bounded reads of untrusted snapshots: no file, line or table takes more memory than its size allows.

A gzip of 4 MB can have a line of 4 GB, and a Parquet file of 1 MB billions of rows. Every reader of a snapshot or a delta uses these.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import orjson

if TYPE_CHECKING:
    from s2corpus_reader.folder import Files

MAX_LINE_BYTES = 64 << 20
"""Maximum length of a line of a snapshot. A parse comes from at most 12 MB of TEI and is much smaller."""
MAX_JSON_BYTES = 64 << 20
"""Maximum size of a manifest or of statistics; a manifest of 200,000 files has this size."""
MAX_PLAN_BYTES = 256 << 20
"""Maximum size of a delta's plan: about ten million pieces."""
MAX_SMALL_BYTES = 1 << 16
"""Maximum size of a pointer or of a publication mark."""
MAX_PARQUET_BYTES = 4 << 30
"""Maximum size of a Parquet file that is read completely from a server."""
MAX_DEFLATE = 1032
"""Maximum number of bytes from one byte of deflate (https://zlib.net/zlib_tech.html)."""
_ROWS_PER_BYTE, _FEW_ROWS = 4, 100_000


class TooLarge(ValueError):
    """A file contains more data than its manifest or size allows."""


def can_inflate_to(compressed: int, content: int) -> bool:
    """Return whether a gzip file of `compressed` bytes can have `content` bytes."""
    return content <= compressed * MAX_DEFLATE


def can_have_rows(size: int, rows: int) -> bool:
    """Return whether a Parquet file of `size` bytes can contain `rows` rows.

    Rows of a snapshot have distinct ids, keys or texts, so they cannot compress to nothing.
    """
    return rows <= _FEW_ROWS + _ROWS_PER_BYTE * size


def read_bytes(files: Files, key: str, limit: int = MAX_JSON_BYTES) -> bytes:
    """Read a file of at most `limit` bytes.

    Raises:
        TooLarge: the file has more bytes.
    """
    with files.open(key) as stream:
        data = _read(stream, limit + 1)
    if len(data) > limit:
        raise TooLarge(f"{key} has more than {limit:,} bytes")
    return data


def read_object(files: Files, key: str, limit: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Read a file that is one JSON object.

    Raises:
        ValueError: the file is too large or no JSON object.
    """
    value = orjson.loads(read_bytes(files, key, limit))
    if not isinstance(value, dict):
        raise ValueError(f"{key} is not a JSON object")
    return value


def copy_file(files: Files, key: str, target: Path, size: int) -> None:
    """Copy a file of exactly `size` bytes; at most one byte more is read.

    Raises:
        TooLarge: the file has more bytes.
        ValueError: the file has fewer bytes.
    """
    with files.open(key) as stream, target.open("wb") as file:
        left = size
        while left and (block := stream.read(min(left, 1 << 20))):
            file.write(block)
            left -= len(block)
        if left:
            raise ValueError(f"{key} has {size - left:,} bytes; {size:,} were expected")
        if stream.read(1):
            raise TooLarge(f"{key} has more than {size:,} bytes")


def gzip_lines(stream: BinaryIO, limit: int | None = None, size: int | None = None) -> Iterator[bytes]:
    """Yield the lines of a gzip file of at most `size` bytes that has at most `limit` bytes of content.

    Raises:
        TooLarge: a line is longer than `MAX_LINE_BYTES`, the content is longer than `limit`, or the file longer than `size`.
    """
    content = 0
    source = stream if size is None else cast(BinaryIO, _Limited(stream, size))
    with gzip.GzipFile(fileobj=source) as lines:
        while line := lines.readline(MAX_LINE_BYTES + 1):
            if len(line) > MAX_LINE_BYTES:
                raise TooLarge(f"a line has more than {MAX_LINE_BYTES:,} bytes")
            content += len(line)
            if limit is not None and content > limit:
                raise TooLarge(f"the content of the file has more than {limit:,} bytes")
            yield line


class _Limited(io.RawIOBase):
    """A stream of at most `size` bytes: a server may send empty gzip members forever."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._size, self._left = stream, size, size + 1

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        if not self._left:
            raise TooLarge(f"the file has more than {self._size:,} bytes")
        return data


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read until `size` bytes or the end: a server may send smaller blocks."""
    blocks = bytearray()
    while len(blocks) < size and (block := stream.read(min(size - len(blocks), 1 << 20))):
        blocks += block
    return bytes(blocks)
