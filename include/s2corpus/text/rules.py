"""Define a cleaning rule: an outcome, the test for it, and the thresholds of the spec that it uses.

A profile is an ordered list of rules. The first rule that applies decides. A fact is computed once, when a rule first needs it.
The decision records the fact. Facts that no rule needed remain null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from s2corpus.rules.clean import CleanRules
from s2corpus.text.documents import Decision, Document, Outcome, Set
from s2corpus.text.unigrams import Unigrams


class Facts:
    """The facts about one document under some rules. Profiles derive a subclass with the facts that their rules need."""

    set: Set

    def __init__(self, document: Document, rules: CleanRules, unigrams: Unigrams) -> None:
        self.document, self.rules, self.unigrams = document, rules, unigrams
        self.decision = Decision(self.set, document.paper_id)

    def too_old(self) -> bool:
        """Return whether the document was published before the first accepted year."""
        return self.document.year is not None and self.document.year < self.rules.min_year


F = TypeVar("F", bound=Facts)


@dataclass(frozen=True)
class Rule(Generic[F]):
    """One reason to drop a document."""

    outcome: Outcome
    drops: Callable[[F], bool]
    thresholds: tuple[str, ...] = ()
    """fields of the spec's section `clean` that the rule uses"""


def _excluded(status: Outcome) -> Callable[[Facts], bool]:
    return lambda it: it.rules.editorial == "exclude" and it.document.editorial == status.value


EDITORIAL: tuple[Rule[Any], ...] = (
    Rule(Outcome.RETRACTED, _excluded(Outcome.RETRACTED), ("editorial",)),
    Rule(Outcome.WITHDRAWN, _excluded(Outcome.WITHDRAWN), ("editorial",)),
)
"""The first rules of every profile. They drop retracted and withdrawn papers if the spec requests it."""


@dataclass(frozen=True)
class Rules(Generic[F]):
    """The ordered rules of a profile for one set."""

    facts: Callable[[Document, CleanRules, Unigrams], F]
    series: Sequence[Rule[F]]
    text: Callable[[F], str]
    """returns the text of a kept document"""

    def decide(self, document: Document, rules: CleanRules, unigrams: Unigrams) -> Decision:
        """Return the decision for a document, with its text if kept.

        With `evaluate_all` every rule is evaluated; the first rule that applies still decides.
        """
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
        """The fields of the spec's section `clean` that any of the rules uses."""
        return frozenset(name for rule in self.series for name in rule.thresholds)
