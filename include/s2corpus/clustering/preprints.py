"""Recognize DOIs of preprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def from_preprint_server(dois: pa.Array, prefixes: Sequence[str]) -> np.ndarray:
    """Return which DOIs start with a prefix (bool).

    Prefixes are regular expressions; a prefix without a slash stands for a complete DOI registrant.
    """
    if not prefixes or not len(dois):
        return np.zeros(len(dois), bool)
    pattern = "^(?:" + "|".join(prefix if "/" in prefix else f"{prefix}/" for prefix in prefixes) + ")"
    return np.asarray(pc.match_substring_regex(dois, pattern))


def preprint_of(prefixes: Sequence[str]) -> Callable[[str], bool]:
    """Return a cached function that returns whether a DOI starts with one of the prefixes (see `from_preprint_server`)."""
    return cache(lambda doi: bool(from_preprint_server(pa.array([doi]), prefixes)[0]))
