"""Crossref: works of the REST API and the public data file (JSONL, or JSON with an `items` array; usually gzipped)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.editorial import of_crossref
from s2corpus.sources.record import DatedLicence, Dropped, Entry, RecordKind, RejectReason
from s2corpus.sources.streams import json_objects
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.fields import add_details, parse_licence
from s2orc_parse.bibliography.identifiers import doi_key
from s2orc_parse.bibliography.names import make_author, parse_name

NAME = "crossref"
KIND = RecordKind.PUBLISHER
_NOT_PAPERS = frozenset(
    (
        "journal", "journal-issue", "journal-volume", "proceedings", "proceedings-series", "book-series", "book-set",
        "report-series", "component", "grant", "database", "dataset", "peer-review",
    )
)  # fmt: skip
_SUBTITLE_JOINS = (":", "?", "!", "–", "—")


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield the records of Crossref works; the kind of a preprint (`posted-content`) is archive, not publisher."""
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
        return Dropped(RejectReason.MALFORMED, where, "a work is a JSON object")
    doi = work.get("DOI")
    if not isinstance(doi, str) or not doi.strip():
        return Dropped(RejectReason.NO_ID, where, "no DOI")
    kind = work.get("type")
    if kind in _NOT_PAPERS:
        return Dropped(RejectReason.NOT_A_PAPER, doi, str(kind))
    container = _first(work.get("container-title"))
    event = work.get("event")
    venue = event.get("name") if isinstance(event, dict) else None
    editorial, notices = of_crossref(work)
    licence, later_licences = _licences(work)
    return RawRecord(
        f"{NAME}:{doi_key(doi)}", NAME, RecordKind.ARCHIVE if kind == "posted-content" else KIND, doi,
        title=_title(work), authors=_authors(work.get("author")), date=_date(work),
        venue=venue or (container if kind != "journal-article" else None),
        journal=container if kind == "journal-article" else None,
        abstract=work.get("abstract"), volume=work.get("volume"), issue=work.get("issue"),
        pages=work.get("page") or work.get("article-number"), doi=doi, subjects=work.get("subject"), licence=licence,
        later_licences=later_licences, editorial=editorial, notices=notices, type=kind,
    ).normalize()  # fmt: skip


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
            name = _string(author.get("name"))
            yield add_details(
                _author(given.strip(), family.strip(), suffix) if family else make_author(given, name, suffix),
                _affiliations(author.get("affiliation")),
                _string(author.get("ORCID")),
            )


def _author(given: str, family: str, suffix: str) -> Author | None:
    """Return an author; some publishers deposit the complete name as family name."""
    if not given and " " in family:
        return parse_name(f"{family}, {suffix}" if suffix else family)
    if given and family.casefold().startswith(f"{given} ".casefold()):
        family = family[len(given) :]
    return make_author(given, family, suffix)


def _affiliations(given: object) -> Iterator[tuple[str, str]]:
    """Yield (name with place, ROR) of each affiliation."""
    for affiliation in given if isinstance(given, list) else ():
        if isinstance(affiliation, dict):
            ids, place = affiliation.get("id"), affiliation.get("place")
            found = [_string(one.get("id")) for one in ids if isinstance(one, dict)] if isinstance(ids, list) else []
            parts = [_string(affiliation.get("name")), *(place if isinstance(place, list) else [])]
            yield ", ".join(part for part in parts if isinstance(part, str) and part), " ".join(found)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _date(work: dict[str, Any]) -> object:
    """Return the earliest publication (`issued`), or the first other date present."""
    for key in ("issued", "published", "published-online", "published-print", "posted", "created"):
        given = work.get(key)
        parts = given.get("date-parts") if isinstance(given, dict) else None
        if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0] and parts[0][0]:
            return parts[0]
    return None


_VERSIONS = ("vor", "unspecified", "am", "tdm")
"""`content-version` of a licence: version of record, unspecified, accepted manuscript, text and data mining"""


def _licences(work: dict[str, Any]) -> tuple[str | None, tuple[DatedLicence, ...]]:
    """Return the licence in force when Crossref wrote the work, and better ones that start later, the best first.

    Creative Commons licences are best, then those of the version of record. A licence without `start`, or with a
    `delay-in-days` of 0, is in force from the publication on.
    """
    given = work.get("license")
    found = (
        [item for item in given if isinstance(item, dict) and isinstance(item.get("URL"), str)]
        if isinstance(given, list)
        else []
    )
    found.sort(key=_rank)
    written = max((day for key in ("indexed", "deposited", "created") if (day := _day(work.get(key)))), default="")
    later: list[DatedLicence] = []
    for item in found:
        start, licence = _day(item.get("start")), parse_licence(item["URL"])
        if start is None or item.get("delay-in-days") == 0 or start <= written:
            return licence, tuple(later)
        if licence is not None:
            later.append(DatedLicence(licence, start))
    return None, tuple(later)


def _rank(licence: dict[str, Any]) -> tuple[bool, int]:
    version = licence.get("content-version") or "unspecified"
    return "creativecommons.org" not in licence["URL"].casefold(), _VERSIONS.index(
        version
    ) if version in _VERSIONS else 1


def _day(given: object) -> str | None:
    """Return a date of the REST API as YYYY-MM-DD; a missing month or day is the last one, so that nothing counts too soon."""
    parts = given.get("date-parts") if isinstance(given, dict) else None
    date, precision = parse_date(parts[0]) if isinstance(parts, list) and parts else (None, None)
    if date is None:
        return None
    return date + {"year": "-12-31", "month": "-31"}.get(precision or "", "")
