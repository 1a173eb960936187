"""Convert extractors' responses to parses (SPEC §3), and the PDF's own header to a record."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import cast

import orjson

from s2corpus.extractors import Adapter, BadAnswer, ExtractorIdentity, adapter
from s2corpus.pipeline.run import Run
from s2corpus.stages.postprocess.stored import keep, none, ok
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
from s2orc_parse.parse_model import ParseKind, parse_id

log = logging.getLogger(__name__)
_WANTED = ("outcome", "citation_style", "header", "bytes")


def parses(run: Run, shard: int) -> tuple[list[ParseRow], list[RecordRow]]:
    """Convert the extractions without a stored parse from this converter.

    Return a row for each extraction of the shard, and the records of their headers.
    """
    rows = list(run.table(EXTRACTIONS).rows(shard=shard))
    by = adapter_of(run)
    done: dict[str, tuple[StoredParseRow, str]] = {}
    by_extraction = defaultdict(list)
    for row in rows:
        if row["outcome"] == "ok":
            by_extraction[row["extractor"], row["version"], row["options_hash"]].append(row)
    for key, extracted in sorted(by_extraction.items()):
        store = run.store(STORED_PARSES, converter_of(by), *key)
        first, last = extracted[0]["file_sha1"], extracted[-1]["file_sha1"]
        known = store.known(first, last, _WANTED)
        missing = [row for row in extracted if row["file_sha1"] not in known]
        if missing:
            made_by = ExtractorIdentity(*key[:2], options_hash=key[2])
            keep(store, _converted(by, made_by, run.store(STORED_TEI, *key), missing))
            known = store.known(first, last, _WANTED)
        done |= {row["file_sha1"]: known[row["file_sha1"]] for row in extracted}
    log.info("postprocess shard %d: %d extractions, %d parses", shard, len(rows), len(done))
    headers = {sha1: header for sha1, (row, _) in done.items() if (header := row["header"]) is not None}
    listed = [_row(by, row, done.get(row["file_sha1"])) for row in rows]
    return listed, _records(run, shard, rows, headers)


def adapter_of(run: Run) -> Adapter:
    """Return the adapter for the responses of this release's extractor."""
    return adapter(run.table(EXTRACTIONS).committed().facts["adapter"])


def converter_of(by: Adapter) -> str:
    """Return the converter's name and version, which identify the store of PDF parses."""
    return f"{by.NAME}-{by.CONVERTER_VERSION}"


def convert(by: Adapter, file_sha1: str, data: bytes, made_by: ExtractorIdentity) -> StoredParseRow:
    """Return one extractor response as a row of STORED_PARSES: the parse, or the reason for its absence."""
    try:
        parse = by.convert(data, file_sha1=file_sha1, made_by=made_by)
    except BadAnswer as bad:
        return none(file_sha1, ParseKind.PDF, bad.outcome)
    return ok(file_sha1, ParseKind.PDF, parse, tei.build_header(parse))


def _converted(
    by: Adapter, made_by: ExtractorIdentity, answers: ContentStore, extracted: Sequence[ExtractionRow]
) -> Iterator[StoredParseRow]:
    by_part = defaultdict(list)
    for row in extracted:
        if row["stored"]:
            by_part[row["stored"]].append(row["file_sha1"])
    for part, keys in sorted(by_part.items()):
        for answer in answers.fetch(part, keys, ["file_sha1", "tei"]):
            yield convert(by, answer["file_sha1"], answer["tei"], made_by)


def _row(by: Adapter, extraction: ExtractionRow, kept: tuple[StoredParseRow, str] | None) -> ParseRow:
    parse, stored = kept or (None, None)
    made_by = [extraction["extractor"], extraction["version"], extraction["options_hash"]]
    return ParseRow(
        parse_id=parse_id(extraction["file_sha1"], ParseKind.PDF, by.CONVERTER_VERSION, made_by),
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


def _records(run: Run, shard: int, rows: Sequence[ExtractionRow], headers: dict[str, bytes]) -> list[RecordRow]:
    pdfs = {pdf["file_sha1"]: pdf for pdf in run.table(PDFS).rows(shard=shard)}
    printed = {row["file_sha1"]: row for row in run.table(SELECTIONS).rows(_PRINTED, shard=shard)}
    found = [
        _record(orjson.loads(headers[sha1]), printed[sha1], row["extractor"], pdfs[sha1])
        for row in rows
        if (sha1 := row["file_sha1"]) in headers
    ]
    return sorted(found, key=lambda record: record["record_id"])


def _record(header: dict[str, object], printed: SelectionRow, source: str, pdf: PdfRow) -> RecordRow:
    """Return a PDF's header as a record of kind pdf.

    Identifiers and date printed on the first pages take priority (weighted by their place, see `pdf.identity`). The printed date is used
    only if it is at least as precise as the extractor's. Other values are the extractor's.
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
    return cast(RecordRow, record)  # we wrote the header as JSON; its names are columns
