"""Normalized titles, their 3-gram sets with MinHash keys, and S: the harmonic mean of Jaccard index and containment (S2ORC §2.6, eq. 1).

Two strings share MinHash keys with high probability if their 3-gram sets have a high Jaccard index.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import njit
from s2corpus.titles.arrays import strings, text_of


class _KeptCharacters(dict[int, int | None]):
    """Table for `str.translate` that removes all but letters, digits and spacing vowel signs."""

    def __missing__(self, point: int) -> int | None:
        char = chr(point)
        spacing_sign = unicodedata.category(char) in ("Mc", "Mn") and unicodedata.combining(char) == 0
        self[point] = point if char.isalnum() or spacing_sign else None
        return self[point]


_KEPT = _KeptCharacters()
_ROWS_PER_BLOCK = 1 << 14


def normalize_one(title: str) -> str:
    """Return the normalized title: the letters, digits and spacing vowel signs of `NFKD(t).casefold()`.

    White space is removed too, which undoes hyphenation, line breaks and splits by OCR (SPEC §7; after S2ORC §2.6).
    """
    return unicodedata.normalize("NFKD", title).casefold().translate(_KEPT)


def normalize(titles: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the normalized form of each title (see `normalize_one`), or the empty string without a title.

    Raises:
        ArrowCapacityError: the titles have 2 GiB or more.
    """
    size = 0 if pa.types.is_null(titles.type) else pc.sum(pc.binary_length(titles)).as_py() or 0
    if size >= 1 << 31:
        raise pa.ArrowCapacityError(
            f"titles of {size:,} bytes, fewer than {1 << 31:,} are expected: cut them into batches"
        )
    blocks = (titles.slice(begin, _ROWS_PER_BLOCK).to_pylist() for begin in range(0, len(titles), _ROWS_PER_BLOCK))
    normalized = [pa.array([normalize_one(title or "") for title in block], pa.string()) for block in blocks]
    return pa.concat_arrays([pa.array([], pa.string()), *normalized])


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


def grams(normalized: pa.Array | pa.ChunkedArray, *, sort: bool = True) -> Grams:
    """Return the set of 3-grams of each normalized title; without `sort`, its 3-grams in their order, with repeats.

    A string of one or two characters is one element. The empty string has the empty set, and S = 0 with every set.
    """
    offsets, data = text_of(normalized)
    text = data[offsets[0] : offsets[-1]].tobytes().decode()
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    lengths = pc.utf8_length(strings(offsets, data)).to_numpy()
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Grams(*_grams(ends, points, sort))


def score_pairs(
    grams_a: Grams, idx_a: np.ndarray, grams_b: Grams, idx_b: np.ndarray, at_least: float = 0.0
) -> np.ndarray:
    """Return the exact S of the pairs of rows (`idx_a[k]`, `idx_b[k]`), float64; 0 if S is below `at_least`.

    S = 2JC/(J+C) with J = I/(|A|+|B|-I) and C = I/min(|A|,|B|), that is 2I/(|A|+|B|+min(|A|,|B|)-I) for I common 3-grams.
    """
    a, b = (np.ascontiguousarray(places, np.int64) for places in (idx_a, idx_b))
    return _score_pairs(grams_a.offsets, grams_a.values, a, grams_b.offsets, grams_b.values, b, at_least)


def score(a: str, b: str) -> float:
    """Return S of two printed titles."""
    both = grams(pa.array([normalize_one(a), normalize_one(b)]))
    return float(score_pairs(both, np.array([0]), both, np.array([1]))[0])


