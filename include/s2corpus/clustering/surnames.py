"""Authors as sets of surname keys: what two author lists are compared by."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from s2corpus import titles


def surname_keys(authors: pa.Array, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Offsets (int32, rows + 1) into the distinct surname codes (int32, ascending) of each row, rows in `order`.

    Surnames are normalised as titles are: no case, accents, hyphens or spaces. An author without a last name goes by the first.
    """
    offsets = authors.offsets.to_numpy().astype(np.int64)
    names = authors.values[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    last = names.field("last")
    encoded = pc.if_else(pc.equal(pc.fill_null(last, ""), ""), names.field("first"), last).dictionary_encode()
    keys = titles.normalise(encoded.dictionary.cast(pa.string())).dictionary_encode()
    code_of = keys.indices.to_numpy()
    if (empty := pc.index(keys.dictionary, "").as_py()) >= 0:
        code_of = np.where(code_of == empty, -1, code_of)
    codes = np.append(code_of, -1)[pc.fill_null(encoded.indices, -1).to_numpy()].astype(np.int32)
    return _distinct(offsets, authors.is_valid().to_numpy(zero_copy_only=False), codes, order)


@njit(cache=True, nogil=True)
def _distinct(
    offsets: np.ndarray, valid: np.ndarray, codes: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each row's codes ascending and once, −1 left out."""
    ends = np.zeros(len(offsets), np.int32)
    out = np.empty(len(codes), np.int32)
    at = 0
    for place in range(len(order)):
        row = order[place]
        begin = at
        if valid[row]:
            found = np.sort(codes[offsets[row] : offsets[row + 1]])
            for code in found:
                if code >= 0 and (at == begin or out[at - 1] != code):
                    out[at] = code
                    at += 1
        ends[place + 1] = at
    return ends, out[:at]
