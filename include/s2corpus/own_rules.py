"""Rules that other packages add: filters of papers, and cleaning rules of documents (docs/own-filter.md).

A rule is a module with `VERSION` and `drops`. The entry-point groups are `s2corpus.filters` and `s2corpus.cleaning_rules`. A rule applies
only to releases whose spec names it, after the built-in rules, in the order of the spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2corpus.errors import UserError
from s2corpus.rules import OwnRule
from s2orc_parse.registry import Registry

FILTERS: Registry[Any] = Registry("s2corpus.filters", "filter", ())
"""installed filters: `drops(paper: papers.filter.Paper, options)`"""
CLEANING_RULES: Registry[Any] = Registry("s2corpus.cleaning_rules", "cleaning rule", ())
"""installed cleaning rules: `drops(document: text.documents.CleanedDocument, text, options)`"""


def load_rule(registry: Registry[Any], rule: OwnRule) -> Any:
    """Return the module of a rule.

    Raises:
        UserError: it is not installed, cannot be imported, or has another version than the spec names.
    """
    try:
        module = registry.load(rule.name)
        version, _ = module.VERSION, module.drops
    except UserError:
        raise
    except Exception as error:  # the code is of another package
        raise UserError(
            f"the {registry.kind} {rule.name!r} cannot be loaded: {error!r}; correct its package"
        ) from error
    if version != rule.version:
        raise UserError(
            f"the {registry.kind} {rule.name!r} has version {version!r}; the spec names version {rule.version}: "
            "install that version, or change the spec"
        )
    return module


def find_dropping_rule(registry: Registry[Any], rules: Iterable[OwnRule], *subject: Any) -> str | None:
    """Return the outcome of the first rule that drops the subject, or None.

    Raises:
        UserError: a rule raises an exception.
    """
    for rule in rules:
        module = load_rule(registry, rule)
        try:
            drops = module.drops(*subject, rule.options)
        except Exception as error:
            raise UserError(
                f"the {registry.kind} {rule.name!r} fails on paper {subject[0].paper_id}: {error!r}; correct its package"
            ) from error
        if drops:
            return rule.outcome
    return None
