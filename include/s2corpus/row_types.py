"""Rows of the tables as Python sees them: a `TypedDict` for each table that is read row by row; a test holds them against `tables.py`.

`TableRef.rows` yields them. A row that was read with some columns only has no others.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict

Json: TypeAlias = dict[str, Any]
"""A JSON object: what another program wrote, or what we write for others."""


class Author(TypedDict):
    """A name of a bibliography entry."""

    first: str
    middle: list[str]
    last: str
    suffix: str


class Affiliation(TypedDict):
    """Where an author works, with its ROR id."""

    name: str
    ror: str | None


class Person(Author):
    """An author of a paper."""

    affiliations: list[Affiliation] | None
    orcid: str | None


class Place(TypedDict):
    """Where a file was delivered, and what the drop declares of it."""

    drop: str
    name: str
    open_access: bool | None
    licence: str | None


class ArticlePlace(TypedDict):
    """Where a publisher's full text was delivered, and what the drop declares of it."""

    folder: str
    name: str
    open_access: bool | None
    licence: str | None


class Look(TypedDict):
    """One kind of evidence of open access: whether it was found, and where."""

    evidence: str
    found: bool
    detail: str


class Access(TypedDict):
    """Whether one full text of a paper is open."""

    sha1: str
    kind: str
    open_access: bool
    oa_evidence: str | None
    licence: str | None
    licence_detail: str | None
    looks: list[Look]


class Provenance(TypedDict):
    """Which record a voted value is from."""

    source: str
    record_id: str
    rule: str
    votes_for: int
    votes_against: int


class Notice(TypedDict):
    """What a record says of another work."""

    about: str
    status: str


class LaterLicence(TypedDict):
    """A licence and the date from which it is valid."""

    licence: str
    start: str


class _Metadata(TypedDict):
    """What is known of a paper, by a record or after the vote."""

    title: str | None
    authors: list[Person] | None
    date: str | None
    date_precision: str | None
    venue: str | None
    journal: str | None
    abstract: str | None
    volume: str | None
    issue: str | None
    pages: str | None
    doi: str | None
    arxiv_id: str | None
    pubmed_id: str | None
    pmc_id: str | None
    acl_id: str | None


class _Record(_Metadata):
    """What a record says."""

    source: str
    kind: str
    delivery: str | None
    ready_at: str | None
    mag_id: str | None
    file_sha1: str | None
    subjects: list[str] | None
    licence: str | None
    later_licences: list[LaterLicence] | None
    open_access: bool | None
    open_version: str | None
    type: str | None
    editorial: str | None
    notices: list[Notice] | None


class PdfRow(TypedDict):
    """A row of `pdfs`."""

    file_sha1: str
    bytes: int
    places: list[Place]
    first_seen: str


class LatexSourceRow(TypedDict):
    """A row of `latex_sources`."""

    archive_sha1: str
    bytes: int
    places: list[Place]
    first_seen: str
    arxiv_id: str | None


class ArticleRow(TypedDict):
    """A row of `articles`."""

    file_sha1: str
    kind: str
    bytes: int
    places: list[ArticlePlace]
    first_seen: str
    record_ids: list[str]


class DeliveryRow(TypedDict):
    """A row of `deliveries`."""

    kind: str
    source: str
    delivery: str
    ready_at: str | None
    outcome: str
    detail: str | None
    files: int
    rows: int
    dropped: int
    warnings: list[str]


class SelectionRow(TypedDict):
    """A row of `selections`."""

    file_sha1: str
    outcome: str
    pages: int | None
    width_pt: float | None
    height_pt: float | None
    detail: str | None
    doi: str | None
    arxiv_id: str | None
    acl_id: str | None
    pmc_id: str | None
    date: str | None
    date_precision: str | None
    stamp: str | None


class RecordRow(_Record):
    """A row of `records` or `pdf_records`."""

    record_id: str


class RegisteredFileRow(TypedDict):
    """A row of `registered_files`."""

    name: str
    kind: str
    bytes: int
    sha1: str
    arxiv_id: str | None
    record_id: str | None
    open_access: bool | None
    licence: str | None


class RegisteredRecordRow(RecordRow):
    """A row of `registered_records`."""

    position: int
    deleted: bool


class _Extraction(TypedDict):
    """What an extractor answered for a PDF."""

    file_sha1: str
    extractor: str
    version: str
    options_hash: str
    outcome: str
    tries: int
    seconds: float
    server: str | None
    tei_sha1: str | None
    text_layer: str | None


