"""Closed lists of outcomes: each word is declared once, with its meaning and what an operator does about it.

Enums, checks, reports, page labels and documentation follow from these declarations.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class PaperRow(NamedTuple):
    """A row in a table of a paper: its label, and the paper's number. Outcomes with the same row are added up."""

    label: str
    number: float | None


class Word(NamedTuple):
    """The declaration of an outcome."""

    word: str
    meaning: str
    action: str = ""
    """what an operator does; empty if there is nothing to do"""
    label: str = ""
    """label on pages and in reports; without one, the word with spaces"""
    is_kept: bool = False
    """whether the row continues to the next stage"""
    paper: PaperRow | None = None
    """the row of the paper's table that counts this outcome; without one, the outcome has its own row"""


class Outcome(StrEnum):
    """Base class of closed lists of outcomes. The value of a member is its word."""

    _value_: str
    meaning: str
    action: str
    label: str
    is_kept: bool
    paper: PaperRow

    def __new__(cls, *values: Any) -> Outcome:
        """Return a member with the values of its `Word`. Raises ValueError if it has no meaning."""
        if len(values) < 2 or not values[1]:
            raise ValueError(f"{cls.__name__}: the outcome {values[0]!r} has no meaning")
        word = Word(*values)
        self = str.__new__(cls, word.word)
        self._value_ = word.word
        self.meaning, self.action, self.is_kept = word.meaning, word.action, word.is_kept
        self.label = word.label or format_word(word.word)
        self.paper = word.paper or PaperRow(self.label[0].upper() + self.label[1:], None)
        return self


def format_word(word: str) -> str:
    """Return the default label of an outcome: "not_english" becomes "not english"."""
    return word.replace("_", " ").replace(":", ": ")


class TeiRefusal(Outcome):
    """The reason why a TEI gives no parse."""

    EMPTY = Word("empty", "the TEI is empty")
    TOO_LARGE = Word("too_large", "over 12 MB, or over 500,000 tags")
    NOT_UTF8 = Word("not_utf8", "the TEI is not UTF-8")
    DOCTYPE = Word(
        "doctype",
        "the TEI has a document type; no extractor writes one",
        "many: another program answers at the extractor's address; correct `GROBID_URL`",
    )
    TOO_DEEP = Word("too_deep", "elements are nested too deep")
    NOT_WELL_FORMED = Word("not_well_formed", "the TEI is not well-formed XML")
    NOT_TEI = Word("not_tei", "the root is not `TEI`")


class LatexOutcome(Outcome):
    """The outcome of a source archive. Only an archive with the outcome `ok` has a parse."""

    OK = Word("ok", "parsed", is_kept=True)
    NO_ARXIV_ID = Word(
        "no_arxiv_id", "no arXiv id in the name and in `records.jsonl`", "declare the id in `records.jsonl`"
    )
    PDF_ONLY = Word("pdf_only", "arXiv has only a PDF or PostScript file")
    WITHDRAWN = Word("withdrawn", "the authors withdrew it; arXiv stores a notice")
    NO_LATEX = Word("no_latex", "no file starts a LaTeX document: plain TeX, HTML or figures")
    NOT_AN_ARCHIVE = Word("not_an_archive", "neither gzip nor tar nor TeX", "deliver arXiv's source file")
    UNREADABLE = Word("unreadable", "the file cannot be read", "grant access to the file")
    DAMAGED = Word("damaged", "truncated, or a wrong checksum", "deliver the complete file again")
    UNSAFE_PATH = Word("unsafe:path", "a member leaves the folder")
    UNSAFE_LINK = Word("unsafe:link", "a member is a symbolic or hard link")
    UNSAFE_DEVICE = Word("unsafe:device", "a member is a device, pipe or other special file")
    TOO_LARGE = Word(
        "too_large", "over 128 MB packed, 256 MB unpacked, 16 MB of text files, or 8 M characters in total"
    )
    TOO_MANY_FILES = Word("too_many_files", "over 5,000 files")
    CONVERTER_FAILED = Word("converter_failed", "the converter failed", "inspect the source with `corpus convert`")
    TIMEOUT = Word(
        "timeout",
        "the converter exceeded its time limit",
        "the next release retries it; raise `resources.file_seconds`",
    )
    OUT_OF_MEMORY = Word(
        "out_of_memory",
        "the converter exceeded its memory limit",
        "the next release retries it; raise `resources.file_memory_mb`",
    )
    NO_TEXT = Word("no_text", "converted, but the result has no text")


class JatsOutcome(Outcome):
    """The outcome of a publisher's file; all outcomes except `ok` mean that there is no parse."""

    OK = Word("ok", "parsed", is_kept=True)
    UNREADABLE = Word("unreadable", "the lake refuses access to the file", "grant access to the file")
    EMPTY = Word("empty", "no content", "deliver the complete file again")
    TOO_LARGE = Word("too_large", "over 16 MB, or over a million elements")
    TOO_DEEP = Word("too_deep", "elements or values are nested deeper than 120")
    ENTITIES = Word("entities", "the file declares entities; the DTD that it names is never loaded")
    NOT_WELL_FORMED = Word("not_well_formed", "neither valid XML nor valid JSON", "deliver the complete file again")
    NOT_AN_ARTICLE = Word("not_an_article", "another kind of document")
    SEVERAL_ARTICLES = Word("several_articles", "more than one article", "deliver one article per file")
    WRONG_TYPE = Word("wrong_type", "the type of a field differs from Elsevier's schema")
    NO_BODY = Word("no_body", "metadata only; its record counts")


class Rejected(Exception):
    """An error for an input that gives no parse, with its outcome and a detail."""

    def __init__(self, outcome: Outcome, detail: str = "") -> None:
        super().__init__(f"{outcome}: {detail}" if detail else str(outcome))
        self.outcome, self.detail = outcome, detail


class BadTei(Rejected):
    """The TEI cannot be parsed."""


class BadSource(Rejected):
    """A source archive cannot be converted."""


class BadArticle(Rejected):
    """A publisher's file cannot be converted."""
