"""Build the header of a parse from the front matter of an article."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.fields import clean_text, clean_title, select_authors
from s2orc_parse.bibliography.licences import parse_licence
from s2orc_parse.parse_model import Header

_NOT_OF_RECORDS = frozenset(("native_id", "keywords", "emails"))
MAX_KEYWORDS = 100  # of one article


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """The values of an article's front matter, before normalization."""

    native_id: str
    title: object
    authors: tuple[Author | None, ...]
    date: object
    venue: object = None
    journal: object
    abstract: object
    volume: object
    issue: object
    pages: object
    doi: object
    arxiv_id: object = None
    pubmed_id: object
    pmc_id: object = None
    subjects: object
    licence: object
    open_access: bool | None
    keywords: tuple[str, ...] = ()
    issns: tuple[str, ...] = ()
    """the electronic one first"""
    emails: tuple[str | None, ...] = ()
    """one per author, or empty"""

    def as_fields(self) -> Mapping[str, Any]:
        """Return the values that a record has, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _NOT_OF_RECORDS}


def build_header(front: FrontMatter | None) -> Header:
    """Return the header with normalized values.

    It is empty if the article has no id, or neither title nor identifier.
    """
    if front is None or not front.native_id:
        return Header()
    emails = [email for author, email in zip(front.authors, front.emails, strict=False) if author is not None]
    date, precision = parse_date(front.date)
    doi = identifiers.normalise_doi(identifiers.plain(front.doi))
    header = Header(
        title=clean_title(front.title) or "", authors=select_authors(front.authors), date=date, date_precision=precision,
        journal=clean_text(front.journal), doi=doi, arxiv_id=identifiers.arxiv_of_doi(doi),
        pubmed_id=identifiers.normalise_pmid(identifiers.plain(front.pubmed_id)),
        pmc_id=identifiers.normalise_pmcid(identifiers.plain(front.pmc_id)),
        licence=parse_licence(front.licence), open_access=front.open_access, keywords=front.keywords,
        issn=next(iter(front.issns), None),
        emails=tuple(emails) if any(emails) else (),
    )  # fmt: skip
    is_named = any((header.title, header.doi, header.arxiv_id, header.pubmed_id, header.pmc_id))
    return header if is_named else Header()
