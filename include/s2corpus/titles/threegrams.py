"""3-gram sets of normalized titles, and S: the harmonic mean of Jaccard index and containment (S2ORC §2.6, eq. 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import text_of


@dataclass(frozen=True, slots=True)
class Grams:
    """3-gram sets of strings: set `i` is `values[offsets[i]:offsets[i + 1]]`, in ascending order without repeats.

    A value is a 3-gram (three code points of 21 bits), mixed by a bijection: equal values are equal 3-grams.
    """

    offsets: np.ndarray
    """int64, sets + 1"""
    values: np.ndarray
    """uint64"""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> np.ndarray:
        """Number of 3-grams of each set, int32."""
        return np.diff(self.offsets).astype(np.int32)


def grams(normalised: pa.Array | pa.ChunkedArray) -> Grams:
    """Return the set of 3-grams of each normalized title.

    A string of one or two characters is one element. The empty string has the empty set, and S = 0 with every set.
    """
    return Grams(*_grams(*text_of(normalised)))


def score_pairs(
    grams_a: Grams, idx_a: np.ndarray, grams_b: Grams, idx_b: np.ndarray, at_least: float = 0.0
) -> np.ndarray:
    """Return the exact S of the pairs of rows (`idx_a[k]`, `idx_b[k]`), float64; 0 if S is below `at_least`.

    S = 2JC/(J+C) with J = I/(|A|+|B|-I) and C = I/min(|A|,|B|), that is 2I/(|A|+|B|+min(|A|,|B|)-I) for I common 3-grams.
    """
    return _score_pairs(
        grams_a.offsets,
        grams_a.values,
        np.ascontiguousarray(idx_a, np.int64),
        grams_b.offsets,
        grams_b.values,
        np.ascontiguousarray(idx_b, np.int64),
        at_least,
    )


def score(a: str, b: str) -> float:
    """Return S of two printed titles."""
    from s2corpus.titles.normalised import normalise_one

    both = grams(pa.array([normalise_one(a), normalise_one(b)]))
    return float(score_pairs(both, np.array([0]), both, np.array([1]))[0])


@njit(cache=True, nogil=True)
def _grams(offsets: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = len(offsets) - 1
    longest = 0
    for row in range(rows):
        longest = max(longest, offsets[row + 1] - offsets[row])
    found = np.empty(longest, np.uint64)
    ends = np.zeros(rows + 1, np.int64)
    values = np.empty(offsets[rows] - offsets[0], np.uint64)
    starts = np.empty(2 * max(longest, 64), np.int32)
    at: int | np.int64 = np.int64(0)
    for row in range(rows):
        count = in_order(data, offsets[row], offsets[row + 1], found)
        at = _sort_unique(found, count, starts, values, at)
        ends[row + 1] = at
    return ends, values[:at]


@njit(cache=True, nogil=True)
def in_order(data: np.ndarray, begin: int, end: int, found: np.ndarray) -> int:
    """Write the 3-grams of a string to `found`, in order and with repeats; return their number."""
    window = np.uint64(0)
    characters = 0
    i = begin
    while i < end:
        point = np.uint64(data[i])
        if point < 0x80:
            i += 1
        elif point < 0xE0:
            point = (point & np.uint64(0x1F)) << np.uint64(6) | np.uint64(data[i + 1] & 0x3F)
            i += 2
        elif point < 0xF0:
            point = (point & np.uint64(0x0F)) << np.uint64(12) | np.uint64(data[i + 1] & 0x3F) << np.uint64(6)
            point |= np.uint64(data[i + 2] & 0x3F)
            i += 3
        else:
            point = (point & np.uint64(0x07)) << np.uint64(18) | np.uint64(data[i + 1] & 0x3F) << np.uint64(12)
            point |= np.uint64(data[i + 2] & 0x3F) << np.uint64(6) | np.uint64(data[i + 3] & 0x3F)
            i += 4
        window = (window << np.uint64(21) | point) & np.uint64((1 << 63) - 1)
        characters += 1
        if characters >= 3:
            found[characters - 3] = _scrambled(window)
    if characters == 1 or characters == 2:
        found[0] = _scrambled(window)  # its upper code points are 0, which no 3-gram of letters has
        return 1
    return max(characters - 2, 0)


@njit(cache=True, nogil=True)
def _scrambled(gram: np.uint64) -> np.uint64:
    """Return the finalizer of Splitmix64: a bijection with evenly distributed values."""
    gram = (gram ^ (gram >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    gram = (gram ^ (gram >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return gram ^ (gram >> np.uint64(31))


@njit(cache=True, nogil=True)
def _sort_unique(
    found: np.ndarray, count: int, starts: np.ndarray, values: np.ndarray, at: int | np.int64
) -> int | np.int64:
    """Write `found[:count]` to `values` from `at` on, in ascending order without repeats; return the end.

    Values are evenly distributed: a bucket sort with one bucket for each value almost sorts them.
    """
    bits = 6
    while 1 << bits < count:
        bits += 1
    shift = np.uint64(64 - bits)
    for bucket in range(1 << bits):
        starts[bucket] = 0
    for k in range(count):
        starts[found[k] >> shift] += 1
    before = at
    for bucket in range(1 << bits):
        size = starts[bucket]
        starts[bucket] = before
        before += size
    for k in range(count):
        bucket = found[k] >> shift
        values[starts[bucket]] = found[k]
        starts[bucket] += 1
    kept = at
    for k in range(at, at + count):
        value = values[k]
        place = kept
        while place > at and values[place - 1] > value:
            place -= 1
        if place > at and values[place - 1] == value:
            continue
        for move in range(kept, place, -1):
            values[move] = values[move - 1]
        values[place] = value
        kept += 1
    return kept


@njit(cache=True, nogil=True)
def _score_pairs(
    offsets_a: np.ndarray,
    values_a: np.ndarray,
    idx_a: np.ndarray,
    offsets_b: np.ndarray,
    values_b: np.ndarray,
    idx_b: np.ndarray,
    at_least: float,
) -> np.ndarray:
    scores = np.zeros(len(idx_a), np.float64)
    for k in range(len(idx_a)):
        i = offsets_a[idx_a[k]]
        j = offsets_b[idx_b[k]]
        end_i = offsets_a[idx_a[k] + 1]
        end_j = offsets_b[idx_b[k] + 1]
        size_a = end_i - i
        size_b = end_j - j
        smaller = min(size_a, size_b)
        if smaller == 0:
            continue
        total = size_a + size_b + smaller
        # 2I/(total - I) >= s  <=>  I >= s * total / (2 + s); each 3-gram of A not in B lowers the most that I can be.
        needed = at_least * total / (2.0 + at_least) - 1e-9
        common = 0
        while i < end_i and j < end_j:
            a = values_a[i]
            b = values_b[j]
            if a == b:
                common += 1
                i += 1
                j += 1
            elif a < b:
                i += 1
                if common + (end_i - i) < needed:
                    break
            else:
                j += 1
                if common + (end_j - j) < needed:
                    break
        if common >= needed:
            scores[k] = 2.0 * common / (total - common)
    return scores
