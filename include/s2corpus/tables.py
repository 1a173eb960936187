"""Every table that passes between stages, described once: a class for its rows, whose annotations are the columns.

`define` makes the table of such a class: its Arrow schema, its documentation (docs/tables.md), and the type of its rows in Python. A
column's annotation contains the Python type, its meaning with the unit, and the Arrow type if the Python type does not give it.

One row per input everywhere: a reject is a row with its outcome, so that nothing disappears between two tables. Rows are sorted
by key within a part. `Table.shards` says what a part number means, so that a reader finds the one part it needs:

- `pdf`: a range of the SHA-1 space (see `pdf_shard`), a PDF's rows are all in one part;
- `paper`: a bucket of the paper id (see `paper_shard`), a paper's rows are all in one part;
- `any`: parts have no meaning to a reader.
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


AUTHOR = pa.struct(
    [
        pa.field("first", pa.string(), nullable=False),
        pa.field("middle", pa.list_(pa.string()), nullable=False),
        pa.field("last", pa.string(), nullable=False),
        pa.field("suffix", pa.string(), nullable=False),
    ]
)
AUTHORS = pa.list_(AUTHOR)
"""names only: of bibliography entries"""
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
"""of papers: with where they work and their ORCID, where a source says so"""
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
            pa.field("sha1", pa.string()),  # of the PDF or archive
            pa.field("kind", pa.string()),  # pdf or latex
            pa.field("open_access", pa.bool_()),
            pa.field("oa_evidence", pa.string()),
            pa.field("licence", pa.string()),
            pa.field("licence_detail", pa.string()),  # of which licences it is the strictest
            pa.field(
                "looks",  # each kind of evidence: whether it was found, and where, or where it was looked for
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
    """One column: its name, Arrow type and what it means, with its unit."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = True


R_co = TypeVar("R_co", covariant=True, default=Any)
"""a row, as `to_pylist` gives it; Any of tables that are read as columns only"""


