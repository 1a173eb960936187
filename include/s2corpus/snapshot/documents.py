"""The documents again as Parquet: typed, with what is known of each and its quality signals, and quick to look up by id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from pdf2tei.language import language
from s2corpus.text import personal, sections, signals
from s2corpus_reader.parquet import parquet_writer

_ROWS = 1024
"""Rows of a file being written that are held as Python's."""
ROW_GROUP_BYTES = 4 << 20
"""Bytes of text from which a row group ends: what one look-up reads, and what a file holds in memory while it is written."""

IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
_COUNTED = ("num_citations", "num_bib_entries", "num_equations", "num_figures", "num_tables")
_WHOLE = {"num_chars", "num_lines", "num_words", "rps_doc_word_count"}

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("set", pa.string(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("sha1", pa.string()),
        pa.field("title", pa.string()),
        pa.field("date", pa.string()),
        pa.field("year", pa.int32()),
        *(pa.field(name, pa.string()) for name in IDENTIFIERS),
        pa.field("editorial", pa.string()),
        pa.field("licence", pa.string(), nullable=False),
        pa.field("oa_evidence", pa.string()),
        pa.field("abstract_source", pa.string()),
        pa.field("fields_of_study", pa.list_(pa.string())),
        pa.field("parse_kind", pa.string()),
        pa.field("extractor", pa.string()),
        pa.field("num_ocr_pages", pa.int64()),
        pa.field("language", pa.string()),
        pa.field("language_probability", pa.float64()),
        pa.field("log_prob", pa.float64()),
        pa.field("top_word", pa.string()),
        pa.field("top_share", pa.float64()),
        pa.field("section_types", pa.list_(pa.string()), nullable=False),
        *(pa.field(name, pa.int64()) for name in _COUNTED),
        *(pa.field(name, pa.int64(), nullable=False) for name in personal.NAMES),
        pa.field("num_tokens", pa.int64()),
        *(pa.field(name, pa.int64() if name in _WHOLE else pa.float64(), nullable=False) for name in signals.NAMES),
        pa.field("text", pa.string(), nullable=False),
        pa.field("model_text", pa.string()),
    ]
)
"""A row of `documents/<set>/<split>/<nn>.parquet`. Signals: `text/signals.py`; what is from the parse is null in s2ag."""


def row(
    document: Mapping[str, Any],
    set_: str,
    tokens: Callable[[str], int] | None = None,
    model_text: Callable[[Mapping[str, Any]], str] | None = None,
) -> dict[str, Any]:
    """A document's row, from what `rows.read_documents` gives of it; `tokens` counts them where the spec names a tokenizer, `model_text`
    writes the text in the form that the spec asks for."""
    text = document["text"]
    code, probability = language(text)
    known = {
        **document,
        **signals.signals(text),
        **personal.counts(text),
        "num_tokens": tokens(text) if tokens else None,
        "model_text": model_text(document) if model_text else None,
        **_of_parse(document),
        "id": document["paper_id"],
        "set": set_,
        "year": year(document["date"]),
        "language": code,
        "language_probability": probability,
        "section_types": sections.types(line for line in text.split("\n")) if set_ == "s2orc" else [],
    }
    return {name: known[name] for name in SCHEMA.names}


def year(date: str | None) -> int | None:
    """The year of an ISO date of any precision."""
    return int(date[:4]) if date else None


def _of_parse(document: Mapping[str, Any]) -> dict[str, Any]:
    """Who read the text, and counts over the whole parse that it is from, whether or not a paragraph was removed in cleaning."""
    if (parse := document.get("parse")) is None:
        return dict.fromkeys((*_COUNTED, "extractor", "num_ocr_pages"))
    made_by = parse.get("provenance") or {}
    kinds = [entry.get("type") for entry in parse["ref_entries"].values()]
    body = parse["body_text"]
    return {
        "extractor": " ".join(filter(None, (made_by.get("extractor"), made_by.get("version")))) or None,
        "num_ocr_pages": _ocr_pages(document["text_layer"]),
        "num_citations": sum(len(paragraph["cite_spans"]) for paragraph in body),
        "num_bib_entries": len(parse["bib_entries"]),
        "num_equations": sum(len(paragraph.get("eq_spans", ())) for paragraph in body),
        "num_figures": kinds.count("figure"),
        "num_tables": kinds.count("table"),
    }


def _ocr_pages(text_layer: str | None) -> int:
    """Pages that were read from their pictures, of what the extractor says of the text layer: `ocr 1 2, no_words 7`."""
    said = [words.split() for words in (text_layer or "").split(", ")]
    return sum(len(pages) for kind, *pages in filter(None, said) if kind == "ocr")


class ParquetFile:
    """Writes rows, sorted by the caller, in row groups that end by size; a file without rows has no row group."""

    def __init__(self, path: Path, schema: pa.Schema = SCHEMA, group: int | None = None) -> None:
        """`group` is the size from which a row group ends, in what `write` is told: bytes (as many as documents have), or rows."""
        self.path = path
        self._writer = parquet_writer(path, schema)
        self._schema = schema
        self._group = group or ROW_GROUP_BYTES
        self._rows: list[Mapping[str, Any]] = []
        self._waiting: list[pa.Table] = []
        self._size = self.count = 0

    def write(self, row: Mapping[str, Any], size: int = 1) -> None:
        """Append a row of that size."""
        self._rows.append(row)
        self._size += size
        self.count += 1
        if len(self._rows) == _ROWS:
            self._hold()
        if self._size >= self._group:
            self._end_group()

    def _hold(self) -> None:
        """As Arrow's, rows take a tenth of what they take as Python's."""
        self._waiting.append(pa.Table.from_pylist(self._rows, self._schema))
        self._rows = []

    def _end_group(self) -> None:
        self._hold()
        self._writer.write_table(pa.concat_tables(self._waiting).combine_chunks())
        self._waiting, self._size = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        if kind is not None:
            self._rows, self._waiting = [], []
        self.close()

    def close(self) -> None:
        """End the file."""
        if self._rows or self._waiting:
            self._end_group()
        self._writer.close()
