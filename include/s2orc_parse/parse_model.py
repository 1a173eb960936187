"""The parse: the structured full text of one file. All output schemas are written from it.

The file is a PDF, a LaTeX source, or a JATS or Elsevier JSON file.

Invariants (SPEC §3.3): `text[start:end] == span.text` in code points. A `ref_id` other than None is the key of a
bibliography or reference entry of the same parse. Spans of one kind are sorted by (start, end). In the published
schema, a citation without `ref_id` is an unlinked span. A paragraph's section is its innermost header; the path is a
separate field.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from s2orc_parse.bibliography.author import Author

EQUATION = "EQUATION"  # the token that replaces a display formula


class ParseKind(StrEnum):
    """The kind of full text that a parse comes from. It does not name the extractor."""

    PDF = "pdf"
    LATEX = "latex"
    JATS = "jats"
    ELSEVIER = "elsevier"


def make_parse_id(sha1: str, kind: str, converter_version: str, extractor: Sequence[str] = ()) -> str:
    """Return the id of a parse: SHA-1 of the file, kind, hash of the extractor (program, version, options), version of the converter."""
    program = hashlib.sha1("\0".join(extractor).encode(), usedforsecurity=False).hexdigest()[:8] if extractor else "-"
    return f"{sha1}:{kind}:{program}:{converter_version}"


class CitationStyle(StrEnum):
    """The way in which a paper prints its inline citations."""

    BRACKET = "BRACKET"  # [2]
    NAME_YEAR = "NAME_YEAR"  # (Lyons and Waite, 2011)
    OTHER = "OTHER"  # superscripts, (2), [ABC19], mixed, or too few citations


class RefType(StrEnum):
    """The kind of a reference entry."""

    FIGURE = "figure"
    TABLE = "table"
    FORMULA = "formula"
    SECTION = "section"
    FOOTNOTE = "footnote"
    THEOREM = "theorem"  # theorem, lemma, definition and similar environments
    ITEM = "item"  # of a list

    def make_key(self, number: int) -> str:
        """Return the key of the n-th entry of this kind, counted from 0."""
        return f"{_PREFIXES[self]}{number}"


_PREFIXES = {
    RefType.FIGURE: "FIGREF", RefType.TABLE: "TABREF", RefType.FORMULA: "EQREF", RefType.SECTION: "SECREF",
    RefType.FOOTNOTE: "FOOTREF", RefType.THEOREM: "THMREF", RefType.ITEM: "ITEMREF",
}  # fmt: skip


class BackPart(StrEnum):
    """The kind of a back-matter division, as typed by GROBID (`conflict` and `contribution` since version 0.9)."""

    ACKNOWLEDGEMENT = "acknowledgement"
    FUNDING = "funding"
    AVAILABILITY = "availability"  # of data and code
    CONFLICT = "conflict"  # of interests
    CONTRIBUTION = "contribution"  # the authors' contributions
    ANNEX = "annex"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that refers to an entry. `ref_id` is None if no matching entry was found."""

    start: int
    end: int
    text: str
    ref_id: str | None


class CiteSpan(Span):
    """An inline citation; `ref_id` is the key of a `BibEntry`."""

    __slots__ = ()


class RefSpan(Span):
    """A mention of a figure, table, formula, section, footnote, theorem or item; `ref_id` is the key of a `RefEntry`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class EqSpan(Span):
    """A formula. `text` is the token EQUATION for a display formula; `raw_text` is the text of the source."""

    raw_text: str = ""
    latex: str | None = None
    mathml: str | None = None
    label: str | None = None  # as printed, without parentheses: "3"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph. `section` is the path of headers, joined by `::` ("" before the first); `sec_num` is the number of the innermost."""

    section: str
    text: str
    sec_num: str | None = None
    cite_spans: tuple[CiteSpan, ...] = ()
    ref_spans: tuple[RefSpan, ...] = ()
    eq_spans: tuple[EqSpan, ...] = ()
    back_part: BackPart | None = None  # for back matter whose type the source states


@dataclass(frozen=True, slots=True)
class BibEntry:
    """One bibliography entry, with or without a title. Missing values are "" or None."""

    key: str  # BIBREF0 …
    ref_id: str  # the source's own id: b0, a BibTeX key
    title: str = ""
    authors: tuple[Author, ...] = ()
    year: int | None = None
    venue: str = ""
    label: str | None = None  # printed before the entry: "12", "ABC19"
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    issn: str = ""
    doi: str | None = None
    arxiv_id: str | None = None
    pubmed_id: str | None = None
    pmc_id: str | None = None
    raw_text: str = ""
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CellCite:
    """An inline citation in a table's cell: `cells[row][column][start:end] == text`."""

    row: int
    column: int
    span: CiteSpan


@dataclass(frozen=True, slots=True)
class RefEntry:
    """A figure, table, formula, section, footnote, theorem or item; `text` is its caption, formula, header, note or statement."""

    key: str  # FIGREF0, TABREF0, EQREF0, SECREF0, FOOTREF0, THMREF0, ITEMREF0 …
    type: RefType
    text: str
    num: str | None = None  # as printed: "3", "II", "A.2"
    latex: str | None = None
    cells: tuple[tuple[str, ...], ...] | None = None  # rows of a table
    html: str | None = None
    cite_spans: tuple[CiteSpan, ...] = ()  # over `text`
    cell_cites: tuple[CellCite, ...] = ()  # over `cells`


@dataclass(frozen=True, slots=True)
class Header:
    """The metadata that the paper prints on its first page."""

    title: str = ""
    authors: tuple[Author, ...] = ()
    date: str | None = None  # ISO date with the given precision
    date_precision: str | None = None  # day, month or year
    venue: str | None = None
    journal: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    pubmed_id: str | None = None
    pmc_id: str | None = None
    license: str | None = None  # SPDX id if available
    open_access: bool | None = None  # whether the paper states that it is open access
    keywords: tuple[str, ...] = ()  # the publisher's
    issn: str | None = None  # of the journal: "1932-6203"
    emails: tuple[str | None, ...] = ()  # one for each author; empty if the article has none


@dataclass(frozen=True, slots=True)
class Provenance:
    """The program that made the source, and the converter that made the parse."""

    extractor: str
    version: str
    options: str
    tei_sha1: str | None
    converter_version: str


@dataclass(frozen=True, slots=True)
class Parse:
    """One parse."""

    file_sha1: str
    header: Header
    citation_style: CitationStyle
    abstract: tuple[Paragraph, ...]
    body_text: tuple[Paragraph, ...]
    back_matter: tuple[Paragraph, ...]
    bib_entries: tuple[BibEntry, ...]
    ref_entries: tuple[RefEntry, ...]
    provenance: Provenance
    article: Any = None
    """the JSON object of a JSON source; datasets in the publisher's format contain it unchanged"""
