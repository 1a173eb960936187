"""Read documents from files: JSON lines or Parquet, one document per line or row."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from s2corpus.errors import UserError
from s2corpus.storage.parquet import open_parquet
from s2corpus.text.documents import CleanedDocument
from s2corpus.text.layout import Unit
from s2corpus.text.splits import date_span

_TYPES = {
    "id": str, "sha1": str, "title": str, "abstract": str, "date": str, "year": int, "body": list, "sources": list, "open_access": bool,
}  # fmt: skip
MAX_LINE = 64 << 20
"""maximum number of bytes in a line"""
_BATCH_ROWS = 256
RawRow = tuple[str, bytes | dict[str, Any]]
"""the location of a row, and the row; lines of JSON files are bytes"""


def read_documents(path: Path) -> Iterator[CleanedDocument]:
    """Yield the documents of a file.

    Raises:
        UserError: the file is missing or invalid.
    """
    seen: set[str] = set()
    for raw in iterate_rows(path):
        _, document = parse_row(raw)
        check_unique_id(document, raw[0], seen)
        yield document


def parse_row(raw: RawRow) -> tuple[Mapping[str, Any], CleanedDocument]:
    """Return the row and document of an item from `iterate_rows`."""
    where, row = raw
    if isinstance(row, bytes):
        try:
            row = orjson.loads(row)
        except orjson.JSONDecodeError as error:
            raise UserError(f"{where}: invalid JSON ({error}); expected one JSON object per line") from None
        if not isinstance(row, dict):
            raise UserError(f"{where}: got {type(row).__name__}; expected one JSON object per line")
    return row, read_document(row, where)


def check_unique_id(document: CleanedDocument, where: str, seen: set[str]) -> None:
    """Add a document's id to the ids of a file.

    Raises:
        UserError: the file contains the id twice.
    """
    if document.paper_id in seen:
        raise UserError(f"{where}: duplicate id {document.paper_id!r}; ids are unique in a file")
    seen.add(document.paper_id)


def iterate_rows(path: Path) -> Iterator[RawRow]:
    """Yield (location, row) of a file of documents. Lines of JSON files are yielded as bytes; the worker parses them."""
    try:
        if path.suffix == ".parquet":
            number = 0
            with open_parquet(path) as file:
                for batch in file.batches(rows=_BATCH_ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"{path}, row {number}", row
            return
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE + 1), b""), 1):
                where = f"{path}, line {number}"
                if len(line) > MAX_LINE:
                    raise UserError(f"{where}: longer than {MAX_LINE:,} bytes; expected one document per line")
                if line.strip():
                    yield where, line
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; expected a file of documents: .jsonl, .jsonl.gz or .parquet") from None
    except (OSError, EOFError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def read_document(row: Mapping[str, Any], where: str) -> CleanedDocument:
    """Return the document of a file's row. Errors contain `where` as the location.

    Raises:
        UserError: the row has an unknown key or a value of the wrong type.
    """
    _check(row, _TYPES, where, needed=("id",))
    body = row.get("body")
    return CleanedDocument(
        paper_id=row["id"],
        title=row.get("title"),
        abstract=row.get("abstract"),
        date=_date(row, where),
        body=None if body is None else tuple(_unit(unit, f"{where}, body[{i}]") for i, unit in enumerate(body)),
        open_access=row.get("open_access") is not False,
        sources=tuple(map(str, row.get("sources") or ())),
    )


def _check(row: Mapping[str, Any], types: Mapping[str, type], where: str, *, needed: Collection[str] = ()) -> None:
    if unknown := sorted(set(row) - set(types)):
        raise UserError(f"{where}: unknown key {', '.join(map(repr, unknown))}; expected {', '.join(types)}")
    for key, kind in types.items():
        value, is_needed = row.get(key), key in needed
        if is_needed if value is None else not isinstance(value, kind) or (kind is int and value is True):
            expected = f"{kind.__name__}{'' if is_needed else ' or null'}"
            raise UserError(f"{where}: {key} is {value!r:.60}; expected {expected}")


def _date(row: Mapping[str, Any], where: str) -> str | None:
    if row.get("date"):
        try:
            date_span(row["date"])
        except ValueError:
            raise UserError(f"{where}: date is {row['date']!r}; expected YYYY, YYYY-MM or YYYY-MM-DD") from None
        return str(row["date"])
    year = row.get("year")
    if year is None:
        return None
    if not 0 < year < 10_000:
        raise UserError(f"{where}: year is {year}; expected 1 to 9999, or null")
    return f"{year:04d}"


def _unit(unit: Any, where: str) -> Unit:
    if not isinstance(unit, dict):
        raise UserError(f"{where}: {unit!r:.60} given; expected {{section, text}}")
    _check(unit, {"section": str, "text": str}, where)
    return Unit(unit.get("section"), unit.get("text"))
