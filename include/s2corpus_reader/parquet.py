"""Bounded reads of the Parquet files of a snapshot, and writes that give equal bytes for equal rows. Needs the extra `arrow`."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus_reader.bounded import MAX_PARQUET_BYTES, TooLarge, can_have_rows, read_bytes

if TYPE_CHECKING:
    from s2corpus_reader.folder import Files

MAX_GROUP_BYTES = 1 << 30
"""Bytes of one row group; those of documents have 4 MiB of text."""
MAX_GROUP_ROWS = 1 << 24
_TABLE_PER_BYTE, _SMALL_TABLE = 256, 64 << 20
_SMALL_FILE, _FEW_AT_ONCE = 4 << 20, 64
_ROWS = 1024
_TAKEN = 1024
"""Rows that are measured at a time."""
Piece = tuple[str, int, int]
"""(`old` or `new`, first line or row, how many)"""


def parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a writer with the settings of all Parquet files of a snapshot.

    Rows are sorted by the first column, and only that column has statistics. Statistics of all columns would enlarge
    the footer, which every look-up reads.
    """
    return pq.ParquetWriter(path, schema, compression="zstd", write_statistics=[schema.names[0]])


def read_table(files: Files, path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file whose footer and rows are in proportion to its size.

    Raises:
        TooLarge: they are not.
        ValueError, pa.ArrowException: it is damaged.
    """
    with files.open(path) as stream:
        if stream.seekable():
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            try:
                return BoundedFile(stream, path, size).read(columns)
            except OSError as error:
                if error.errno is None:  # Arrow's error for bytes that are not Parquet; the disk's errors have a number
                    raise ValueError(f"{path} is damaged: {error}") from None
                raise
    data = read_bytes(files, path, MAX_PARQUET_BYTES)
    return BoundedFile(pa.BufferReader(data), path, len(data)).read(columns)


def check_parquet(metadata: pq.FileMetaData, path: str, size: int) -> None:
    """Check a Parquet file's footer before its rows are read.

    Raises:
        TooLarge: it names more rows or bytes than a file of `size` bytes of a snapshot has.
    """
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows, content = sum(group.num_rows for group in groups), sum(group.total_byte_size for group in groups)
    if not can_have_rows(size, max(rows, metadata.num_rows)):
        raise TooLarge(f"{path} has {rows:,} rows in {size:,} bytes")
    if content > _SMALL_TABLE + _TABLE_PER_BYTE * size:
        raise TooLarge(f"{path} has {content:,} bytes of columns in {size:,} bytes")


class BoundedFile:
    """An open Parquet file whose footer, rows and values are in proportion to its size.

    Raises:
        TooLarge: the footer names more rows or bytes than a file of `size` bytes has.
    """

    def __init__(self, source: Any, path: str, size: int) -> None:
        self._file, self._path, self._size = pq.ParquetFile(source), path, size
        check_parquet(self._file.metadata, path, size)
        self.schema: pa.Schema = self._file.schema_arrow

    def batches(self, columns: Sequence[str] | None = None, rows: int = _ROWS) -> Iterator[pa.RecordBatch]:
        """Yield the rows, at most `rows` at a time.

        Raises:
            TooLarge: the values have more bytes than the size of the file allows.
        """
        total = 0
        # A footer can hide how often a value is repeated: few rows of a small file are read before they are counted.
        rows = min(rows, _FEW_AT_ONCE) if self._size < _SMALL_FILE else rows
        for batch in self._file.iter_batches(rows, columns=list(columns) if columns else None):
            total += batch.nbytes
            if total > _SMALL_TABLE + _TABLE_PER_BYTE * self._size:
                raise TooLarge(f"{self._path} has more than {total:,} bytes of values in {self._size:,} bytes")
            yield batch

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows. Raises as `batches`."""
        schema = self.schema
        if columns:
            schema = pa.schema([schema.field(name) for name in columns], schema.metadata)
        return pa.Table.from_batches(self.batches(columns), schema)


class Rows:
    """Numbers of rows that pieces name, a row group at a time."""

    def __init__(self, pieces: Iterable[Piece], starts: Mapping[str, tuple[int, int]]) -> None:
        """`starts` has, by source, the number of its first row and how many rows it has."""
        self._pieces = iter(pieces)
        self._starts = starts
        self._left: list[range] = []

    def take(self, count: int) -> pa.Array:
        """Return the next `count` numbers.

        Raises:
            ValueError: a piece names rows that its source does not have, or there are not so many.
        """
        taken, have = self._left, sum(map(len, self._left))
        while have < count:
            source, first, length = next(self._pieces, ("", 0, 0))
            start, rows = self._starts.get(source, (0, 0))
            if not length or not 0 <= first <= first + length <= rows:
                raise ValueError(f"there are no rows {first} to {first + length} of {source!r}")
            taken.append(range(start + first, start + first + length))
            have += length
        extra = have - count
        last = taken.pop() if taken else range(0)
        found = [*taken, last[: len(last) - extra]]
        self._left = [last[len(last) - extra :]]
        numbers = array("q", chain.from_iterable(found))
        return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(numbers)])


def write_groups(table: pa.Table, rows: Rows, groups: Sequence[int], target: Path, size: int) -> None:
    """Write rows of a table in groups.

    Raises:
        TooLarge: a group is too large, or the file has more than `size` bytes.
    """
    with parquet_writer(target, table.schema) as writer:
        for count in groups:
            if count > MAX_GROUP_ROWS:
                raise TooLarge(f"a row group has {count:,} rows")
            chosen = rows.take(count)
            if pc.count_distinct(chosen).as_py() < count:  # else the table bounds the group
                total = 0
                for first in range(0, count, _TAKEN):
                    total += table.take(chosen.slice(first, _TAKEN)).nbytes
                    if total > MAX_GROUP_BYTES:
                        raise TooLarge(f"a row group has more than {MAX_GROUP_BYTES:,} bytes")
            writer.write_table(table.take(chosen).combine_chunks(), row_group_size=count)
            if target.stat().st_size > size:
                raise TooLarge(f"more than {size:,} bytes came out")


def restore_schema(table: pa.Table) -> pa.Table:
    """Return a table with the schema of its file: reading renames the items of lists and adds field numbers."""
    return table.cast(pa.schema([_restore_field(field) for field in table.schema], table.schema.metadata))


def _restore_field(field: pa.Field) -> pa.Field:
    metadata = {name: value for name, value in (field.metadata or {}).items() if name != b"PARQUET:field_id"}
    return pa.field(field.name, _restore_type(field.type), field.nullable, metadata or None)


def _restore_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_):
        return pa.list_(_restore_type(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([_restore_field(field) for field in type_])
    return type_
