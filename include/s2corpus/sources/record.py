"""Records of metadata sources, and the outcomes of entries without a record."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from s2corpus.sources.documents import Document
from s2corpus.trust import DECLARED as DECLARED
from s2orc_parse.bibliography.author import Author
from s2orc_parse.outcomes import Outcome, Word

SCIENCEPARSE = "scienceparse"
"""The only source of kind pdf besides the extractor; it has priority over the extractor for title and authors."""
ARXIV, ACL, UNPAYWALL = "arxiv", "acl", "unpaywall"
"""Sources that prove open access by themselves (SPEC §5)."""
OPENALEX = "openalex"
"""A source with Unpaywall's open-access data and with fields of study that a model assigned."""


class RecordKind(StrEnum):
    """The trust level of a record (SPEC §4): publisher (gold) > archive > pdf."""

    PUBLISHER = "publisher"
    ARCHIVE = "archive"
    PDF = "pdf"


class OpenVersion(StrEnum):
    """The version of an open-access copy, as given by the source."""

    PUBLISHED = "published"  # the publisher's copy, or a copy with the published version
    COPY = "copy"  # preprints and accepted manuscripts only


class WorkType(StrEnum):
    """The type of a work, as given by the source."""

    PREPRINT = "preprint"
    ARTICLE = "article"
    PROCEEDINGS = "proceedings"
    CHAPTER = "chapter"
    BOOK = "book"
    THESIS = "thesis"
    REPORT = "report"
    OTHER = "other"


class Editorial(StrEnum):
    """The editorial status of a published work, most serious first."""

    RETRACTED = "retracted"
    WITHDRAWN = "withdrawn"
    CONCERN = "expression_of_concern"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class EditorialNotice:
    """A record's statement about another work, such as a retraction notice about the retracted article."""

    about: str
    """`doi:10.…` or `pmid:…`"""
    status: Editorial


@dataclass(frozen=True, slots=True)
class DatedLicense:
    """A license and the day from which it applies, for example after the embargo of an accepted manuscript."""

    license: str
    start: str  # YYYY-MM-DD


class RejectReason(Outcome):
    """The reason why an entry has no record."""

    MALFORMED = Word("malformed", "not JSON, not well-formed XML, or not the documented shape")
    TOO_LARGE = Word("too_large", "one entry is over the limit")
    NO_ID = Word("no_id", "the source's native id is missing")
    EMPTY = Word("empty", "neither a title nor an identifier")
    NOT_A_PAPER = Word("not_a_paper", "a journal, a person, a proceedings volume, a data set, …")
    UNREADABLE_REST = Word("unreadable_rest", "the file is truncated or damaged from here on; earlier entries count")


@dataclass(frozen=True, slots=True)
class Record:
    """A metadata record: a row of the table `records` without its delivery. Fields are normalized; absent fields are None or ()."""

    record_id: str  # <source>:<native id>
    source: str
    kind: RecordKind
    title: str | None = None
    original_title: str | None = None  # as delivered, if cleaning changed more than markup
    authors: tuple[Author, ...] = ()
    date: str | None = None  # ISO with the available precision: 2022, 2022-11 or 2022-11-30
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
    issns: tuple[str, ...] = ()  # of the journal: 1932-6203
    subjects: tuple[str, ...] = ()  # the source's own categories, headings or codes
    license: str | None = None
    later_licenses: tuple[DatedLicense, ...] = ()  # better licenses that start later, best first
    open_access: bool | None = None
    open_version: OpenVersion | None = None  # None: not given
    type: WorkType | None = None
    document: Document | None = None  # kind of document if it is no article
    editorial: Editorial | None = None  # editorial status of the work
    notices: tuple[EditorialNotice, ...] = ()  # statements about other works


RECORD_KEYS = (
    frozenset(field.name for field in fields(Record))
    | {"id", "year", "deleted", "fields_of_study", "delivery", "ready_at"}
) - {"notices", "later_licenses", "original_title"}
"""keys of a line of `records.jsonl` in a delivery"""
CLAIMS = ("record_id", "source", "kind", "deleted")
"""keys that a drop must not contain: its lines describe only its own files"""
DROP_KEYS = RECORD_KEYS - {*CLAIMS, "id", "delivery", "ready_at", "date_precision"} | {"name", "published"}
"""keys of a line in a drop"""


@dataclass(frozen=True, slots=True)
class Deleted:
    """A tombstone: the source deleted its record."""

    record_id: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """An entry without a record. `where` is its native id, or its line or position in the file."""

    reason: RejectReason
    where: str
    detail: str = ""


Entry = Record | Deleted | Dropped
