"""Read a user's Parquet files, and write tables as Parquet or JSON Lines.

The size of a file bounds the rows and values that are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.tables.schema import Table
from s2corpus_reader.parquet import BoundedFile
from s2orc_parse.outputs import atomic_path, open_atomic

_ROWS_PER_BATCH = 50_000


@contextmanager
def open_parquet(path: Path) -> Iterator[BoundedFile]:
    """Open a Parquet file.

    Raises:
        ValueError, OSError: the file is missing or damaged, or has more rows or values than its size allows.
    """
    with path.open("rb") as file:
        yield BoundedFile(file, str(path), path.stat().st_size)


def read_parquet(path: Path) -> pa.Table:
    """Return the rows of a Parquet file. Raises as `open_parquet`."""
    with open_parquet(path) as file:
        return file.read()


def check_table(path: Path) -> None:
    """Check before the work starts that `write_table` can write the file.

    Raises:
        UserError: the name does not end in .parquet or .jsonl, or the folder is not writable.
    """
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UserError(f"{path}: cannot be written: {path.parent} is not a folder that you may write to")
    if path.suffix not in (".parquet", ".jsonl"):
        raise UserError(f"{path}: unsupported suffix: use .parquet or .jsonl")


@contextmanager
def open_table(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield a function that writes batches of rows as Parquet or JSON Lines, atomically. In JSON, a map becomes an object."""
    if path.suffix == ".parquet":
        with atomic_path(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            yield writer.write_batch
        return
    with open_atomic(path) as file:

        def write_lines(batch: pa.RecordBatch) -> None:
            lines = batch.to_pylist(maps_as_pydicts="strict")
            file.writelines(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)

        yield write_lines


def write_table(path: Path, rows: pa.Table) -> None:
    """Write a table as Parquet or JSON Lines, atomically. A map becomes a JSON object."""
    if path.suffix == ".parquet":
        with atomic_path(path) as temporary:
            pq.write_table(rows, temporary, compression="zstd")
        return
    with open_table(path, rows.schema) as write:
        for batch in rows.to_batches(max_chunksize=_ROWS_PER_BATCH):
            write(batch)


def write_rows(path: Path, table: Table[Any], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows with the schema of a table, sorted by its key, with `write_table`."""
    data = sorted(rows, key=lambda row: tuple(row[column] for column in table.key))
    write_table(path, pa.Table.from_pylist(data, schema=table.schema))