@njit(cache=True, nogil=True)
def _grams(offsets: np.ndarray, points: np.ndarray, sort: bool) -> tuple[np.ndarray, np.ndarray]:
    ends = np.zeros(len(offsets), np.int64)
    values = np.empty(len(points), np.uint64)
    at = 0
    for row in range(len(offsets) - 1):
        text = points[offsets[row] : offsets[row + 1]]
        found = np.zeros(max(len(text) - 2, min(len(text), 1)), np.uint64)
        for k in range(len(found)):
            for point in text[k : k + 3]:
                found[k] = found[k] << np.uint64(21) | np.uint64(point)
            found[k] = _scramble(found[k])
        if sort:
            found.sort()
        for k in range(len(found)):
            if not sort or k == 0 or found[k] != found[k - 1]:
                values[at] = found[k]
                at += 1
        ends[row + 1] = at
    return ends, values[:at]


@njit(cache=True, nogil=True)
def _scramble(gram: np.uint64) -> np.uint64:
    """Return the finalizer of Splitmix64: a bijection with evenly distributed values."""
    gram = (gram ^ (gram >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    gram = (gram ^ (gram >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return gram ^ (gram >> np.uint64(31))


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


BANDS = 40
"""Keys of a title. S > 0.8 means a Jaccard index above 2/3."""
ROWS = 6
"""Hashes of a key. At a Jaccard index of 0.75, 40 keys of 6 rows share two or more with probability 0.996."""


def minhash_keys(sets: Grams, bands: int, rows: int) -> np.ndarray:
    """Return the keys of every set, uint32 (bands, sets). The empty set has key 0.

    A key is a hash of `rows` minima: two sets share it with the probability J to the power of `rows`, for Jaccard index J.
    The key of a band does not depend on the number of bands.
    """
    return _keys(sets.offsets, sets.values, *_coefficients(bands * rows), rows)


def _coefficients(hashes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of hash functions, two arrays (uint32): a value is XORed with the first and multiplied by the second."""
    even = np.arange(hashes, dtype=np.uint64) * np.uint64(2)
    return _mix(even), _mix(even + np.uint64(1)) | 1


def _mix(numbers: np.ndarray) -> np.ndarray:
    """Return the upper half of the Splitmix64 finalizer of each number (uint32): fixed coefficients."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)


@njit(cache=True, nogil=True)
def _keys(offsets: np.ndarray, values: np.ndarray, add: np.ndarray, multiply: np.ndarray, rows: int) -> np.ndarray:
    sets, hashes = len(offsets) - 1, len(add)
    bands = hashes // rows
    out = np.zeros((bands, sets), np.uint32)
    for i in range(sets):
        if offsets[i] == offsets[i + 1]:
            continue
        minima = np.full(hashes, np.uint32(0xFFFFFFFF))
        lower(minima, values[offsets[i] : offsets[i + 1]], add, multiply)
        for band in range(bands):
            out[band, i] = _hash_minima(minima[band * rows : (band + 1) * rows], band)
    return out


@njit(always=True, cache=True, nogil=True)
def lower(minima: np.ndarray, values: np.ndarray, add: np.ndarray, multiply: np.ndarray) -> None:
    """Update minima with the hashes of values (uint64), four values in each pass over the minima."""
    last = len(values) - 1
    for k in range(0, len(values), 4):
        a, b = np.uint32(values[k] >> np.uint64(32)), np.uint32(values[min(k + 1, last)] >> np.uint64(32))
        c, d = (
            np.uint32(values[min(k + 2, last)] >> np.uint64(32)),
            np.uint32(values[min(k + 3, last)] >> np.uint64(32)),
        )
        for h in range(len(minima)):
            x, y = add[h], multiply[h]
            lowest = min(
                min(np.uint32((a ^ x) * y), np.uint32((b ^ x) * y)), min(np.uint32((c ^ x) * y), np.uint32((d ^ x) * y))
            )
            minima[h] = min(minima[h], lowest)


@njit(cache=True, nogil=True)
def _hash_minima(minima: np.ndarray, band: int) -> np.uint32:
    """Return the key of the minima of one band; never 0, the key of the empty set."""
    key = np.uint64(band)
    for h in range(len(minima)):
        key = (key ^ np.uint64(minima[h])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    return max(np.uint32(key >> np.uint64(16)), np.uint32(1))
