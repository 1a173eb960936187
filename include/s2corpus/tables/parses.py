"""Define the tables of select, extract and postprocess: one row for each file."""

from __future__ import annotations

from typing import Annotated, TypedDict

from s2corpus.tables.columns import ArticleKind, ArxivId, DatePrecision, FileFirstSeen, FirstSeen, PdfSha1
from s2corpus.tables.intake import RecordRow
from s2corpus.tables.schema import INT32, define

CitationStyle = Annotated[str | None, "style of inline citations: BRACKET, NAME_YEAR or OTHER"]
JsonBytes = Annotated[int, "size of the JSON, bytes"]
Stored = Annotated[str | None, "part of the content store that contains the parse"]


class SelectionRow(TypedDict):
    """The decision whether to extract a PDF (S2ORC Appendix B)."""

    file_sha1: PdfSha1
    outcome: Annotated[str, "selected, or the first rule that rejects the PDF (`SelectOutcome`, in order)"]
    pages: Annotated[int | None, INT32, "number of pages"]
    width_pt: Annotated[float | None, "displayed width of page 1, points"]
    height_pt: Annotated[float | None, "displayed height of page 1, points"]
    detail: Annotated[str | None, "error that led to the outcome"]
    doi: Annotated[str | None, "DOI from the first pages or the PDF's metadata"]
    arxiv_id: Annotated[str | None, "arXiv id without version; sources as for doi"]
    acl_id: Annotated[str | None, "ACL Anthology id; sources as for doi"]
    pmc_id: Annotated[str | None, "PubMed Central id; sources as for doi"]
    date: Annotated[str | None, "publication date in the printed precision; sources as for doi"]
    date_precision: DatePrecision
    stamp: Annotated[str | None, "archive stamp on the first page: arxiv or acl"]


SELECTIONS = define(SelectionRow, "selections", key=("file_sha1",), shards="pdf", counted=(("outcome",),))
STORED_SELECTIONS = define(
    SelectionRow,
    "stored_selections",
    key=("file_sha1",),
    shards="pdf",
    meaning="Final selections. All releases share this table",
)


class AnswerRow(TypedDict):
    """The extractor's response for a PDF."""

    file_sha1: PdfSha1
    extractor: Annotated[str, "name that the extractor reports"]
    version: Annotated[str, "version that the extractor reports"]
    options_hash: Annotated[str, "hash of the options sent, 16 hex digits"]
    outcome: Annotated[
        str,
        "result of the extraction (`ExtractOutcome`)",
    ]
    tries: Annotated[int, INT32, "number of requests"]
    seconds: Annotated[float, "duration of the last request, seconds"]
    server: Annotated[str | None, "server that sent the response"]
    tei_sha1: Annotated[str | None, "SHA-1 of the response"]
    text_layer: Annotated[
        str | None, "pages read by OCR (`ocr 1 2`), and pages with a defective text layer (`no_words 7`)"
    ]


class ExtractionRow(AnswerRow):
    """The extractor's result for each selected PDF. The content store contains the response."""

    stored: Annotated[str | None, "part of the content store that contains the response"]


EXTRACTIONS = define(ExtractionRow, "extractions", key=("file_sha1",), shards="pdf", counted=(("outcome",),))


class StoredTeiRow(AnswerRow):
    """Content store of extractions. All releases share this table."""

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
    header: Annotated[
        bytes | None, "canonical JSON, UTF-8: header of the PDF, or rights and identifiers of a publisher's full text"
    ]


STORED_PARSES = define(StoredParseRow, "stored_parses", key=("file_sha1",), shards="pdf")


class LatexParseRow(TypedDict):
    """The parse of each LaTeX source archive (S2ORC §2.2). The content store contains the JSON."""

    archive_sha1: Annotated[str, "SHA-1 of the archive's bytes"]
    parse_id: Annotated[str, "<archive_sha1>:latex:<hash of program, version>:<converter_version>"]
    arxiv_id: ArxivId
    first_seen: FirstSeen
    outcome: Annotated[
        str,
        "ok, or the reason for a missing parse (`LatexOutcome`)",
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
    outcome: Annotated[str, "ok, or the reason for a missing parse (`JatsOutcome`)"]
    doi: Annotated[str | None, "DOI in the file"]
    pmc_id: Annotated[str | None, "PubMed Central id in the file"]
    license: Annotated[str | None, "license in the file; an SPDX id if one exists"]
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
