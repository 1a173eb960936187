"""Describe the columns of a snapshot's files, for the data card and Croissant.

Columns that come from a table between stages have the description of that table (`s2corpus.tables`).
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from s2corpus.tables import DOCUMENTS, ENTRIES, PAPERS, Table
from s2corpus.text.signals import REPEATED_NGRAMS, TOP_NGRAMS

_SOURCES: Mapping[str, tuple[Table, ...]] = {
    "papers": (PAPERS,),
    "bib_entries": (ENTRIES,),
}
"""Tables that a file's columns come from; other files contain documents."""
_MEANINGS = {
    "id": "id of the paper, stable across releases",
    "split": "train or valid",
    "text": "title, abstract and, in s2orc, the body",
    "model_text": "text in the form that the spec requests; null if not requested or equal to `text`",
    "sha1": "SHA-1 of the text's file (s2orc only)",
    "year": "year of publication",
    "licence": "licence of the file (s2orc) or of the abstract (s2ag), SPDX id",
    "abstract_source": "source of the record that provides the abstract",
    "parse_kind": "kind of full text: pdf, latex, jats or elsevier",
    "extractor": "extractor or converter with its version (s2orc only)",
    "num_ocr_pages": "number of pages read by OCR (s2orc only)",
    "language": "CLD3's first choice for the complete text",
    "language_probability": "CLD3's probability of that language",
    "section_types": "recognized sections: introduction, methods, results …",
    "num_citations": "number of inline citations in the body (s2orc only)",
    "num_bib_entries": "number of bibliography entries (s2orc only)",
    "num_equations": "number of formulas in the body (s2orc only)",
    "num_figures": "number of figures (s2orc only)",
    "num_tables": "number of tables (s2orc only)",
    "num_emails": "number of e-mail addresses, including masked ones",
    "num_phone_numbers": "number of phone numbers, including masked ones",
    "num_ip_addresses": "number of IP addresses, including masked ones",
    "num_tokens": "number of tokens by `export.tokenizer`, else null",
    "num_chars": "number of code points",
    "num_lines": "number of lines with words",
    "num_words": "number of words between white space",
    "rps_doc_word_count": "number of normalized words",
    "rps_doc_mean_word_length": "mean length of normalized words, characters",
    "rps_doc_frac_unique_words": "share of distinct words",
    "rps_doc_stop_word_fraction": "stop words per word",
    "rps_doc_frac_all_caps_words": "share of words in capitals",
    "rps_doc_frac_no_alph_words": "share of words without letters",
    "rps_doc_symbol_to_word_ratio": "`#`, `...` and `…` per word",
    "rps_doc_frac_lines_end_with_ellipsis": "share of lines that end with an ellipsis",
    "frac_digits": "share of digits among characters other than white space",
    "frac_upper": "share of capitals among characters other than white space",
    "frac_lines_repeated": "share of repeated lines",
    "frac_chars_lines_repeated": "share of characters in repeated lines",
    "frac_lines_of_numbers": "share of lines that are mostly numbers",
    **{f"rps_doc_frac_chars_top_{n}gram": f"share of characters in the most frequent {n}-gram" for n in TOP_NGRAMS},
    **{f"rps_doc_frac_chars_dupe_{n}grams": f"share of characters in repeated {n}-grams" for n in REPEATED_NGRAMS},
    "file": "path of the file that contains the document",
    "line": "line in that file, from 1",
    "words": "number of words between white space",
    "outbound_citations": "ids of the cited papers of the corpus",
    "parses": "kinds of full text with a parse",
    "cited_paper_id": "id of the cited paper; null if unlinked",
    "paper_id": "id of the paper, stable across releases",
    "part": "part of the parse: abstract, body_text or back_matter",
    "back_part": "type of back matter, or null",
    "section": "innermost section header; empty without one",
    "section_path": "all section headers, joined by `::`",
    "sec_num": "number of the section",
    "paragraph": "paragraph number over abstract, body and back matter, from 0",
    "cite_spans": "inline citations with offsets in code points",
    "ref_spans": "mentions of figures, tables and sections, with offsets in code points",
    "eq_spans": "formulas with offsets in code points",
    "ref_id": "id of the entry within its parse, such as BIBREF0 or FIGREF0",
    "type": "type of the entry: figure, table, formula, section …",
    "num": "printed number of the entry",
    "latex": "LaTeX source of the entry",
    "html": "table as HTML",
    "cells": "table as rows of cells",
    "cell_cite_spans": "inline citations in the cells of a table",
    "of": "abstract, or the kind of a parse",
    "open_access": "false for closed files: only their bibliography is published",
    "evidence": "evidence of open access; the source of an abstract; bibliography_only for closed files",
}
_IN_TABLE = {
    ("paragraphs", "text"): "text of the paragraph",
    ("ref_entries", "text"): "caption or text of the entry",
    ("rights", "sha1"): "SHA-1 of the parse's file; null for abstracts",
    ("rights", "licence"): "licence of the abstract or file, SPDX id",
}


def describe_column(table: str, column: pa.Field) -> str | None:
    """Return the meaning of a column of a published table or set, or None if the snapshot does not define it."""
    if given := (column.metadata or {}).get(b"meaning"):
        return str(given.decode())
    if (table, column.name) in _IN_TABLE:
        return _IN_TABLE[table, column.name]
    if (found := _find_in_tables(_SOURCES.get(table, ()), column.name)) is not None:
        return found
    return _MEANINGS.get(column.name) or _find_in_tables((DOCUMENTS, PAPERS), column.name)


def _find_in_tables(tables: tuple[Table, ...], name: str) -> str | None:
    return next((column.meaning for table in tables for column in table.columns if column.name == name), None)