@dataclass(frozen=True)
class Table(Generic[R_co]):
    """One table: its columns, the key that is unique in it, what its parts stand for, and the type of a row in Python.

    `counted` names columns whose values are counted, together, while a part is written: stages sum these up, and read no table for it.
    `plain` names columns that a dictionary in Parquet does not make smaller: making it takes longer than writing them.
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
        """16 hex digits over names, types and nullability: a part of another schema is never read as this table."""
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
    """The shard of a PDF: equal ranges of the SHA-1 space by its first 8 hex digits."""
    return int(file_sha1[:8], 16) * shards >> 32


def paper_shard(paper_id: str, shards: int) -> int:
    """The bucket of a paper: first 8 bytes of SHA-1(paper_id), big-endian, modulo the number of buckets."""
    return int.from_bytes(hashlib.sha1(paper_id.encode(), usedforsecurity=False).digest()[:8], "big") % shards


PdfSha1 = Annotated[str, "SHA-1 of the PDF's bytes, 40 hex digits: the PDF's identity"]
Bytes = Annotated[int, "size, bytes"]
Places = Annotated[
    list[Place], "where it was delivered, sorted, and what the drop's records.jsonl promises of it there"
]
FirstSeen = Annotated[str, "earliest ready_at of its drops, ISO UTC"]
ArticleKind = Annotated[str, "jats or elsevier"]
FileFirstSeen = Annotated[str, "earliest ready_at of its drops and deliveries, ISO UTC"]
RecordId = Annotated[str, "<source>:<native id>"]
Source = Annotated[str, "who says it: crossref, arxiv, …; the extractor or scienceparse for a PDF's own header"]
RecordKind = Annotated[str, "publisher (gold), archive, or pdf"]
Delivery = Annotated[str | None, "delivery (or drop) that brought it"]
ReadyAt = Annotated[str | None, "when that delivery was ready, ISO UTC: the only clock"]
Title = Annotated[str | None, "title as given"]
Authors = Annotated[list[Person] | None, PERSONS, "authors in order, with affiliations (name, ROR id) and ORCID"]
Date = Annotated[str | None, "ISO date of publication, as precise as known: 2022, 2022-11 or 2022-11-30"]
DatePrecision = Annotated[str | None, "day, month or year"]
Venue = Annotated[str | None, "conference or series"]
Journal = Annotated[str | None, "journal"]
Abstract = Annotated[str | None, "abstract, plain text"]
Volume = Annotated[str | None, "volume of the journal or series"]
Issue = Annotated[str | None, "issue of the volume"]
Pages = Annotated[str | None, "pages, 12-34, or an article number"]
Doi = Annotated[str | None, "DOI, lower-case, without resolver"]
ArxivId = Annotated[str | None, "arXiv id without version"]
PubmedId = Annotated[str | None, "PubMed id, digits"]
PmcId = Annotated[str | None, "PubMed Central id, PMC and digits"]
AclId = Annotated[str | None, "ACL Anthology id"]
MagId = Annotated[str | None, "Microsoft Academic Graph id"]
NamedPdfSha1 = Annotated[str | None, "the PDF this record is about, where its source names one"]
Subjects = Annotated[list[str] | None, "what the source calls its subjects: categories, headings, codes"]
RecordLicence = Annotated[str | None, "licence, SPDX id where one is known"]
LaterLicences = Annotated[
    list[LaterLicence] | None, "better licences that start later (ISO date), as after an embargo, the best first"
]
OpenAccess = Annotated[bool | None, "whether the source says the paper is open access"]
OpenVersion = Annotated[
    str | None, "published: the publisher's copy is open, or one of the published version; copy: others only"
]
WorkType = Annotated[
    str | None, "type of the work: preprint, article, proceedings, chapter, book, thesis, report or other"
]
Editorial = Annotated[str | None, "what became of the work: retracted, withdrawn, expression_of_concern, corrected"]
Notices = Annotated[
    list[Notice] | None,
    "what it says of other works (doi:…, pmid:…), likewise: a retraction notice of what it retracts",
]
Extractor = Annotated[str, "who extracted, by the name that it gives itself"]
Version = Annotated[str, "its version"]
OptionsHash = Annotated[str, "16 hex digits over the options sent"]
Outcome = Annotated[str, "ok, no_content, bad_tei, bad_answer, failed:<CODE>, gave_up:busy|timeout|connection"]
Tries = Annotated[int, INT32, "requests made"]
Seconds = Annotated[float, "time of the last try, seconds"]
Server = Annotated[str | None, "server that answered"]
TeiSha1 = Annotated[str | None, "SHA-1 of the answer"]
TextLayer = Annotated[str | None, "pages read by OCR (`ocr 1 2`) and pages whose text layer has an ill (`no_words 7`)"]
CitationStyle = Annotated[str | None, "BRACKET, NAME_YEAR or OTHER"]
JsonBytes = Annotated[int, "size of the JSON, bytes"]
Stored = Annotated[str | None, "part of the content store that holds the parse"]
PaperId = Annotated[str, "id of the paper (cluster), stable over releases (SEMANTICS: Cluster)"]
ParseKind = Annotated[str, "kind of full text: pdf, latex, jats or elsevier"]
ParseId = Annotated[str, "the parse"]
RefId = Annotated[str, "the entry's id in its parse, BIBREF0 …"]
Set = Annotated[str, "s2orc (full text) or s2ag (title and abstract)"]


class PdfRow(TypedDict):
    """PDFs the release sees: one row per content, however many places it was delivered to."""

    file_sha1: PdfSha1
    bytes: Bytes
    places: Places
    first_seen: FirstSeen


PDFS = define(PdfRow, "pdfs", key=("file_sha1",), shards="pdf")


class LatexSourceRow(TypedDict):
    """LaTeX source archives the release sees: one row per content."""

    archive_sha1: Annotated[str, "SHA-1 of the archive's bytes, 40 hex digits"]
    bytes: Bytes
    places: Places
    first_seen: FirstSeen
    arxiv_id: Annotated[str | None, "arXiv id without version: what it belongs to its paper by"]


LATEX_SOURCES = define(LatexSourceRow, "latex_sources", key=("archive_sha1",), shards="pdf")


class ArticleRow(TypedDict):
    """Publishers' full texts (JATS, Elsevier's JSON) the release sees: one row per content."""

    file_sha1: Annotated[str, "SHA-1 of the file's bytes, 40 hex digits"]
    kind: ArticleKind
    bytes: Bytes
    places: Annotated[list[ArticlePlace], "where it was delivered, and what the drop there declares of it, sorted"]
    first_seen: FileFirstSeen
    record_ids: Annotated[list[str], "the records that it gives, sorted: what it belongs to its paper by"]


ARTICLES = define(ArticleRow, "articles", key=("file_sha1",), shards="pdf")


class RecordRow(TypedDict):
    """Metadata records, the latest of each record_id."""

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
    """What records say of other works: retraction notices, corrections."""

    about: Annotated[str, "doi:… or pmid:…: the work that it is about"]
    status: Annotated[str, "retracted, withdrawn, expression_of_concern or corrected"]
    record_id: RecordId


NOTICES = define(NoticeRow, "notices", key=("about", "status", "record_id"))


class RegisteredFileRow(TypedDict):
    """The files of one drop as they were verified against its _READY; outlives releases."""

    name: Annotated[str, "file name in the drop"]
    kind: Annotated[str, "pdf, latex (a source archive), jats or elsevier (a publisher's full text) or other"]
    bytes: Bytes
    sha1: Annotated[str, "SHA-1 of its bytes: a PDF's identity"]
    arxiv_id: Annotated[str | None, "of a source archive: as the drop's records.jsonl declares, else as its name says"]
    record_id: Annotated[str | None, "of a publisher's full text: the record that it gives"]
    open_access: Annotated[bool | None, "as the drop's records.jsonl declares"]
    licence: Annotated[str | None, "as the drop's records.jsonl declares"]


REGISTERED_FILES = define(RegisteredFileRow, "registered_files", key=("name",))


class RegisteredRecordRow(TypedDict):
    """The records of one delivery or drop as they came; outlives releases."""

    position: Annotated[int, "file number << 40 | entry number: a later entry of the same record wins"]
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
    deleted: Annotated[bool, "the source withdrew it"]


REGISTERED_RECORDS = define(RegisteredRecordRow, "registered_records", key=("position",))


class DeliveryRow(TypedDict):
    """Every drop and delivery found ready before as_of: taken, or refused with the reason."""

    kind: Annotated[str, "drop or delivery"]
    source: Annotated[str, "the delivery's source; empty for a drop"]
    delivery: Annotated[str, "drop_id or delivery_id"]
    ready_at: Annotated[str | None, "ISO UTC from its _READY"]
    outcome: Annotated[
        str,
        "taken, refused:<reason> (incomplete, unlisted, changed, unreadable, bad_name, "
        "unknown_source, bad_records), or not_yet (ready after as_of)",
    ]
    detail: Annotated[str | None, "what was wrong, or why it waits"]
    files: Annotated[int, INT32, "files listed"]
    rows: Annotated[int, "records taken"]
    dropped: Annotated[int, "records that could not be read"]
    warnings: Annotated[list[str], "what a drop's records.jsonl says that cannot be used, by line and key"]


DELIVERIES = define(DeliveryRow, "deliveries", key=("kind", "source", "delivery"), counted=(("outcome",),))


class SelectionRow(TypedDict):
    """Whether a PDF is worth extracting (S2ORC App. B)."""

    file_sha1: PdfSha1
    outcome: Annotated[str, "why it is not extracted, or selected (`pdf.Outcome`, in order); first hit decides"]
    pages: Annotated[int | None, INT32, "number of pages"]
    width_pt: Annotated[float | None, "displayed width of page 1, points"]
    height_pt: Annotated[float | None, "displayed height of page 1, points"]
    detail: Annotated[str | None, "the error behind the outcome"]
    doi: Annotated[str | None, "the paper's DOI, as its first pages print it or its metadata give it"]
    arxiv_id: Annotated[str | None, "its arXiv id without version, likewise"]
    acl_id: Annotated[str | None, "its ACL Anthology id, likewise"]
    pmc_id: Annotated[str | None, "its PubMed Central id, likewise"]
    date: Annotated[str | None, "its date of publication, likewise, as precise as printed"]
    date_precision: DatePrecision
    stamp: Annotated[str | None, "archive whose mark the first page bears: arxiv or acl"]


SELECTIONS = define(SelectionRow, "selections", key=("file_sha1",), shards="pdf", counted=(("outcome",),))

STORED_SELECTIONS = define(
    SelectionRow,
    "stored_selections",
    key=("file_sha1",),
    shards="pdf",
    meaning="content store of selections that are final: outlives releases",
)


class ExtractionRow(TypedDict):
    """What the extractor answered for each selected PDF; the answer itself lies in the content store."""

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
    stored: Annotated[str | None, "part of the content store that holds the answer"]


EXTRACTIONS = define(ExtractionRow, "extractions", key=("file_sha1",), shards="pdf", counted=(("outcome",),))


class StoredTeiRow(TypedDict):
    """Content store of extractions: outlives releases."""

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
    tei: Annotated[bytes | None, "the answer: TEI XML, or what its extractor writes"]


STORED_TEI = define(StoredTeiRow, "stored_tei", key=("file_sha1",), shards="pdf")


class ParseRow(TypedDict):
    """The postprocessed full text of each extraction; the JSON itself lies in the content store."""

    parse_id: Annotated[str, "<file_sha1>:pdf:<hash of extractor, version, options>:<converter_version>"]
    file_sha1: PdfSha1
    kind: Annotated[str, "pdf"]
    outcome: Annotated[
        str, "ok, bad_tei:<reason> (bad_answer:<reason> where it is not TEI), or none:<extraction outcome>"
    ]
    citation_style: CitationStyle
    bytes: JsonBytes
    text_layer: Annotated[str | None, "as in extractions: pages read by OCR, pages with a text layer that has an ill"]
    stored: Stored


PARSES = define(ParseRow, "parses", key=("parse_id",), shards="pdf", counted=(("outcome",), ("citation_style",)))


class StoredParseRow(TypedDict):
    """Content store of parses: outlives releases."""

    file_sha1: PdfSha1
    kind: Annotated[str, "pdf, latex, jats or elsevier"]
    outcome: Annotated[str, "ok or bad_tei:<reason>; of other kinds as in latex_parses and article_parses"]
    citation_style: CitationStyle
    bytes: JsonBytes
    parse: Annotated[bytes | None, "canonical JSON of the parse, UTF-8"]
    header: Annotated[bytes | None, "canonical JSON of the PDF's own header, UTF-8"]


STORED_PARSES = define(StoredParseRow, "stored_parses", key=("file_sha1",), shards="pdf")


class LatexParseRow(TypedDict):
    """The parse of each LaTeX source archive (S2ORC §2.2); the JSON itself lies in the content store."""

    archive_sha1: Annotated[str, "SHA-1 of the archive's bytes"]
    parse_id: Annotated[str, "<archive_sha1>:latex:<hash of program, version>:<converter_version>"]
    arxiv_id: ArxivId
    first_seen: FirstSeen
    outcome: Annotated[
        str, "ok, no_arxiv_id, or why there is none: pdf_only, withdrawn, no_latex, damaged, unsafe:<what>, timeout …"
    ]
    citation_style: CitationStyle
    bytes: JsonBytes
    stored: Stored


LATEX_PARSES = define(LatexParseRow, "latex_parses", key=("archive_sha1",), shards="pdf", counted=(("outcome",),))


class ArticleParseRow(TypedDict):
    """The parse of each publisher's full text; the JSON itself lies in the content store."""

    file_sha1: Annotated[str, "SHA-1 of the file's bytes"]
    kind: ArticleKind
    parse_id: Annotated[str, "<file_sha1>:<kind>:-:<converter_version>"]
    record_ids: Annotated[list[str], "the records that the file gives, sorted"]
    first_seen: FileFirstSeen
    outcome: Annotated[str, "ok, or why there is no parse: no_body, not_well_formed, entities, too_large, wrong_type …"]
    doi: Annotated[str | None, "DOI, as the file has it"]
    pmc_id: Annotated[str | None, "PubMed Central id, likewise"]
    licence: Annotated[str | None, "licence, as the file says, SPDX id where one is known"]
    open_access: Annotated[bool | None, "whether the file says that it is open access"]
    citation_style: CitationStyle
    bytes: JsonBytes
    stored: Stored


