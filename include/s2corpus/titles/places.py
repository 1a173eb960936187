"""Hashes of places in print: journal initials, volume and first page."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import hash_strings, one_chunk, text_of
from s2corpus.titles.journals import journal_key

_LEADING = r"^\W*(?:(?:vol(?:ume)?|pp?|pages?|art(?:icle)?|s)\b\W*)*0*"
_FIRST = _LEADING + r"([\p{L}\p{N}]+(?:\.[\p{L}\p{N}]+)*).*$|^[^\p{L}\p{N}]*$"


def journal_keys(names: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the 32-bit hash of `journal_key` of each row (uint32), or 0."""
    return hash_distinct(
        names, lambda different: pa.array([journal_key(name) for name in different.to_pylist()], pa.string())
    )


def first_numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the hash of the first number or word of each volume or range of pages (uint32), or 0.

    Examples: "58(6)" → 58, "pp. 0985–990" → 985.
    """
    return hash_distinct(column, lambda different: pc.replace_substring_regex(pc.utf8_lower(different), _FIRST, r"\1"))


def hash_distinct(column: pa.Array | pa.ChunkedArray, key_of: Callable[[pa.Array], pa.Array]) -> np.ndarray:
    """Return the hash of the key of each row, computed once for each distinct string; 0 for null."""
    column = one_chunk(column)
    if column.null_count == len(column):
        return np.zeros(len(column), np.uint32)
    coded = column.dictionary_encode()
    hashes = np.append(_short(hash_strings(*text_of(key_of(coded.dictionary)))), np.uint32(0))
    keyed: np.ndarray = hashes[coded.indices.fill_null(len(hashes) - 1).to_numpy()]
    return keyed


def _short(hashes: np.ndarray) -> np.ndarray:
    return np.where(hashes == 0, np.uint32(0), (hashes >> np.uint64(32)).astype(np.uint32) | np.uint32(1))
