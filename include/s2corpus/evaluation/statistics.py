"""Compute accuracy with its interval, and the agreement of two people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z = 1.959963984540054
"""z-score of a 95 % interval"""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A share of right marks, with the 95 % interval of Wilson (1927)."""

    right: int
    of: int
    share: float
    low: float
    high: float


def accuracy(marks: Sequence[bool]) -> Accuracy | None:
    """Return the share of right marks, or None without marks."""
    n = len(marks)
    if not n:
        return None
    p = sum(marks) / n
    middle = p + Z * Z / (2 * n)
    half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    whole = 1 + Z * Z / n
    return Accuracy(sum(marks), n, p, max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole))


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return Cohen's kappa of two people's marks of the same items.

    Return None without items, and 1 if both people give all items the same single mark.
    """
    n = len(pairs)
    if not n:
        return None
    same = sum(a == b for a, b in pairs) / n
    one, other = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    chance = one * other + (1 - one) * (1 - other)
    return 1.0 if chance == 1 else (same - chance) / (1 - chance)
