"""Assign documents to train, valid or held back, by publication date (SPEC §9)."""

from __future__ import annotations

import calendar
from datetime import date, datetime, timedelta

from s2corpus.outcomes import Split
from s2corpus.rules import SplitRules

VALID_DAYS = 33
"""number of days before `as_of` that belong to valid in a rolling split, as many as in the S2 V2 card's"""


def date_span(iso: str) -> tuple[date, date]:
    """Return the first and last day of a date given as year, month or day.

    Raises:
        ValueError: the date has another form, or the day does not exist.
    """
    year, month, day = (int(part) for part in [*iso.split("-"), "0", "0"][:3])
    if day:
        return (one := date(year, month, day)), one
    first, last = (month, month) if month else (1, 12)
    return date(year, first, 1), date(year, last, calendar.monthrange(year, last)[1])


def compute_bounds(rules: SplitRules, as_of: datetime, valid_days: int = VALID_DAYS) -> tuple[date, date]:
    """Return the first day after train, and the last day of valid."""
    if rules.kind == "fixed":
        return rules.train_before, rules.valid_until
    last = (as_of - timedelta(microseconds=1)).date()
    return last - timedelta(days=valid_days - 1), last


def assign_split(
    published: str | None,
    train_before: date,
    valid_until: date,
    *,
    undated: Split = Split.UNDATED,
    by_first_day: bool = False,
) -> Split:
    """Return the split of a document published on a day, in a month or in a year.

    All days of the month or year must belong to one split; otherwise the result is `held_back:undated`. With `by_first_day`, the first
    day decides. `undated` is the split of a document without any date.
    """
    if published is None:
        return undated
    first, last = (_split_of_day(day, train_before, valid_until) for day in date_span(published))
    return first if by_first_day or first == last else Split.UNDATED


def _split_of_day(day: date, train_before: date, valid_until: date) -> Split:
    return Split.TRAIN if day < train_before else Split.VALID if day <= valid_until else Split.LATE


def assign_recipe_split(published: str, cutoff: date) -> Split:
    """Return the split of profile `recipe-2024`: by the first day of the date, without upper bound."""
    return Split.TRAIN if date_span(published)[0] < cutoff else Split.VALID
