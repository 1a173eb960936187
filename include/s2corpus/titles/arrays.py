"""Convert Arrow strings to arrays that kernels read, and back, without copying; hash them, and divide them into buckets.

Hashes are the same on every machine and in every release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit


def text_of(column: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets (int32, rows + 1) into the UTF-8 bytes (uint8) of a string column, and the bytes; null counts as empty.

    Raises:
        TypeError: the column does not contain strings.
        pa.ArrowCapacityError: it contains 2 GB of text or more: cut it into batches.
    """
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_null(kind)):
        raise TypeError(f"a column of strings is expected, this is {kind}")
    if column.null_count == len(column):
        return np.frombuffer(bytes(4 * (len(column) + 1)), np.int32), np.frombuffer(b"", np.uint8)
    column = one_chunk(column)
    if column.null_count:
        column = column.fill_null("")
    _, offset_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(data_buffer, np.uint8)
    return read_only(offsets), read_only(data)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view. Numba compiles a kernel separately for writable and read-only arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def one_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    if isinstance(column, pa.ChunkedArray):
        chunks = column.chunks
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays([pa.array([], column.type), *chunks])
    return column


def strings(offsets: np.ndarray, data: np.ndarray) -> pa.Array:
    """Return a string column from offsets (int32, rows + 1) and UTF-8 bytes (uint8)."""
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def bucket_of(values: Sequence[str] | pa.Array | pa.ChunkedArray | np.ndarray, buckets: int) -> np.ndarray:
    """Return the bucket of each value, a string or an integer."""
    if not isinstance(values, np.ndarray):
        values = hash_strings(*text_of(values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)))
    mixed = (values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    found: np.ndarray = (mixed % np.uint64(buckets)).astype(np.int64)
    return found


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


@njit(cache=True, nogil=True)
def hash_strings(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Return 64-bit hashes of strings; 0 for the empty string only."""
    rows = len(offsets) - 1
    hashes = np.zeros(rows, np.uint64)
    for row in range(rows):
        begin, end = offsets[row], offsets[row + 1]
        if begin == end:
            continue
        value = np.uint64(end - begin) * np.uint64(0x9E3779B97F4A7C15)
        at, last = np.uint64(begin), np.uint64(end)
        while at < last:
            word = np.uint64(0)
            if last - at >= np.uint64(8):
                for k in range(np.uint64(8)):
                    word = word << np.uint64(8) | np.uint64(data[at + k])
                at += np.uint64(8)
            else:
                while at < last:
                    word = word << np.uint64(8) | np.uint64(data[at])
                    at += np.uint64(1)
            value = (value ^ word) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(32)
        value *= np.uint64(0x94D049BB133111EB)
        hashes[row] = max(value ^ (value >> np.uint64(29)), np.uint64(1))
    return hashes
