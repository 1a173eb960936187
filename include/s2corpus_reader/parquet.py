"""Bounded reads of the Parquet files of a snapshot, and writes that give equal bytes for equal rows. Needs the extra `arrow`."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus_reader.bounded import MAX_PARQUET_BYTES, TooLarge, can_have_rows, read_bytes
from s2corpus_reader.errors import is_damage

if TYPE_CHECKING:
    from s2corpus_reader.folder import Files

MAX_GROUP_BYTES = 1 << 30
"""Bytes of one row group; those of documents have 4 MiB of text."""
MAX_GROUP_ROWS = 1 << 24
_MIN_VALUE_BYTES, _MAX_EXPANSION = 64 << 20, 256
"""A file of n bytes may contain _MIN_VALUE_BYTES + n * _MAX_EXPANSION bytes of values."""
_SMALL_FILE, _SMALL_BATCH_ROWS = 4 << 20, 64
_BATCH_ROWS = 1024
_BUFFERED_ROWS = 1024
"""Rows buffered as Python objects while a file is written."""
ROW_GROUP_BYTES = 4 << 20
"""Bytes of text that end a row group. One look-up reads one row group, and the writer buffers one row group."""
Piece = tuple[str, int, int]
"""(source: `old` or `new`, first line or row, number of lines or rows)"""


def parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a writer with the settings of all Parquet files of a snapshot.

    Rows are sorted by the first column, and only that column has statistics. Statistics of all columns would enlarge
    the footer, which every look-up reads.
    """
    return pq.ParquetWriter(path, schema, compression="zstd", write_statistics=[schema.names[0]])


class ParquetFile:
    """A Parquet writer that ends row groups by size. The caller sorts the rows; a file without rows has no row group."""

    def __init__(self, path: Path, schema: pa.Schema, group_size: int | None = None) -> None:
        """Open the file. A row group ends when the `size`s passed to `write` sum up to `group_size` (default: `ROW_GROUP_BYTES`)."""
        self.path = path
        self._writer = parquet_writer(path, schema)
        self._schema = schema
        self._group_size = group_size or ROW_GROUP_BYTES
        self._rows: list[Mapping[str, Any]] = []
        self._tables: list[pa.Table] = []
        self._size = self.count = 0

    def write(self, row: Mapping[str, Any], size: int = 1) -> None:
        """Append a row; `size` counts toward the size of the row group."""
        self._rows.append(row)
        self._size += size
        self.count += 1
        if len(self._rows) == _BUFFERED_ROWS:
            self._convert_buffer()
        if self._size >= self._group_size:
            self._end_group()

    def _convert_buffer(self) -> None:
        """Convert the buffered rows to Arrow, which needs a tenth of the memory."""
        self._tables.append(pa.Table.from_pylist(self._rows, self._schema))
        self._rows = []

    def _end_group(self) -> None:
        self._convert_buffer()
        self._writer.write_table(pa.concat_tables(self._tables).combine_chunks())
        self._tables, self._size = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._rows, self._tables = [], []
        self.close()

    def close(self) -> None:
        """Write the last row group and close the file."""
        if self._rows or self._tables:
            self._end_group()
        self._writer.close()


def read_table(files: Files, path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file whose footer and rows are in proportion to its size.

    Raises:
        TooLarge: the footer or the rows are larger.
        ValueError, pa.ArrowException: the file is damaged.
    """
    with files.open(path) as stream:
        if stream.seekable():
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            try:
                return BoundedFile(stream, path, size).read(columns)
            except OSError as error:
                if is_damage(error):
                    raise ValueError(f"{path} is damaged: {error}") from None
                raise
    data = read_bytes(files, path, MAX_PARQUET_BYTES)
    return BoundedFile(pa.BufferReader(data), path, len(data)).read(columns)


def check_parquet(metadata: pq.FileMetaData, path: str, size: int) -> None:
    """Check a Parquet file's footer before its rows are read.

    Raises:
        TooLarge: it lists more rows or bytes than a file of `size` bytes of a snapshot can contain.
    """
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows, content = sum(group.num_rows for group in groups), sum(group.total_byte_size for group in groups)
    if not can_have_rows(size, max(rows, metadata.num_rows)):
        raise TooLarge(f"{path} has {rows:,} rows in {size:,} bytes")
    if content > _MIN_VALUE_BYTES + _MAX_EXPANSION * size:
        raise TooLarge(f"{path} has {content:,} bytes of columns in {size:,} bytes")


class BoundedFile:
    """An open Parquet file whose footer, rows and values are in proportion to its size.

    Raises:
        TooLarge: the footer lists more rows or bytes than a file of `size` bytes can contain.
    """

    def __init__(self, source: Any, path: str, size: int) -> None:
        self._file, self._path, self._size = pq.ParquetFile(source), path, size
        check_parquet(self._file.metadata, path, size)
        self.schema: pa.Schema = self._file.schema_arrow

    def batches(self, columns: Sequence[str] | None = None, rows: int = _BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Yield the rows, at most `rows` at a time.

        Raises:
            TooLarge: the values have more bytes than the size of the file allows.
        """
        total = 0
        # A footer does not show repeated values, so small files are read in small batches and measured.
        rows = min(rows, _SMALL_BATCH_ROWS) if self._size < _SMALL_FILE else rows
        for batch in self._file.iter_batches(rows, columns=list(columns) if columns else None):
            total += batch.nbytes
            if total > _MIN_VALUE_BYTES + _MAX_EXPANSION * self._size:
                raise TooLarge(f"{self._path} has more than {total:,} bytes of values in {self._size:,} bytes")
            yield batch

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows. Raises as `batches`."""
        schema = self.schema
        if columns:
            schema = pa.schema([schema.field(name) for name in columns], schema.metadata)
        return pa.Table.from_batches(self.batches(columns), schema)


class Rows:
    """The row numbers of pieces, in portions of a row group."""

    def __init__(self, pieces: Iterable[Piece], starts: Mapping[str, tuple[int, int]]) -> None:
        """`starts` contains, by source, the number of its first row and its number of rows."""
        self._pieces = iter(pieces)
        self._starts = starts
        self._left: list[range] = []

    def take(self, count: int) -> pa.Array:
        """Return the next `count` numbers.

        Raises:
            ValueError: a piece references rows that its source does not have, or too few rows remain.
        """
        taken, n_taken = self._left, sum(map(len, self._left))
        while n_taken < count:
            source, first, length = next(self._pieces, ("", 0, 0))
            start, rows = self._starts.get(source, (0, 0))
            if not length or not 0 <= first <= first + length <= rows:
                raise ValueError(f"there are no rows {first} to {first + length} of {source!r}")
            taken.append(range(start + first, start + first + length))
            n_taken += length
        last = taken.pop() if taken else range(0)
        end = len(last) - (n_taken - count)
        self._left = [last[end:]]
        numbers = array("q", chain.from_iterable([*taken, last[:end]]))
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
            if (
                pc.count_distinct(chosen).as_py() < count
            ):  # Without repeated rows, a group is not larger than the table.
                total = 0
                for first in range(0, count, _BATCH_ROWS):
                    total += table.take(chosen.slice(first, _BATCH_ROWS)).nbytes
                    if total > MAX_GROUP_BYTES:
                        raise TooLarge(f"a row group has more than {MAX_GROUP_BYTES:,} bytes")
            writer.write_table(table.take(chosen).combine_chunks(), row_group_size=count)
            if target.stat().st_size > size:
                raise TooLarge(f"the result has more than {size:,} bytes")


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
