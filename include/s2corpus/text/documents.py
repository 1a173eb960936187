"""Define the input (`CleanedDocument`) and the result (`DocumentDecision`) of the cleaning rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from s2corpus.text.layout import Unit

Set = Literal["s2orc", "s2ag"]


class CleanOutcome(StrEnum):
    """The outcome of a document: kept, or the first rule that drops it (SPEC §8)."""

    KEPT = "kept"
    RETRACTED = "retracted"
    """only with `clean.editorial: exclude`, like `withdrawn`"""
    WITHDRAWN = "withdrawn"
    NO_PARSE = "no_parse"
    CLOSED = "closed"
    NO_TITLE = "no_title"
    NO_ABSTRACT = "no_abstract"
    NOT_ENGLISH = "not_english"
    SHORT = "short"
    LONG = "long"
    """recipe-2024: 50,000 words or more"""
    NO_YEAR = "no_year"
    BEFORE_MIN_YEAR = "before_min_year"
    """published before `clean.min_year` (S2 V2 card: 1970)"""
    FEW_PARAGRAPHS = "few_paragraphs"
    BAD_TOP_WORD = "bad_top_word"
    ABSTRACT_NOT_ENGLISH = "abstract_not_english"
    TITLE_NOT_ENGLISH = "title_not_english"
    ABSTRACT_IMPROBABLE = "abstract_improbable"
    ABSTRACT_SHORT = "abstract_short"
    ABSTRACT_LONG = "abstract_long"
    TITLE_SHORT = "title_short"
    """recipe-2024: fewer than 3 words"""
    SPACED_LETTERS = "spaced_letters"
    """recipe-2024: runs of single letters separated by spaces in the abstract"""


@dataclass(frozen=True, slots=True)
class CleanedDocument:
    """A paper as input of the cleaning rules."""

    paper_id: str
    title: str | None
    abstract: str | None
    date: str | None
    """ISO date with the available precision"""
    body: tuple[Unit, ...] | None
    """paragraphs in order; null without a parse"""
    open_access: bool = True
    editorial: str | None = None
    """the editorial status of the paper (`sources.editorial.Editorial`)"""
    sources: tuple[str, ...] = ()
    """sources with a record of the paper other than its PDF (recipe-2024)"""

    @property
    def year(self) -> int | None:
        """The year of the date."""
        return int(self.date[:4]) if self.date else None


@dataclass(slots=True)
class DocumentDecision:
    """The decision about one document in one set, with the measured values. Values that were not measured are null."""

    set: Set
    paper_id: str
    outcome: CleanOutcome = CleanOutcome.KEPT
    language: str | None = None
    language_votes: dict[str, int] | None = None
    """language → number of paragraphs, until the vote was certain"""
    words: int | None = None
    paragraphs: int | None = None
    top_word: str | None = None
    top_share: float | None = None
    log_prob: float | None = None
    """lowest mean of the sections (s2orc) or paragraphs (recipe-2024), or the mean of the abstract (s2ag)"""
    removed_sections: int | None = None
    text: str | None = None
    """null unless the document is kept"""
