"""What the cleaning rules read and what they decide."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from s2corpus.text.layout import Unit

Set = Literal["s2orc", "s2ag"]


class Outcome(StrEnum):
    """The first rule that drops a document, or kept (SEMANTICS: Clean)."""

    KEPT = "kept"
    RETRACTED = "retracted"
    """where the spec says `clean.editorial: exclude`, as the next"""
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
    """recipe-2024: the abstract's runs of spaced single letters"""


@dataclass(frozen=True, slots=True)
class Document:
    """A paper as the cleaning rules see it."""

    paper_id: str
    title: str | None
    abstract: str | None
    date: str | None
    """ISO, as precise as known"""
    body: tuple[Unit, ...] | None
    """its paragraphs in order; null where there is no parse"""
    open_access: bool = True
    editorial: str | None = None
    """what became of the paper (`sources.editorial.Editorial`)"""
    sources: tuple[str, ...] = ()
    """who knows the paper otherwise than from its PDF (recipe-2024)"""

    @property
    def year(self) -> int | None:
        """Year of the date."""
        return int(self.date[:4]) if self.date else None


@dataclass(slots=True)
class Decision:
    """The outcome of one document in one set with the values behind it: null is what was not evaluated."""

    set: Set
    paper_id: str
    outcome: Outcome = Outcome.KEPT
    language: str | None = None
    language_votes: dict[str, int] | None = None
    """language → paragraphs, until the vote was certain"""
    words: int | None = None
    paragraphs: int | None = None
    top_word: str | None = None
    top_share: float | None = None
    log_prob: float | None = None
    """the least probable section's (s2orc), paragraph's (recipe-2024) or the abstract's (s2ag) mean"""
    removed_sections: int | None = None
    text: str | None = None
    """only of a kept document"""
