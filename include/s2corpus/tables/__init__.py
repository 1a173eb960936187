"""Define every table between stages once: the annotations of its row class are the columns.

`define` makes the table of such a class: its Arrow schema, its documentation (docs/tables.md), and the type of its rows in Python. A
column's annotation contains the Python type, its meaning with the unit, and the Arrow type if the Python type does not give it.

Every input has one row. A rejected input is a row with its outcome, so no input disappears between two tables. Rows are sorted
by key within a part. `Table.shards` defines what a part number means, so that a reader finds the part it needs:

- `pdf`: a range of the SHA-1 space (see `pdf_shard`); one part contains all rows of a PDF;
- `paper`: a hash of the paper id (see `paper_shard`); one part contains all rows of a paper;
- `any`: part numbers have no meaning.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from types import NoneType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import pyarrow as pa
from typing_extensions import TypeVar

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
    licence: str | None


class ArticlePlace(TypedDict):
    """The folder and name of a publisher's full text, and the rights that the drop declares."""

    folder: str
    name: str
    open_access: bool | None
    licence: str | None


class EvidenceLook(TypedDict):
    """One kind of open-access evidence: whether a source provides it, and which."""

    evidence: str
    found: bool
    detail: str


class Access(TypedDict):
    """The open-access decision for one full text of a paper."""

    sha1: str
    kind: str
    open_access: bool
    oa_evidence: str | None
    licence: str | None
    licence_detail: str | None
    looks: list[EvidenceLook]


class FieldProvenance(TypedDict):
    """The record that provides a voted value."""

    source: str
    record_id: str
    rule: str
    votes_for: int
    votes_against: int


class RecordNotice(TypedDict):
    """A record's statement about another work."""

    about: str
    status: str


class LaterLicence(TypedDict):
    """A licence and the date from which it is valid."""

    licence: str
    start: str


AUTHOR = pa.struct(
    [
        pa.field("first", pa.string(), nullable=False),
        pa.field("middle", pa.list_(pa.string()), nullable=False),
        pa.field("last", pa.string(), nullable=False),
        pa.field("suffix", pa.string(), nullable=False),
    ]
)
AUTHORS = pa.list_(AUTHOR)
"""authors of bibliography entries: names only"""
PERSONS = pa.list_(
    pa.struct(
        [
            *AUTHOR,
            pa.field(
                "affiliations", pa.list_(pa.struct([pa.field("name", pa.string()), pa.field("ror", pa.string())]))
            ),
            pa.field("orcid", pa.string()),
        ]
    )
)
"""authors of papers: names, and affiliations and ORCID if a source provides them"""
PROVENANCE = pa.map_(
    pa.string(),
    pa.struct(
        [
            pa.field("source", pa.string()),
            pa.field("record_id", pa.string()),
            pa.field("rule", pa.string()),
            pa.field("votes_for", pa.int32()),
            pa.field("votes_against", pa.int32()),
        ]
    ),
)
ACCESS = pa.list_(
    pa.struct(
        [
            pa.field("sha1", pa.string()),  # PDF or archive
            pa.field("kind", pa.string()),  # pdf or latex
            pa.field("open_access", pa.bool_()),
            pa.field("oa_evidence", pa.string()),
            pa.field("licence", pa.string()),
            pa.field("licence_detail", pa.string()),  # the licences that `licence` is the strictest of
            pa.field(
                "looks",  # each kind of evidence: whether it was found, and the source searched
                pa.list_(
                    pa.struct(
                        [
                            pa.field("evidence", pa.string()),
                            pa.field("found", pa.bool_()),
                            pa.field("detail", pa.string()),
                        ]
                    )
                ),
            ),
        ]
    )
)
VOTES = pa.map_(pa.string(), pa.int32())
INT32, LARGE_STRING, LARGE_BINARY, FLOAT32 = pa.int32(), pa.large_string(), pa.large_binary(), pa.float32()


