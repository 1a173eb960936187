"""Define a cleaning rule: an outcome, the test for it, and the thresholds of the spec that it uses.

A profile is an ordered list of rules. The first rule that applies decides. A fact is computed once, when a rule first needs it.
The decision records the fact. Facts that no rule needed remain null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from s2corpus.rules.clean import CleanRules
from s2corpus.text.documents import CleanedDocument, CleanOutcome, DocumentDecision, Set
from s2corpus.text.unigrams import Unigrams


class DocumentFacts:
    """The facts about one document under some rules. Profiles derive a subclass with the facts that their rules need."""

    set: Set

    def __init__(self, document: CleanedDocument, rules: CleanRules, unigrams: Unigrams) -> None:
        self.document, self.rules, self.unigrams = document, rules, unigrams
        self.decision = DocumentDecision(self.set, document.paper_id)

    def too_old(self) -> bool:
        """Return whether the document was published before the first accepted year."""
        return self.document.year is not None and self.document.year < self.rules.min_year


F = TypeVar("F", bound=DocumentFacts)


@dataclass(frozen=True)
class DropRule(Generic[F]):
    """One reason to drop a document."""

    outcome: CleanOutcome
    drops: Callable[[F], bool]
    thresholds: tuple[str, ...] = ()
    """fields of the spec's section `clean` that the rule uses"""


def _excluded(status: CleanOutcome) -> Callable[[DocumentFacts], bool]:
    return lambda it: it.rules.editorial == "exclude" and it.document.editorial == status.value


EDITORIAL: tuple[DropRule[Any], ...] = (
    DropRule(CleanOutcome.RETRACTED, _excluded(CleanOutcome.RETRACTED), ("editorial",)),
    DropRule(CleanOutcome.WITHDRAWN, _excluded(CleanOutcome.WITHDRAWN), ("editorial",)),
)
"""The first rules of every profile. They drop retracted and withdrawn papers if the spec requests it."""


@dataclass(frozen=True)
class RuleSeries(Generic[F]):
    """The ordered rules of a profile for one set."""

    facts: Callable[[CleanedDocument, CleanRules, Unigrams], F]
    series: Sequence[DropRule[F]]
    text: Callable[[F], str]
    """returns the text of a kept document"""

    def decide(self, document: CleanedDocument, rules: CleanRules, unigrams: Unigrams) -> DocumentDecision:
        """Return the decision for a document, with its text if kept.

        With `evaluate_all` every rule is evaluated; the first rule that applies still decides.
        """
        facts = self.facts(document, rules, unigrams)
        decision = facts.decision
        for rule in self.series:
            if rule.drops(facts) and decision.outcome is CleanOutcome.KEPT:
                decision.outcome = rule.outcome
                if not rules.evaluate_all:
                    break
        if decision.outcome is CleanOutcome.KEPT:
            decision.text = self.text(facts)
        return decision

    @property
    def thresholds(self) -> frozenset[str]:
        """The fields of the spec's section `clean` that any of the rules uses."""
        return frozenset(name for rule in self.series for name in rule.thresholds)
