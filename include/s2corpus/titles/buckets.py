"""Buckets of values by a hash."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from s2corpus.titles.arrays import text_of
from s2corpus.titles.equal import hash_strings


def bucket_of(values: Sequence[str] | pa.Array | pa.ChunkedArray | np.ndarray, buckets: int) -> np.ndarray:
    """The bucket of each value, strings or integers, by a hash that is the same on every machine."""
    if not isinstance(values, np.ndarray):
        values = hash_strings(*text_of(values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)))
    mixed = (values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    found: np.ndarray = (mixed % np.uint64(buckets)).astype(np.int64)
    return found
