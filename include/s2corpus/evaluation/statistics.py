"""Compute accuracy, precision, recall and F1 with their intervals, and the agreement of two people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

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
    return _wilson(sum(marks), len(marks), len(marks)) if marks else None


def grouped_accuracy(groups: Iterable[tuple[int, int]]) -> Accuracy | None:
    """Return the share of right marks, or None without marks. `groups` are the right marks and all marks of each paper.

    Marks of one paper resemble each other. Wilson's interval therefore uses the effective number of marks: their number divided by
    the design effect of the papers, and fewer for few papers (Korn and Graubard 1998). The marks of a single paper count as one mark.
    """
    counts = [(right, of) for right, of in groups if of]
    right, of, m = sum(r for r, _ in counts), sum(n for _, n in counts), len(counts)
    if m < 2:
        return _wilson(right, of, 1) if of else None
    p = right / of
    variance = m / (m - 1) * sum((r - p * n) ** 2 for r, n in counts) / of**2
    return _wilson(right, of, min(of, p * (1 - p) / variance * (Z / _t(m - 1)) ** 2) if variance else of)


def f1(groups: Iterable[tuple[int, int, int]]) -> Accuracy | None:
    """Return F1, or None without marks. `groups` are the right, wrong and missing citations or entries of each paper.

    F1 is 2s / (1 + s) of the share s = right / (right + wrong + missing); its interval is that of s.
    """
    found = grouped_accuracy((right, right + wrong + missing) for right, wrong, missing in groups)
    if found is None:
        return None
    share, low, high = (2 * s / (1 + s) for s in (found.share, found.low, found.high))
    return Accuracy(2 * found.right, found.right + found.of, share, low, high)


def _t(degrees: int) -> float:
    """Return the t-score of a 95 % interval (Abramowitz and Stegun 26.7.5, three terms: 0.2 % too small for 9 degrees)."""
    return Z + (Z**3 + Z) / (4 * degrees) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * degrees**2)


def _wilson(right: int, of: int, n: float) -> Accuracy:
    """Return the share right / of, with the interval that n independent marks give."""
    p = right / of
    middle = p + Z * Z / (2 * n)
    half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    whole = 1 + Z * Z / n
    return Accuracy(right, of, p, max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole))


def combine(marks: Iterable[tuple[str, str, bool]]) -> tuple[dict[str, bool], float | None]:
    """Return the common mark of each item, and the agreement of people. `marks` are item, marker and whether it is right.

    An item is right if most of its marks are right, and wrong on a tie. The agreement is Cohen's kappa of the two people with the most
    items in common, or None if no two people marked an item. The last mark of a person counts.
    """
    import pandas

    table = pandas.DataFrame(marks, columns=["item", "marker", "right"]).drop_duplicates(
        ["item", "marker"], keep="last"
    )
    by_marker = table.pivot(index="item", columns="marker", values="right").astype(float)
    both = [by_marker[list(pair)].dropna() for pair in combinations(by_marker, 2)]  # in the order of names
    agreement = kappa(list(max(both, key=len).itertuples(index=False, name=None))) if both else None
    return {str(item): share > 0.5 for item, share in by_marker.mean(axis=1).items()}, agreement


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


def format_share(found: Accuracy | None) -> str:
    """Return a share with three digits."""
    return "–" if found is None else f"{found.share:.3f}"


def format_interval(found: Accuracy | None) -> str:
    """Return the bounds of an interval with three digits."""
    return "–" if found is None else f"{found.low:.3f}–{found.high:.3f}"