@dataclass(frozen=True, slots=True)
class Column:
    """A column: name, Arrow type, and meaning with its unit."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = True


R_co = TypeVar("R_co", covariant=True, default=Any)
"""the type of a row as returned by `to_pylist`; Any for tables that are only read by column"""


@dataclass(frozen=True)
class Table(Generic[R_co]):
    """A table: its columns, unique key, meaning of part numbers, and row type in Python.

    `counted` contains groups of columns. The writer counts their combined values per part, so stages sum them without reading the table.
    `plain` contains columns that Parquet stores without a dictionary, because a dictionary costs time and saves no space.
    """

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    shards: Literal["pdf", "paper", "record", "any"] = "any"
    counted: tuple[tuple[str, ...], ...] = ()
    plain: tuple[str, ...] = ()
    schema: pa.Schema = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        fields = [
            pa.field(c.name, c.type, nullable=c.nullable, metadata={b"meaning": c.meaning.encode()})
            for c in self.columns
        ]
        object.__setattr__(self, "schema", pa.schema(fields))
        missing = {*self.key, *self.plain, *(name for names in self.counted for name in names)} - set(self.schema.names)
        if missing:
            raise ValueError(f"table {self.name}: {sorted(missing)} of key, counted or plain are not among its columns")

    @property
    def schema_hash(self) -> str:
        """Return 16 hex digits over names, types and nullability; they prevent reading a part that has another schema."""
        text = ";".join(f"{f.name}:{f.type}:{f.nullable}" for f in self.schema)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


R = TypeVar("R")


def define(
    row: type[R],
    name: str,
    *,
    key: tuple[str, ...],
    shards: Literal["pdf", "paper", "record", "any"] = "any",
    counted: tuple[tuple[str, ...], ...] = (),
    plain: tuple[str, ...] = (),
    meaning: str = "",
) -> Table[R]:
    """Return the table of a row class; `meaning` is for a second table with the same rows."""
    text = meaning or (row.__doc__ or "").rstrip(".")
    return Table[R](name, text, key, columns_of(row), shards, counted, plain)


def columns_of(row: type) -> tuple[Column, ...]:
    """Return the columns that the annotations of a row class describe."""
    hints = get_type_hints(row, include_extras=True)
    return tuple(_column(name, *get_args(hint)) for name, hint in hints.items())


def _column(name: str, hint: Any, *notes: Any) -> Column:
    """Return a column from its Python type, its meaning, and its Arrow type if that is given."""
    (meaning,) = (note for note in notes if isinstance(note, str))
    given = next((note for note in notes if isinstance(note, pa.DataType)), None)
    options = [option for option in get_args(hint) if option is not NoneType]
    is_nullable = NoneType in get_args(hint)
    return Column(name, given or arrow_type(options[0] if is_nullable else hint), meaning, is_nullable)


_ARROW = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}


def arrow_type(hint: Any) -> pa.DataType:
    """Return the Arrow type of a Python type; fields of a struct may be null."""
    if get_origin(hint) is list:
        return pa.list_(arrow_type(get_args(hint)[0]))
    if is_typeddict(hint):
        fields = get_type_hints(hint).items()
        return pa.struct([pa.field(name, arrow_type(_not_null(value))) for name, value in fields])
    return _ARROW[hint]


def _not_null(hint: Any) -> Any:
    return next(option for option in get_args(hint) if option is not NoneType) if NoneType in get_args(hint) else hint


def pdf_shard(file_sha1: str, shards: int) -> int:
    """Return the shard of a PDF: equal ranges of the SHA-1 space by its first 8 hex digits."""
    return int(file_sha1[:8], 16) * shards >> 32


def paper_shard(paper_id: str, shards: int) -> int:
    """Return the shard of a paper: first 8 bytes of SHA-1(paper_id), big-endian, modulo `shards`."""
    return int.from_bytes(hashlib.sha1(paper_id.encode(), usedforsecurity=False).digest()[:8], "big") % shards


PdfSha1 = Annotated[str, "identity of the PDF: SHA-1 of its bytes, 40 hex digits"]
Bytes = Annotated[int, "size, bytes"]
Places = Annotated[
    list[FilePlace], "drops that contain the file, sorted, with the rights that each drop's records.jsonl declares"
]
FirstSeen = Annotated[str, "earliest ready_at of the file's drops, ISO UTC"]
ArticleKind = Annotated[str, "jats or elsevier"]
FileFirstSeen = Annotated[str, "earliest ready_at of the file's drops and deliveries, ISO UTC"]
RecordId = Annotated[str, "<source>:<native id>"]
Source = Annotated[str, "source of the record: crossref, arxiv, …; for a PDF's header the extractor or scienceparse"]
RecordKind = Annotated[str, "publisher (gold), archive, or pdf"]
Delivery = Annotated[str | None, "delivery or drop that contains the record"]
ReadyAt = Annotated[str | None, "ready_at of that delivery, ISO UTC"]
Title = Annotated[str | None, "title in the source's spelling"]
Authors = Annotated[list[PaperAuthor] | None, PERSONS, "authors in order, with affiliations (name, ROR id) and ORCID"]
Date = Annotated[str | None, "publication date, ISO, in the precision of the source: 2022, 2022-11 or 2022-11-30"]
DatePrecision = Annotated[str | None, "precision of the date: day, month or year"]
Venue = Annotated[str | None, "name of the conference or series"]
Journal = Annotated[str | None, "name of the journal"]
Abstract = Annotated[str | None, "abstract as plain text"]
Volume = Annotated[str | None, "volume of the journal or series"]
Issue = Annotated[str | None, "issue of the volume"]
Pages = Annotated[str | None, "page range such as 12-34, or an article number"]
Doi = Annotated[str | None, "DOI, lower-case, without resolver"]
ArxivId = Annotated[str | None, "arXiv id without version"]
PubmedId = Annotated[str | None, "PubMed id, digits"]
PmcId = Annotated[str | None, "PubMed Central id, PMC and digits"]
AclId = Annotated[str | None, "ACL Anthology id"]
MagId = Annotated[str | None, "Microsoft Academic Graph id"]
NamedPdfSha1 = Annotated[str | None, "SHA-1 of the PDF that the record describes, if the source names it"]
Subjects = Annotated[list[str] | None, "subjects from the source: categories, headings, codes"]
RecordLicence = Annotated[str | None, "licence; an SPDX id if one exists"]
LaterLicences = Annotated[
    list[LaterLicence] | None,
    "more permissive licences that start at a later ISO date, such as after an embargo; best first",
]
OpenAccess = Annotated[bool | None, "whether the source declares the paper open access"]
OpenVersion = Annotated[str | None, "published: the published version is open; copy: only another version is open"]
WorkType = Annotated[
    str | None, "type of the work: preprint, article, proceedings, chapter, book, thesis, report or other"
]
Editorial = Annotated[
    str | None, "editorial status of the work: retracted, withdrawn, expression_of_concern or corrected"
]
Notices = Annotated[
    list[RecordNotice] | None,
    "editorial status of other works (doi:…, pmid:…), for example from a retraction notice",
]
Extractor = Annotated[str, "name that the extractor reports"]
Version = Annotated[str, "version that the extractor reports"]
OptionsHash = Annotated[str, "hash of the options sent, 16 hex digits"]
Outcome = Annotated[
    str, "result of the extraction: ok, no_content, bad_tei, bad_answer, failed:<CODE>, gave_up:busy|timeout|connection"
]
Tries = Annotated[int, INT32, "number of requests"]
Seconds = Annotated[float, "duration of the last request, seconds"]
Server = Annotated[str | None, "server that sent the response"]
TeiSha1 = Annotated[str | None, "SHA-1 of the response"]
TextLayer = Annotated[str | None, "pages read by OCR (`ocr 1 2`), and pages with a defective text layer (`no_words 7`)"]
CitationStyle = Annotated[str | None, "style of inline citations: BRACKET, NAME_YEAR or OTHER"]
JsonBytes = Annotated[int, "size of the JSON, bytes"]
Stored = Annotated[str | None, "part of the content store that contains the parse"]
PaperId = Annotated[str, "id of the paper (a cluster of records), stable across releases"]
ParseKind = Annotated[str, "kind of full text: pdf, latex, jats or elsevier"]
ParseId = Annotated[str, "id of the parse"]
RefId = Annotated[str, "id of the bibliography entry within its parse, such as BIBREF0"]
Set = Annotated[str, "set: s2orc (full text) or s2ag (title and abstract)"]


class PdfRow(TypedDict):
    """PDFs of the release. Files with equal bytes share one row."""

    file_sha1: PdfSha1
    bytes: Bytes
    places: Places
    first_seen: FirstSeen


PDFS = define(PdfRow, "pdfs", key=("file_sha1",), shards="pdf")


class LatexSourceRow(TypedDict):
    """LaTeX source archives of the release. Archives with equal bytes share one row."""

    archive_sha1: Annotated[str, "SHA-1 of the archive's bytes, 40 hex digits"]
    bytes: Bytes
    places: Places
    first_seen: FirstSeen
    arxiv_id: Annotated[str | None, "arXiv id without version; assigns the archive to its paper"]


LATEX_SOURCES = define(LatexSourceRow, "latex_sources", key=("archive_sha1",), shards="pdf")


class ArticleRow(TypedDict):
    """Publishers' full texts (JATS, Elsevier JSON) of the release. Files with equal bytes share one row."""

    file_sha1: Annotated[str, "SHA-1 of the file's bytes, 40 hex digits"]
    kind: ArticleKind
    bytes: Bytes
    places: Annotated[
        list[ArticlePlace], "folders that contain the file, sorted, with the rights that each drop declares"
    ]
    first_seen: FileFirstSeen
    record_ids: Annotated[list[str], "ids of the records in the file, sorted; they assign the file to its paper"]


