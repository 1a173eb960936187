"""Authors as sets of surname keys: what two author lists are compared by."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles
from s2corpus.compiled import njit
from s2corpus.titles.arrays import text_of
from s2corpus.titles.normalised import KEEP, LOWER
from s2orc_parse.bibliography.name_words import GROUP

_SHORT = 32
"""Keys of a row that are sorted by insertion; more are sorted by numpy before."""


def surname_keys(authors: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Offsets (int64, rows + 1) into the distinct surname keys (uint64, ascending) of each row.

    Surnames are normalised as titles are: no case, accents, hyphens or spaces. An author without a last name goes by the first.
    A group is left out: one source names it, the other its members.
    A key is a hash of 64 bits: of all pairs of names that are compared in a corpus of a billion, less than one is taken for equal.
    """
    offsets = authors.offsets.to_numpy().astype(np.int64)
    names = authors.values[offsets[0] : offsets[-1]]
    last, first = names.field("last"), names.field("first")
    keys, other = _keys(*text_of(last), *text_of(first), KEEP, LOWER)
    if len(rows := np.flatnonzero(other)):
        some = pa.array(rows)
        chosen = [
            one or two for one, two in zip(last.take(some).to_pylist(), first.take(some).to_pylist(), strict=True)
        ]
        distinct = pa.array(chosen, pa.string()).dictionary_encode()
        normalised = text_of(titles.normalise(distinct.dictionary))
        keys[rows] = _keys(*normalised, *normalised, np.ones(256, np.uint8), np.arange(256, dtype=np.uint8))[0][
            distinct.indices.to_numpy()
        ]
    unnamed = np.flatnonzero(np.asarray(pc.equal(pc.binary_length(first), 0)))
    if len(unnamed):
        groups = pc.match_substring_regex(last.take(pa.array(unnamed)), rf"(?i){GROUP}.*")
        keys[unnamed[np.asarray(pc.fill_null(groups, False))]] = 0
    offsets -= offsets[0]
    for row in np.flatnonzero(np.diff(offsets) > _SHORT):
        keys[offsets[row] : offsets[row + 1]].sort()
    return _distinct(offsets, authors.is_valid().to_numpy(zero_copy_only=False), keys)


@njit(cache=True, nogil=True)
def _keys(
    last_offsets: np.ndarray, last: np.ndarray, first_offsets: np.ndarray, first: np.ndarray, keep: np.ndarray, lower: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Hash of each last name (the first where it is empty) as the tables have its bytes, 0 where nothing is left; which are not ASCII."""
    rows = len(last_offsets) - 1
    keys = np.zeros(rows, np.uint64)
    other = np.zeros(rows, np.bool_)
    for row in range(rows):
        begin, end, data = last_offsets[row], last_offsets[row + 1], last
        if begin == end:
            begin, end, data = first_offsets[row], first_offsets[row + 1], first
        key, seen = np.uint64(0), np.uint8(0)
        for i in range(begin, end):
            seen |= data[i]
            if keep[data[i]]:
                key = (key ^ np.uint64(lower[data[i]])) * np.uint64(0x9E3779B97F4A7C15)
                key ^= key >> np.uint64(32)
        other[row] = seen >= 128
        keys[row] = key
    return keys, other


@njit(cache=True, nogil=True)
def _distinct(offsets: np.ndarray, valid: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row's keys ascending and once, 0 left out."""
    ends = np.zeros(len(offsets), np.int64)
    out = np.empty(len(keys), np.uint64)
    at = 0
    for row in range(len(valid)):
        begin = at
        if valid[row]:
            for k in range(offsets[row], offsets[row + 1]):
                if keys[k] != 0:
                    out[at] = keys[k]
                    at += 1
            for k in range(begin + 1, at):
                key, to = out[k], k
                while to > begin and out[to - 1] > key:
                    out[to] = out[to - 1]
                    to -= 1
                out[to] = key
            kept = begin
            for k in range(begin, at):
                if kept == begin or out[kept - 1] != out[k]:
                    out[kept] = out[k]
                    kept += 1
            at = kept
        ends[row + 1] = at
    return ends, out[:at]
