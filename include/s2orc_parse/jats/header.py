"""Build the header of a parse from the front matter of an article, whose attribute values `words.toml` lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import select_authors
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.fields import clean_text, clean_title
from s2orc_parse.bibliography.licenses import parse_license
from s2orc_parse.parse_model import Header
from s2orc_parse.words import read_table

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
    license: object
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
    """Return the header with normalized values; it is empty without title and identifiers."""
    if front is None:
        return Header()
    emails = [email for author, email in zip(front.authors, front.emails, strict=False) if author is not None]
    date, precision = parse_date(front.date)
    doi = identifiers.normalize_doi(identifiers.plain(front.doi))
    header = Header(
        title=clean_title(front.title) or "", authors=select_authors(front.authors), date=date, date_precision=precision,
        journal=clean_text(front.journal), doi=doi,
        arxiv_id=identifiers.arxiv_of_doi(doi) or identifiers.normalize_arxiv(identifiers.plain(front.arxiv_id)),
        pubmed_id=identifiers.normalize_pmid(identifiers.plain(front.pubmed_id)),
        pmc_id=identifiers.normalize_pmcid(identifiers.plain(front.pmc_id)),
        license=parse_license(front.license), open_access=front.open_access, keywords=front.keywords,
        issn=next(iter(front.issns), None),
        emails=tuple(emails) if any(emails) else (),
    )  # fmt: skip
    is_named = any((header.title, header.doi, header.arxiv_id, header.pubmed_id, header.pmc_id))
    return header if is_named else Header()


_VALUES = read_table("jats/words")["values"]
_DATE_RANKS = {kind: rank for rank, kinds in enumerate(_VALUES["dates"]) for kind in kinds.split()}
_UNKNOWN_DATE = 5
_ELECTRONIC, _OTHER_DATES, _MAIN_ABSTRACTS, _AUTHOR_WORDS, _GROUP_WORDS, _NO_AUTHOR_WORDS = (
    frozenset(_VALUES[name].split())
    for name in (
        "electronic_formats", "other_dates", "main_abstracts", "author_words", "group_words", "no_author_words",
    )
)  # fmt: skip
_NO_ABSTRACTS = tuple(_VALUES["no_abstracts"].split())


def rank_date(kind: str | None, format_: str | None) -> int | None:
    """Return the preference of a `pub-date` (0 is best), from its type and its publication format, or None."""
    name = _normalize(kind or "pub")
    rank = None if name in _OTHER_DATES else _DATE_RANKS.get(name, _UNKNOWN_DATE)
    if rank != 2 or not format_:
        return rank
    return 0 if format_.strip().casefold() in _ELECTRONIC else 3


def rank_abstract(kind: str | None) -> int | None:
    """Return the preference of an abstract by its type: 0 for the main one, 1 for unknown types and summaries, None for others."""
    name = _normalize(kind or "")
    if not name or name in _MAIN_ABSTRACTS:
        return 0
    return None if any(word.startswith(_NO_ABSTRACTS) for word in name.split("-")) else 1


def is_author_type(kind: str | None, group_kind: str | None, *, is_group: bool) -> bool:
    """Return whether a contributor is an author, from its type, or else from the type of its `contrib-group`.

    A contributor without any type is an author. Types that name an author or, for a collaboration, a group are
    authors, unless they exclude the byline; all other types are not.
    """
    words = frozenset(_normalize(kind or group_kind or "author").split("-"))
    return not words & _NO_AUTHOR_WORDS and bool(words & _AUTHOR_WORDS or (is_group and words & _GROUP_WORDS))


def _normalize(value: str) -> str:
    return "-".join(value.replace("-", " ").replace("_", " ").casefold().split())
