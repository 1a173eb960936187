"""Weigh votes: the similarity of two values, which is the support of a vote for another value (SPEC §5.8), and ties (GORC App. B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

MAX_EXHAUSTIVE = 16
"""maximum number of sources for which all subsets are tried; above it, a greedy search takes the source of most fields"""
_TEXTS = frozenset(("title", "abstract", "venue", "journal"))


def compute_similarity(name: str, a: Any, b: Any) -> float:
    """Return the similarity, between 0 and 1, of two values from `ballots.to_comparison_form`.

    It is the title similarity S (SPEC §7) for texts, the share of common surnames for authors, and 1 or 0 for other fields.
    """
    if a == b:
        return 1.0
    if name in _TEXTS:
        x, y = _grams(a), _grams(b)
        common = len(x & y)
        return 2 * common / (len(x) + len(y) + min(len(x), len(y)) - common)
    if name == "authors":
        return 2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b))
    return 0.0


@lru_cache(1 << 10)
def _grams(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 3] for at in range(len(text) - 2)) or frozenset((text,))


def select_fewest_sources(
    options: Sequence[Collection[str]], used: Collection[str], rank: Callable[[str], tuple[Any, ...]]
) -> frozenset[str]:
    """Return the smallest set of additional sources that settles every field (S2ORC §2.3, GORC App. B).

    `options` contains the candidate sources of each field. A field is settled if one of them is selected or already used.
    Among sets of equal size, the most trusted set is returned. With more than MAX_EXHAUSTIVE candidates, the source of most
    unsettled fields is added until all fields are settled; the set may then be larger than the smallest.
    """
    unsettled = [frozenset(sources) for sources in options if not set(sources) & set(used)]
    candidates = sorted(frozenset().union(*unsettled), key=rank)
    if len(candidates) <= MAX_EXHAUSTIVE:
        # subsets are tried by size, then in order of trust, so the first match is the most trusted
        subsets = chain.from_iterable(combinations(candidates, size) for size in range(len(candidates) + 1))
        return next(frozenset(x) for x in subsets if all(sources.intersection(x) for sources in unsettled))
    taken: set[str] = set()
    while left := [sources for sources in unsettled if not sources & taken]:
        taken.add(min(candidates, key=lambda source: (-sum(source in sources for sources in left), rank(source))))
    return frozenset(taken)
