"""Compute the similarity of two values of a field, which is the support of a vote for another value (SPEC §5.8)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

_TEXTS = frozenset(("title", "abstract", "venue", "journal"))


def compute_similarity(name: str, a: Any, b: Any) -> float:
    """Return the similarity, between 0 and 1, of two values from `vote.to_comparison_form`.

    It is the title similarity S (SPEC §7) for texts, the share of common surnames for authors, and 1 or 0 for other fields.
    """
    if a == b:
        return 1.0
    if name in _TEXTS:
        x, y = _grams(a), _grams(b)
        common = len(x & y)
        return 2 * common / (len(x) + len(y) + min(len(x), len(y)) - common)
    if name == "authors":
        return 2 * _count_common(a, b) / (len(a) + len(b))
    return 0.0


@lru_cache(1 << 10)
def _grams(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 3] for at in range(len(text) - 2)) or frozenset((text,))


def _count_common(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    left = list(b)
    found = 0
    for surname in a:
        if surname in left:
            left.remove(surname)
            found += 1
    return found
