"""MinHash keys: two strings share keys with high probability if their 3-gram sets have a high Jaccard index."""

from __future__ import annotations

import numpy as np

from s2corpus.compiled import njit
from s2corpus.titles.threegrams import Grams

BANDS = 40
"""Keys of a title. S > 0.8 means a Jaccard index above 2/3."""
ROWS = 6
"""Hashes of a key. At a Jaccard index of 0.75, 40 keys of 6 rows share two or more with probability 0.996."""


def keys(grams: Grams, bands: int, rows: int = ROWS) -> np.ndarray:
    """Return the keys of every set, uint32 (bands, sets). The empty set has key 0.

    A key is a hash of `rows` minima: two sets share it with the probability J to the power of `rows`, for Jaccard index J.
    The key of a band does not depend on the number of bands.
    """
    return _keys(grams.offsets, grams.values, *coefficients(bands * rows), rows)


def coefficients(hashes: int) -> tuple[np.ndarray, np.ndarray]:
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
            out[band, i] = key_of(minima[band * rows : (band + 1) * rows], band)
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
def key_of(minima: np.ndarray, band: int) -> np.uint32:
    """Return the key of the minima of one band; never 0, the key of the empty set."""
    key = np.uint64(band)
    for h in range(len(minima)):
        key = (key ^ np.uint64(minima[h])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    return max(np.uint32(key >> np.uint64(16)), np.uint32(1))
