"""Titles normalised for comparison, in any script: an ASCII path over bytes, and the rule itself for all else."""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    normalised = strings(out_offsets, out)
    if not other.any():
        return normalised
    mask = pa.array(other)
    general = [normalise_one(title) for title in titles.filter(mask).to_pylist()]
    return pc.replace_with_mask(normalised, mask, pa.array(general, pa.string()))


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
