"""Titles normalised for comparison, in any script: an ASCII path over bytes, and the rule itself for all else."""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import strings, text_of


class _Kept(dict[int, int | None]):
    """Table for `str.translate`: letters, digits and spacing vowel signs stay, everything else goes."""

    def __missing__(self, point: int) -> int | None:
        char = chr(point)
        spacing_sign = unicodedata.category(char) in ("Mc", "Mn") and unicodedata.combining(char) == 0
        self[point] = point if char.isalnum() or spacing_sign else None
        return self[point]


_KEPT = _Kept()


def normalise_one(title: str) -> str:
    """The normalised form of one title: `NFKD(t).casefold()` without all that is not a letter, digit or spacing vowel sign.

    White space goes too, so that hyphenation, line breaks and OCR splits leave no trace (SEMANTICS: Link; after S2ORC §2.6).
    """
    return unicodedata.normalize("NFKD", title).casefold().translate(_KEPT)


def normalise(titles: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Normalise titles: strings in, as many strings out; a missing title gives the empty one.

    Equal to `normalise_one` row by row; rows of pure ASCII take a path that is some thirty times as fast.
    """
    offsets, data = text_of(titles)
    out_offsets, out, other = _ascii(offsets, data)
    if not other.any():
        return strings(out_offsets, out)
    general = pa.array([normalise_one(title) for title in titles.filter(pa.array(other)).to_pylist()], pa.string())
    return strings(*_filled(out_offsets, out, np.flatnonzero(other), *text_of(general)))


KEEP = np.array([bytes([byte]).isalnum() for byte in range(256)], np.uint8)
LOWER = np.array(list(bytes(range(256)).lower()), np.uint8)
"""By byte: whether it stays, and as what. Each is written, and only those that stay move the place to write: there is no branch."""


@njit(cache=True, nogil=True)
def _ascii(offsets: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalise rows of pure ASCII; the others are left empty and marked."""
    rows = len(offsets) - 1
    out = np.empty(offsets[rows] - offsets[0] + 1, np.uint8)
    ends = np.zeros(rows + 1, np.int32)
    other = np.zeros(rows, np.bool_)
    at = 0
    for row in range(rows):
        begin = at
        seen = np.uint8(0)
        for i in range(offsets[row], offsets[row + 1]):
            byte = data[i]
            seen |= byte
            out[at] = LOWER[byte]
            at += int(KEEP[byte])
        if seen >= 128:
            other[row] = True
            at = begin
        ends[row + 1] = at
    return ends, out[:at], other


@njit(cache=True, nogil=True)
def _filled(
    offsets: np.ndarray, data: np.ndarray, places: np.ndarray, other_offsets: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Strings of which those at `places` (ascending) are empty, and these put there."""
    rows = len(offsets) - 1
    out, ends = np.empty(len(data) + len(other), np.uint8), np.empty(rows + 1, np.int32)
    row = 0
    for k in range(len(places) + 1):
        end = places[k] if k < len(places) else rows
        moved = other_offsets[k] - other_offsets[0]
        for kept in range(row, end + 1):
            ends[kept] = offsets[kept] + moved
        for i in range(offsets[row], offsets[end]):
            out[i + moved] = data[i]
        if k < len(places):
            at = offsets[end] + moved - other_offsets[k]
            for i in range(other_offsets[k], other_offsets[k + 1]):
                out[at + i] = other[i]
        row = end + 1
    return ends, out
