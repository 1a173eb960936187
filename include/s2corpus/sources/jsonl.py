"""The generic source: JSON lines in the columns of the table `records`.

A line has `record_id` (or `id`) and `source` (else "jsonl"), and any of the other columns; `authors` as a list of
{first, middle, last, suffix}, a list of strings, or one string; `year` instead of `date`; `fields_of_study` as
`subjects`; `"deleted": true` withdraws the record. Any other key makes the line `malformed`, naming the
key: no typing error loses data silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, cast

import orjson

from s2corpus.sources.build import RawRecord
from s2corpus.sources.keys import RECORD_KEYS
from s2corpus.sources.record import Deleted, Dropped, Entry, RecordKind, RejectReason
from s2corpus.sources.repeated_keys import RepeatedKeys, find_repeated_keys
from s2corpus.sources.streams import json_texts, load_object
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.fields import add_details, clean_words, select_authors
from s2orc_parse.bibliography.names import make_author, parse_authors, parse_names

NAME = "jsonl"
KIND = RecordKind.ARCHIVE
COLUMNS = RECORD_KEYS
_GIVEN = RECORD_KEYS - {
    "record_id", "id", "source", "kind", "deleted", "delivery", "ready_at", "authors", "date", "date_precision", "year",
    "fields_of_study",
}  # fmt: skip


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield the records of JSON lines."""
    for item in read_lines(stream):
        if isinstance(item, Dropped):
            yield item
        elif item.repeated.names:
            yield repeated_key(item)
        else:
            yield entry_of(item.object, item.where)


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A line of the generic form, and the keys that it repeats."""

    where: str
    object: dict[str, Any]
    repeated: RepeatedKeys


def read_lines(stream: IO[bytes]) -> Iterator[JsonLine | Dropped]:
    """Yield the lines of a generic file."""
    for item in json_texts(stream):
        found = item if isinstance(item, Dropped) else load_object(item[1], item[0])
        if isinstance(found, Dropped) or isinstance(item, Dropped):
            yield cast(Dropped, found)
            continue
        try:
            yield JsonLine(*found, find_repeated_keys(item[1]))
        except ValueError as error:
            yield Dropped(RejectReason.MALFORMED, found[0], str(error))


def repeated_key(line: JsonLine) -> Dropped:
    """Return the outcome of a line that repeats a key: the valid value cannot be determined."""
    return Dropped(RejectReason.MALFORMED, line.where, f"the key {line.repeated.names[0]!r} is given twice"[:200])


MISLEADING = frozenset(("record_id", "id", "source", "kind", "deleted", "open_access", "licence", "ready_at"))
"""keys with a decisive value: a delivery that repeats one of them in a line is refused"""


def rename_former_key(line: dict[str, Any]) -> dict[str, Any]:
    """Return the line with `file_sha1` for `pdf_sha1`, the name of this key up to 0.1.0."""
    if "pdf_sha1" not in line or "file_sha1" in line:
        return line
    return {"file_sha1" if key == "pdf_sha1" else key: value for key, value in line.items()}


def entry_of(line: dict[str, Any], where: str) -> Entry:
    """Return the record of one line."""
    line = rename_former_key(line)
    if unknown := sorted(set(line) - COLUMNS):
        return Dropped(RejectReason.MALFORMED, where, f"unknown keys: {', '.join(unknown)[:200]}")
    if wrong := wrong_promise(line):
        return Dropped(RejectReason.MALFORMED, where, wrong)
    native = line.get("record_id", line.get("id"))
    if not isinstance(native, str | int) or isinstance(native, bool) or not str(native).strip():
        return Dropped(RejectReason.NO_ID, where, "record_id is missing or not a string")
    source = str(line.get("source") or NAME)
    record_id = str(native) if ":" in str(native) else f"{source}:{native}"
    if line.get("deleted"):
        return Deleted(record_id)
    try:
        kind = RecordKind(line.get("kind") or KIND)
    except ValueError:
        return Dropped(
            RejectReason.MALFORMED, where, f"kind is {line['kind']!r}: publisher, archive or pdf was expected"
        )
    given: dict[str, Any] = {name: line.get(name) for name in _GIVEN}
    given["subjects"] = [*clean_words(line.get("subjects")), *clean_words(line.get("fields_of_study"))]
    return RawRecord(
        record_id,
        source,
        kind,
        where,
        authors=_authors(line.get("authors")),
        date=line.get("date") or line.get("year"),
        **given,
    ).normalize()


_PROMISES: dict[str, tuple[type, str]] = {
    "deleted": (bool, "true or false"),
    "open_access": (bool, "true or false"),
    "licence": (str, "a text"),
    "source": (str, "a text"),
    "ready_at": (str, "a text"),
}


def wrong_promise(line: Mapping[str, Any]) -> str | None:
    """Return an error for a decisive value of the wrong type, or None: ignoring `"deleted": 1` would retain the record."""
    for key, (type_, expected) in _PROMISES.items():
        value = line.get(key)
        if value is not None and not isinstance(value, type_):
            return f"{key}: {quoted(value)} given, {expected} expected"
    return None


def quoted(value: object) -> str:
    """Return a value as JSON for an error message, shortened."""
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= 200 else f"{text[:200]}…"


def _authors(value: object) -> tuple[Author, ...]:
    if isinstance(value, str):
        return parse_authors(value)
    if not isinstance(value, list):
        return ()
    strings = iter(parse_names(item for item in value if isinstance(item, str)))
    return select_authors(next(strings) if isinstance(item, str) else _author(item) for item in value)


def _author(value: object) -> Author | None:
    if not isinstance(value, dict):
        return None
    middle = value.get("middle") or []
    given = " ".join([str(value.get("first") or ""), *(str(m) for m in middle)]) if isinstance(middle, list) else ""
    author = make_author(given.strip(), str(value.get("last") or ""), str(value.get("suffix") or ""))
    works_at = value.get("affiliations")
    return add_details(
        author, _affiliations(works_at) if isinstance(works_at, list) else (), str(value.get("orcid") or "")
    )


def _affiliations(given: list[object]) -> Iterator[tuple[str, str]]:
    """Yield (name, ROR) of affiliations given as names or as {name, ror}."""
    for one in given:
        if isinstance(one, dict):
            yield str(one.get("name") or ""), f"https://ror.org/{one.get('ror')}"
        else:
            yield str(one), ""
