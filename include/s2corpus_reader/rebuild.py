"""Build the texts of a snapshot again under other rules, from its paragraphs and the stored probability of each section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from s2corpus_reader.errors import SnapshotError
from s2corpus_reader.layout import IMPROBABLE, TextRules, format_body, list_sections, list_units

Row = dict[str, Any]
SCORES = "section_log_probs"
COLUMNS = ("id", "sha1", "text", "parse_kind", SCORES)
"""columns of `documents/` that a rebuild needs"""
PARAGRAPH_COLUMNS = ("paper_id", "parse_kind", "part", "section_path", "text", "cite_spans")
"""columns of `tables/paragraphs` that a rebuild needs"""
_VALUES: Mapping[str, tuple[str, ...]] = {
    "citations": ("keep", "drop"), "formulas": ("remove", "placeholder"),
    "layout": ("sections", "template", "template_blank"), "profile": tuple(IMPROBABLE),
}  # fmt: skip
_CHANGEABLE = ("citations", "formulas", "layout", "min_log_prob")


def read_rules(rules: Mapping[str, Any]) -> TextRules:
    """Return the rules of a manifest that decide its texts. A profile that ignores a rule does not list it.

    Raises:
        SnapshotError: a rule has an unknown value.
    """
    own = {field.name: rules[name] for field in fields(TextRules) if (name := f"clean.{field.name}") in rules}
    return _check(replace(TextRules(""), **own))


def change_rules(own: TextRules, given: Mapping[str, Any]) -> TextRules:
    """Return the rules with the given values, named as in the manifest: `clean.` and one of `_CHANGEABLE`.

    Raises:
        SnapshotError: a rule cannot be changed afterwards, or its value is unknown.
    """
    changed = {}
    for rule, value in given.items():
        section, _, name = rule.partition(".")
        if section != "clean" or name not in _CHANGEABLE:
            expected = ", ".join(f"clean.{name}" for name in _CHANGEABLE)
            raise SnapshotError(f"{rule!r} cannot be changed in a published text; expected {expected}")
        changed[name] = value
    return _check(replace(own, **changed))


def _check(rules: TextRules) -> TextRules:
    for name, values in _VALUES.items():
        if (value := getattr(rules, name)) not in values:
            raise SnapshotError(f"clean.{name} is {str(value)[:100]!r}; expected one of {', '.join(values)}")
    if rules.min_log_prob is not None and not isinstance(rules.min_log_prob, int | float):
        raise SnapshotError(f"clean.min_log_prob is {str(rules.min_log_prob)[:100]!r}; expected a number or None")
    return rules


def rebuild(document: Row, paragraphs: Iterable[Row], own: TextRules, new: TextRules) -> str:
    """Return the text of a document under other rules.

    Args:
        document: its row with `COLUMNS`.
        paragraphs: the rows of its paper in `tables/paragraphs`, in order, with `PARAGRAPH_COLUMNS`.
        own: the rules of the snapshot.
        new: the rules of the result.

    Raises:
        SnapshotError: the snapshot's own rules do not give the published text: a file is damaged or from another snapshot.
    """
    kind, log_probs = document["parse_kind"], document[SCORES]
    if log_probs is None:
        return str(document["text"])  # of a title and abstract, no rule removes a part
    body = [row for row in paragraphs if row["part"] == "body" and row["parse_kind"] == kind]
    published = _format(body, log_probs, own)
    if published is None or not document["text"].endswith(published):
        raise SnapshotError(f"the paragraphs of {document['id']} do not give its text: fetch the snapshot again")
    head = document["text"][: len(document["text"]) - len(published)]
    return f"{head}{_format(body, log_probs, new) or ''}"


def _format(body: Sequence[Row], log_probs: Sequence[float], rules: TextRules) -> str | None:
    """Return the body of a text, or None if it has another number of sections."""
    units = list_units({"body_text": body}, drop_citations=rules.citations == "drop")
    sections = list_sections(units, rules)
    if len(sections) != len(log_probs):
        return None
    kept = [section for section, mean in zip(sections, log_probs, strict=True) if mean >= rules.threshold]
    return format_body(kept, rules)
