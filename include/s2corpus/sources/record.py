"""What one source says about one paper, and what became of an entry that says nothing usable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from s2orc_parse.bibliography.author import Author

SCIENCEPARSE = "scienceparse"
"""The one source of kind pdf that is not the extractor: it outranks it for title and authors."""
DECLARED = "declared"
"""The source of what drops say of their own files."""
ARXIV, ACL, UNPAYWALL = "arxiv", "acl", "unpaywall"
"""Sources that are evidence of open access by themselves (SEMANTICS §5)."""
OPENALEX = "openalex"
"""The source whose open-access data are Unpaywall's, and whose fields of study a model assigns."""


class Kind(StrEnum):
    """How far a record's word goes (SEMANTICS §4): publisher (gold) > archive > pdf."""

    PUBLISHER = "publisher"
    ARCHIVE = "archive"
    PDF = "pdf"


class OpenVersion(StrEnum):
    """Of what an open copy is, by a source that says a paper is open access."""

    PUBLISHED = "published"  # the publisher's, or of the published version
    COPY = "copy"  # preprints and accepted manuscripts only


class WorkType(StrEnum):
    """The type of a work, by a source that gives it."""

    PREPRINT = "preprint"
    ARTICLE = "article"
    PROCEEDINGS = "proceedings"
    CHAPTER = "chapter"
    BOOK = "book"
    THESIS = "thesis"
    REPORT = "report"
    OTHER = "other"


class Editorial(StrEnum):
    """What became of a work after it was published, the gravest first."""

    RETRACTED = "retracted"
    WITHDRAWN = "withdrawn"
    CONCERN = "expression_of_concern"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class Notice:
    """What a record says of another work: a retraction notice of what it retracts."""

    about: str
    """`doi:10.…` or `pmid:…`"""
    status: Editorial


@dataclass(frozen=True, slots=True)
class DatedLicence:
    """A licence and the plain date from which it is valid: that of an accepted manuscript after its embargo."""

    licence: str
    start: str  # YYYY-MM-DD


class Reason(StrEnum):
    """Why an entry of a source gave no record."""

    MALFORMED = "malformed"  # not JSON, not well-formed XML, not the documented shape
    TOO_LARGE = "too_large"  # one entry over the limit
    NO_ID = "no_id"  # the source's own id is missing: it cannot be named
    EMPTY = "empty"  # neither a title nor an identifier
    NOT_A_PAPER = "not_a_paper"  # a journal, a person, a proceedings volume, a data set, …
    UNREADABLE_REST = "unreadable_rest"  # the file breaks off here; nothing after it could be read


@dataclass(frozen=True, slots=True)
class Record:
    """A row of the table `records` without its delivery: every field normalised, absent = None or ()."""

    record_id: str  # <source>:<native id>
    source: str
    kind: Kind
    title: str | None = None
    authors: tuple[Author, ...] = ()
    date: str | None = None  # ISO, as precise as known: 2022, 2022-11 or 2022-11-30
    date_precision: str | None = None  # day | month | year
    venue: str | None = None
    journal: str | None = None
    abstract: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None  # 12-34, 12, or an article number
    doi: str | None = None
    arxiv_id: str | None = None
    pubmed_id: str | None = None
    pmc_id: str | None = None
    acl_id: str | None = None
    mag_id: str | None = None
    file_sha1: str | None = None
    subjects: tuple[str, ...] = ()  # as the source calls them: categories, headings, codes
    licence: str | None = None
    later_licences: tuple[DatedLicence, ...] = ()  # better ones that start later, the best first
    open_access: bool | None = None
    open_version: OpenVersion | None = None  # None: not said
    type: WorkType | None = None
    editorial: Editorial | None = None  # what became of the work
    notices: tuple[Notice, ...] = ()  # what it says of other works


@dataclass(frozen=True, slots=True)
class Deleted:
    """The source withdrew its record: a tombstone."""

    record_id: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """An entry that gave no record. `where` is its native id, or its line or position in the file."""

    reason: Reason
    where: str
    detail: str = ""


Entry = Record | Deleted | Dropped


@dataclass(slots=True)
class Counts:
    """How many entries of one file became what: entries = records + deleted + sum(dropped)."""

    records: int
    deleted: int
    dropped: dict[Reason, int]

    @property
    def entries(self) -> int:
        """All entries of the file."""
        return self.records + self.deleted + sum(self.dropped.values())


def count(entries: Iterable[Entry]) -> Counts:
    """Counts of a whole stream (it is consumed)."""
    counts = Counts(0, 0, {})
    for entry in entries:
        tally(counts, entry)
    return counts


def tally(counts: Counts, entry: Entry) -> None:
    """Add one entry to the counts."""
    match entry:
        case Record():
            counts.records += 1
        case Deleted():
            counts.deleted += 1
        case Dropped(reason=reason):
            counts.dropped[reason] = counts.dropped.get(reason, 0) + 1
