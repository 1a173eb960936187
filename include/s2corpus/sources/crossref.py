"""Crossref: works as the REST API and the public data file give them (JSONL, or JSON with an `items` array; usually gzipped)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import build
from s2corpus.sources.editorial import of_crossref
from s2corpus.sources.fields import with_details
from s2corpus.sources.names import make_author
from s2corpus.sources.record import Author, Dropped, Entry, Kind, Reason
from s2corpus.sources.streams import json_objects

NAME = "crossref"
KIND = Kind.PUBLISHER
_NOT_PAPERS = frozenset(
    (
        "journal", "journal-issue", "journal-volume", "proceedings", "proceedings-series", "book-series", "book-set",
        "report-series", "component", "grant", "database", "dataset", "peer-review",
    )
)  # fmt: skip
_SUBTITLE_JOINS = (":", "?", "!", "–", "—")


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Records of Crossref works; a preprint (`posted-content`) is an archive's word, not a publisher's."""
    for item in json_objects(stream):
        if isinstance(item, Dropped):
            yield item
            continue
        where, work = item
        message = work.get("message", work)
        if isinstance(message, dict) and isinstance(message.get("items"), list):
            for number, inner in enumerate(message["items"], 1):
                yield _entry(inner, f"{where}, item {number}")
        else:
            yield _entry(message, where)


def _entry(work: Any, where: str) -> Entry:
    if not isinstance(work, dict):
        return Dropped(Reason.MALFORMED, where, "a work is a JSON object")
    doi = work.get("DOI")
    if not isinstance(doi, str) or not doi.strip():
        return Dropped(Reason.NO_ID, where, "no DOI")
    kind = work.get("type")
    if kind in _NOT_PAPERS:
        return Dropped(Reason.NOT_A_PAPER, doi, str(kind))
    container = _first(work.get("container-title"))
    event = work.get("event")
    venue = event.get("name") if isinstance(event, dict) else None
    editorial, notices = of_crossref(work)
    return build(
        f"{NAME}:{doi.strip().lower()}", NAME, Kind.ARCHIVE if kind == "posted-content" else KIND, doi,
        title=_title(work), authors=_authors(work.get("author")), date=_date(work),
        venue=venue or (container if kind != "journal-article" else None),
        journal=container if kind == "journal-article" else None,
        abstract=work.get("abstract"), volume=work.get("volume"), issue=work.get("issue"),
        pages=work.get("page") or work.get("article-number"), doi=doi, subjects=work.get("subject"), licence=_licence(work.get("license")),
        editorial=editorial, notices=notices, type=kind,
    )  # fmt: skip


def _first(value: object) -> str | None:
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, str) and item.strip()), None)
    return value if isinstance(value, str) else None


def _title(work: dict[str, Any]) -> str | None:
    title, subtitle = _first(work.get("title")), _first(work.get("subtitle"))
    if title and subtitle and subtitle.casefold() not in title.casefold():
        return (
            f"{title.strip()} {subtitle}" if title.strip().endswith(_SUBTITLE_JOINS) else f"{title.strip()}: {subtitle}"
        )
    return title


def _authors(authors: object) -> Iterator[Author | None]:
    for author in authors if isinstance(authors, list) else ():
        if isinstance(author, dict):
            given, family, suffix = (_string(author.get(key)) for key in ("given", "family", "suffix"))
            yield with_details(
                make_author(given, family or _string(author.get("name")), suffix),
                _affiliations(author.get("affiliation")),
                _string(author.get("ORCID")),
            )


def _affiliations(given: object) -> Iterator[tuple[str, str]]:
    """(name with its place, ROR)."""
    for affiliation in given if isinstance(given, list) else ():
        if isinstance(affiliation, dict):
            ids, place = affiliation.get("id"), affiliation.get("place")
            found = [_string(one.get("id")) for one in ids if isinstance(one, dict)] if isinstance(ids, list) else []
            parts = [_string(affiliation.get("name")), *(place if isinstance(place, list) else [])]
            yield ", ".join(part for part in parts if isinstance(part, str) and part), " ".join(found)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _date(work: dict[str, Any]) -> object:
    """The earliest publication (`issued`), else what else is given."""
    for key in ("issued", "published", "published-online", "published-print", "posted", "created"):
        given = work.get(key)
        parts = given.get("date-parts") if isinstance(given, dict) else None
        if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0] and parts[0][0]:
            return parts[0]
    return None


def _licence(licences: object) -> str | None:
    """The version of record's licence, a Creative Commons one first."""
    found = (
        [item for item in licences if isinstance(item, dict) and isinstance(item.get("URL"), str)]
        if isinstance(licences, list)
        else []
    )
    found.sort(key=lambda item: ("creativecommons" not in item["URL"], item.get("content-version") != "vor"))
    return found[0]["URL"] if found else None
