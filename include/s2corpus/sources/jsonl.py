"""The [generic form](#generic), which every source may use: JSON lines in the columns of the table `records`. Any other name of a
source is allowed (publisher or archive). Ids: `jsonl:<id>`, `<name>:<id>`.

A line has `record_id` (or `id`), and any of the other columns. `source` is "jsonl" if it is absent. `authors` is a list of
{first, middle, last, suffix}, a list of strings, or one string. A string in a list that names several people gives all of
them, without affiliations in parentheses. `issns` is a list or one string. `year` replaces `date`, and `fields_of_study` extends
`subjects`. `"deleted": true` withdraws the record. A line with any other key is `malformed`, so that a typing error cannot lose data.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

import orjson

from s2corpus.sources.build import RawRecord
from s2corpus.sources.json_objects import load_object, read_json_texts
from s2corpus.sources.json_values import RepeatedKeys, find_repeated_keys, read_id, read_list
from s2corpus.sources.record import RECORD_KEYS, Deleted, Dropped, Entry, RecordKind, RejectReason
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import add_affiliations, select_authors
from s2orc_parse.bibliography.fields import clean_words
from s2orc_parse.bibliography.name_words import is_group
from s2orc_parse.bibliography.names import make_author, parse_authors, parse_names

NAME = "jsonl"
KIND = RecordKind.ARCHIVE
_COPIED_KEYS = RECORD_KEYS - {
    "record_id", "id", "source", "kind", "deleted", "delivery", "ready_at", "authors", "date", "date_precision", "year",
    "fields_of_study",
}  # fmt: skip


def read(
    stream: IO[bytes],
    source: str = NAME,
    check: Callable[[str, dict[str, Any], RepeatedKeys], None] = lambda where, line, repeated: None,
) -> Iterator[Entry]:
    """Yield the records of JSON lines.

    Lines without a source have the given `source`. `check` may raise an error for the place, object and repeated keys of a line.
    """
    for item in read_json_texts(stream):
        if isinstance(item, Dropped):
            yield item
            continue
        where, text = item
        try:
            line, repeated = load_object(text), find_repeated_keys(text)
        except ValueError as error:
            yield Dropped(RejectReason.MALFORMED, where, str(error)[:200])
            continue
        check(where, line, repeated)
        if repeated.names:  # The valid value is unknown.
            yield Dropped(RejectReason.MALFORMED, where, f"the key {repeated.names[0]!r} is given twice"[:200])
        else:
            yield parse_line({**line, "source": line.get("source") or source}, where)


DECISIVE_KEYS = frozenset(
    ("record_id", "id", "source", "kind", "deleted", "open_access", "license", "licence", "ready_at")
)
"""keys whose repetition in one line rejects the complete delivery"""


def parse_line(line: dict[str, Any], where: str) -> Entry:
    """Return the record of one line. The key `licence` of versions before 1.0.0 is read as `license`."""
    if "licence" in line and "license" not in line:
        line = {"license" if key == "licence" else key: value for key, value in line.items()}
    if unknown := sorted(set(line) - RECORD_KEYS):
        return Dropped(RejectReason.MALFORMED, where, f"unknown keys: {', '.join(unknown)[:200]}")
    if wrong := find_type_error(line):
        return Dropped(RejectReason.MALFORMED, where, wrong)
    native = read_id(line.get("record_id", line.get("id")))
    if native is None:
        return Dropped(RejectReason.NO_ID, where, "record_id is missing or not a string")
    source = str(line.get("source") or NAME)
    record_id = native if ":" in native else f"{source}:{native}"
    if line.get("deleted"):
        return Deleted(record_id)
    try:
        kind = RecordKind(line.get("kind") or KIND)
    except ValueError:
        return Dropped(RejectReason.MALFORMED, where, f"kind is {line['kind']!r}: expected publisher, archive or pdf")
    given: dict[str, Any] = {name: line.get(name) for name in _COPIED_KEYS}
    given["subjects"] = [*clean_words(line.get("subjects")), *clean_words(line.get("fields_of_study"))]
    return RawRecord(
        record_id,
        source,
        kind,
        where,
        authors=read_authors(line.get("authors")),
        date=line.get("date") or line.get("year"),
        **given,
    ).normalize()


_TYPED_KEYS = {"deleted": bool, "open_access": bool, "license": str, "source": str, "ready_at": str}
_EXPECTED = {bool: "true or false", str: "a text"}


def find_type_error(line: Mapping[str, Any]) -> str | None:
    """Return an error message if a typed key has a value of another type, or None. Ignoring `"deleted": 1` would retain the record."""
    for key, type_ in _TYPED_KEYS.items():
        value = line.get(key)
        if value is not None and not isinstance(value, type_):
            return f"{key}: {quote_json(value)} given, {_EXPECTED[type_]} expected"
    return None


def quote_json(value: object) -> str:
    """Return a value as JSON for an error message, shortened."""
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= 200 else f"{text[:200]}…"


_PLACE = re.compile(r"(?<=\w)[*\\]*\s*(\((?:[^()]|\([^()]*\))*(?:\)|$))(\s*(?:[,;&]|$))?")
"""an affiliation behind a name: Ada Lovelace (University of Odd, Lisbon)"""
_BETWEEN_PEOPLE = re.compile(r";|&|\band\b")


def read_authors(value: object) -> tuple[Author, ...]:
    """Return the authors of a list of names or of {first, middle, last, suffix}, or of one string.

    An item of a list that names several people gives all of them. An affiliation in parentheses is no part of a name.
    """
    if isinstance(value, str):
        return parse_authors(_remove_places(value))
    if not isinstance(value, list):
        return ()
    items = [_remove_places(item) if isinstance(item, str) else item for item in value]
    strings = iter(parse_names(item for item in items if isinstance(item, str)))
    return select_authors(
        author
        for item in items
        for author in (_read_people(item, next(strings)) if isinstance(item, str) else [_author(item)])
    )


def _remove_places(text: str) -> str:
    def shorten(found: re.Match[str]) -> str:
        place, end = found.groups()
        is_place = "," in place or is_group(place) or (end is not None and " " in place)
        return end or "" if is_place else found[0]

    return _PLACE.sub(shorten, html.unescape(text)).strip(" ,;&")


def _read_people(item: str, name: Author | None) -> Sequence[Author | None]:
    """Return the people of an item, or the `name` that it is."""
    sides, parts = _BETWEEN_PEOPLE.split(item), item.split(",")
    names = sides if len(sides) > 1 else parts if len(parts) > 2 else []
    are_complete = all(len(one.replace(",", " ").split()) > 1 and one.isupper() == item.isupper() for one in names)
    return parse_authors(item) if names and are_complete and not is_group(item) else [name]


def _author(value: object) -> Author | None:
    if not isinstance(value, dict):
        return None
    middle = value.get("middle") or []
    given = " ".join([str(value.get("first") or ""), *(str(m) for m in middle)]) if isinstance(middle, list) else ""
    author = make_author(given.strip(), str(value.get("last") or ""), str(value.get("suffix") or ""))
    return add_affiliations(author, _affiliations(read_list(value.get("affiliations"))), str(value.get("orcid") or ""))


def _affiliations(given: list[object]) -> Iterator[tuple[str, str]]:
    """Yield (name, ROR) of affiliations given as names or as {name, ror}."""
    for one in given:
        if isinstance(one, dict):
            yield str(one.get("name") or ""), f"https://ror.org/{one.get('ror')}"
        else:
            yield str(one), ""
