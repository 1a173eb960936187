"""Make the record of a PDF from its header and the identifiers and dates on its first pages."""

from __future__ import annotations

from typing import Any, cast

from s2corpus.sources.arrow import read_author
from s2corpus.sources.record_titles import read_record_title
from s2corpus.tables.intake import PdfRow, RecordRow
from s2corpus.tables.parses import PDF_RECORDS, SelectionRow

_IDENTIFIERS = ("doi", "arxiv_id", "acl_id", "pmc_id")
PRINTED_COLUMNS = ["file_sha1", *_IDENTIFIERS, "date", "date_precision"]
_PRECISIONS = (None, "year", "month", "day")


def make_pdf_record(header: dict[str, Any], printed: SelectionRow, source: str, pdf: PdfRow) -> RecordRow:
    """Return a PDF's header as a record of kind pdf.

    Identifiers and dates printed on the first pages take priority; `pdf.identity` ranks them by position. The printed date is used only
    if it is at least as precise as the extractor's. Other values are the extractor's.
    """
    identifiers = {name: value for name, value in printed.items() if name in _IDENTIFIERS and value}
    header = {**header, **identifiers}
    if _PRECISIONS.index(printed["date_precision"]) >= _PRECISIONS.index(header.get("date_precision")):
        header |= {"date": printed["date"], "date_precision": printed["date_precision"]}
    authors = list(map(read_author, header.get("authors") or ()))
    names = header.get("journal"), header.get("venue")
    title = read_record_title(header.get("title"), authors, *names, is_header=True, is_notice=False)
    record = {
        **dict.fromkeys(PDF_RECORDS.schema.names),
        **header,
        "title": title.title,
        "original_title": title.original,
        "document": title.document,
        "record_id": f"{source}:{pdf['file_sha1']}",
        "source": source,
        "kind": "pdf",
        "delivery": pdf["places"][0]["drop"],
        "ready_at": pdf["first_seen"],
        "file_sha1": pdf["file_sha1"],
    }
    return cast(RecordRow, record)  # the keys of the header are columns of PDF_RECORDS
