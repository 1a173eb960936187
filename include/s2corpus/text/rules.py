"""Define a cleaning rule: an outcome, and the test for it.

A profile is an ordered list of rules. The first rule that applies decides. A fact is computed when a rule first needs it, and is
recorded in the decision. A fact that no rule needs remains null.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pdf2tei.pages.language import language
from s2corpus.outcomes import CleanOutcome
from s2corpus.rules import CleanRules
from s2corpus.text.documents import CleanedDocument, DocumentDecision, Set
from s2corpus.text.unigrams import Unigrams, log_probability

LANGUAGE_CHARACTERS = 2000
"""leading characters of a paragraph that identify its language (S2 V2 card)"""
MIN_PARAGRAPHS = 5
"""minimum number of paragraphs after improbable sections were removed (S2 V2 card)"""
MAX_TOP_SHARE = 0.075
"""a text is dropped if its most frequent word has at least this share (S2 V2 card)"""
MIN_ABSTRACT_WORDS, MAX_ABSTRACT_WORDS = 50, 1000
"""words of an abstract in s2ag (S2 V2 card)"""


class DocumentFacts(ABC):
    """The facts about one document under some rules. Profiles derive a subclass with the facts that their rules need."""

    set: Set

    def __init__(self, document: CleanedDocument, rules: CleanRules, unigrams: Unigrams) -> None:
        self.document, self.rules, self.unigrams = document, rules, unigrams
        self.decision = DocumentDecision(self.set, document.paper_id)

    @abstractmethod
    def text(self) -> str:
        """Return the text of the document if it is kept."""

    def find_top_words(self, words: Counter[str]) -> list[str]:
        """Return the two most frequent words, the first to appear in a tie; record the first one."""
        top = words.most_common(2)
        if top:
            self.decision.top_word, self.decision.top_share = top[0][0], top[0][1] / words.total()
        return [word for word, _ in top]

    def too_old(self) -> bool:
        """Return whether the document was published before the first accepted year."""
        return self.document.year is not None and self.document.year < self.rules.min_year


class AbstractFacts(DocumentFacts):
    """The facts about a paper with title and abstract. Profiles define how both are normalized, and what a word is."""

    set = "s2ag"

    @property
    @abstractmethod
    def title(self) -> str:
        """The normalized title."""

    @property
    @abstractmethod
    def abstract(self) -> str:
        """The normalized abstract."""

    @abstractmethod
    def is_word(self, word: str) -> bool:
        """Return whether a most frequent word may be a word of running text."""

    def text(self) -> str:
        """Return title and abstract."""
        return f"{self.title}\n\n{self.abstract}"

    def identify_language(self, text: str) -> str:
        """Return the language of a text, by its first characters."""
        return language(text[:LANGUAGE_CHARACTERS])[0]

    @cached_property
    def language(self) -> str:
        """The abstract's language."""
        self.decision.language = self.identify_language(self.abstract)
        return self.decision.language

    @cached_property
    def log_prob(self) -> float:
        """The abstract's mean log probability."""
        self.decision.log_prob = log_probability(self.abstract, self.unigrams)
        return self.decision.log_prob

    @cached_property
    def words(self) -> int:
        """The number of words in the abstract."""
        self.decision.words = len(self.abstract.split())
        return self.decision.words

    def title_not_english(self) -> bool:
        """Return whether the title is improbable and not English."""
        is_improbable = log_probability(self.title, self.unigrams) <= self.rules.text_rules.threshold
        return is_improbable and self.identify_language(self.title) != "en"

    def bad_top_word(self) -> bool:
        """Return whether the most frequent word is not a word. `a` passes if the second most frequent one is a word."""
        top = self.find_top_words(Counter(self.text().split()))
        return bool(top) and not (self.is_word(top[0]) or (top[0] == "a" and any(map(self.is_word, top[1:]))))


F = TypeVar("F", bound=DocumentFacts)


@dataclass(frozen=True)
class DropRule(Generic[F]):
    """One reason to drop a document."""

    outcome: CleanOutcome
    drops: Callable[[F], bool]


def _excludes_status(status: CleanOutcome) -> Callable[[DocumentFacts], bool]:
    return lambda facts: facts.rules.editorial == "exclude" and facts.document.editorial == status.value


EDITORIAL: tuple[DropRule[Any], ...] = tuple(
    DropRule(status, _excludes_status(status)) for status in (CleanOutcome.RETRACTED, CleanOutcome.WITHDRAWN)
)
"""The first rules of every profile. They drop retracted and withdrawn papers if the spec requests it."""
PUBLISHED_TEXT: tuple[DropRule[Any], ...] = (
    DropRule(CleanOutcome.NO_PARSE, lambda facts: facts.document.body is None),
    DropRule(CleanOutcome.CLOSED, lambda facts: not facts.document.open_access),
)
"""The next rules of s2orc: an open full text exists."""
ABSTRACT_LENGTH: tuple[DropRule[Any], ...] = (
    DropRule(CleanOutcome.ABSTRACT_SHORT, lambda facts: facts.words < MIN_ABSTRACT_WORDS),
    DropRule(CleanOutcome.ABSTRACT_LONG, lambda facts: facts.words > MAX_ABSTRACT_WORDS),
)


@dataclass(frozen=True)
class RuleSeries(Generic[F]):
    """The ordered rules of a profile for one set."""

    facts: Callable[[CleanedDocument, CleanRules, Unigrams], F]
    rules: Sequence[DropRule[F]]

    def decide(self, document: CleanedDocument, rules: CleanRules, unigrams: Unigrams) -> DocumentDecision:
        """Return the decision for a document by the first rule that applies, with its text if kept."""
        facts = self.facts(document, rules, unigrams)
        decision = facts.decision
        for rule in self.rules:
            if rule.drops(facts):
                decision.outcome = rule.outcome
                break
        else:
            decision.text = facts.text()
        return decision