ARTICLE_PARSES = define(ArticleParseRow, "article_parses", key=("file_sha1",), shards="pdf", counted=(("outcome",),))

PDF_RECORDS = define(
    RecordRow,
    "pdf_records",
    key=("record_id",),
    shards="pdf",
    meaning="the headers of parsed PDFs, as records of kind pdf",
)


class EdgeRow(TypedDict):
    """Why two records were taken for one paper, and what was cut."""

    left: Annotated[str, "record_id, the smaller"]
    right: Annotated[str, "record_id, the greater"]
    reason: Annotated[
        str,
        "declared (a drop's own record of the file), doi, arxiv_id, pubmed_id, pmc_id, acl_id, "
        "file_sha1, title, place (similar titles in one volume), prefix (one title lacks the subtitle "
        "of the other); of what was cut also contradiction or unrelated",
    ]
    strength: Annotated[float, "identifier kinds above 1, S_title at most 1"]
    taken: Annotated[
        bool, "false: cut, for the two clusters conflict in DOI, year, place in print, or in titles and authors"
    ]


EDGES = define(EdgeRow, "edges", key=("left", "right"))


class ClusterRow(TypedDict):
    """Which paper a record belongs to."""

    record_id: RecordId
    paper_id: PaperId
    first_ready: Annotated[str | None, "when the record was first delivered, as far back as the parents know, ISO UTC"]