ARTICLES = define(ArticleRow, "articles", key=("file_sha1",), shards="pdf")


class RecordRow(TypedDict):
    """Metadata records: the latest version for each record_id."""

    record_id: RecordId
    source: Source
    kind: RecordKind
    delivery: Delivery
    ready_at: ReadyAt
    title: Title
    authors: Authors
    date: Date
    date_precision: DatePrecision
    venue: Venue
    journal: Journal
    abstract: Abstract
    volume: Volume
    issue: Issue
    pages: Pages
    doi: Doi
    arxiv_id: ArxivId
    pubmed_id: PubmedId
    pmc_id: PmcId
    acl_id: AclId
    mag_id: MagId
    file_sha1: NamedPdfSha1
    subjects: Subjects
    licence: RecordLicence
    later_licences: LaterLicences
    open_access: OpenAccess
    open_version: OpenVersion
    type: WorkType
    editorial: Editorial
    notices: Notices


RECORDS = define(RecordRow, "records", key=("record_id",), shards="record")


class NoticeRow(TypedDict):
    """Editorial notices in records about other works, such as retractions and corrections."""

    about: Annotated[str, "work that the notice concerns: doi:… or pmid:…"]
    status: Annotated[str, "editorial status: retracted, withdrawn, expression_of_concern or corrected"]
    record_id: RecordId


