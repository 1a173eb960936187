"""Decide which papers remain in the corpus (S2ORC §2.5)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from s2corpus.rules import FilterRules
from s2corpus.text.language import english_probability, english_share


class FilterOutcome(StrEnum):
    """The outcome of a paper; the first matching condition decides."""

    SUPPRESSED = "suppressed"
    NO_TITLE = "no_title"
    NO_AUTHORS = "no_authors"
    SHORT_TEXT = "short_text"
    NOT_ENGLISH = "not_english"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class FilterDecision:
    """The outcome and the measured values."""

    outcome: FilterOutcome
    characters: int  # abstract + body
    english: float | None  # P(en); None if it was not computed
    disputed: bool | None = None  # with CLD2: whether CLD3 disagrees


def decide(
    identifiers: Collection[str],
    suppressed: Collection[str],
    rules: FilterRules,
    *,
    title: str | None,
    author_count: int,
    text: str,
) -> FilterDecision:
    """Decide whether a paper remains in the corpus.

    `identifiers` are those that a suppression list may contain: the paper's id and former ids, DOIs and SHA-1s. `text` is
    its abstract and body.
    """
    characters = len(text)
    if not set(identifiers).isdisjoint(suppressed):
        return FilterDecision(FilterOutcome.SUPPRESSED, characters, None)
    if not title:
        return FilterDecision(FilterOutcome.NO_TITLE, characters, None)
    if not author_count:
        return FilterDecision(FilterOutcome.NO_AUTHORS, characters, None)
    if characters < rules.min_characters:
        return FilterDecision(FilterOutcome.SHORT_TEXT, characters, None)
    english, disputed = english_probability(text), None
    if rules.language == "cld2":
        by_cld3, english = english, english_share(text)
        disputed = (by_cld3 < rules.min_english) != (english < rules.min_english)
    return FilterDecision(
        FilterOutcome.NOT_ENGLISH if english < rules.min_english else FilterOutcome.KEPT, characters, english, disputed
    )
