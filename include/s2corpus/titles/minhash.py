"""MinHash keys: strings whose 3-gram sets have a high Jaccard index share some of their keys with high probability."""

from __future__ import annotations

import numpy as np

from s2corpus.compiled import njit
from s2corpus.titles.threegrams import Grams

BANDS = 40
"""Keys a title. S > 0.8 means a Jaccard index above 2/3."""
ROWS = 6
"""Hashes a key. At a Jaccard index of 0.75, 40 keys of 6 rows share two or more with probability 0.996."""


def keys(grams: Grams, bands: range, rows: int = ROWS) -> np.ndarray:
    """Keys of every set in each of `bands`, uint32, shaped (bands, sets); key 0 is the empty set's in all of them.

    A key is a hash over `rows` minima: the chance that two sets share it is their Jaccard index to the power of `rows`.
    Key `b` does not depend on which other bands are asked for.
    """
    return _keys(grams.offsets, grams.values, *coefficients(bands, rows), bands.start, rows)


def coefficients(bands: range, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """What the hash functions of some bands add and multiply, uint32."""
    even = np.arange(bands.start * rows, bands.stop * rows, dtype=np.uint64) * np.uint64(2)
    return _mixed(even), _mixed(even + np.uint64(1)) | 1


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Splitmix64's finaliser of each number, upper half: the fixed coefficients of the hash functions, uint32."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)


@njit(cache=True, nogil=True)
def _keys(
    offsets: np.ndarray, values: np.ndarray, add: np.ndarray, multiply: np.ndarray, first: int, rows: int
) -> np.ndarray:
    """Keys of the bands from `first` on."""
    sets = len(offsets) - 1
    hashes = len(add)
    bands = hashes // rows
    out = np.zeros((bands, sets), np.uint32)
    minima = np.empty(hashes, np.uint32)
    for i in range(sets):
        if offsets[i] == offsets[i + 1]:
            continue
        for k in range(hashes):
            minima[k] = np.uint32(0xFFFFFFFF)
        lower(minima, values[offsets[i] : offsets[i + 1]], add, multiply)
        for band in range(bands):
            out[band, i] = key_of(minima[band * rows : (band + 1) * rows], first + band)
    return out


@njit(always=True, cache=True, nogil=True)
def lower(minima: np.ndarray, values: np.ndarray, add: np.ndarray, multiply: np.ndarray) -> None:
    """Lower the minima to the hashes of values (uint64), four of them for each time that the minima are read and written."""
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
    """The key of one band's minima; never 0, which is the empty set's."""
    key = np.uint64(band)
    for h in range(len(minima)):
        key = (key ^ np.uint64(minima[h])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    return max(np.uint32(key >> np.uint64(16)), np.uint32(1))