CLUSTERS = define(ClusterRow, "clusters", key=("record_id",))


class AliasRow(TypedDict):
    """Former paper ids and the paper that took them over."""

    alias: Annotated[str, "former paper id"]
    paper_id: PaperId


ALIASES = define(AliasRow, "aliases", key=("alias",))


class MemberRow(TypedDict):
    """Records with the paper they belong to."""

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
    mag_ids: Annotated[list[str] | None, "Microsoft Academic Graph ids of its records, sorted"]
    fields_of_study: Annotated[
        list[str] | None, "MAG's 19 fields; the first is the primary field, which most sources name"
    ]
    subjects: Annotated[list[str] | None, "what its records call its subjects, each once, sorted"]
    canonical_pdf: Annotated[str | None, "SHA-1 of the canonical PDF"]
    latex_parse_id: Annotated[str | None, "parse_id of the LaTeX parse, by arXiv id"]
    open_access: Annotated[bool, "whether a full text of it may be published"]
    oa_evidence: Annotated[
        str | None, "what says so, of its first open full text: arxiv, acl, pmc, unpaywall, publisher or declared"
    ]
    licence: Annotated[str | None, "licence of that full text"]
    editorial: Annotated[
        str | None, "retracted, withdrawn, expression_of_concern or corrected: the gravest that is said"
    ]
    editorial_by: Annotated[list[str], "the records that say so, sorted"]
    access: Annotated[
        list[Access], "the judgement on each of its full texts: its PDFs, the canonical one first, and its LaTeX source"
    ]
    provenance: Annotated[list[tuple[str, Provenance]], PROVENANCE, "field → who decided it, how, and the votes"]
    record_ids: Annotated[list[str], "its records, sorted"]


