"""Define values and columns that several tables share."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias, TypedDict

import pyarrow as pa

from s2corpus.tables.schema import INT32, arrow_type

Json: TypeAlias = dict[str, Any]
"""A JSON object, read from or written for another program."""


class AuthorName(TypedDict):
    """An author of a bibliography entry."""

    first: str
    middle: list[str]
    last: str
    suffix: str


class Institution(TypedDict):
    """An author's institution with its ROR id."""

    name: str
    ror: str | None


class PaperAuthor(AuthorName):
    """An author of a paper."""

    affiliations: list[Institution] | None
    orcid: str | None


class FilePlace(TypedDict):
    """The drop and name of a delivered file, and the rights that the drop declares."""

    drop: str
    name: str
    open_access: bool | None
    license: str | None


class ArticlePlace(TypedDict):
    """The folder and name of a publisher's full text, and the rights that the drop declares."""

    folder: str
    name: str
    open_access: bool | None
    license: str | None


class SearchedEvidence(TypedDict):
    """One kind of open-access evidence: whether it was found, and the sources that provide or lack it."""

    evidence: str
    found: bool
    detail: str


class RecordRights(TypedDict):
    """The rights that a record states, and their effect on one full text."""

    record_id: str
    license: str | None
    open_access: bool | None
    effect: str


class Access(TypedDict):
    """The open-access decision for one full text of a paper."""

    sha1: str
    kind: str
    open_access: bool
    oa_evidence: str | None
    license: str | None
    license_detail: str | None
    searches: list[SearchedEvidence]
    stated: list[RecordRights] | None


class FieldProvenance(TypedDict):
    """The record that provides a voted value."""

    source: str
    record_id: str
    rule: str
    votes_for: Annotated[int, INT32]
    votes_against: Annotated[int, INT32]


class PaperPreprint(TypedDict):
    """A preprint of a paper: its identifiers and date."""

    doi: str | None
    arxiv_id: str | None
    date: str | None


class RecordNotice(TypedDict):
    """A record's statement about another work."""

    about: str
    status: str


class LaterLicense(TypedDict):
    """A license and the date from which it is valid."""

    license: str
    start: str


ENTRY_AUTHORS = pa.list_(arrow_type(AuthorName, strict=True))
"""authors of bibliography entries: names only"""
PAPER_AUTHORS = pa.list_(arrow_type(PaperAuthor, strict=True))
"""authors of papers: names, and affiliations and ORCID if a source provides them"""
PdfSha1 = Annotated[str, "identity of the PDF: SHA-1 of its bytes, 40 hex digits"]
FirstSeen = Annotated[str, "earliest ready_at of the file's drops, ISO UTC"]
ArticleKind = Annotated[str, "jats or elsevier"]
FileFirstSeen = Annotated[str, "earliest ready_at of the file's drops and deliveries, ISO UTC"]
RecordId = Annotated[str, "<source>:<native id>"]
Title = Annotated[str | None, "title in the source's spelling"]
Date = Annotated[str | None, "publication date, ISO, in the precision of the source: 2022, 2022-11 or 2022-11-30"]
DatePrecision = Annotated[str | None, "precision of the date: day, month or year"]
Doi = Annotated[str | None, "DOI, lower-case, without resolver"]
ArxivId = Annotated[str | None, "arXiv id without version"]
PubmedId = Annotated[str | None, "PubMed id, digits"]
PmcId = Annotated[str | None, "PubMed Central id, PMC and digits"]
AclId = Annotated[str | None, "ACL Anthology id"]
PaperId = Annotated[str, "id of the paper (a cluster of records), stable across releases"]
ParseKind = Annotated[str, "kind of full text: pdf, latex, jats or elsevier"]
RefId = Annotated[str, "id of the bibliography entry within its parse, such as BIBREF0"]
Set = Annotated[str, "set: s2orc (full text) or s2ag (title and abstract)"]
Year = Annotated[int | None, INT32, "year of publication"]
CitedPaperId = Annotated[str | None, "id of the cited paper; null if unlinked"]
Editorial = Annotated[
    str | None, "most serious status in the records: retracted, withdrawn, expression_of_concern or corrected"
]
FieldsOfStudy = Annotated[
    list[str] | None, "fields out of MAG's 19; the first is the primary field, named by most sources"
]
ParagraphNumber = Annotated[int, INT32, "paragraph number over abstract, body and back matter, from 0"]
LogProb = Annotated[
    float | None, "mean log2 probability per word, for the least probable section (s2orc) or the abstract (s2ag)"
]
RemovedSections = Annotated[int | None, INT32, "number of removed improbable sections (s2orc only)"]
SectionLogProbs = Annotated[
    list[float] | None,
    "mean log2 probability per word of each section in order, removed ones included (s2orc only); rule clean.min_log_prob",
]
TopWord = Annotated[str | None, "most frequent word"]
TopShare = Annotated[float | None, "share of the most frequent word"]


class PaperKeyRow(TypedDict):
    """The key of a paper."""

    paper_id: PaperId


class MetadataRow(TypedDict):
    """The metadata that records and papers share."""

    title: Title
    authors: Annotated[
        list[PaperAuthor] | None, PAPER_AUTHORS, "authors in order, with affiliations (name, ROR id) and ORCID"
    ]
    date: Date
    date_precision: DatePrecision
    venue: Annotated[str | None, "name of the conference or series"]
    journal: Annotated[str | None, "name of the journal"]
    abstract: Annotated[str | None, "abstract as plain text"]
    volume: Annotated[str | None, "volume of the journal or series"]
    issue: Annotated[str | None, "issue of the volume"]
    pages: Annotated[str | None, "page range such as 12-34, or an article number"]
    doi: Doi
    arxiv_id: ArxivId
    pubmed_id: PubmedId
    pmc_id: PmcId
    acl_id: AclId
