"""Numbered citations: find groups in square brackets, and map their numbers to entries.

This module uses the text instead of the TEI's marks. GROBID splits one citation into several marks (`[1,` `2]`). It
leaves ranges unsplit or splits them wrongly, and it misses some citations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from s2orc_parse.bibliography.dates import to_int

MAX_RANGE = 100  # SPEC §3.13: a wider range is not a citation
MAX_UNORDERED = 3_000  # maximum number of contradicting numbers; no bibliography has more entries
_DASH = r"(?:--?|[‐‑‒–—−])"
_ITEM = rf"(?P<first>\d{{1,4}})[a-z]?(?:\s*{_DASH}\s*(?P<last>\d{{1,4}})[a-z]?)?"
_PLAIN_ITEM = rf"\d{{1,4}}[a-z]?(?:\s*{_DASH}\s*\d{{1,4}}[a-z]?)?"
_SEPARATOR = r"(?:\s*[,;]+\s*(?:and\s+|&\s*)?|\s*&\s*|\s+and\s+)"
_LIST = rf"{_PLAIN_ITEM}(?:{_SEPARATOR}{_PLAIN_ITEM})*"
ITEM = re.compile(_ITEM)
GROUP = re.compile(
    rf"\[\s*(?:(?:see|e\.g\.|i\.e\.|cf\.|also)[,:]?\s+){{0,3}}(?P<list>{_LIST})"
    r"(?P<locator>\s*[,;:]\s*[^\W\d_§¶][^\[\]]{0,60}|\s*[,;:]?\s*[§¶][^\[\]]{0,60})?[\s.,;]*\]"
)
LIST = re.compile(rf"[\s(\[]*(?P<list>{_LIST})[\s.,;)\]]*")
_CHAIN = re.compile(rf"\s*{_DASH}\s*")
_AFTER_ITEM = re.compile(r"\s*[,;]")


class Cited(NamedTuple):
    """One piece of a group: its interval and the numbers in it."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumberGroup:
    """One printed group such as `[3]`, `[1, 3-5, 9]` or `[3]-[5]`; the pieces cover the complete group."""

    start: int
    end: int
    pieces: tuple[Cited, ...]


def find_groups(text: str) -> list[NumberGroup]:
    """Return all groups of a text in order. `[3]-[5]`, two numbers joined by a dash, is one group with one piece."""
    found: list[NumberGroup] = []
    for match in GROUP.finditer(text):
        group = NumberGroup(
            match.start(), match.end(), split_pieces(text, match.start(), match.end(), *match.span("list"))
        )
        if found and (joined := _join_groups(text, found[-1], group)):
            found[-1] = joined
        else:
            found.append(group)
    return found


def split_pieces(text: str, start: int, end: int, list_start: int, list_end: int) -> tuple[Cited, ...]:
    """Return the pieces of the list of numbers at `list_start:list_end`; they cover `start:end`, including the brackets."""
    items = list(ITEM.finditer(text, list_start, list_end))
    found: list[Cited] = []
    for at, item in enumerate(items):
        left = start if at == 0 else item.start()
        if at + 1 == len(items):
            right = end
        else:
            separator = _AFTER_ITEM.match(text, item.end())
            right = separator.end() if separator else item.end()
        found.append(Cited(left, right, _expand_item(item)))
    return tuple(found)


def _expand_item(item: re.Match[str]) -> tuple[int, ...]:
    """Return the numbers of an item. A range that does not ascend or is too wide gives no numbers."""
    first = int(item["first"])
    if item["last"] is None:
        return (first,)
    last = int(item["last"])
    return tuple(range(first, last + 1)) if first < last <= first + MAX_RANGE else ()


def _join_groups(text: str, left: NumberGroup, right: NumberGroup) -> NumberGroup | None:
    if len(left.pieces) != 1 or len(right.pieces) != 1 or not _CHAIN.fullmatch(text, left.end, right.start):
        return None
    a, b = left.pieces[0].numbers, right.pieces[0].numbers
    if len(a) != 1 or len(b) != 1 or not a[0] < b[0] <= a[0] + MAX_RANGE:
        return None
    piece = Cited(left.start, right.end, tuple(range(a[0], b[0] + 1)))
    return NumberGroup(left.start, right.end, (piece,))


def map_numbers(labels: Sequence[str | None], votes: Iterable[tuple[int, int]], entries: int) -> Mapping[int, int]:
    """Map each printed number to the position of its entry.

    `labels` are printed before the entries. `votes` are (number, position) pairs of citations that the TEI resolved.
    Labels have priority; votes must fit between them. A number between two mapped numbers is interpolated if the
    positions leave no choice. Without evidence, numbers count the entries from 1.
    """
    known = {number: at for at, label in enumerate(labels) if (number := to_int(label)) is not None}
    counts = Counter(votes)
    best: dict[int, tuple[int, int]] = {}
    for (number, at), count in sorted(counts.items()):
        if number not in known and count > best.get(number, (0, 0))[0]:
            best[number] = (count, at)
    known.update(_select_ascending({**{n: (1_000_000, at) for n, at in known.items()}, **best}))
    if not known:
        return {at + 1: at for at in range(entries)}
    numbers = sorted(known)
    low, high = numbers[0], numbers[-1]
    result = dict(known)
    if known[low] == low - 1:  # the first number is 1
        result.update((number, number - 1) for number in range(1, low))
    for a, b in pairwise(numbers):
        if known[b] - known[a] == b - a:
            result.update((n, known[a] + n - a) for n in range(a + 1, b))
    result.update((high + step, known[high] + step) for step in range(1, entries - known[high]))
    return result


def _select_ascending(known: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """Return the heaviest subset with ascending positions (`known`: number → (weight, position))."""
    items = [(number, weight, at) for number, (weight, at) in sorted(known.items())]
    if all(a[2] < b[2] for a, b in pairwise(items)):
        return {number: at for number, _, at in items}
    if len(items) > MAX_UNORDERED:
        return {}
    weights: list[int] = []
    before: list[int | None] = []
    for i, (_, weight, at) in enumerate(items):
        choices = [(weights[j], j) for j in range(i) if items[j][2] < at]
        top = max(choices, default=(0, None))
        weights.append(weight + top[0])
        before.append(top[1])
    at_last: int | None = max(range(len(items)), key=lambda i: (weights[i], -i))
    chain: dict[int, int] = {}
    while at_last is not None:
        number, _, position = items[at_last]
        chain[number] = position
        at_last = before[at_last]
    return chain
