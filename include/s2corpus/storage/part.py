"""Write one part: a Parquet file of rows of a table, with counts for the commit. Count the rows that a task writes, for its log."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.storage.lake import Lake
from s2corpus.tables.schema import Table

_GROUP_BYTES = 8 << 20
"""Uncompressed size of a row group. A reader has one in memory; export reads all buckets of a file in parallel."""
_GROUP_ROWS = 65_536
_COUNTS: ContextVar[Counter[str] | None] = ContextVar("written", default=None)
FORMAT = 1
"""Format of Parquet parts of tables and stores, in their key-value metadata (docs/compatibility.md)."""
FORMAT_KEY = b"s2corpus_format"
Chunk: TypeAlias = pa.Table | pa.RecordBatch | Sequence[Mapping[str, object]]
Rows: TypeAlias = Chunk | Iterable[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a table: its name, size, checksum and counts."""

    name: str
    rows: int
    bytes: int
    sha256: str
    counts: Mapping[str, list[Any]] | None = None
    """counted columns, joined by commas → [values, number of rows] for each combination of values"""


def as_table(table: Table, rows: Chunk) -> pa.Table:
    """Return rows as an Arrow table of the schema."""
    if isinstance(rows, Sequence):
        return pa.Table.from_pylist(rows, schema=table.schema)
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    return rows.select(table.schema.names).cast(table.schema)


def upload(lake: Lake, key: str, table: Table, rows: Rows, group_bytes: int = _GROUP_BYTES) -> Part:
    """Upload rows as a Parquet file; `{sha256}` in `key` is replaced by the checksum."""
    count = 0
    counts: dict[tuple[str, ...], Counter[tuple[Any, ...]]] = {columns: Counter() for columns in table.counted}
    with tempfile.TemporaryDirectory(prefix="s2corpus-part-") as scratch:
        path = Path(scratch) / "part.parquet"
        dictionary = [name for name in table.schema.names if name not in table.plain] if table.plain else True
        schema = table.schema.with_metadata({FORMAT_KEY: str(FORMAT)})
        with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=dictionary) as writer:
            is_single = isinstance(rows, list | pa.Table | pa.RecordBatch)
            for chunk in [rows] if is_single else rows:
                data = as_table(table, chunk)
                data.validate()
                _check_nulls(table, data)
                count += data.num_rows
                for columns, counter in counts.items():
                    grouped = data.group_by(columns).aggregate([([], "count_all")])
                    for *values, times in zip(*(column.to_pylist() for column in grouped.columns), strict=True):
                        counter[tuple(values)] += times
                fitting_rows = group_bytes * data.num_rows // max(data.nbytes, 1)
                writer.write_table(data, row_group_size=max(1, min(_GROUP_ROWS, fitting_rows)))
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        key = key.replace("{sha256}", sha256[:12])
        listed = {
            ",".join(columns): sorted(([[*values], n] for values, n in counter.items()), key=str)
            for columns, counter in counts.items()
        }
        part = Part(key.rpartition("/")[2], count, path.stat().st_size, sha256, listed)
        lake.upload(key, path)
    return part


def _check_nulls(table: Table, data: pa.Table) -> None:
    for column in table.columns:
        if not column.nullable and data[column.name].null_count:
            raise pa.ArrowInvalid(
                f"table {table.name}: column {column.name} is null in {data[column.name].null_count} rows"
            )


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Yield the number of rows and files by name that are written in this context."""
    counts = Counter[str]()
    token = _COUNTS.set(counts)
    try:
        yield counts
    finally:
        _COUNTS.reset(token)


def count(name: str, n: int) -> None:
    """Add `n` written rows of a table, or files, to the counts."""
    if (counts := _COUNTS.get()) is not None:
        counts[name] += n


def format_counts(counts: Counter[str]) -> str:
    """Return the counts as text: `120 links, 60 contexts`."""
    return ", ".join(f"{n:,} {name}" for name, n in sorted(counts.items()) if n) or "no rows"
