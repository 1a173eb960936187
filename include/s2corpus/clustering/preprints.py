"""Which DOIs are preprints'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pyarrow as pa

from s2corpus.clustering.nodes import from_preprint_server


def preprint_of(prefixes: Sequence[str]) -> Callable[[str], bool]:
    """Whether one DOI is a preprint's, by `prefixes` (see `from_preprint_server`); each DOI is looked at once."""
    return cache(lambda doi: bool(from_preprint_server(pa.array([doi]), prefixes)[0]))
