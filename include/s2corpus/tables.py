"""The schema of every table that passes between stages: each column with its meaning and unit.

One row per input everywhere: a reject is a row with its outcome, so that nothing disappears between two tables. Rows are sorted
by key within a part. `Table.shards` says what a part number means, so that a reader finds the one part it needs:

- `pdf`: a range of the SHA-1 space (see `pdf_shard`), a PDF's rows are all in one part;
- `paper`: a bucket of the paper id (see `paper_shard`), a paper's rows are all in one part;
- `any`: parts have no meaning to a reader.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

import pyarrow as pa
from typing_extensions import TypeVar

from s2corpus import row_types as rows

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


def pdf_shard(pdf_sha1: str, shards: int) -> int:
    """The shard of a PDF: equal ranges of the SHA-1 space by its first 8 hex digits."""
    return int(pdf_sha1[:8], 16) * shards >> 32


def paper_shard(paper_id: str, shards: int) -> int:
    """The bucket of a paper: first 8 bytes of SHA-1(paper_id), big-endian, modulo the number of buckets."""
    return int.from_bytes(hashlib.sha1(paper_id.encode(), usedforsecurity=False).digest()[:8], "big") % shards


def _c(name: str, type_: pa.DataType, meaning: str) -> Column:
    return Column(name, type_, meaning)


def _k(name: str, meaning: str, type_: pa.DataType | None = None) -> Column:
    return Column(name, type_ or pa.string(), meaning, nullable=False)


_PAPER_ID = _k("paper_id", "id of the paper (cluster), stable over releases (SEMANTICS: Cluster)")
_PDF_SHA1 = _k("pdf_sha1", "SHA-1 of the PDF's bytes, 40 hex digits: the PDF's identity")
_PARSE_KIND = _k("parse_kind", "kind of full text: pdf, latex, jats or elsevier")
_REF_ID = _k("ref_id", "the entry's id in its parse, BIBREF0 …")
_SET = _k("set", "s2orc (full text) or s2ag (title and abstract)")

_METADATA = (
    _c("title", pa.string(), "title as given"),
    _c("authors", PERSONS, "authors in order, with affiliations (name, ROR id) and ORCID"),
    _c("date", pa.string(), "ISO date of publication, as precise as known: 2022, 2022-11 or 2022-11-30"),
    _c("date_precision", pa.string(), "day, month or year"),
    _c("venue", pa.string(), "conference or series"),
    _c("journal", pa.string(), "journal"),
    _c("abstract", pa.string(), "abstract, plain text"),
    _c("volume", pa.string(), "volume of the journal or series"),
    _c("issue", pa.string(), "issue of the volume"),
    _c("pages", pa.string(), "pages, 12-34, or an article number"),
    _c("doi", pa.string(), "DOI, lower-case, without resolver"),
    _c("arxiv_id", pa.string(), "arXiv id without version"),
    _c("pubmed_id", pa.string(), "PubMed id, digits"),
    _c("pmc_id", pa.string(), "PubMed Central id, PMC and digits"),
    _c("acl_id", pa.string(), "ACL Anthology id"),
)
_RECORD = (
    _k("source", "who says it: crossref, arxiv, …; the extractor or scienceparse for a PDF's own header"),
    _k("kind", "publisher (gold), archive, or pdf"),
    _c("delivery", pa.string(), "delivery (or drop) that brought it"),
    _c("ready_at", pa.string(), "when that delivery was ready, ISO UTC: the only clock"),
    *_METADATA,
    _c("mag_id", pa.string(), "Microsoft Academic Graph id"),
    _c("pdf_sha1", pa.string(), "the PDF this record is about, where its source names one"),
    _c("subjects", pa.list_(pa.string()), "what the source calls its subjects: categories, headings, codes"),
    _c("licence", pa.string(), "licence, SPDX id where one is known"),
    _c(
        "later_licences",
        pa.list_(pa.struct([pa.field("licence", pa.string()), pa.field("start", pa.string())])),
        "better licences that start later (ISO date), as after an embargo, the best first",
    ),
    _c("open_access", pa.bool_(), "whether the source says the paper is open access"),
    _c(
        "open_version",
        pa.string(),
        "published: the publisher's copy is open, or one of the published version; copy: others only",
    ),
    _c("editorial", pa.string(), "what became of the work: retracted, withdrawn, expression_of_concern, corrected"),
    _c(
        "notices",
        pa.list_(pa.struct([pa.field("about", pa.string()), pa.field("status", pa.string())])),
        "what it says of other works (doi:…, pmid:…), likewise: a retraction notice of what it retracts",
    ),
)
_RECORD_ID = _k("record_id", "<source>:<native id>")

_PLACES = _k(
    "places",
    "where it was delivered, sorted, and what the drop's records.jsonl promises of it there",
    pa.list_(
        pa.struct(
            [
                pa.field("drop", pa.string()),
                pa.field("name", pa.string()),
                pa.field("open_access", pa.bool_()),
                pa.field("licence", pa.string()),
            ]
        )
    ),
)

PDFS = Table[rows.PdfRow](
    "pdfs",
    "PDFs the release sees: one row per content, however many places it was delivered to",
    ("pdf_sha1",),
    (
        _PDF_SHA1,
        _k("bytes", "size, bytes", pa.int64()),
        _PLACES,
        _k("first_seen", "earliest ready_at of its drops, ISO UTC"),
    ),
    "pdf",
)
LATEX_SOURCES = Table[rows.LatexSourceRow](
    "latex_sources",
    "LaTeX source archives the release sees: one row per content",
    ("archive_sha1",),
    (
        _k("archive_sha1", "SHA-1 of the archive's bytes, 40 hex digits"),
        _k("bytes", "size, bytes", pa.int64()),
        _PLACES,
        _k("first_seen", "earliest ready_at of its drops, ISO UTC"),
        _c("arxiv_id", pa.string(), "arXiv id without version: what it belongs to its paper by"),
    ),
    "pdf",
)
ARTICLES = Table[rows.ArticleRow](
    "articles",
    "publishers' full texts (JATS, Elsevier's JSON) the release sees: one row per content",
    ("file_sha1",),
    (
        _k("file_sha1", "SHA-1 of the file's bytes, 40 hex digits"),
        _k("kind", "jats or elsevier"),
        _k("bytes", "size, bytes", pa.int64()),
        _k(
            "places",
            "where it was delivered, and what the drop there declares of it, sorted",
            pa.list_(
                pa.struct(
                    [
                        pa.field("folder", pa.string()),
                        pa.field("name", pa.string()),
                        pa.field("open_access", pa.bool_()),
                        pa.field("licence", pa.string()),
                    ]
                )
            ),
        ),
        _k("first_seen", "earliest ready_at of its drops and deliveries, ISO UTC"),
        _k("record_ids", "the records that it gives, sorted: what it belongs to its paper by", pa.list_(pa.string())),
    ),
    "pdf",
)
RECORDS = Table[rows.RecordRow](
    "records", "metadata records, the latest of each record_id", ("record_id",), (_RECORD_ID, *_RECORD), "record"
)
NOTICES = Table[rows.NoticeRow](
    "notices",
    "what records say of other works: retraction notices, corrections",
    ("about", "status", "record_id"),
    (
        _k("about", "doi:… or pmid:…: the work that it is about"),
        _k("status", "retracted, withdrawn, expression_of_concern or corrected"),
        _RECORD_ID,
    ),
)
REGISTERED_FILES = Table[rows.RegisteredFileRow](
    "registered_files",
    "the files of one drop as they were verified against its _READY; outlives releases",
    ("name",),
    (
        _k("name", "file name in the drop"),
        _k("kind", "pdf, latex (a source archive), jats or elsevier (a publisher's full text) or other"),
        _k("bytes", "size, bytes", pa.int64()),
        _k("sha1", "SHA-1 of its bytes: a PDF's identity"),
        _c("arxiv_id", pa.string(), "of a source archive: as the drop's records.jsonl declares, else as its name says"),
        _c("record_id", pa.string(), "of a publisher's full text: the record that it gives"),
        _c("open_access", pa.bool_(), "as the drop's records.jsonl declares"),
        _c("licence", pa.string(), "as the drop's records.jsonl declares"),
    ),
)
REGISTERED_RECORDS = Table[rows.RegisteredRecordRow](
    "registered_records",
    "the records of one delivery or drop as they came; outlives releases",
    ("position",),
    (
        _k("position", "file number << 40 | entry number: a later entry of the same record wins", pa.int64()),
        _RECORD_ID,
        *_RECORD,
        _k("deleted", "the source withdrew it", pa.bool_()),
    ),
)
DELIVERIES = Table[rows.DeliveryRow](
    "deliveries",
    "every drop and delivery found ready before as_of: taken, or refused with the reason",
    ("kind", "source", "delivery"),
    (
        _k("kind", "drop or delivery"),
        _k("source", "the delivery's source; empty for a drop"),
        _k("delivery", "drop_id or delivery_id"),
        _c("ready_at", pa.string(), "ISO UTC from its _READY"),
        _k(
            "outcome",
            "taken, refused:<reason> (incomplete, unlisted, changed, unreadable, bad_name, unknown_source, bad_records), "
            "or not_yet (ready after as_of)",
        ),
        _c("detail", pa.string(), "what was wrong, or why it waits"),
        _k("files", "files listed", pa.int32()),
        _k("rows", "records taken", pa.int64()),
        _k("dropped", "records that could not be read", pa.int64()),
        _k("warnings", "what a drop's records.jsonl says that cannot be used, by line and key", pa.list_(pa.string())),
    ),
    counted=(("outcome",),),
)
SELECTIONS = Table[rows.SelectionRow](
    "selections",
    "whether a PDF is worth extracting (S2ORC App. B)",
    ("pdf_sha1",),
    (
        _PDF_SHA1,
        _k(
            "outcome",
            "why it is not extracted, or selected (`pdf.Outcome`, in order); first hit decides",
        ),
        _c("pages", pa.int32(), "number of pages"),
        _c("width_pt", pa.float64(), "displayed width of page 1, points"),
        _c("height_pt", pa.float64(), "displayed height of page 1, points"),
        _c("detail", pa.string(), "the error behind the outcome"),
        _c("doi", pa.string(), "the paper's DOI, as its first pages print it or its metadata give it"),
        _c("arxiv_id", pa.string(), "its arXiv id without version, likewise"),
        _c("acl_id", pa.string(), "its ACL Anthology id, likewise"),
        _c("pmc_id", pa.string(), "its PubMed Central id, likewise"),
        _c("date", pa.string(), "its date of publication, likewise, as precise as printed"),
        _c("date_precision", pa.string(), "day, month or year"),
        _c("stamp", pa.string(), "archive whose mark the first page bears: arxiv or acl"),
    ),
    "pdf",
    counted=(("outcome",),),
)
STORED_SELECTIONS = Table[rows.SelectionRow](
    "stored_selections",
    "content store of selections that are final: outlives releases",
    ("pdf_sha1",),
    SELECTIONS.columns,
    "pdf",
)
EXTRACTIONS = Table[rows.ExtractionRow](
    "extractions",
    "what the extractor answered for each selected PDF; the answer itself lies in the content store",
    ("pdf_sha1",),
    (
        _PDF_SHA1,
        _k("extractor", "who extracted, by the name that it gives itself"),
        _k("version", "its version"),
        _k("options_hash", "16 hex digits over the options sent"),
        _k("outcome", "ok, no_content, bad_tei, bad_answer, failed:<CODE>, gave_up:busy|timeout|connection"),
        _k("tries", "requests made", pa.int32()),
        _k("seconds", "time of the last try, seconds", pa.float64()),
        _c("server", pa.string(), "server that answered"),
        _c("tei_sha1", pa.string(), "SHA-1 of the answer"),
        _c(
            "text_layer",
            pa.string(),
            "pages read by OCR (`ocr 1 2`) and pages whose text layer has an ill (`no_words 7`)",
        ),
        _c("stored", pa.string(), "part of the content store that holds the answer"),
    ),
    "pdf",
    counted=(("outcome",),),
)
STORED_TEI = Table[rows.StoredTeiRow](
    "stored_tei",
    "content store of extractions: outlives releases",
    ("pdf_sha1",),
    (
        *(c for c in EXTRACTIONS.columns if c.name != "stored"),
        _c("tei", pa.binary(), "the answer: TEI XML, or what its extractor writes"),
    ),
    "pdf",
)
PARSES = Table[rows.ParseRow](
    "parses",
    "the postprocessed full text of each extraction; the JSON itself lies in the content store",
    ("parse_id",),
    (
        _k("parse_id", "<pdf_sha1>:pdf:<hash of extractor, version, options>:<converter_version>"),
        _PDF_SHA1,
        _k("kind", "pdf"),
        _k("outcome", "ok, bad_tei:<reason> (bad_answer:<reason> where it is not TEI), or none:<extraction outcome>"),
        _c("citation_style", pa.string(), "BRACKET, NAME_YEAR or OTHER"),
        _k("bytes", "size of the JSON, bytes", pa.int64()),
        _c("text_layer", pa.string(), "as in extractions: pages read by OCR, pages with a text layer that has an ill"),
        _c("stored", pa.string(), "part of the content store that holds the parse"),
    ),
    "pdf",
    counted=(("outcome",), ("citation_style",)),
)
STORED_PARSES = Table[rows.StoredParseRow](
    "stored_parses",
    "content store of parses: outlives releases",
    ("pdf_sha1",),
    (
        _PDF_SHA1,
        _k("kind", "pdf, latex, jats or elsevier"),
        _k("outcome", "ok or bad_tei:<reason>; of other kinds as in latex_parses and article_parses"),
        _c("citation_style", pa.string(), "BRACKET, NAME_YEAR or OTHER"),
        _k("bytes", "size of the JSON, bytes", pa.int64()),
        _c("parse", pa.binary(), "canonical JSON of the parse, UTF-8"),
        _c("header", pa.binary(), "canonical JSON of the PDF's own header, UTF-8"),
    ),
    "pdf",
)
LATEX_PARSES = Table[rows.LatexParseRow](
    "latex_parses",
    "the parse of each LaTeX source archive (S2ORC §2.2); the JSON itself lies in the content store",
    ("archive_sha1",),
    (
        _k("archive_sha1", "SHA-1 of the archive's bytes"),
        _k("parse_id", "<archive_sha1>:latex:<hash of program, version>:<converter_version>"),
        _c("arxiv_id", pa.string(), "arXiv id without version"),
        _k("first_seen", "earliest ready_at of its drops, ISO UTC"),
        _k(
            "outcome",
            "ok, no_arxiv_id, or why there is none: pdf_only, withdrawn, no_latex, damaged, unsafe:<what>, timeout …",
        ),
        _c("citation_style", pa.string(), "BRACKET, NAME_YEAR or OTHER"),
        _k("bytes", "size of the JSON, bytes", pa.int64()),
        _c("stored", pa.string(), "part of the content store that holds the parse"),
    ),
    "pdf",
    counted=(("outcome",),),
)
ARTICLE_PARSES = Table[rows.ArticleParseRow](
    "article_parses",
    "the parse of each publisher's full text; the JSON itself lies in the content store",
    ("file_sha1",),
    (
        _k("file_sha1", "SHA-1 of the file's bytes"),
        _k("kind", "jats or elsevier"),
        _k("parse_id", "<file_sha1>:<kind>:-:<converter_version>"),
        _k("record_ids", "the records that the file gives, sorted", pa.list_(pa.string())),
        _k("first_seen", "earliest ready_at of its drops and deliveries, ISO UTC"),
        _k("outcome", "ok, or why there is no parse: no_body, not_well_formed, entities, too_large, wrong_type …"),
        _c("doi", pa.string(), "DOI, as the file has it"),
        _c("pmc_id", pa.string(), "PubMed Central id, likewise"),
        _c("licence", pa.string(), "licence, as the file says, SPDX id where one is known"),
        _c("open_access", pa.bool_(), "whether the file says that it is open access"),
        _c("citation_style", pa.string(), "BRACKET, NAME_YEAR or OTHER"),
        _k("bytes", "size of the JSON, bytes", pa.int64()),
        _c("stored", pa.string(), "part of the content store that holds the parse"),
    ),
    "pdf",
    counted=(("outcome",),),
)
PDF_RECORDS = Table[rows.RecordRow](
    "pdf_records",
    "the headers of parsed PDFs, as records of kind pdf",
    ("record_id",),
    (_RECORD_ID, *_RECORD),
    "pdf",
)
EDGES = Table[rows.EdgeRow](
    "edges",
    "why two records were taken for one paper, and what was cut",
    ("left", "right"),
    (
        _k("left", "record_id, the smaller"),
        _k("right", "record_id, the greater"),
        _k(
            "reason",
            "declared (a drop's own record of the file), doi, arxiv_id, pubmed_id, pmc_id, acl_id, pdf_sha1, title, "
            "place (similar titles in one volume); of what was cut also contradiction or unrelated",
        ),
        _k("strength", "identifier kinds above 1, S_title at most 1", pa.float64()),
        _k(
            "taken",
            "false: cut, for the two clusters conflict in DOI, year, place in print, or in titles and authors",
            pa.bool_(),
        ),
    ),
)
CLUSTERS = Table[rows.ClusterRow](
    "clusters",
    "which paper a record belongs to",
    ("record_id",),
    (
        _RECORD_ID,
        _PAPER_ID,
        _c("first_ready", pa.string(), "when the record was first delivered, as far back as the parents know, ISO UTC"),
    ),
)
ALIASES = Table[rows.AliasRow](
    "aliases",
    "former paper ids and the paper that took them over",
    ("alias",),
    (_k("alias", "former paper id"), _PAPER_ID),
)
MEMBERS = Table[rows.MemberRow](
    "members",
    "records with the paper they belong to",
    ("paper_id", "record_id"),
    (_PAPER_ID, _RECORD_ID, *_RECORD),
    "paper",
    counted=(("source",),),
)
PAPERS = Table[rows.PaperRow](
    "papers",
    "canonical metadata by vote (S2ORC §2.3)",
    ("paper_id",),
    (
        _PAPER_ID,
        *_METADATA,
        _c("mag_ids", pa.list_(pa.string()), "Microsoft Academic Graph ids of its records, sorted"),
        _c(
            "fields_of_study",
            pa.list_(pa.string()),
            "fields of study, MAG's 19; the first is the primary field: the one that most sources name",
        ),
        _c("subjects", pa.list_(pa.string()), "what its records call its subjects, each once, sorted"),
        _c("canonical_pdf", pa.string(), "SHA-1 of the canonical PDF"),
        _c("latex_parse_id", pa.string(), "parse_id of the LaTeX parse, by arXiv id"),
        _k("open_access", "whether a full text of it may be published", pa.bool_()),
        _c(
            "oa_evidence",
            pa.string(),
            "what says so, of its first open full text: arxiv, acl, pmc, unpaywall, publisher or declared",
        ),
        _c("licence", pa.string(), "licence of that full text"),
        _c(
            "editorial",
            pa.string(),
            "retracted, withdrawn, expression_of_concern or corrected: the gravest that is said",
        ),
        _k("editorial_by", "the records that say so, sorted", pa.list_(pa.string())),
        _k(
            "access",
            "the judgement on each of its full texts: its PDFs, the canonical one first, and its LaTeX source",
            ACCESS,
        ),
        _k("provenance", "field → who decided it, how, and the votes", PROVENANCE),
        _k("record_ids", "its records, sorted", pa.list_(pa.string())),
    ),
    "paper",
)
FULLTEXTS = Table[rows.FulltextRow](
    "fulltexts",
    "parses of the papers they belong to (S2ORC §2.4)",
    ("paper_id", "parse_kind"),
    (
        _PAPER_ID,
        _PARSE_KIND,
        _k("parse_id", "the parse"),
        _k("pdf_sha1", "the PDF or source archive it was made from"),
        _k("open_access", "false: bibliography and links only, never text", pa.bool_()),
        _c("oa_evidence", pa.string(), "what says that it is open"),
        _c("licence", pa.string(), "its licence"),
        _c(
            "text_layer",
            pa.string(),
            "of a PDF, as in extractions: pages read by OCR, pages with a text layer that has an ill",
        ),
        _k("parse", "canonical JSON of the parse, with paper_id, UTF-8", pa.binary()),
    ),
    "paper",
)
ENTRIES = Table[rows.EntryRow](
    "entries",
    "bibliography entries of the assembled parses",
    ("paper_id", "parse_kind", "ref_id"),
    (
        _PAPER_ID,
        _PARSE_KIND,
        _REF_ID,
        _k("parse_id", "the parse"),
        _c("title", pa.string(), "title as printed"),
        _c("authors", AUTHORS, "authors in order"),
        _c("year", pa.int32(), "year"),
        _c("venue", pa.string(), "where it appeared"),
        _c("volume", pa.string(), "volume as printed"),
        _c("issue", pa.string(), "issue as printed"),
        _c("pages", pa.string(), "pages as printed"),
        _c("doi", pa.string(), "DOI"),
        _c("arxiv_id", pa.string(), "arXiv id"),
        _c("pubmed_id", pa.string(), "PubMed id"),
        _c("pmc_id", pa.string(), "PubMed Central id"),
        _c("raw_text", pa.string(), "the entry as printed"),
    ),
    "paper",
)
FILTERED = Table[rows.FilteredRow](
    "filtered",
    "whether a paper stays in the corpus (S2ORC §2.5)",
    ("paper_id",),
    (
        _PAPER_ID,
        _k("outcome", "suppressed, no_title, no_authors, short_text, not_english or kept; first hit decides"),
        _c("characters", pa.int64(), "abstract + body, characters"),
        _c("english", pa.float64(), "P(en) by the spec's `filter.language`, null where not asked"),
        _c("disputed", pa.bool_(), "with CLD2: whether CLD3 decides otherwise; null where not asked"),
    ),
    "paper",
    counted=(("outcome",),),
)
LINKS = Table[rows.LinkRow](
    "links",
    "bibliography entries and the kept paper each is (S2ORC §2.6); an unlinked entry has cited_paper_id null",
    ("paper_id", "parse_kind", "ref_id"),
    (
        _PAPER_ID,
        _PARSE_KIND,
        _REF_ID,
        _c("cited_paper_id", pa.string(), "the paper it is"),
        _c("score", pa.float64(), "S_title (eq. 1)"),
        _k("reason", "id, exact, fuzzy, prefix, locator; or none"),
        _c(
            "warning",
            pa.string(),
            "numeral: titles differ only in a number; tie: another paper agrees as far; contradiction: year and surname differ",
        ),
        _c("runner_up_score", pa.float64(), "S of the next best; for id and exact of another equal candidate"),
    ),
    "paper",
    plain=("paper_id", "cited_paper_id"),
)
CONTEXTS = Table[rows.ContextRow](
    "contexts",
    "inline citations of open papers, with their paragraph (GORC §3)",
    ("paper_id", "parse_kind", "paragraph", "start", "end", "ref_id"),
    (
        _PAPER_ID,
        _PARSE_KIND,
        _k("paragraph", "index over abstract, body, back matter, from 0", pa.int32()),
        _k("start", "start of the span in the paragraph, code points", pa.int32()),
        _k("end", "its end", pa.int32()),
        _REF_ID,
        _c("cited_paper_id", pa.string(), "the cited paper, null where unlinked"),
        _k("text", "the paragraph"),
    ),
    "paper",
)
DOCUMENTS = Table[rows.DocumentRow](
    "documents",
    "the cleaning decision of each paper in each set, with its values and, if kept, its text",
    ("set", "paper_id"),
    (
        _SET,
        _PAPER_ID,
        _k("outcome", "first rule that drops it, or kept"),
        _c("language", pa.string(), "language by vote (mul: several won); null where not evaluated"),
        _c("language_votes", pa.map_(pa.string(), pa.int32()), "language → paragraphs, until the vote was certain"),
        _c("words", pa.int64(), "words"),
        _c("paragraphs", pa.int32(), "paragraphs left"),
        _c("top_word", pa.string(), "most frequent word"),
        _c("top_share", pa.float64(), "its share of the words"),
        _c(
            "log_prob",
            pa.float64(),
            "mean log2 probability a word: of the least probable section, or the abstract (s2ag)",
        ),
        _c("removed_sections", pa.int32(), "improbable sections removed"),
        _c("text_key", pa.int64(), "hash of the normalised text, only if kept"),
        _c("title_key", pa.int64(), "hash of normalised title and first author's surname, only if kept"),
        _c("minhash", pa.list_(pa.int64()), "MinHash keys of the text's word n-grams, one a band, only if kept"),
        _c("text", pa.string(), "the document, only if kept"),
        _c("sha1", pa.string(), "s2orc: SHA-1 of the file the text is from"),
        _c("oa_evidence", pa.string(), "s2orc: what says that this file is open"),
        _c("licence", pa.string(), "s2orc: the licence of this file"),
    ),
    "paper",
    counted=(("set", "outcome"), ("set", "language")),
)
SPLITS = Table[rows.SplitRow](
    "splits",
    "train, valid or held back, for every kept document",
    ("set", "paper_id"),
    (
        _SET,
        _PAPER_ID,
        _k(
            "split",
            "train, valid, held_back:late, held_back:undated, held_back:duplicate (equal text) or "
            "held_back:near_duplicate (similar text, or title and first author)",
        ),
        _c("reason", pa.string(), "what decided: the date, or the paper it repeats"),
    ),
    "paper",
    counted=(("set", "split"),),
)
DUPLICATES = Table[rows.DuplicateRow](
    "duplicates",
    "documents of train or valid that repeat one another, by cluster",
    ("cluster", "set", "paper_id"),
    (
        _k("cluster", "paper_id of the document that stands for the cluster: the earliest, of train if one is"),
        _SET,
        _PAPER_ID,
        _k("split", "as in splits: published, or held back for it"),
        _c(
            "reason",
            pa.string(),
            "text (equal), title (and first author, equal to those of a train text), words (similar n-grams); "
            "null of the document that stands for the cluster",
        ),
        _c("duplicate_of", pa.string(), "paper_id of the one that it is most similar to; of equal texts the first"),
        _c("jaccard", pa.float64(), "exact Jaccard index of the word n-grams of the two; null for reason title"),
    ),
)

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