NOTICES = define(NoticeRow, "notices", key=("about", "status", "record_id"))


class RegisteredFileRow(TypedDict):
    """Files of one drop, verified against its _READY. All releases share this table."""

    name: Annotated[str, "file name in the drop"]
    kind: Annotated[
        str, "kind of file: pdf, latex (source archive), jats or elsevier (publisher's full text), or other"
    ]
    bytes: Bytes
    sha1: Annotated[str, "SHA-1 of the file's bytes"]
    arxiv_id: Annotated[
        str | None, "arXiv id of a source archive: from the drop's records.jsonl, else from the file name"
    ]
    record_id: Annotated[str | None, "id of the record in a publisher's full text"]
    open_access: Annotated[bool | None, "open access as declared in the drop's records.jsonl"]
    licence: Annotated[str | None, "licence declared in the drop's records.jsonl"]


REGISTERED_FILES = define(RegisteredFileRow, "registered_files", key=("name",))


class RegisteredRecordRow(TypedDict):
    """Records of one delivery or drop in their original order. All releases share this table."""

    position: Annotated[int, "file number << 40 | entry number; the later entry of a record replaces the earlier one"]
    record_id: RecordId
    source: Source
    kind: RecordKind
    delivery: Delivery
    ready_at: ReadyAt
    title: Title
    authors: Authors
    date: Date
    date_precision: DatePrecision
    venue: Venue
    journal: Journal
    abstract: Abstract
    volume: Volume
    issue: Issue
    pages: Pages
    doi: Doi
    arxiv_id: ArxivId
    pubmed_id: PubmedId
    pmc_id: PmcId
    acl_id: AclId
    mag_id: MagId
    file_sha1: NamedPdfSha1
    subjects: Subjects
    licence: RecordLicence
    later_licences: LaterLicences
    open_access: OpenAccess
    open_version: OpenVersion
    type: WorkType
    editorial: Editorial
    notices: Notices
    deleted: Annotated[bool, "whether the source withdrew the record"]


REGISTERED_RECORDS = define(RegisteredRecordRow, "registered_records", key=("position",))


class DeliveryRow(TypedDict):
    """Drops and deliveries that intake found, accepted or refused with the reason."""

    kind: Annotated[str, "drop or delivery"]
    source: Annotated[str, "source of the delivery; empty for a drop"]
    delivery: Annotated[str, "drop_id or delivery_id"]
    ready_at: Annotated[str | None, "ready_at from its _READY, ISO UTC"]
    outcome: Annotated[
        str,
        "taken, refused:<reason> (incomplete, unlisted, changed, unreadable, bad_name, "
        "unknown_source, bad_records), or not_yet (ready after as_of)",
    ]
    detail: Annotated[str | None, "details of the fault, or the reason for waiting"]
    files: Annotated[int, INT32, "number of listed files"]
    rows: Annotated[int, "number of accepted records"]
    dropped: Annotated[int, "number of unreadable records"]
    warnings: Annotated[list[str], "unusable values in a drop's records.jsonl, by line and key"]


DELIVERIES = define(DeliveryRow, "deliveries", key=("kind", "source", "delivery"), counted=(("outcome",),))


