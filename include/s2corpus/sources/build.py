"""Normalize the fields of a source's record, in one place for all sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any

from s2corpus.sources.documents import Document
from s2corpus.sources.record import (
    DatedLicense,
    Dropped,
    Editorial,
    EditorialNotice,
    OpenVersion,
    Record,
    RecordKind,
    RejectReason,
    WorkType,
)
from s2corpus.sources.record_titles import read_record_title
from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import select_authors
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.fields import (
    clean_abstract,
    clean_issns,
    clean_journal,
    clean_locator,
    clean_pages,
    clean_text,
    clean_words,
)
from s2orc_parse.bibliography.licenses import parse_license

_TYPE_NAMES: dict[WorkType, tuple[str, ...]] = {
    WorkType.PREPRINT: ("preprint", "posted-content", "working-paper", "e-print", "eprint", "informal"),
    WorkType.ARTICLE: ("article", "journal-article", "research-article", "review", "review-article", "letter", "data-paper"),
    WorkType.PROCEEDINGS: ("proceedings", "proceedings-article", "proceedings-paper", "conference-paper", "inproceedings"),
    WorkType.CHAPTER: (
        "chapter", "book-chapter", "book-section", "book-part", "book-track", "reference-entry", "incollection",
    ),
    WorkType.BOOK: ("book", "monograph", "edited-book", "reference-book"),
    WorkType.THESIS: ("thesis", "dissertation", "phdthesis", "mastersthesis"),
    WorkType.REPORT: ("report", "report-component", "technical-report", "standard"),
    WorkType.OTHER: ("other", "dataset", "editorial", "erratum", "peer-review", "software", "text"),
}  # fmt: skip
"""names of types in Crossref, Unpaywall, PubMed, DataCite, OpenAlex, JATS, Scopus and Web of Science"""
_DOCUMENTS = {
    name: document
    for document, names in {
        Document.ERRATUM: (
            "erratum", "correction", "corrigendum", "addendum", "retraction", "publishederratum", "retractionnotice",
            "retractionofpublication", "expressionofconcern", "iscorrectionof", "isretractionof",
        ),
        Document.REPLY: ("reply", "response", "isreplyto"),
        Document.COMMENT: ("comment", "commentary", "articlecommentary", "discussion", "iscommenton"),
        Document.REVIEW: ("bookreview", "productreview", "peerreview", "isreviewof"),
        Document.EDITORIAL: ("editorial", "editorialmaterial"),
        Document.FRONT_MATTER: ("paratext", "announcement", "obituary", "calendar", "booksreceived", "conferencereview"),
        Document.ABSTRACT: ("abstract", "conferenceabstract", "meetingabstract"),
    }.items()
    for name in names
}  # fmt: skip
"""kinds of documents by the names of types in PubMed, OpenAlex, JATS, Scopus, Web of Science and Embase, and of relations in Crossref"""
_TYPES = {re.sub("[^a-z]", "", word): type_ for type_, words in _TYPE_NAMES.items() for word in words}
_IDENTIFYING = ("title", "doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "file_sha1")


def _find_document(names: object) -> Document | None:
    """Return the kind of document of the first name that has one."""
    names = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    keys = (re.sub("[^a-z]", "", name.lower()) for name in names if isinstance(name, str))
    return next((_DOCUMENTS[key] for key in keys if key in _DOCUMENTS), None)


_CLEANERS: dict[str, Callable[[Any], Any]] = {
    "authors": select_authors,
    "venue": clean_text,
    "journal": clean_journal,
    "abstract": clean_abstract,
    **dict.fromkeys(("volume", "issue"), clean_locator),
    "pages": clean_pages,
    "doi": lambda value: identifiers.normalize_doi(identifiers.plain(value)),
    "arxiv_id": lambda value: identifiers.normalize_arxiv(identifiers.plain(value)),
    "pubmed_id": lambda value: identifiers.normalize_pmid(identifiers.plain(value)),
    "pmc_id": lambda value: identifiers.normalize_pmcid(identifiers.plain(value)),
    "acl_id": lambda value: identifiers.normalize_acl(identifiers.plain(value)),
    "mag_id": lambda value: identifiers.plain(value) or None,
    "file_sha1": lambda value: text if re.fullmatch("[0-9a-f]{40}", text := identifiers.plain(value).lower()) else None,
    "issns": clean_issns,
    "subjects": clean_words,
    "license": parse_license,
    "open_access": lambda value: value if isinstance(value, bool) else None,
    "open_version": lambda value: next((version for version in OpenVersion if version == value), None),
    "type": lambda value: _TYPES.get(re.sub("[^a-z]", "", value.lower())) if isinstance(value, str) else None,
    "document": _find_document,
    "editorial": lambda value: next((status for status in Editorial if status == value), None),
}


def _strip_title(abstract: str | None, title: str | None) -> str | None:
    """Return an abstract without the title of the work as its head."""
    if abstract and title and abstract.casefold().startswith(title.casefold()):
        rest = abstract[len(title) :]
        if rest[:1] in (":", "\n") or (rest and title[-1] in "?!"):
            return rest.lstrip(" :\n") or abstract
    return abstract


@dataclass(frozen=True, slots=True)
class RawRecord:
    """The fields of one record in the form of its source. `where` locates the entry in a `Dropped`.

    `date` is any value that `parse_date` accepts.
    """

    record_id: str
    source: str
    kind: RecordKind
    where: str
    title: object = None
    authors: Iterable[Author | None] = ()
    date: object = None
    venue: object = None
    journal: object = None
    abstract: object = None
    volume: object = None
    issue: object = None
    pages: object = None
    doi: object = None
    arxiv_id: object = None
    pubmed_id: object = None
    pmc_id: object = None
    acl_id: object = None
    mag_id: object = None
    file_sha1: object = None
    issns: object = None
    subjects: object = None
    license: object = None
    later_licenses: tuple[DatedLicense, ...] = ()
    open_access: object = None
    open_version: object = None
    type: object = None
    document: object = None
    editorial: object = None
    notices: tuple[EditorialNotice, ...] = ()

    def normalize(self) -> Record | Dropped:
        """Return the record with every field normalized, or EMPTY if neither a title nor an identifier remains.

        A malformed identifier or date counts as absent. An arXiv DOI also sets the arXiv id.
        """
        values: dict[str, Any] = {
            given.name: getattr(self, given.name) for given in fields(self) if given.name != "where"
        }
        values |= {name: clean(values[name]) for name, clean in _CLEANERS.items()}
        title = read_record_title(
            self.title, values["authors"], values["journal"], values["venue"],
            is_header=self.kind is RecordKind.PDF, is_notice=bool(self.notices),
        )  # fmt: skip
        values["title"], values["original_title"] = title.title, title.original
        values["abstract"] = _strip_title(values["abstract"], title.title)
        values["document"] = title.document or values["document"] or _find_document(self.type)
        values["editorial"] = values["editorial"] or title.status
        values["date"], values["date_precision"] = parse_date(self.date)
        values["arxiv_id"] = values["arxiv_id"] or identifiers.arxiv_of_doi(values["doi"])
        is_identified = any(values[name] for name in _IDENTIFYING)
        return Record(**values) if is_identified else Dropped(RejectReason.EMPTY, self.where)
