"""Normalize titles in any script: byte tables for ASCII titles, and Python for all others."""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import strings, text_of


class _KeptCharacters(dict[int, int | None]):
    """Table for `str.translate` that keeps letters, digits and spacing vowel signs only."""

    def __missing__(self, point: int) -> int | None:
        char = chr(point)
        spacing_sign = unicodedata.category(char) in ("Mc", "Mn") and unicodedata.combining(char) == 0
        self[point] = point if char.isalnum() or spacing_sign else None
        return self[point]


_KEPT = _KeptCharacters()


def normalise_one(title: str) -> str:
    """Return the normalized title: the letters, digits and spacing vowel signs of `NFKD(t).casefold()`.

    White space is removed too, which undoes hyphenation, line breaks and splits by OCR (SPEC §7; after S2ORC §2.6).
    """
    return unicodedata.normalize("NFKD", title).casefold().translate(_KEPT)


def normalize(titles: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the normalized form of each title (see `normalise_one`), or the empty string without a title.

    ASCII rows are about thirty times faster than others.

    Raises:
        ArrowCapacityError: the titles have 2 GiB or more.
    """
    size = 0 if pa.types.is_null(titles.type) else pc.sum(pc.binary_length(titles)).as_py() or 0
    if size >= 1 << 31:
        raise pa.ArrowCapacityError(
            f"titles of {size:,} bytes, fewer than {1 << 31:,} are expected: cut them into batches"
        )
    blocks = [pa.array([], pa.string())]
    for begin in range(0, len(titles), _ROWS_PER_BLOCK):
        offsets, data = text_of(titles.slice(begin, _ROWS_PER_BLOCK))
        others = pc.invert(pc.string_is_ascii(strings(offsets, data)))
        text = data[offsets[0] : offsets[-1]].tobytes()
        is_kept = np.frombuffer(text.translate(_IS_KEPT), np.bool_)
        ends = np.concatenate([[0], np.cumsum(is_kept, dtype=np.int32)])[offsets - offsets[0]]
        block = strings(ends.astype(np.int32), np.frombuffer(text.translate(_LOWER, _DROPPED), np.uint8))
        if pc.any(others).as_py():
            texts = titles.slice(begin, _ROWS_PER_BLOCK).filter(others).to_pylist()
            block = pc.replace_with_mask(block, others, pa.array(map(normalise_one, texts), pa.string()))
        blocks.append(block)
    return pa.concat_arrays(blocks)


_ROWS_PER_BLOCK = 1 << 14
_IS_KEPT = bytes(bytes([byte]).isalnum() for byte in range(256))
_DROPPED = bytes(byte for byte in range(256) if not _IS_KEPT[byte])
_LOWER = bytes(range(256)).lower()
"""Tables of `bytes.translate` for ASCII titles."""
