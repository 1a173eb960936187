"""Bounded reads of snapshots that others made: no file, line or table takes more memory than its size allows.

A gzip of 4 MB can have a line of 4 GB, and a Parquet file of 1 MB billions of rows. Every reader of a snapshot or a delta uses these.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake

MAX_LINE_BYTES = 64 << 20
"""The longest line of a snapshot. A parse is made of at most 12 MB of TEI, and has a fraction of this."""
MAX_JSON_BYTES = 64 << 20
"""The largest manifest or statistics that is read; a manifest of 200,000 files has this size."""
MAX_PLAN_BYTES = 256 << 20
"""The largest plan of a delta: of ten million pieces."""
MAX_SMALL_BYTES = 1 << 16
"""The largest pointer or mark of a publication."""
MAX_PARQUET_BYTES = 4 << 30
"""The largest Parquet file that is read as a whole from S3."""
MAX_DEFLATE = 1032
"""Bytes that one byte of deflate can give at most (https://zlib.net/zlib_tech.html)."""
_ROWS_PER_BYTE, _FEW_ROWS = 4, 100_000
_TABLE_PER_BYTE, _SMALL_TABLE = 256, 64 << 20
_ROWS = 1024


class TooLarge(ValueError):
    """A file that gives more than its manifest or its size allows."""


def can_inflate_to(compressed: int, content: int) -> bool:
    """Return whether a gzip file of `compressed` bytes can have `content` bytes."""
    return content <= compressed * MAX_DEFLATE


def can_have_rows(size: int, rows: int) -> bool:
    """Return whether a Parquet file of a snapshot can have so many rows: each has an id, a key or a text of its own."""
    return rows <= _FEW_ROWS + _ROWS_PER_BYTE * size


def read_bytes(lake: Lake, key: str, limit: int = MAX_JSON_BYTES) -> bytes:
    """Read a file of at most `limit` bytes.

    Raises:
        TooLarge: it has more.
    """
    with lake.open(key) as stream:
        data = _read(stream, limit + 1)
    if len(data) > limit:
        raise TooLarge(f"{key} has more than {limit:,} bytes")
    return data


def read_object(lake: Lake, key: str, limit: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Read a file that is one JSON object.

    Raises:
        ValueError: it is not, or is too large.
    """
    value = orjson.loads(read_bytes(lake, key, limit))
    if not isinstance(value, dict):
        raise ValueError(f"{key} is not a JSON object")
    return value


def copy_file(lake: Lake, key: str, target: Path, size: int) -> None:
    """Copy a file of exactly `size` bytes; at most one byte more is read.

    Raises:
        TooLarge: it has more.
        ValueError: it has fewer.
    """
    with lake.open(key) as stream, target.open("wb") as file:
        left = size
        while left and (block := stream.read(min(left, 1 << 20))):
            file.write(block)
            left -= len(block)
        if left:
            raise ValueError(f"{key} has {size - left:,} bytes; {size:,} were expected")
        if stream.read(1):
            raise TooLarge(f"{key} has more than {size:,} bytes")


def gzip_lines(stream: BinaryIO, limit: int | None = None) -> Iterator[bytes]:
    """Yield the lines of a gzip file that has at most `limit` bytes of content.

    Raises:
        TooLarge: a line is longer than `MAX_LINE_BYTES`, or the content is longer than `limit`.
    """
    size = 0
    with gzip.GzipFile(fileobj=stream) as lines:
        while line := lines.readline(MAX_LINE_BYTES + 1):
            if len(line) > MAX_LINE_BYTES:
                raise TooLarge(f"a line has more than {MAX_LINE_BYTES:,} bytes")
            size += len(line)
            if limit is not None and size > limit:
                raise TooLarge(f"its content has more than {limit:,} bytes")
            yield line


def read_table(lake: Lake, path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file whose footer and rows are in proportion to its size.

    Raises:
        TooLarge: they are not.
        ValueError, pa.ArrowException: it is damaged.
    """
    lake.check_file(path)
    if lake.root.startswith("file:"):
        filesystem, root = lake.filesystem()
        with filesystem.open_input_file(f"{root}{path}") as source:
            try:
                return _table(source, path, source.size(), columns)
            except OSError as error:
                if error.errno is None:  # Arrow's word for bytes that are not Parquet; the disk's errors have a number
                    raise ValueError(f"{path} is damaged: {error}") from None
                raise
    data = read_bytes(lake, path, MAX_PARQUET_BYTES)
    return _table(pa.BufferReader(data), path, len(data), columns)


def check_parquet(file: pq.ParquetFile, path: str, size: int) -> None:
    """Check a Parquet file's footer before its rows are read.

    Raises:
        TooLarge: it names more rows or bytes than a file of `size` bytes of a snapshot has.
    """
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows, content = sum(group.num_rows for group in groups), sum(group.total_byte_size for group in groups)
    if not can_have_rows(size, max(rows, metadata.num_rows)):
        raise TooLarge(f"{path} has {rows:,} rows in {size:,} bytes")
    if content > _SMALL_TABLE + _TABLE_PER_BYTE * size:
        raise TooLarge(f"{path} has {content:,} bytes of columns in {size:,} bytes")


def _table(source: Any, path: str, size: int, columns: Sequence[str] | None) -> pa.Table:
    file = pq.ParquetFile(source)
    check_parquet(file, path, size)
    names = list(columns) if columns else None
    batches, total = [], 0
    for batch in file.iter_batches(
        _ROWS, columns=names
    ):  # a footer can hide how often a dictionary's value is repeated
        total += batch.nbytes
        if total > _SMALL_TABLE + _TABLE_PER_BYTE * size:
            raise TooLarge(f"{path} has more than {total:,} bytes of values in {size:,} bytes")
        batches.append(batch)
    schema = file.schema_arrow
    return pa.Table.from_batches(
        batches, pa.schema([schema.field(n) for n in names], schema.metadata) if names else schema
    )


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read until `size` bytes or the end: S3 may answer in smaller pieces."""
    blocks = bytearray()
    while len(blocks) < size and (block := stream.read(min(size - len(blocks), 1 << 20))):
        blocks += block
    return bytes(blocks)
