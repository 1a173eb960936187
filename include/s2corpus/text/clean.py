"""Decide which papers become documents, and with which text, by the rules of the spec's profile, then by own rules (SPEC §8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from s2corpus.outcomes import CleanOutcome
from s2corpus.own_rules import CLEANING_RULES, find_dropping_rule
from s2corpus.rules import CleanRules
from s2corpus.text import card, recipe
from s2corpus.text.documents import CleanedDocument, DocumentDecision, Set
from s2corpus.text.rules import RuleSeries
from s2corpus.text.unigrams import Unigrams

_CARD: Mapping[Set, RuleSeries[Any]] = {"s2orc": card.S2ORC, "s2ag": card.S2AG}
PROFILES: Mapping[str, Mapping[Set, RuleSeries[Any]]] = {
    "card": _CARD,
    "card-wordfreq": _CARD,
    "recipe-2024": {"s2orc": recipe.S2ORC, "s2ag": recipe.S2AG},
}
"""profile → set → rules"""


def clean(set_: Set, document: CleanedDocument, rules: CleanRules, unigrams: Unigrams) -> DocumentDecision:
    """Return the decision for a document in a set, with its text if kept."""
    decision = PROFILES[rules.profile][set_].decide(document, rules, unigrams)
    if rules.rules and decision.outcome is CleanOutcome.KEPT:
        outcome = find_dropping_rule(CLEANING_RULES, rules.rules, document, decision.text)
        if outcome is not None:
            decision.outcome, decision.text = outcome, None
    return decision
