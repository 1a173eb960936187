"""Hashes of strings, and buckets of values by hash: the same on every machine and in every release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import text_of


def bucket_of(values: Sequence[str] | pa.Array | pa.ChunkedArray | np.ndarray, buckets: int) -> np.ndarray:
    """Return the bucket of each value, a string or an integer."""
    if not isinstance(values, np.ndarray):
        values = hash_strings(*text_of(values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)))
    mixed = (values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    found: np.ndarray = (mixed % np.uint64(buckets)).astype(np.int64)
    return found


@njit(cache=True, nogil=True)
def hash_strings(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Return 64-bit hashes of strings; 0 for the empty string only."""
    rows = len(offsets) - 1
    hashes = np.zeros(rows, np.uint64)
    for row in range(rows):
        begin, end = offsets[row], offsets[row + 1]
        if begin == end:
            continue
        value = np.uint64(end - begin) * np.uint64(0x9E3779B97F4A7C15)
        at, last = np.uint64(begin), np.uint64(end)
        while at < last:
            word = np.uint64(0)
            if last - at >= np.uint64(8):
                for k in range(np.uint64(8)):
                    word = word << np.uint64(8) | np.uint64(data[at + k])
                at += np.uint64(8)
            else:
                while at < last:
                    word = word << np.uint64(8) | np.uint64(data[at])
                    at += np.uint64(1)
            value = (value ^ word) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(32)
        value *= np.uint64(0x94D049BB133111EB)
        hashes[row] = max(value ^ (value >> np.uint64(29)), np.uint64(1))
    return hashes
