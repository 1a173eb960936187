"""The generic source: JSON lines in the columns of the table `records`.

A line has `record_id` (or `id`) and `source` (else "jsonl"), and any of the other columns; `authors` as a list of
{first, middle, last, suffix}, a list of strings, or one string; `year` instead of `date`; `"deleted": true` withdraws
the record. A key that is none of these makes the line `malformed`, naming the key: a typing error loses nothing silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources import identifiers
from s2corpus.sources.dates import parse_date
from s2corpus.sources.fields import authors_of, clean_abstract, clean_text, licence_of, words_of
from s2corpus.sources.names import make_author, parse_authors, parse_name
from s2corpus.sources.record import Author, Deleted, Dropped, Entry, Kind, Reason, Record
from s2corpus.sources.streams import json_objects
from s2corpus.tables import RECORDS

NAME = "jsonl"
KIND = Kind.ARCHIVE
_COLUMNS = frozenset(RECORDS.schema.names) | {"id", "year", "deleted"}


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Records of JSON lines."""
    for item in json_objects(stream):
        yield item if isinstance(item, Dropped) else entry_of(item[1], item[0])


def entry_of(line: dict[str, Any], where: str) -> Entry:
    """The record of one line."""
    if unknown := sorted(set(line) - _COLUMNS):
        return Dropped(Reason.MALFORMED, where, f"unknown keys: {', '.join(unknown)[:200]}")
    native = line.get("record_id", line.get("id"))
    if not isinstance(native, str | int) or isinstance(native, bool) or not str(native).strip():
        return Dropped(Reason.NO_ID, where, "record_id is missing or not a string")
    source = str(line.get("source") or NAME)
    record_id = str(native) if ":" in str(native) else f"{source}:{native}"
    if line.get("deleted") is True:
        return Deleted(record_id)
    try:
        kind = Kind(line.get("kind") or KIND)
    except ValueError:
        return Dropped(Reason.MALFORMED, where, f"kind is {line['kind']!r}: publisher, archive or pdf was expected")
    date, precision = parse_date(line.get("date") or line.get("year"))
    record = Record(
        record_id, source, kind,
        title=clean_text(line.get("title")), authors=_authors(line.get("authors")),
        date=date, date_precision=precision,
        venue=clean_text(line.get("venue")), journal=clean_text(line.get("journal")),
        abstract=clean_abstract(line.get("abstract")),
        **normalised(line),
        mag_id=_text(line.get("mag_id")), pdf_sha1=sha1_of(line.get("pdf_sha1")),
        fields_of_study=words_of(line.get("fields_of_study")), licence=licence_of(line.get("licence")),
        open_access=line["open_access"] if isinstance(line.get("open_access"), bool) else None,
    )  # fmt: skip
    return record if says_something(record) else Dropped(Reason.EMPTY, where)


def normalised(given: dict[str, Any]) -> dict[str, str | None]:
    """doi, arxiv_id, pubmed_id, pmc_id and acl_id of a mapping with those keys; what is none of them is None.

    arXiv's own DOIs (10.48550/arXiv.X) say the arXiv id.
    """
    doi = identifiers.normalise_doi(_text(given.get("doi")) or "")
    arxiv = identifiers.normalise_arxiv(_text(given.get("arxiv_id")) or "")
    return {
        "doi": doi,
        "arxiv_id": arxiv or identifiers.arxiv_of_doi(doi),
        "pubmed_id": identifiers.normalise_pmid(_text(given.get("pubmed_id")) or ""),
        "pmc_id": identifiers.normalise_pmcid(_text(given.get("pmc_id")) or ""),
        "acl_id": identifiers.normalise_acl(_text(given.get("acl_id")) or ""),
    }


def says_something(record: Record) -> bool:
    """A record without a title and without any identifier is of no use."""
    return any(
        (record.title, record.doi, record.arxiv_id, record.pubmed_id, record.pmc_id, record.acl_id, record.pdf_sha1)
    )


def sha1_of(value: object) -> str | None:
    """40 lower-case hex digits, or None."""
    if isinstance(value, str) and len(value) == 40:
        try:
            bytes.fromhex(value)
        except ValueError:
            return None
        return value.lower()
    return None


def _authors(value: object) -> tuple[Author, ...]:
    if isinstance(value, str):
        return parse_authors(value)
    if not isinstance(value, list):
        return ()
    return authors_of(_author(item) for item in value)


def _author(value: object) -> Author | None:
    if isinstance(value, str):
        return parse_name(value)
    if not isinstance(value, dict):
        return None
    middle = value.get("middle") or []
    given = " ".join([str(value.get("first") or ""), *(str(m) for m in middle)]) if isinstance(middle, list) else ""
    return make_author(given.strip(), str(value.get("last") or ""), str(value.get("suffix") or ""))


def _text(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None
