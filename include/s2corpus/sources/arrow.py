"""Convert records to Arrow batches of the table `records`, rows back to records, and files to tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.errors import UserError
from s2corpus.sources import Dropped, read
from s2corpus.sources.documents import Document
from s2corpus.sources.jsonl import parse_line
from s2corpus.sources.record import (
    RECORD_KEYS,
    DatedLicense,
    Editorial,
    EditorialNotice,
    OpenVersion,
    Record,
    RecordKind,
    WorkType,
)
from s2corpus.storage.parquet import read_parquet
from s2corpus.tables.intake import RECORDS
from s2orc_parse.bibliography.author import Affiliation, Author

_FIELDS = tuple(field.name for field in fields(Record))


def batches(
    records: Iterable[Record], *, delivery: str | None = None, ready_at: str | None = None, rows: int = 10_000
) -> Iterator[pa.RecordBatch]:
    """Yield batches of the table `records` with `rows` rows each, in the given order."""
    remaining = iter(records)
    while chunk := list(islice(remaining, rows)):
        yield _batch(chunk, delivery, ready_at)


def _batch(records: list[Record], delivery: str | None, ready_at: str | None) -> pa.RecordBatch:
    columns: dict[str, list[Any]] = {name: [getattr(record, name) for record in records] for name in _FIELDS}
    columns["authors"] = [[author.as_dict() for author in authors] for authors in columns["authors"]]
    for name in ("notices", "later_licenses"):
        columns[name] = [[asdict(one) for one in found] or None for found in columns[name]]
    columns["delivery"] = [delivery] * len(records)
    columns["ready_at"] = [ready_at] * len(records)
    arrays = [pa.array(columns[field.name], field.type) for field in RECORDS.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=RECORDS.schema)


def read_record(row: Mapping[str, Any]) -> Record:
    """Return the record of one row (`pylist` form) of the table `records` or `members`."""
    values: dict[str, Any] = {name: row.get(name) for name in _FIELDS}
    values["kind"] = RecordKind(values["kind"])
    values["authors"] = tuple(map(read_author, values["authors"] or ()))
    values |= {name: tuple(values[name] or ()) for name in ("issns", "subjects")}
    values["open_version"] = OpenVersion(values["open_version"]) if values["open_version"] else None
    values["type"] = WorkType(values["type"]) if values["type"] else None
    values["document"] = Document(values["document"]) if values["document"] else None
    values["editorial"] = Editorial(values["editorial"]) if values["editorial"] else None
    values["notices"] = tuple(EditorialNotice(n["about"], Editorial(n["status"])) for n in values["notices"] or ())
    later = values["later_licenses"] or ()
    values["later_licenses"] = tuple(DatedLicense(one["license"], one["start"]) for one in later)
    return Record(**values)


def read_author(author: Mapping[str, Any]) -> Author:
    """Return the author of one item of the column `authors`."""
    affiliations = tuple(Affiliation(one["name"], one["ror"]) for one in author.get("affiliations") or ())
    middle = tuple(author["middle"])
    return Author(author["first"], middle, author["last"], author["suffix"], affiliations, author.get("orcid"))


def apply_licenses(rows: pa.Table, day: str) -> pa.Table:
    """Replace the license of each record by the best one in force on a day (YYYY-MM-DD)."""
    affected = [at for at, found in enumerate(rows["later_licenses"].is_valid().to_pylist()) if found]
    if not affected:
        return rows
    licenses = rows["license"].to_pylist()
    for at in affected:
        started = [one["license"] for one in rows["later_licenses"][at].as_py() if one["start"] <= day]
        licenses[at] = started[0] if started else licenses[at]
    return rows.set_column(rows.schema.get_field_index("license"), "license", pa.array(licenses, pa.string()))


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
    types = {field.name: (field.type, pa.null()) for field in known}
    is_table_of_records = all(field.type in types.get(field.name, ()) for field in table.schema)
    if is_table_of_records and {"record_id", "source", "kind"} <= set(table.column_names):
        absent = pa.nulls(table.num_rows)
        columns = [(table[f.name] if f.name in table.column_names else absent).cast(f.type) for f in known]
        return pa.table(columns, schema=known)
    rows = (row for batch in table.to_batches(max_chunksize=10_000) for row in batch.to_pylist())
    found = _require_records(path, (parse_line(row, f"row {number}") for number, row in enumerate(rows, 1)))
    return pa.Table.from_batches(batches(found), schema=known)


def _require_records(path: Path, entries: Iterator[Any]) -> Iterator[Record]:
    for entry in entries:
        if isinstance(entry, Dropped):
            raise UserError(f"{path}: {entry.where}: {entry.reason}: {entry.detail or entry.reason.meaning}")
        if isinstance(entry, Record):
            yield entry
