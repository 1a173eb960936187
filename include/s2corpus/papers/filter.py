"""Decide which papers remain in the corpus (S2ORC §2.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from s2corpus.outcomes import FilterOutcome
from s2corpus.rules import FilterRules
from s2corpus.text.language import english_probability, english_share


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper as input of an own filter."""

    paper_id: str
    metadata: Mapping[str, Any]
    """its row of the table papers"""
    parse: Mapping[str, Any] | None
    """its first full text in the spec's order, in the format of S2ORC; None without one"""
    text: str
    """abstract and body"""


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

    `identifiers` are the ids that a suppression list may contain: the paper's id and former ids, DOIs and SHA-1s. `text` is
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