class SelectionRow(TypedDict):
    """The decision whether to extract a PDF (S2ORC Appendix B)."""

    file_sha1: PdfSha1
    outcome: Annotated[str, "selected, or the first rule that rejects the PDF (`SelectOutcome`, in order)"]
    pages: Annotated[int | None, INT32, "number of pages"]
    width_pt: Annotated[float | None, "displayed width of page 1, points"]
    height_pt: Annotated[float | None, "displayed height of page 1, points"]
    detail: Annotated[str | None, "error that led to the outcome"]
    doi: Annotated[str | None, "DOI from the first pages or the PDF's metadata"]
    arxiv_id: Annotated[str | None, "arXiv id without version, from the same places"]
    acl_id: Annotated[str | None, "ACL Anthology id, from the same places"]
    pmc_id: Annotated[str | None, "PubMed Central id, from the same places"]
    date: Annotated[str | None, "publication date from the same places, in the printed precision"]
    date_precision: DatePrecision
    stamp: Annotated[str | None, "archive that marked the first page: arxiv or acl"]


SELECTIONS = define(SelectionRow, "selections", key=("file_sha1",), shards="pdf", counted=(("outcome",),))

STORED_SELECTIONS = define(
    SelectionRow,
    "stored_selections",
    key=("file_sha1",),
    shards="pdf",
    meaning="Final selections. All releases share this table",
)


class ExtractionRow(TypedDict):
    """The extractor's result for each selected PDF. The content store contains the response."""

    file_sha1: PdfSha1
    extractor: Extractor
    version: Version
    options_hash: OptionsHash
    outcome: Outcome
    tries: Tries
    seconds: Seconds
    server: Server
    tei_sha1: TeiSha1
    text_layer: TextLayer
    stored: Annotated[str | None, "part of the content store that contains the response"]


EXTRACTIONS = define(ExtractionRow, "extractions", key=("file_sha1",), shards="pdf", counted=(("outcome",),))


class StoredTeiRow(TypedDict):
    """Content store of extractions. All releases share this table."""

    file_sha1: PdfSha1
    extractor: Extractor
    version: Version
    options_hash: OptionsHash
    outcome: Outcome
    tries: Tries
    seconds: Seconds
    server: Server
    tei_sha1: TeiSha1
    text_layer: TextLayer
    tei: Annotated[bytes | None, "response of the extractor: TEI XML or its own format"]


STORED_TEI = define(StoredTeiRow, "stored_tei", key=("file_sha1",), shards="pdf")


class ParseRow(TypedDict):
    """The parse of each extraction. The content store contains the JSON."""

    parse_id: Annotated[str, "<file_sha1>:pdf:<hash of extractor, version, options>:<converter_version>"]
    file_sha1: PdfSha1
    kind: Annotated[str, "pdf"]
    outcome: Annotated[
        str, "ok, bad_tei:<reason> (bad_answer:<reason> for other formats), or none:<extraction outcome>"
    ]
    citation_style: CitationStyle
    bytes: JsonBytes
    text_layer: Annotated[str | None, "pages read by OCR, and pages with a defective text layer, as in extractions"]
    stored: Stored


PARSES = define(ParseRow, "parses", key=("parse_id",), shards="pdf", counted=(("outcome",), ("citation_style",)))


class StoredParseRow(TypedDict):
    """Content store of parses. All releases share this table."""

    file_sha1: PdfSha1
    kind: Annotated[str, "pdf, latex, jats or elsevier"]
    outcome: Annotated[str, "ok or bad_tei:<reason>; for other kinds as in latex_parses and article_parses"]
    citation_style: CitationStyle
    bytes: JsonBytes
    parse: Annotated[bytes | None, "canonical JSON of the parse, UTF-8"]
    header: Annotated[bytes | None, "canonical JSON of the PDF's header, UTF-8"]


STORED_PARSES = define(StoredParseRow, "stored_parses", key=("file_sha1",), shards="pdf")


class LatexParseRow(TypedDict):
    """The parse of each LaTeX source archive (S2ORC §2.2). The content store contains the JSON."""

    archive_sha1: Annotated[str, "SHA-1 of the archive's bytes"]
    parse_id: Annotated[str, "<archive_sha1>:latex:<hash of program, version>:<converter_version>"]
    arxiv_id: ArxivId
    first_seen: FirstSeen
    outcome: Annotated[
        str,
        "ok, no_arxiv_id, or the reason for a missing parse: pdf_only, withdrawn, no_latex, damaged, unsafe:<what>, timeout …",
    ]
    citation_style: CitationStyle
    bytes: JsonBytes
    stored: Stored


LATEX_PARSES = define(LatexParseRow, "latex_parses", key=("archive_sha1",), shards="pdf", counted=(("outcome",),))


