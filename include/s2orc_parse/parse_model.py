"""The parse: the structured full text of one PDF, LaTeX source or publisher's file, from which every output schema is written.

Laws (SEMANTICS §3): `text[start:end] == span.text` in code points; a `ref_id` that is not None is the key of a bibliography
or reference entry of the same parse; spans of one kind are in order of (start, end). In the published schema a citation
without `ref_id` is an unlinked span, and a paragraph's section its innermost head, with the path beside.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from s2orc_parse.bibliography.author import Author

EQUATION = "EQUATION"  # the token that stands for a display formula in a text


class ParseKind(StrEnum):
    """What full text a parse was made from; never who made it."""

    PDF = "pdf"
    LATEX = "latex"
    JATS = "jats"
    ELSEVIER = "elsevier"


def parse_id(sha1: str, kind: str, converter_version: str, made_by: Sequence[str] = ()) -> str:
    """The id of a parse: its file, its kind, a hash of what read the file before the converter (program, version, options), and the
    converter's version."""
    program = hashlib.sha1("\0".join(made_by).encode(), usedforsecurity=False).hexdigest()[:8] if made_by else "-"
    return f"{sha1}:{kind}:{program}:{converter_version}"


class CitationStyle(StrEnum):
    """How a paper prints its inline citations."""

    BRACKET = "BRACKET"  # [2]
    NAME_YEAR = "NAME_YEAR"  # (Lyons and Waite, 2011)
    OTHER = "OTHER"  # superscripts, (2), [ABC19], mixed, or too few to say


class RefType(StrEnum):
    """What a reference entry is."""

    FIGURE = "figure"
    TABLE = "table"
    FORMULA = "formula"
    SECTION = "section"
    FOOTNOTE = "footnote"
    THEOREM = "theorem"  # theorem, lemma, definition and the like
    ITEM = "item"  # of a list


class BackPart(StrEnum):
    """What a division of the back matter is, as GROBID types it (`conflict` and `contribution` since its version 0.9)."""

    ACKNOWLEDGEMENT = "acknowledgement"
    FUNDING = "funding"
    AVAILABILITY = "availability"  # of data and code
    CONFLICT = "conflict"  # of interests
    CONTRIBUTION = "contribution"  # who of the authors did what
    ANNEX = "annex"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text that refers to an entry; `ref_id` is None where nothing it could mean was found."""

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
class EqSpan:
    """A formula: `text` is the token EQUATION where it is displayed, `raw_text` what the source has for it."""

    start: int
    end: int
    text: str
    ref_id: str | None
    raw_text: str = ""
    latex: str | None = None
    mathml: str | None = None
    label: str | None = None  # as printed, without parentheses: "3"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph. `section` is the path of heads joined by `::` ("" before the first), `sec_num` the innermost's number."""

    section: str
    text: str
    sec_num: str | None = None
    cite_spans: tuple[CiteSpan, ...] = ()
    ref_spans: tuple[RefSpan, ...] = ()
    eq_spans: tuple[EqSpan, ...] = ()
    back_part: BackPart | None = None  # of back matter whose source says what it is


@dataclass(frozen=True, slots=True)
class BibEntry:
    """One entry of the bibliography, with or without a title; "" or None where the source says nothing."""

    key: str  # BIBREF0 …
    ref_id: str  # the source's own id: b0, a BibTeX key
    title: str = ""
    authors: tuple[Author, ...] = ()
    year: int | None = None
    venue: str = ""
    label: str | None = None  # as printed before the entry: "12", "ABC19"
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
    """A figure, table, formula, section, footnote, theorem or item: `text` is its caption, formula, head, note or statement."""

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
    """What the paper says of itself on its first page."""

    title: str = ""
    authors: tuple[Author, ...] = ()
    date: str | None = None  # ISO, as precise as known
    date_precision: str | None = None  # day, month or year
    venue: str | None = None
    journal: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    pubmed_id: str | None = None
    pmc_id: str | None = None
    licence: str | None = None  # SPDX id where one is known
    open_access: bool | None = None  # whether it says so
    keywords: tuple[str, ...] = ()  # the publisher's
    issn: str | None = None  # of the journal: "1932-6203"
    emails: tuple[str | None, ...] = ()  # one for each author; empty if the article has none


@dataclass(frozen=True, slots=True)
class Provenance:
    """Which program made the source, and which converter made the parse of it."""

    extractor: str
    version: str
    options: str
    tei_sha1: str | None
    converter_version: str


@dataclass(frozen=True, slots=True)
class Parse:
    """One parse."""

    pdf_sha1: str
    header: Header
    citation_style: CitationStyle
    abstract: tuple[Paragraph, ...]
    body_text: tuple[Paragraph, ...]
    back_matter: tuple[Paragraph, ...]
    bib_entries: tuple[BibEntry, ...]
    ref_entries: tuple[RefEntry, ...]
    provenance: Provenance
    article: Any = None
    """an object: the source's own JSON, where it is JSON: what the dataset in the publisher's form gives back unchanged"""
