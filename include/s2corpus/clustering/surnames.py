"""Authors as sets of surname keys: what two author lists are compared by."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles


def surname_keys(authors: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Offsets (int32, rows + 1) into the distinct surname codes (int32, ascending) of each row.

    Surnames are normalised as titles are: no case, accents, hyphens or spaces. An author without a last name goes by the first.
    """
    offsets = authors.offsets.to_numpy().astype(np.int64)
    names = authors.values[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    lengths = np.where(authors.is_valid().to_numpy(zero_copy_only=False), np.diff(offsets), 0)
    row = np.repeat(np.arange(len(authors)), np.diff(offsets))
    last = names.field("last")
    encoded = pc.if_else(pc.equal(pc.fill_null(last, ""), ""), names.field("first"), last).dictionary_encode()
    keys = titles.normalise(encoded.dictionary.cast(pa.string())).dictionary_encode()
    code_of = keys.indices.to_numpy()
    if (empty := pc.index(keys.dictionary, "").as_py()) >= 0:
        code_of = np.where(code_of == empty, -1, code_of)
    codes = np.append(code_of, -1)[pc.fill_null(encoded.indices, -1).to_numpy()]
    kept = (codes >= 0) & (lengths[row] > 0)
    distinct = np.unique((row[kept].astype(np.int64) << 32) | codes[kept])
    counts = np.bincount(distinct >> 32, minlength=len(authors))
    return (
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        (distinct & 0xFFFFFFFF).astype(np.int32),
    )