class ArticleParseRow(TypedDict):
    """The parse of each publisher's full text. The content store contains the JSON."""

    file_sha1: Annotated[str, "SHA-1 of the file's bytes"]
    kind: ArticleKind
    parse_id: Annotated[str, "<file_sha1>:<kind>:-:<converter_version>"]
    record_ids: Annotated[list[str], "ids of the records in the file, sorted"]
    first_seen: FileFirstSeen
    outcome: Annotated[
        str, "ok, or the reason for a missing parse: no_body, not_well_formed, entities, too_large, wrong_type …"
    ]
    doi: Annotated[str | None, "DOI in the file"]
    pmc_id: Annotated[str | None, "PubMed Central id in the file"]
    licence: Annotated[str | None, "licence in the file; an SPDX id if one exists"]
    open_access: Annotated[bool | None, "whether the file declares open access"]
    citation_style: CitationStyle
    bytes: JsonBytes
    stored: Stored


ARTICLE_PARSES = define(ArticleParseRow, "article_parses", key=("file_sha1",), shards="pdf", counted=(("outcome",),))

PDF_RECORDS = define(
    RecordRow,
    "pdf_records",
    key=("record_id",),
    shards="pdf",
    meaning="Headers of parsed PDFs as records of kind pdf",
)


class EdgeRow(TypedDict):
    """Pairs of records that may describe one paper, with the reason, and the rejected pairs."""

    left: Annotated[str, "smaller record_id of the pair"]
    right: Annotated[str, "greater record_id of the pair"]
    reason: Annotated[
        str,
        "declared (the drop's record of the file), doi, arxiv_id, pubmed_id, pmc_id, acl_id, "
        "file_sha1, title, place (similar titles in one volume), prefix (one title lacks the subtitle "
        "of the other); for rejected pairs also contradiction or unrelated",
    ]
    strength: Annotated[float, "strength of the evidence: identifiers above 1, title similarity at most 1"]
    taken: Annotated[
        bool, "false: rejected because the clusters conflict in DOI, year, printed location, or titles and authors"
    ]


EDGES = define(EdgeRow, "edges", key=("left", "right"))


class ClusterRow(TypedDict):
    """The paper of each record."""

    record_id: RecordId
    paper_id: PaperId
    first_ready: Annotated[str | None, "ready_at of the first delivery in this release and its parents, ISO UTC"]


CLUSTERS = define(ClusterRow, "clusters", key=("record_id",))


class AliasRow(TypedDict):
    """Former paper ids and their present papers."""

    alias: Annotated[str, "former paper id"]
    paper_id: PaperId


ALIASES = define(AliasRow, "aliases", key=("alias",))


class MemberRow(TypedDict):
    """Records, sorted by their paper."""

    paper_id: PaperId
    record_id: RecordId
    source: Source
    kind: RecordKind
    delivery: Delivery
    ready_at: ReadyAt
    title: Title
    authors: Authors
    date: Date
    date_precision: DatePrecision
    venue: Venue
    journal: Journal
    abstract: Abstract
    volume: Volume
    issue: Issue
    pages: Pages
    doi: Doi
    arxiv_id: ArxivId
    pubmed_id: PubmedId
    pmc_id: PmcId
    acl_id: AclId
    mag_id: MagId
    file_sha1: NamedPdfSha1
    subjects: Subjects
    licence: RecordLicence
    later_licences: LaterLicences
    open_access: OpenAccess
    open_version: OpenVersion
    type: WorkType
    editorial: Editorial
    notices: Notices


MEMBERS = define(MemberRow, "members", key=("paper_id", "record_id"), shards="paper", counted=(("source",),))


class PaperRow(TypedDict):
    """Canonical metadata by vote (S2ORC §2.3)."""

    paper_id: PaperId
    title: Title
    authors: Authors
    date: Date
    date_precision: DatePrecision
    venue: Venue
    journal: Journal
    abstract: Abstract
    volume: Volume
    issue: Issue
    pages: Pages
    doi: Doi
    arxiv_id: ArxivId
    pubmed_id: PubmedId
    pmc_id: PmcId
    acl_id: AclId
    mag_ids: Annotated[list[str] | None, "Microsoft Academic Graph ids of the records, sorted"]
    fields_of_study: Annotated[
        list[str] | None, "fields out of MAG's 19; the first is the primary field, named by most sources"
    ]
    subjects: Annotated[list[str] | None, "distinct subjects of the records, sorted"]
    canonical_pdf: Annotated[str | None, "SHA-1 of the canonical PDF"]
    latex_parse_id: Annotated[str | None, "parse_id of the LaTeX parse, found by arXiv id"]
    open_access: Annotated[bool, "whether a full text may be published"]
    oa_evidence: Annotated[
        str | None, "evidence for the first open full text: arxiv, acl, pmc, unpaywall, publisher or declared"
    ]
    licence: Annotated[str | None, "licence of the first open full text"]
    editorial: Annotated[
        str | None, "most serious status in the records: retracted, withdrawn, expression_of_concern or corrected"
    ]
    editorial_by: Annotated[list[str], "ids of the records with that status, sorted"]
    access: Annotated[
        list[Access], "open-access decision for each full text: PDFs (canonical one first), then the LaTeX source"
    ]
    provenance: Annotated[
        list[tuple[str, FieldProvenance]], PROVENANCE, "field → record that provides the value, rule, and votes"
    ]
    record_ids: Annotated[list[str], "ids of the records, sorted"]