class ExtractionRow(_Extraction):
    """A row of `extractions`."""

    stored: str | None


class StoredTeiRow(_Extraction):
    """A row of `stored_tei`."""

    tei: bytes | None


class StoredParseRow(TypedDict):
    """A row of `stored_parses`."""

    file_sha1: str
    kind: str
    outcome: str
    citation_style: str | None
    bytes: int
    parse: bytes | None
    header: bytes | None


class ParseRow(TypedDict):
    """A row of `parses`."""

    parse_id: str
    file_sha1: str
    kind: str
    outcome: str
    citation_style: str | None
    bytes: int
    text_layer: str | None
    stored: str | None


class LatexParseRow(TypedDict):
    """A row of `latex_parses`."""

    archive_sha1: str
    parse_id: str
    arxiv_id: str | None
    first_seen: str
    outcome: str
    citation_style: str | None
    bytes: int
    stored: str | None


class ArticleParseRow(TypedDict):
    """A row of `article_parses`."""

    file_sha1: str
    kind: str
    parse_id: str
    record_ids: list[str]
    first_seen: str
    outcome: str
    doi: str | None
    pmc_id: str | None
    licence: str | None
    open_access: bool | None
    citation_style: str | None
    bytes: int
    stored: str | None


class MemberRow(_Record):
    """A row of `members`."""

    paper_id: str
    record_id: str


class PaperRow(_Metadata):
    """A row of `papers`."""

    paper_id: str
    mag_ids: list[str] | None
    fields_of_study: list[str] | None
    subjects: list[str] | None
    canonical_pdf: str | None
    latex_parse_id: str | None
    open_access: bool
    oa_evidence: str | None
    licence: str | None
    editorial: str | None
    editorial_by: list[str]
    access: list[Access]
    provenance: list[tuple[str, Provenance]]
    record_ids: list[str]


class FulltextRow(TypedDict):
    """A row of `fulltexts`."""

    paper_id: str
    parse_kind: str
    parse_id: str
    file_sha1: str
    open_access: bool
    oa_evidence: str | None
    licence: str | None
    text_layer: str | None
    parse: bytes


class EntryRow(TypedDict):
    """A row of `entries`."""

    paper_id: str
    parse_kind: str
    ref_id: str
    parse_id: str
    title: str | None
    authors: list[Author] | None
    year: int | None
    venue: str | None
    volume: str | None
    issue: str | None
    pages: str | None
    doi: str | None
    arxiv_id: str | None
    pubmed_id: str | None
    pmc_id: str | None
    raw_text: str | None


class FilteredRow(TypedDict):
    """A row of `filtered`."""

    paper_id: str
    outcome: str
    characters: int | None
    english: float | None
    disputed: bool | None


class LinkRow(TypedDict):
    """A row of `links`."""

    paper_id: str
    parse_kind: str
    ref_id: str
    cited_paper_id: str | None
    score: float | None
    reason: str
    warning: str | None
    runner_up_score: float | None


class ContextRow(TypedDict):
    """A row of `contexts`."""

    paper_id: str
    parse_kind: str
    paragraph: int
    start: int
    end: int
    ref_id: str
    cited_paper_id: str | None
    text: str


class DocumentRow(TypedDict):
    """A row of `documents`."""

    set: str
    paper_id: str
    outcome: str
    language: str | None
    language_votes: list[tuple[str, int]] | None
    words: int | None
    paragraphs: int | None
    top_word: str | None
    top_share: float | None
    log_prob: float | None
    removed_sections: int | None
    text_key: int | None
    title_key: int | None
    minhash: list[int] | None
    text: str | None
    sha1: str | None
    oa_evidence: str | None
    licence: str | None


class SplitRow(TypedDict):
    """A row of `splits`."""

    set: str
    paper_id: str
    split: str
    reason: str | None


class NoticeRow(TypedDict):
    """A row of `notices`."""

    about: str
    status: str
    record_id: str


class EdgeRow(TypedDict):
    """A row of `edges`."""

    left: str
    right: str
    reason: str
    strength: float
    taken: bool


class ClusterRow(TypedDict):
    """A row of `clusters`."""

    record_id: str
    paper_id: str
    first_ready: str | None


class AliasRow(TypedDict):
    """A row of `aliases`."""

    alias: str
    paper_id: str


class DuplicateRow(TypedDict):
    """A row of `duplicates`."""

    cluster: str
    set: str
    paper_id: str
    split: str
    reason: str | None
    duplicate_of: str | None
    jaccard: float | None
