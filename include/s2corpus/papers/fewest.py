"""Find the smallest set of sources that decides all tied fields (GORC App. B)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import combinations

EXACT = 16
"""maximum number of sources for which all subsets are tried; above it, a greedy search selects the source with most
decisions
"""


def fewest_sources(
    needs: Sequence[Collection[str]], used: Collection[str], rank: Callable[[str], tuple[int, str]]
) -> frozenset[str]:
    """Return the smallest set of additional sources such that each need contains one of them or a used source.

    Among sets of equal size, the most trusted set is returned.
    """
    open_needs = [frozenset(need) for need in needs if not set(need) & set(used)]
    candidates = sorted(frozenset().union(*open_needs), key=rank)
    if len(candidates) <= EXACT:
        for size in range(len(candidates) + 1):
            # subsets are tried in order of trust, so the first match is the most trusted
            for chosen in combinations(candidates, size):
                if all(need.intersection(chosen) for need in open_needs):
                    return frozenset(chosen)
    taken: set[str] = set()
    while left := [need for need in open_needs if not need & taken]:
        taken.add(min(candidates, key=lambda source: (-sum(source in need for need in left), rank(source))))
    return frozenset(taken)