PAPERS = define(PaperRow, "papers", key=("paper_id",), shards="paper")


class FulltextRow(TypedDict):
    """Parses, assigned to their papers (S2ORC §2.4)."""

    paper_id: PaperId
    parse_kind: ParseKind
    parse_id: ParseId
    file_sha1: Annotated[str, "SHA-1 of the PDF or source archive"]
    open_access: Annotated[bool, "whether the text may be published; if false, only bibliography and links"]
    oa_evidence: Annotated[str | None, "evidence of open access"]
    licence: Annotated[str | None, "licence of the file"]
    text_layer: Annotated[
        str | None, "for PDFs: pages read by OCR, and pages with a defective text layer, as in extractions"
    ]
    parse: Annotated[bytes, "canonical JSON of the parse, with paper_id, UTF-8"]


FULLTEXTS = define(FulltextRow, "fulltexts", key=("paper_id", "parse_kind"), shards="paper")


class EntryRow(TypedDict):
    """Bibliography entries of the assembled parses."""

    paper_id: PaperId
    parse_kind: ParseKind
    ref_id: RefId
    parse_id: ParseId
    title: Annotated[str | None, "title as printed"]
    authors: Annotated[list[AuthorName] | None, AUTHORS, "authors in order"]
    year: Annotated[int | None, INT32, "year of publication"]
    venue: Annotated[str | None, "venue as printed"]
    volume: Annotated[str | None, "volume as printed"]
    issue: Annotated[str | None, "issue as printed"]
    pages: Annotated[str | None, "pages as printed"]
    doi: Annotated[str | None, "DOI"]
    arxiv_id: Annotated[str | None, "arXiv id"]
    pubmed_id: Annotated[str | None, "PubMed id"]
    pmc_id: Annotated[str | None, "PubMed Central id"]
    raw_text: Annotated[str | None, "full text of the entry as printed"]


ENTRIES = define(EntryRow, "entries", key=("paper_id", "parse_kind", "ref_id"), shards="paper")


class FilteredRow(TypedDict):
    """The decision whether a paper is in the corpus (S2ORC §2.5)."""

    paper_id: PaperId
    outcome: Annotated[
        str, "first rule that rejects the paper (suppressed, no_title, no_authors, short_text, not_english), or kept"
    ]
    characters: Annotated[int | None, "length of abstract and body, characters"]
    english: Annotated[float | None, "probability of English by the spec's `filter.language`; null if not evaluated"]
    disputed: Annotated[bool | None, "with CLD2: whether CLD3 disagrees; null if not evaluated"]


FILTERED = define(FilteredRow, "filtered", key=("paper_id",), shards="paper", counted=(("outcome",),))


class LinkRow(TypedDict):
    """Bibliography entries and the papers of the corpus that they cite (S2ORC §2.6)."""

    paper_id: PaperId
    parse_kind: ParseKind
    ref_id: RefId
    cited_paper_id: Annotated[str | None, "id of the cited paper; null if unlinked"]
    score: Annotated[float | None, "title similarity S (S2ORC, equation 1)"]
    reason: Annotated[str, "rule that links the entry: id, exact, fuzzy, prefix or locator; none if unlinked"]
    warning: Annotated[
        str | None,
        "numeral: titles differ only in a number; tie: another paper matches equally; contradiction: "
        "year and surname differ",
    ]
    runner_up_score: Annotated[
        float | None, "title similarity of the second candidate; for id and exact, of another equal candidate"
    ]


LINKS = define(
    LinkRow, "links", key=("paper_id", "parse_kind", "ref_id"), shards="paper", plain=("paper_id", "cited_paper_id")
)


class ContextRow(TypedDict):
    """Inline citations of open papers with their paragraphs (GORC §3)."""

    paper_id: PaperId
    parse_kind: ParseKind
    paragraph: Annotated[int, INT32, "paragraph number over abstract, body and back matter, from 0"]
    start: Annotated[int, INT32, "start of the span in the paragraph, code points"]
    end: Annotated[int, INT32, "end of the span in the paragraph, code points, exclusive"]
    ref_id: RefId
    cited_paper_id: Annotated[str | None, "id of the cited paper; null if unlinked"]
    text: Annotated[str, "text of the paragraph"]