PAPERS = define(PaperRow, "papers", key=("paper_id",), shards="paper")


class FulltextRow(TypedDict):
    """Parses of the papers they belong to (S2ORC §2.4)."""

    paper_id: PaperId
    parse_kind: ParseKind
    parse_id: ParseId
    file_sha1: Annotated[str, "the PDF or source archive it was made from"]
    open_access: Annotated[bool, "false: bibliography and links only, never text"]
    oa_evidence: Annotated[str | None, "what says that it is open"]
    licence: Annotated[str | None, "its licence"]
    text_layer: Annotated[
        str | None, "of a PDF, as in extractions: pages read by OCR, pages with a text layer that has an ill"
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
    authors: Annotated[list[Author] | None, AUTHORS, "authors in order"]
    year: Annotated[int | None, INT32, "year"]
    venue: Annotated[str | None, "where it appeared"]
    volume: Annotated[str | None, "volume as printed"]
    issue: Annotated[str | None, "issue as printed"]
    pages: Annotated[str | None, "pages as printed"]
    doi: Annotated[str | None, "DOI"]
    arxiv_id: Annotated[str | None, "arXiv id"]
    pubmed_id: Annotated[str | None, "PubMed id"]
    pmc_id: Annotated[str | None, "PubMed Central id"]
    raw_text: Annotated[str | None, "the entry as printed"]


ENTRIES = define(EntryRow, "entries", key=("paper_id", "parse_kind", "ref_id"), shards="paper")


class FilteredRow(TypedDict):
    """Whether a paper stays in the corpus (S2ORC §2.5)."""

    paper_id: PaperId
    outcome: Annotated[str, "suppressed, no_title, no_authors, short_text, not_english or kept; first hit decides"]
    characters: Annotated[int | None, "abstract + body, characters"]
    english: Annotated[float | None, "P(en) by the spec's `filter.language`, null where not asked"]
    disputed: Annotated[bool | None, "with CLD2: whether CLD3 decides otherwise; null where not asked"]


FILTERED = define(FilteredRow, "filtered", key=("paper_id",), shards="paper", counted=(("outcome",),))


class LinkRow(TypedDict):
    """Bibliography entries and the kept paper each is (S2ORC §2.6); an unlinked entry has cited_paper_id null."""

    paper_id: PaperId
    parse_kind: ParseKind
    ref_id: RefId
    cited_paper_id: Annotated[str | None, "the paper it is"]
    score: Annotated[float | None, "S_title (eq. 1)"]
    reason: Annotated[str, "id, exact, fuzzy, prefix, locator; or none"]
    warning: Annotated[
        str | None,
        "numeral: titles differ only in a number; tie: another paper agrees as far; contradiction: "
        "year and surname differ",
    ]
    runner_up_score: Annotated[float | None, "S of the next best; for id and exact of another equal candidate"]


LINKS = define(
    LinkRow, "links", key=("paper_id", "parse_kind", "ref_id"), shards="paper", plain=("paper_id", "cited_paper_id")
)


class ContextRow(TypedDict):
    """Inline citations of open papers, with their paragraph (GORC §3)."""

    paper_id: PaperId
    parse_kind: ParseKind
    paragraph: Annotated[int, INT32, "index over abstract, body, back matter, from 0"]
    start: Annotated[int, INT32, "start of the span in the paragraph, code points"]
    end: Annotated[int, INT32, "its end"]
    ref_id: RefId
    cited_paper_id: Annotated[str | None, "the cited paper, null where unlinked"]
    text: Annotated[str, "the paragraph"]


CONTEXTS = define(
    ContextRow, "contexts", key=("paper_id", "parse_kind", "paragraph", "start", "end", "ref_id"), shards="paper"
)


class DocumentRow(TypedDict):
    """The cleaning decision of each paper in each set, with its values and, if kept, its text."""

    set: Set
    paper_id: PaperId
    outcome: Annotated[str, "first rule that drops it, or kept"]
    language: Annotated[str | None, "language by vote (mul: several won); null where not evaluated"]
    language_votes: Annotated[list[tuple[str, int]] | None, VOTES, "language → paragraphs, until the vote was certain"]
    words: Annotated[int | None, "words"]
    paragraphs: Annotated[int | None, INT32, "paragraphs left"]
    top_word: Annotated[str | None, "most frequent word"]
    top_share: Annotated[float | None, "its share of the words"]
    log_prob: Annotated[
        float | None, "mean log2 probability a word: of the least probable section, or the abstract (s2ag)"
    ]
    removed_sections: Annotated[int | None, INT32, "improbable sections removed"]
    text_key: Annotated[int | None, "hash of the normalised text, only if kept"]
    title_key: Annotated[int | None, "hash of normalised title and first author's surname, only if kept"]
    minhash: Annotated[list[int] | None, "MinHash keys of the text's word n-grams, one a band, only if kept"]
    text: Annotated[str | None, "the document, only if kept"]
    sha1: Annotated[str | None, "s2orc: SHA-1 of the file the text is from"]
    oa_evidence: Annotated[str | None, "s2orc: what says that this file is open"]
    licence: Annotated[str | None, "s2orc: the licence of this file"]


DOCUMENTS = define(
    DocumentRow, "documents", key=("set", "paper_id"), shards="paper", counted=(("set", "outcome"), ("set", "language"))
)


class SplitRow(TypedDict):
    """Train, valid or held back, for every kept document."""

    set: Set
    paper_id: PaperId
    split: Annotated[
        str,
        "train, valid, held_back:late, held_back:undated, held_back:duplicate (equal text) or "
        "held_back:near_duplicate (similar text, or title and first author)",
    ]
    reason: Annotated[str | None, "what decided: the date, or the paper it repeats"]


SPLITS = define(SplitRow, "splits", key=("set", "paper_id"), shards="paper", counted=(("set", "split"),))


class DuplicateRow(TypedDict):
    """Documents of train or valid that repeat one another, by cluster."""

    cluster: Annotated[str, "paper_id of the document that stands for the cluster: the earliest, of train if one is"]
    set: Set
    paper_id: PaperId
    split: Annotated[str, "as in splits: published, or held back for it"]
    reason: Annotated[
        str | None,
        "text (equal), title (and first author, equal to those of a train text), words (similar "
        "n-grams); null of the document that stands for the cluster",
    ]
    duplicate_of: Annotated[str | None, "paper_id of the one that it is most similar to; of equal texts the first"]
    jaccard: Annotated[float | None, "exact Jaccard index of the word n-grams of the two; null for reason title"]


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
