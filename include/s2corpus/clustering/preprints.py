"""Recognize DOIs of preprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pyarrow as pa

from s2corpus.clustering.nodes import from_preprint_server


def preprint_of(prefixes: Sequence[str]) -> Callable[[str], bool]:
    """Return a cached function that returns whether a DOI starts with one of the prefixes (see `from_preprint_server`)."""
    return cache(lambda doi: bool(from_preprint_server(pa.array([doi]), prefixes)[0]))
