"""Authors as sets of surname keys, which the clustering rules compare."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles
from s2corpus.compiled import njit
from s2corpus.titles.arrays import text_of
from s2orc_parse.bibliography.name_words import GROUP


def surname_keys(authors: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets (int64, rows + 1) into the distinct surname keys (uint64, ascending) of each row.

    Surnames are normalized like titles: without case, accents, hyphens and spaces. If the last name is empty, the first name counts.
    Groups have no key: one source names the group, another its members. A key is a hash of 64 bits: in a corpus of a billion records,
    fewer than one compared pair of different names has equal keys.
    """
    offsets = authors.offsets.to_numpy().astype(np.int64)
    names = authors.values[offsets[0] : offsets[-1]]
    last, first = names.field("last"), names.field("first")
    has_no_last = pc.fill_null(pc.equal(last, ""), True)
    keys = _hash_names(*text_of(titles.normalize(pc.if_else(has_no_last, first, last))))
    may_be_group = np.flatnonzero(np.asarray(pc.equal(pc.binary_length(first), 0)))
    is_group = pc.match_substring_regex(last.take(pa.array(may_be_group)), rf"(?i){GROUP}.*")
    keys[may_be_group[np.asarray(pc.fill_null(is_group, False))]] = 0
    row = np.repeat(np.arange(len(authors)), np.diff(offsets))
    is_key = (keys != 0) & authors.is_valid().to_numpy(zero_copy_only=False)[row]
    row, keys = row[is_key], keys[is_key]
    order = np.lexsort((keys, row))
    row, keys = row[order], keys[order]
    is_new = np.ones(len(row), np.bool_)
    is_new[1:] = (row[1:] != row[:-1]) | (keys[1:] != keys[:-1])
    return np.searchsorted(row[is_new], np.arange(len(authors) + 1)), keys[is_new]


@njit(cache=True, nogil=True)
def _hash_names(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Return the hash of each normalized name; 0 for the empty name."""
    keys = np.zeros(len(offsets) - 1, np.uint64)
    for row in range(len(keys)):
        key = np.uint64(0)
        for i in range(offsets[row], offsets[row + 1]):
            key = (key ^ np.uint64(data[i])) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
        keys[row] = key
    return keys
