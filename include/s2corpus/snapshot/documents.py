"""Write the Parquet copy of the documents: typed columns with metadata and quality signals, and fast look-ups by id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pdf2tei.pages.language import language
from s2corpus.rules import CleanRules
from s2corpus.snapshot import removed
from s2corpus.tables.columns import LogProb, RemovedSections, SectionLogProbs, TopShare, TopWord
from s2corpus.tables.published import DocumentKeyRow, DocumentOriginRow
from s2corpus.tables.schema import file_schema
from s2corpus.text import personal, signals
from s2corpus.text.signals import SignalRow

IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
_COUNTED = ("num_citations", "num_bib_entries", "num_equations", "num_figures", "num_tables")


class DescribedDocumentRow(DocumentKeyRow, DocumentOriginRow):
    """Documents with metadata and facts of their parses, which are null in s2ag."""

    parse_kind: Annotated[str | None, "kind of full text: pdf, latex, jats or elsevier"]
    extractor: Annotated[str | None, "extractor or converter with its version (s2orc only)"]
    num_ocr_pages: Annotated[int | None, "number of pages read by OCR (s2orc only)"]
    language: Annotated[str | None, "CLD3's first choice for the complete text"]
    language_probability: Annotated[float | None, "CLD3's probability of that language"]
    log_prob: LogProb
    removed_sections: RemovedSections
    removed_words: Annotated[int | None, "number of words of the full text that `tables/removed` has (s2orc only)"]
    section_log_probs: SectionLogProbs
    top_word: TopWord
    top_share: TopShare
    section_types: Annotated[list[str], "recognized sections: introduction, methods, results …"]
    num_citations: Annotated[int | None, "number of inline citations in the body (s2orc only)"]
    num_bib_entries: Annotated[int | None, "number of bibliography entries (s2orc only)"]
    num_equations: Annotated[int | None, "number of formulas in the body (s2orc only)"]
    num_figures: Annotated[int | None, "number of figures (s2orc only)"]
    num_tables: Annotated[int | None, "number of tables (s2orc only)"]
    num_emails: Annotated[int, "number of e-mail addresses, including masked ones"]
    num_phone_numbers: Annotated[int, "number of phone numbers, including masked ones"]
    num_ip_addresses: Annotated[int, "number of IP addresses, including masked ones"]
    num_tokens: Annotated[int | None, "number of tokens by `export.tokenizer`, else null"]


class PublishedDocumentRow(DescribedDocumentRow, SignalRow):
    """Documents with metadata and quality signals."""

    text: Annotated[str, "title, abstract and, in s2orc, the body"]
    model_text: Annotated[
        str | None, "text in the form that the spec requests; null if not requested or equal to `text`"
    ]


SCHEMA = file_schema(PublishedDocumentRow)
"""Columns of `documents/<set>/<split>/<nn>.parquet`."""


def build_row(
    document: Mapping[str, Any],
    set_: str,
    count_tokens: Callable[[str], int] | None = None,
    format_model_text: Callable[[Mapping[str, Any]], str] | None = None,
    *,
    rules: CleanRules,
) -> dict[str, Any]:
    """Return the Parquet row of a document from `rows.read_documents`.

    `count_tokens` is None if the spec sets no tokenizer. `format_model_text` is None if the spec requests no other format.
    """
    text = document["text"]
    code, probability = language(text)
    values = {
        **document,
        **signals.compute_signals(text),
        **personal.count_personal_data(text),
        "num_tokens": count_tokens(text) if count_tokens else None,
        "model_text": format_model_text(document) if format_model_text else None,
        **_describe_parse(document),
        "id": document["paper_id"],
        "set": set_,
        "year": year(document["date"]),
        "language": code,
        "language_probability": probability,
        "removed_words": removed.count_words(document["parse"], rules, document["section_log_probs"])
        if document["parse"]
        else None,
        "section_types": signals.list_section_types(line for line in text.split("\n")) if set_ == "s2orc" else [],
    }
    return {name: values[name] for name in SCHEMA.names}


def year(date: str | None) -> int | None:
    """Return the year of an ISO date of any precision."""
    return int(date[:4]) if date else None


def _describe_parse(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the extractor and counts over the complete parse of a document, before cleaning removed paragraphs."""
    if (parse := document.get("parse")) is None:
        return dict.fromkeys((*_COUNTED, "extractor", "num_ocr_pages"))
    provenance = parse.get("provenance") or {}
    kinds = [entry.get("type") for entry in parse["ref_entries"].values()]
    body = parse["body_text"]
    return {
        "extractor": " ".join(filter(None, (provenance.get("extractor"), provenance.get("version")))) or None,
        "num_ocr_pages": _count_ocr_pages(document["text_layer"]),
        "num_citations": sum(len(paragraph["cite_spans"]) for paragraph in body),
        "num_bib_entries": len(parse["bib_entries"]),
        "num_equations": sum(len(paragraph.get("eq_spans", ())) for paragraph in body),
        "num_figures": kinds.count("figure"),
        "num_tables": kinds.count("table"),
    }


def _count_ocr_pages(text_layer: str | None) -> int:
    """Return the number of pages read by OCR from the extractor's report, for example 2 for `ocr 1 2, no_words 7`."""
    entries = [words.split() for words in (text_layer or "").split(", ")]
    return sum(len(pages) for kind, *pages in filter(None, entries) if kind == "ocr")
