"""The costs of readings of comma-separated name parts as one author; an implausible name costs more."""

from __future__ import annotations

from collections.abc import Sequence

from s2orc_parse.bibliography import name_words as words
from s2orc_parse.bibliography.person import EAST_ASIAN


def list_costs(parts: Sequence[Sequence[str]], suffixed: Sequence[bool]) -> list[tuple[bool, float]]:
    """Return the readings of parts as one author: whether it is "Last, First", and the cost. `suffixed`: which later parts are suffixes."""
    name, rest = parts[0], parts[1:]
    costs = []
    if all(suffixed):
        is_certain = all(map(words.is_certain_suffix, rest))
        partial = 20.0 if words.are_initials(name) or words.is_suffix(name) else 0.0
        costs.append((False, _first_last_cost(name) + partial - (0.0 if is_certain or not rest else 0.1)))
    if rest and sum(suffixed) >= len(rest) - 1:
        given = next((at for at in range(len(rest)) if not suffixed[at]), 0)
        others = [rest[at] for at in range(len(rest)) if at != given]
        unlikely = 0.0 if all(map(words.is_certain_suffix, others)) else 0.3
        if not suffixed[given] or words.are_initials(rest[given]):
            costs.append((True, _last_first_cost(name, rest[given]) + unlikely + 0.1 * len(others)))
    return costs


def _first_last_cost(name: Sequence[str]) -> float:
    if words.is_group(" ".join(name)):
        return 0.0
    if len(name) == 1:
        return 0.0 if EAST_ASIAN.fullmatch(name[0]) else 3.0
    return 0.0 if words.are_initials(name[:1]) or words.are_initials(name[-1:]) else 1.0


def _last_first_cost(surname: Sequence[str], given: Sequence[str]) -> float:
    """Return the cost of reading "surname, given" as one author."""
    if len(surname) > 1 and words.is_generation(surname[-1]):
        surname = surname[:-1]
    if words.are_initials(surname) or words.is_suffix(surname):
        return 15.0
    if words.is_group(" ".join(surname)) or words.is_group(" ".join(given)):
        return 8.0
    starts_with_initials = words.are_initials(surname[:1]) and not words.is_particle(
        surname[0], surname[-1]
    )  # St. John
    if len(surname) > 1 and (starts_with_initials or words.are_initials(surname[-1:])):
        return 12.0  # already a complete name
    if EAST_ASIAN.fullmatch("".join(surname)):
        return 4.0
    is_single_surname = sum(not words.is_particle(word, surname[-1]) for word in surname[:-1]) == 0
    if words.are_initials(given):
        return 0.0 if is_single_surname else 1.0
    if len(given) == 1:
        return 1.0 if is_single_surname else 3.6
    if words.are_initials(given[-1:]):
        return 0.5 if is_single_surname else 2.0
    if words.are_initials(given[:1]):
        return 2.0 if is_single_surname else 6.0
    return 1.5 if is_single_surname else 6.0
