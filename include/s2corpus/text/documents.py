"""Define the input (`CleanedDocument`) and the result (`DocumentDecision`) of the cleaning rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2corpus.outcomes import CleanOutcome
from s2corpus_reader.layout import Unit

Set = Literal["s2orc", "s2ag"]


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
    outcome: str = CleanOutcome.KEPT
    """a `CleanOutcome`, or the outcome of an own rule"""
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
    section_log_probs: list[float] | None = None
    """mean log2 probability of each section (s2orc) or merged paragraph (recipe-2024), in order"""
    text: str | None = None
    """null unless the document is kept"""

    def set_section_log_probs(self, means: list[float], n_kept: int) -> None:
        """Record the mean of each section, the lowest mean, and the number of removed sections."""
        self.section_log_probs, self.log_prob = means, min(means, default=None)
        self.removed_sections = len(means) - n_kept
