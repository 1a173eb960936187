"""Read tables of records from files: JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.errors import UserError
from s2corpus.sources import Dropped, Record, read
from s2corpus.sources.arrow import batches
from s2corpus.sources.jsonl import parse_line
from s2corpus.sources.record import RECORD_KEYS
from s2corpus.storage.parquet import read_parquet
from s2corpus.tables.intake import RECORDS


def read_latest(paths: Iterable[Path]) -> pa.Table:
    """Return the table `records` of several files with the latest row of each record_id: by ready_at, then by position."""
    records = pa.concat_tables([read_records(path) for path in paths])
    ready = pc.fill_null(records["ready_at"], "").to_pylist()
    ordered = sorted(range(records.num_rows), key=ready.__getitem__)
    ids = records["record_id"].to_pylist()
    latest = {ids[place]: place for place in ordered}
    return records.take(pa.array([latest[id_] for id_ in sorted(latest)], pa.int64()))


def read_records(path: Path) -> pa.Table:
    """Return the table `records` of a file; absent columns are null.

    Raises:
        UserError: the file is missing, has an unknown format or column, or an invalid line.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file: expected records as .parquet or .jsonl")
    if path.suffix == ".parquet":
        return _read_parquet(path)
    if not path.name.endswith((".jsonl", ".jsonl.gz", ".json")):
        raise UserError(f"{path}: expected a name that ends in .parquet, .jsonl or .jsonl.gz")
    return pa.Table.from_batches(batches(_require_records(path, read("jsonl", path))), schema=RECORDS.schema)


def _read_parquet(path: Path) -> pa.Table:
    try:
        table = read_parquet(path)
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: not readable as Parquet: {error}") from None
    if unknown := sorted(set(table.column_names) - RECORD_KEYS - set(RECORDS.schema.names)):
        raise UserError(f"{path}: unknown columns {', '.join(unknown)}; expected {', '.join(RECORDS.schema.names)}")
    known = RECORDS.schema
    if {"record_id", "source", "kind"} <= set(table.column_names) and all(
        name in known.names and table.schema.field(name).type in (known.field(name).type, pa.null())
        for name in table.column_names
    ):
        rows = table.num_rows
        columns = [
            table[f.name].cast(f.type) if f.name in table.column_names else pa.nulls(rows, f.type) for f in known
        ]
        return pa.table(columns, schema=known)
    found = _require_records(path, (parse_line(row, f"row {number}") for number, row in enumerate(_rows(table), 1)))
    return pa.Table.from_batches(batches(found), schema=known)


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _require_records(path: Path, entries: Iterator[Any]) -> Iterator[Record]:
    for entry in entries:
        if isinstance(entry, Dropped):
            raise UserError(f"{path}: {entry.where}: {entry.reason}{': ' if entry.detail else ''}{entry.detail}")
        if isinstance(entry, Record):
            yield entry
