"""What a cleaning rule is: an outcome, the test that gives it, and the thresholds of the spec that it honours.

A profile is its rules in order. The first one that hits decides. The facts that rules ask for are computed once, when the
first rule asks, and noted in the decision; what no rule asked for stays null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from s2corpus.rules.clean import Clean
from s2corpus.text.documents import Decision, Document, Outcome, Set
from s2corpus.text.unigrams import Unigrams


class Facts:
    """What is known of one document under some rules; profiles derive what their rules ask for."""

    set: Set

    def __init__(self, document: Document, rules: Clean, unigrams: Unigrams) -> None:
        self.document, self.rules, self.unigrams = document, rules, unigrams
        self.decision = Decision(self.set, document.paper_id)

    def too_old(self) -> bool:
        """Whether it was published before the first year that is taken."""
        return self.document.year is not None and self.document.year < self.rules.min_year


F = TypeVar("F", bound=Facts)


@dataclass(frozen=True)
class Rule(Generic[F]):
    """One reason to drop a document."""

    outcome: Outcome
    drops: Callable[[F], bool]
    thresholds: tuple[str, ...] = ()
    """fields of the spec's section `clean` that it honours"""


def _excluded(status: Outcome) -> Callable[[Facts], bool]:
    return lambda it: it.rules.editorial == "exclude" and it.document.editorial == status.value


EDITORIAL: tuple[Rule[Any], ...] = (
    Rule(Outcome.RETRACTED, _excluded(Outcome.RETRACTED), ("editorial",)),
    Rule(Outcome.WITHDRAWN, _excluded(Outcome.WITHDRAWN), ("editorial",)),
)
"""The first rules of every profile: of what is no longer held to be right there is no text, where the spec says so."""


@dataclass(frozen=True)
class Rules(Generic[F]):
    """The rules of a profile for one set, in order."""

    facts: Callable[[Document, Clean, Unigrams], F]
    series: Sequence[Rule[F]]
    text: Callable[[F], str]
    """the text of a kept document"""

    def decide(self, document: Document, rules: Clean, unigrams: Unigrams) -> Decision:
        """The decision for a document, its text if kept; with `evaluate_all` every rule is asked, the first hit still decides."""
        facts = self.facts(document, rules, unigrams)
        decision = facts.decision
        for rule in self.series:
            if rule.drops(facts) and decision.outcome is Outcome.KEPT:
                decision.outcome = rule.outcome
                if not rules.evaluate_all:
                    break
        if decision.outcome is Outcome.KEPT:
            decision.text = self.text(facts)
        return decision

    @property
    def thresholds(self) -> frozenset[str]:
        """The fields of the spec's section `clean` that any of its rules honours."""
        return frozenset(name for rule in self.series for name in rule.thresholds)
