"""Convert records to Arrow batches of the table `records`, and rows back to records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from itertools import islice
from typing import Any

import pyarrow as pa

from s2corpus.sources.record import DatedLicence, Editorial, EditorialNotice, OpenVersion, Record, RecordKind, WorkType
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
    for name in ("notices", "later_licences"):
        columns[name] = [[asdict(one) for one in found] or None for found in columns[name]]
    columns["delivery"] = [delivery] * len(records)
    columns["ready_at"] = [ready_at] * len(records)
    arrays = [pa.array(columns[field.name], field.type) for field in RECORDS.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=RECORDS.schema)


def read_record(row: Mapping[str, Any]) -> Record:
    """Return the record of one row (`pylist` form) of the table `records` or `members`."""
    values: dict[str, Any] = {name: row.get(name) for name in _FIELDS}
    values["kind"] = RecordKind(values["kind"])
    values["authors"] = tuple(map(_read_author, values["authors"] or ()))
    values["subjects"] = tuple(values["subjects"] or ())
    values["open_version"] = OpenVersion(values["open_version"]) if values["open_version"] else None
    values["type"] = WorkType(values["type"]) if values["type"] else None
    values["editorial"] = Editorial(values["editorial"]) if values["editorial"] else None
    values["notices"] = tuple(EditorialNotice(n["about"], Editorial(n["status"])) for n in values["notices"] or ())
    later = values["later_licences"] or ()
    values["later_licences"] = tuple(DatedLicence(one["licence"], one["start"]) for one in later)
    return Record(**values)


def _read_author(author: Mapping[str, Any]) -> Author:
    affiliations = tuple(Affiliation(one["name"], one["ror"]) for one in author.get("affiliations") or ())
    middle = tuple(author["middle"])
    return Author(author["first"], middle, author["last"], author["suffix"], affiliations, author.get("orcid"))


def apply_licences(rows: pa.Table, day: str) -> pa.Table:
    """Replace the licence of each record by the best one in force on a day (YYYY-MM-DD)."""
    affected = [at for at, found in enumerate(rows["later_licences"].is_valid().to_pylist()) if found]
    if not affected:
        return rows
    licences = rows["licence"].to_pylist()
    for at in affected:
        started = [one["licence"] for one in rows["later_licences"][at].as_py() if one["start"] <= day]
        licences[at] = started[0] if started else licences[at]
    return rows.set_column(rows.schema.get_field_index("licence"), "licence", pa.array(licences, pa.string()))
