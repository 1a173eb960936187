"""Find the smallest set of sources that decides all tied fields (GORC App. B)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain, combinations

MAX_EXHAUSTIVE = 16
"""maximum number of sources for which all subsets are tried; above it, a greedy search takes the source of most fields"""


def select_fewest_sources(
    options: Sequence[Collection[str]], used: Collection[str], rank: Callable[[str], tuple[int, str]]
) -> frozenset[str]:
    """Return the smallest set of additional sources that settles every tied field.

    `options` contains the candidate sources of each field. A field is settled if one of them is selected or already used.
    Among sets of equal size, the most trusted set is returned.
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
