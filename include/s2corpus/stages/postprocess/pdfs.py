"""Convert extractors' responses to parses (SPEC §3), and the PDF's own header to a record."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

import orjson

from s2corpus.extractors import Adapter, BadAnswer, ExtractorIdentity
from s2corpus.extractors import adapter as find_adapter
from s2corpus.pipeline.run import Run
from s2corpus.stages.postprocess.stored import convert_missing, make_stored_row
from s2corpus.storage.content_store import ContentStore
from s2corpus.tables.intake import PDFS, PdfRow, RecordRow
from s2corpus.tables.parses import (
    EXTRACTIONS,
    PDF_RECORDS,
    SELECTIONS,
    STORED_PARSES,
    STORED_TEI,
    ExtractionRow,
    ParseRow,
    SelectionRow,
    StoredParseRow,
)
from s2orc_parse import tei
from s2orc_parse.parse_model import ParseKind, make_parse_id

log = logging.getLogger(__name__)


def convert_pdfs(run: Run, shard: int) -> tuple[list[ParseRow], list[RecordRow]]:
    """Convert the extractions without a stored parse from this converter.

    Return a row for each extraction of the shard, and the records of their headers.
    """
    extractions = list(run.table(EXTRACTIONS).rows(shard=shard))
    adapter = load_adapter(run)
    by_extractor: dict[tuple[str, str, str], dict[str, ExtractionRow]] = defaultdict(dict)
    for row in extractions:
        if row["outcome"] == "ok":
            by_extractor[row["extractor"], row["version"], row["options_hash"]][row["file_sha1"]] = row
    parses: dict[str, tuple[StoredParseRow, str]] = {}
    for key, files in sorted(by_extractor.items()):
        extractor = ExtractorIdentity(*key[:2], options_hash=key[2])
        convert_rows = partial(_convert_rows, adapter, extractor, run.store(STORED_TEI, *key))
        stored = convert_missing(run.store(STORED_PARSES, format_converter(adapter), *key), files, convert_rows)
        parses |= {sha1: stored[sha1] for sha1 in files}
    log.info("postprocess shard %d: %d extractions, %d parses", shard, len(extractions), len(parses))
    headers = {sha1: header for sha1, (row, _) in parses.items() if (header := row["header"]) is not None}
    rows = [_make_row(adapter, row, parses.get(row["file_sha1"])) for row in extractions]
    return rows, _make_records(run, shard, extractions, headers)


def load_adapter(run: Run) -> Adapter:
    """Return the adapter for the responses of this release's extractor."""
    return find_adapter(run.table(EXTRACTIONS).committed().facts["adapter"])


def format_converter(adapter: Adapter) -> str:
    """Return the converter's name and version, which identify the store of PDF parses."""
    return f"{adapter.NAME}-{adapter.CONVERTER_VERSION}"


def convert(adapter: Adapter, file_sha1: str, data: bytes, extractor: ExtractorIdentity) -> StoredParseRow:
    """Return one extractor response as a row of STORED_PARSES: the parse, or the reason for its absence."""
    try:
        parse = adapter.convert(data, file_sha1=file_sha1, made_by=extractor)
    except BadAnswer as bad:
        return make_stored_row(file_sha1, ParseKind.PDF, bad.outcome)
    return make_stored_row(file_sha1, ParseKind.PDF, parse, tei.build_header(parse))


def _convert_rows(
    adapter: Adapter, extractor: ExtractorIdentity, responses: ContentStore, rows: Sequence[ExtractionRow]
) -> Iterator[StoredParseRow]:
    by_part = defaultdict(list)
    for row in rows:
        if row["stored"]:
            by_part[row["stored"]].append(row["file_sha1"])
    for part, sha1s in sorted(by_part.items()):
        for response in responses.fetch(part, sha1s, ["file_sha1", "tei"]):
            yield convert(adapter, response["file_sha1"], response["tei"], extractor)


def _make_row(adapter: Adapter, extraction: ExtractionRow, found: tuple[StoredParseRow, str] | None) -> ParseRow:
    parse, stored = found or (None, None)
    extractor = [extraction["extractor"], extraction["version"], extraction["options_hash"]]
    return ParseRow(
        parse_id=make_parse_id(extraction["file_sha1"], ParseKind.PDF, adapter.CONVERTER_VERSION, extractor),
        file_sha1=extraction["file_sha1"],
        kind=ParseKind.PDF,
        outcome=parse["outcome"] if parse else f"none:{extraction['outcome']}",
        citation_style=parse["citation_style"] if parse else None,
        bytes=parse["bytes"] if parse else 0,
        text_layer=extraction["text_layer"],
        stored=stored,
    )


_IDENTIFIERS = ("doi", "arxiv_id", "acl_id", "pmc_id")
_PRINTED = ["file_sha1", *_IDENTIFIERS, "date", "date_precision"]
_PRECISIONS = (None, "year", "month", "day")


def _make_records(
    run: Run, shard: int, extractions: Sequence[ExtractionRow], headers: dict[str, bytes]
) -> list[RecordRow]:
    pdfs = {pdf["file_sha1"]: pdf for pdf in run.table(PDFS).rows(shard=shard)}
    printed = {row["file_sha1"]: row for row in run.table(SELECTIONS).rows(_PRINTED, shard=shard)}
    records = [
        _make_record(orjson.loads(headers[sha1]), printed[sha1], row["extractor"], pdfs[sha1])
        for row in extractions
        if (sha1 := row["file_sha1"]) in headers
    ]
    return sorted(records, key=lambda record: record["record_id"])


def _make_record(header: dict[str, object], printed: SelectionRow, source: str, pdf: PdfRow) -> RecordRow:
    """Return a PDF's header as a record of kind pdf.

    Identifiers and dates printed on the first pages take priority; `pdf.identity` ranks them by position. The printed date is used only
    if it is at least as precise as the extractor's. Other values are the extractor's.
    """
    identifiers = {name: value for name, value in printed.items() if name in _IDENTIFIERS and value}
    header = {**header, **identifiers}
    if _PRECISIONS.index(printed["date_precision"]) >= _PRECISIONS.index(header.get("date_precision")):
        header |= {"date": printed["date"], "date_precision": printed["date_precision"]}
    record = {
        **dict.fromkeys(PDF_RECORDS.schema.names),
        **header,
        "record_id": f"{source}:{pdf['file_sha1']}",
        "source": source,
        "kind": "pdf",
        "delivery": pdf["places"][0]["drop"],
        "ready_at": pdf["first_seen"],
        "file_sha1": pdf["file_sha1"],
    }
    return cast(RecordRow, record)  # the keys of the header are columns of PDF_RECORDS
