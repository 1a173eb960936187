"""Crossref: works of the REST API and the public data file, as JSON lines or JSON with `items`. `posted-content` (preprints)
counts as archive. Ids: `crossref:<doi>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.editorial import read_crossref_notices
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_list, read_object, read_objects, read_text
from s2corpus.sources.record import DatedLicense, Dropped, Entry, RecordKind, RejectReason
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import add_affiliations
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.fields import join_titles
from s2orc_parse.bibliography.identifiers import doi_key
from s2orc_parse.bibliography.licenses import parse_license
from s2orc_parse.bibliography.names import make_author, make_group, parse_name

NAME = "crossref"
KIND = RecordKind.PUBLISHER
_NOT_PAPERS = frozenset(
    (
        "journal", "journal-issue", "journal-volume", "proceedings", "proceedings-series", "book-series", "book-set",
        "report-series", "component", "grant", "database", "dataset", "peer-review",
    )
)  # fmt: skip
_DELETED = "CrossRef Listing of Deleted DOIs"
"""the journal of DOIs that were registered by mistake; their title is the DOI"""
_SSRN = "10.2139/ssrn."
"""DOIs of a preprint server that registers its preprints as journal articles"""


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of Crossref works; the kind of a preprint (`posted-content`) is archive, not publisher."""
    return parse_objects(stream, _parse, lambda work: read_object(work.get("message", work)).get("items"))


def _parse(work: dict[str, Any], where: str) -> Entry:
    work = work.get("message", work)
    if not isinstance(work, dict):
        return Dropped(RejectReason.MALFORMED, where, "expected a JSON object")
    doi = work.get("DOI")
    if not isinstance(doi, str) or not doi.strip():
        return Dropped(RejectReason.NO_ID, where, "no DOI")
    kind = "posted-content" if doi.strip().lower().startswith(_SSRN) else read_text(work.get("type"))
    if kind in _NOT_PAPERS:
        return Dropped(RejectReason.NOT_A_PAPER, doi, kind)
    containers = [title for title in read_list(work.get("container-title")) if read_text(title).strip()]
    if _DELETED in containers:
        return Dropped(RejectReason.NOT_A_PAPER, doi, "deleted DOI")
    # The titles of a chapter or a paper in proceedings begin with the series; those of a journal with its full name.
    container = next(iter(containers if kind == "journal-article" else containers[::-1]), None)
    venue = read_object(work.get("event")).get("name")
    editorial, notices = read_crossref_notices(work)
    license, later_licenses, is_open = _licenses(work)
    return RawRecord(
        f"{NAME}:{doi_key(doi)}", NAME, RecordKind.ARCHIVE if kind == "posted-content" else KIND, doi,
        title=_title(work), authors=_authors(work.get("author")), date=_date(work),
        venue=venue or (container if kind != "journal-article" else None),
        journal=container if kind == "journal-article" else None,
        abstract=work.get("abstract"), volume=work.get("volume"), issue=work.get("issue"),
        pages=work.get("page") or work.get("article-number"), doi=doi, issns=work.get("ISSN"), subjects=work.get("subject"),
        license=license, later_licenses=later_licenses, open_access=is_open or None, editorial=editorial, notices=notices, type=kind,
        document=list(read_object(work.get("relation"))),
    ).normalize()  # fmt: skip


def _first_text(value: object) -> str | None:
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, str) and item.strip()), None)
    return value if isinstance(value, str) else None


def _title(work: dict[str, Any]) -> str:
    title = _first_text(work.get("title")) or _first_text(work.get("original-title"))
    return join_titles(title or "", _first_text(work.get("subtitle")) or "")


def _authors(authors: object) -> Iterator[Author | None]:
    for author in read_objects(authors):
        given, family, suffix = (read_text(author.get(key)) for key in ("given", "family", "suffix"))
        name = read_text(author.get("name"))
        yield add_affiliations(
            _author(given.strip(), family.strip(), suffix) if family else _organization(given, name, suffix),
            _affiliations(author.get("affiliation")),
            read_text(author.get("ORCID")),
        )


def _author(given: str, family: str, suffix: str) -> Author | None:
    """Return an author; some publishers deposit the complete name as family name."""
    if not given and " " in family:
        return parse_name(f"{family}, {suffix}" if suffix else family)
    if given and family.casefold().startswith(f"{given} ".casefold()):
        family = family[len(given) :]
    return make_author(given, family, suffix)


def _organization(given: str, name: str, suffix: str) -> Author | None:
    """Return the author with a `name`, which is an organization, or with a given name only."""
    return make_group(name) if name and not given else make_author(given, name, suffix)


def _affiliations(given: object) -> Iterator[tuple[str, str]]:
    """Yield (name with place, ROR) of each affiliation."""
    for affiliation in read_objects(given):
        ids = [read_text(one.get("id")) for one in read_objects(affiliation.get("id"))]
        parts = [affiliation.get("name"), *read_list(affiliation.get("place"))]
        yield ", ".join(filter(None, map(read_text, parts))), " ".join(ids)


_DATES = ("issued", "published", "published-online", "published-print", "published-other", "posted", "approved")


def _date(work: dict[str, Any]) -> object:
    """Return the earliest publication (`issued`), or the first other date of publication.

    `created` is the registration, which may be decades later.
    """
    issue = read_object(work.get("journal-issue"))
    dates = [work.get(key) for key in _DATES] + [issue.get(key) for key in _DATES]
    for date in dates:
        parts = read_object(date).get("date-parts")
        if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0] and parts[0][0]:
            return parts[0]
    return None


_OPEN = ("CC-BY", "CC0-", "PDM-")
_LICENSE_VERSIONS = ("vor", "unspecified", "am", "tdm")
"""`content-version` of a license: version of record, unspecified, accepted manuscript, text and data mining"""


def _licenses(work: dict[str, Any]) -> tuple[str | None, tuple[DatedLicense, ...], bool]:
    """Return the best license in force when Crossref wrote the work, better licenses that start later, best first, and openness.

    Creative Commons licenses are best, then those of the version of record. A license without `start`, or with a
    `delay-in-days` of 0, is in force from the publication on. The work is open if a Creative Commons license in force is not
    that of the accepted manuscript.
    """
    licenses = [item for item in read_objects(work.get("license")) if isinstance(item.get("URL"), str)]
    written = max((day for key in ("indexed", "deposited", "created") if (day := _day(work.get(key)))), default="")
    later: list[DatedLicense] = []
    for item in sorted(licenses, key=_rank_license):
        start, license = _day(item.get("start")), parse_license(item["URL"])
        if start is None or item.get("delay-in-days") == 0 or start <= written:
            return license, tuple(later), item.get("content-version") != "am" and (license or "").startswith(_OPEN)
        if license is not None:
            later.append(DatedLicense(license, start))
    return None, tuple(later), False


def _rank_license(license: dict[str, Any]) -> tuple[bool, int]:
    version = license.get("content-version") or "unspecified"
    rank = _LICENSE_VERSIONS.index(version) if version in _LICENSE_VERSIONS else 1
    return "creativecommons.org" not in license["URL"].casefold(), rank


def _day(given: object) -> str | None:
    """Return a date of the REST API as YYYY-MM-DD; a missing month or day becomes the last one, so that no license applies too early."""
    parts = read_object(given).get("date-parts")
    date, precision = parse_date(parts[0]) if isinstance(parts, list) and parts else (None, None)
    if date is None:
        return None
    return date + {"year": "-12-31", "month": "-31"}.get(precision or "", "")
