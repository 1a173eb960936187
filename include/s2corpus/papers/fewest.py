"""The fewest sources that can decide all tied fields (GORC App. B)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import combinations

EXACT = 16
"""Up to so many sources every subset is tried; above, the source that decides most of what is left is taken, again and again."""


def fewest_sources(
    needs: Sequence[Collection[str]], used: Collection[str], rank: Callable[[str], tuple[int, str]]
) -> frozenset[str]:
    """The smallest set of further sources so that each need has one of them or of those used; of equal sizes the most trusted."""
    open_needs = [frozenset(need) for need in needs if not set(need) & set(used)]
    candidates = sorted(frozenset().union(*open_needs), key=rank)
    if len(candidates) <= EXACT:
        for size in range(len(candidates) + 1):
            for chosen in combinations(candidates, size):  # in order of trust: the first that fits is the most trusted
                if all(need.intersection(chosen) for need in open_needs):
                    return frozenset(chosen)
    taken: set[str] = set()
    while left := [need for need in open_needs if not need & taken]:
        taken.add(min(candidates, key=lambda source: (-sum(source in need for need in left), rank(source))))
    return frozenset(taken)