CONTEXTS = define(
    ContextRow, "contexts", key=("paper_id", "parse_kind", "paragraph", "start", "end", "ref_id"), shards="paper"
)


class DocumentRow(TypedDict):
    """The cleaning decision for each paper in each set, with measured values, and the text of accepted documents."""

    set: Set
    paper_id: PaperId
    outcome: Annotated[str, "first rule that rejects the document, or kept"]
    language: Annotated[str | None, "language by vote of paragraphs (mul: several); null if not evaluated"]
    language_votes: Annotated[
        list[tuple[str, int]] | None, VOTES, "language → number of paragraphs, until the vote is decided"
    ]
    words: Annotated[int | None, "number of words"]
    paragraphs: Annotated[int | None, INT32, "number of paragraphs after cleaning"]
    top_word: Annotated[str | None, "most frequent word"]
    top_share: Annotated[float | None, "share of the most frequent word"]
    log_prob: Annotated[
        float | None, "mean log2 probability per word, for the least probable section (s2orc) or the abstract (s2ag)"
    ]
    removed_sections: Annotated[int | None, INT32, "number of removed improbable sections"]
    text_key: Annotated[int | None, "hash of the normalized text, only if kept"]
    title_key: Annotated[int | None, "hash of normalized title and first author's surname, only if kept"]
    minhash: Annotated[list[int] | None, "MinHash keys of the text's word n-grams, one per band, only if kept"]
    text: Annotated[str | None, "text of the document, only if kept"]
    sha1: Annotated[str | None, "s2orc: SHA-1 of the text's file"]
    oa_evidence: Annotated[str | None, "s2orc: evidence that the file is open"]
    licence: Annotated[str | None, "s2orc: licence of the file"]


DOCUMENTS = define(
    DocumentRow, "documents", key=("set", "paper_id"), shards="paper", counted=(("set", "outcome"), ("set", "language"))
)


class SplitRow(TypedDict):
    """The split of every accepted document."""

    set: Set
    paper_id: PaperId
    split: Annotated[
        str,
        "train, valid, held_back:late, held_back:undated, held_back:duplicate (equal text) or "
        "held_back:near_duplicate (similar text, or title and first author)",
    ]
    reason: Annotated[str | None, "date or duplicated paper that determined the split"]


SPLITS = define(SplitRow, "splits", key=("set", "paper_id"), shards="paper", counted=(("set", "split"),))


class DuplicateRow(TypedDict):
    """Duplicate documents of train and valid, by cluster."""

    cluster: Annotated[str, "paper_id of the representative: the earliest document, in train if possible"]
    set: Set
    paper_id: PaperId
    split: Annotated[str, "split of the document, as in splits"]
    reason: Annotated[
        str | None,
        "text (equal), title (and first author, equal to those of a train text), words (similar "
        "n-grams); null for the representative",
    ]
    duplicate_of: Annotated[str | None, "paper_id of the most similar document; the first one for equal texts"]
    jaccard: Annotated[float | None, "exact Jaccard index of the word n-grams of both documents; null for reason title"]


DUPLICATES = define(DuplicateRow, "duplicates", key=("cluster", "set", "paper_id"))


TABLES: dict[str, Table] = {
    t.name: t
    for t in (
        PDFS,
        LATEX_SOURCES,
        ARTICLES,
        RECORDS,
        NOTICES,
        REGISTERED_FILES,
        REGISTERED_RECORDS,
        DELIVERIES,
        SELECTIONS,
        STORED_SELECTIONS,
        EXTRACTIONS,
        STORED_TEI,
        PARSES,
        STORED_PARSES,
        LATEX_PARSES,
        ARTICLE_PARSES,
        PDF_RECORDS,
        EDGES,
        CLUSTERS,
        ALIASES,
        MEMBERS,
        PAPERS,
        FULLTEXTS,
        ENTRIES,
        FILTERED,
        LINKS,
        CONTEXTS,
        DOCUMENTS,
        SPLITS,
        DUPLICATES,
    )
}


def documentation() -> str:
    """Return the page docs/tables.md: every table with its columns."""
    lines = ["# Tables between stages", "", "Written by `python -m s2corpus.tables`: a test compares it with the code."]
    for name in sorted(TABLES):
        table = TABLES[name]
        lines += [
            "",
            f"## {name}",
            "",
            f"{table.meaning}. Key: {', '.join(table.key)}.",
            "",
            "| column | type | meaning |",
            "|---|---|---|",
        ]
        for column in table.columns:
            kind = f"{column.type}".replace("|", "\\|") + ("" if column.nullable else ", not null")
            lines.append(f"| {column.name} | {kind} | {column.meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(documentation())
