"""Define the columns of the Parquet files in a snapshot, for the files, the data card and Croissant."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypedDict

import pyarrow as pa

from s2corpus.tables.columns import (
    AclId,
    ArxivId,
    CitedPaperId,
    Date,
    Doi,
    Editorial,
    FieldsOfStudy,
    LogProb,
    ParagraphNumber,
    ParseKind,
    PmcId,
    PubmedId,
    RemovedSections,
    SectionLogProbs,
    Set,
    Title,
    TopShare,
    TopWord,
    Year,
)
from s2corpus.tables.papers import PaperRow
from s2corpus.tables.schema import INT32, Column, columns_of
from s2corpus.tables.texts import EntryRow

PublishedId = Annotated[str, "id of the paper, stable across releases"]


class SpanValue(TypedDict):
    """A citation or mention in a text, with offsets in code points."""

    start: Annotated[int, INT32]
    end: Annotated[int, INT32]
    text: str
    ref_id: str | None


class CellSpan(TypedDict):
    """An inline citation in a cell of a table."""

    row: Annotated[int, INT32]
    column: Annotated[int, INT32]
    start: Annotated[int, INT32]
    end: Annotated[int, INT32]
    text: str
    ref_id: str | None


class FormulaSpan(SpanValue):
    """A formula in a text."""

    latex: str | None
    mathml: str | None


CiteSpans = Annotated[list[SpanValue], "inline citations with offsets in code points"]


class DocumentKeyRow(TypedDict):
    """The key of a document, and its split."""

    id: PublishedId
    set: Set
    split: Annotated[str, "train or valid"]


class DocumentOriginRow(TypedDict):
    """The origin of a document, and the metadata of its paper."""

    sha1: Annotated[str | None, "SHA-1 of the text's file (s2orc only)"]
    title: Title
    date: Date
    year: Year
    doi: Doi
    arxiv_id: ArxivId
    pubmed_id: PubmedId
    pmc_id: PmcId
    acl_id: AclId
    editorial: Editorial
    licence: Annotated[str, "licence of the file (s2orc) or of the abstract (s2ag), SPDX id"]
    oa_evidence: Annotated[str | None, "s2orc: evidence that the file is open"]
    abstract_source: Annotated[str | None, "source of the record that provides the abstract"]
    fields_of_study: FieldsOfStudy


class PublishedDocumentRow(DocumentKeyRow, DocumentOriginRow):
    """Documents with metadata and quality signals (`text/signals.py`). Columns of the parse are null in s2ag."""

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
    num_chars: Annotated[int, "number of code points"]
    num_lines: Annotated[int, "number of lines with words"]
    num_words: Annotated[int, "number of words between white space"]
    rps_doc_word_count: Annotated[int, "number of normalized words"]
    rps_doc_mean_word_length: Annotated[float, "mean length of normalized words, characters"]
    rps_doc_frac_unique_words: Annotated[float, "share of distinct words"]
    rps_doc_stop_word_fraction: Annotated[float, "stop words per word"]
    rps_doc_frac_all_caps_words: Annotated[float, "share of words in capitals"]
    rps_doc_frac_no_alph_words: Annotated[float, "share of words without letters"]
    rps_doc_symbol_to_word_ratio: Annotated[float, "`#`, `...` and `…` per word"]
    rps_doc_frac_lines_end_with_ellipsis: Annotated[float, "share of lines that end with an ellipsis"]
    frac_digits: Annotated[float, "share of digits among characters other than white space"]
    frac_upper: Annotated[float, "share of capitals among characters other than white space"]
    frac_lines_repeated: Annotated[float, "share of repeated lines"]
    frac_chars_lines_repeated: Annotated[float, "share of characters in repeated lines"]
    frac_lines_of_numbers: Annotated[float, "share of lines that are mostly numbers"]
    rps_doc_frac_chars_top_2gram: Annotated[float, "share of characters in the most frequent 2-gram"]
    rps_doc_frac_chars_top_3gram: Annotated[float, "share of characters in the most frequent 3-gram"]
    rps_doc_frac_chars_top_4gram: Annotated[float, "share of characters in the most frequent 4-gram"]
    rps_doc_frac_chars_dupe_5grams: Annotated[float, "share of characters in repeated 5-grams"]
    rps_doc_frac_chars_dupe_6grams: Annotated[float, "share of characters in repeated 6-grams"]
    rps_doc_frac_chars_dupe_7grams: Annotated[float, "share of characters in repeated 7-grams"]
    rps_doc_frac_chars_dupe_8grams: Annotated[float, "share of characters in repeated 8-grams"]
    rps_doc_frac_chars_dupe_9grams: Annotated[float, "share of characters in repeated 9-grams"]
    rps_doc_frac_chars_dupe_10grams: Annotated[float, "share of characters in repeated 10-grams"]
    text: Annotated[str, "title, abstract and, in s2orc, the body"]
    model_text: Annotated[
        str | None, "text in the form that the spec requests; null if not requested or equal to `text`"
    ]


class DocumentFileRow(TypedDict):
    """The place of a document in the JSON lines."""

    file: Annotated[str, "path of the file that contains the document"]
    line: Annotated[int, "line in that file, from 1"]


class IndexRow(DocumentKeyRow, DocumentFileRow, DocumentOriginRow):
    """The documents of all sets: place, metadata, number of words, and a hash of the normalized text."""

    words: Annotated[int, "number of words between white space"]
    text_key: Annotated[int, "hash of the normalized text"]


class PublishedPaperRow(TypedDict):
    """Columns that `tables/papers` has in addition to those of the internal table papers."""

    year: Year
    outbound_citations: Annotated[list[str], "ids of the cited papers of the corpus"]
    parses: Annotated[list[str], "kinds of full text with a parse"]


class ParagraphRow(TypedDict):
    """Paragraphs of the parses, numbered as in `graph/contexts`."""

    paper_id: PublishedId
    parse_kind: ParseKind
    paragraph: ParagraphNumber
    part: Annotated[str, "part of the parse: abstract, body or back"]
    back_part: Annotated[str | None, "type of back matter, or null"]
    section: Annotated[str, "innermost section header; empty without one"]
    section_path: Annotated[str, "all section headers, joined by `::`"]
    sec_num: Annotated[str | None, "number of the section"]
    text: Annotated[str, "text of the paragraph"]
    cite_spans: CiteSpans
    ref_spans: Annotated[list[SpanValue], "mentions of figures, tables and sections, with offsets in code points"]
    eq_spans: Annotated[list[FormulaSpan], "formulas with offsets in code points"]


class LinkedEntryRow(TypedDict):
    """The column that `tables/bib_entries` has in addition to those of the internal table entries."""

    cited_paper_id: CitedPaperId


class RefEntryRow(TypedDict):
    """Figures, tables, formulas, sections, theorems and notes of the parses."""

    paper_id: PublishedId
    parse_kind: ParseKind
    ref_id: Annotated[str, "id of the entry within its parse, such as BIBREF0 or FIGREF0"]
    type: Annotated[str, "type of the entry: figure, table, formula, section …"]
    num: Annotated[str | None, "printed number of the entry"]
    text: Annotated[str | None, "caption or text of the entry"]
    latex: Annotated[str | None, "LaTeX source of the entry"]
    html: Annotated[str | None, "table as HTML"]
    cells: Annotated[list[list[str]] | None, "table as rows of cells"]
    cite_spans: CiteSpans
    cell_cite_spans: Annotated[list[CellSpan], "inline citations in the cells of a table"]


class RemovedRow(TypedDict):
    """What the rules removed from the papers that passed the filter. Words of an open full text are in its document or here."""

    paper_id: PublishedId
    set: Set
    kind: Annotated[str, "document, section, paragraph, formula, reference_mark, figure, table or footnote"]
    rule: Annotated[
        str, "rule of the spec: clean.min_log_prob, clean.citations, clean.formulas, clean.body_only, or stage.outcome"
    ]
    parse_kind: Annotated[str | None, "kind of full text, as in parses; null for titles and abstracts"]
    paragraph: Annotated[int | None, INT32, "number of its first paragraph in tables/paragraphs"]
    start: Annotated[int | None, INT32, "start in that paragraph, code points; null for whole paragraphs"]
    end: Annotated[int | None, INT32, "end in that paragraph, code points, exclusive"]
    section: Annotated[str | None, "header, or path of headers joined by `::`"]
    value: Annotated[float | None, "measured value that the rule compares"]
    threshold: Annotated[float | None, "value of the rule"]
    words: Annotated[int | None, "number of words between white space; null if the text is not open"]
    text: Annotated[str | None, "the removed words, LaTeX of a formula; null if the text is not open"]
    licence: Annotated[str, "licence of the text, SPDX id"]


class RightsRow(TypedDict):
    """The rights of each abstract and parse."""

    paper_id: PublishedId
    of: Annotated[str, "abstract, or the kind of a parse"]
    sha1: Annotated[str | None, "SHA-1 of the parse's file; null for abstracts"]
    open_access: Annotated[bool, "false for closed files: only their bibliography is published"]
    evidence: Annotated[str, "evidence of open access; the source of an abstract; bibliography_only for closed files"]
    licence: Annotated[str, "licence of the abstract or file, SPDX id"]


class ChangeRow(TypedDict):
    """Documents that differ from the parent: `changes.parquet`."""

    id: PublishedId
    set: Annotated[str, "current set; for removed documents the last set"]
    split: Annotated[str, "current split; for removed documents the last split"]
    change: Annotated[str, "added, removed, moved or changed"]
    reason: Annotated[str | None, "reason of a removal"]
    now: Annotated[str | None, "id of the paper into which the removed paper was merged"]
    former_id: Annotated[str | None, "earlier id of a document with a new id"]
    former_set: Annotated[str | None, "set in the parent"]
    former_split: Annotated[str | None, "split in the parent"]


class TombstoneRow(TypedDict):
    """Documents of earlier snapshots that this snapshot does not contain: `tombstones.parquet`."""

    id: PublishedId
    set: Set
    removed_in: Annotated[str, "snapshot that first lacked the document"]
    reason: Annotated[str, "reason of the removal"]
    now: Annotated[str | None, "id of the paper into which the removed paper was merged"]


OF_PAPERS = (
    "title", "authors", "abstract", "date", "doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "preprints", "mag_ids",
    "venue", "journal", "volume", "issue", "pages", "issns", "fields_of_study", "subjects", "open_access", "oa_evidence", "licence",
    "editorial", "editorial_by",
)  # fmt: skip
"""columns of `tables/papers` copied from the internal table papers"""

PUBLISHED: dict[str, tuple[Column, ...]] = {
    "documents": columns_of(PublishedDocumentRow),
    "index": columns_of(IndexRow),
    "papers": (*columns_of(PaperRow, "paper_id", *OF_PAPERS), *columns_of(PublishedPaperRow)),
    "paragraphs": columns_of(ParagraphRow),
    "bib_entries": (
        *(
            replace(c, nullable=c.nullable and c.name != "authors")
            for c in columns_of(EntryRow)
            if c.name != "parse_id"
        ),
        *columns_of(LinkedEntryRow),
    ),
    "ref_entries": columns_of(RefEntryRow),
    "removed": columns_of(RemovedRow),
    "rights": columns_of(RightsRow),
    "changes": columns_of(ChangeRow),
    "tombstones": columns_of(TombstoneRow),
}
"""the columns of each kind of Parquet file; the files of `graph/` have the columns of the tables links and contexts"""


SINCE_1_0 = frozenset({"removed_sections", "removed_words", "section_log_probs"})
"""columns of `documents/` that snapshots of version 1.0 lack"""


def published_schema(name: str) -> pa.Schema:
    """Return the Arrow schema of a kind of Parquet file, without the meanings of its columns."""
    return pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in PUBLISHED[name]])


def describe_column(table: str, column: pa.Field) -> str | None:
    """Return the meaning of a column of a published table or set, or None if the snapshot does not define it."""
    if given := (column.metadata or {}).get(b"meaning"):
        return str(given.decode())
    columns = PUBLISHED.get(table, PUBLISHED["documents"])
    return next((c.meaning for c in columns if c.name == column.name), None)
