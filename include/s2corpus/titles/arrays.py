"""Convert Arrow strings to arrays that kernels read, and back, without copying."""

from __future__ import annotations

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
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise TypeError(f"a column of strings is expected, this is {kind}")
    if column.null_count == len(column):
        return _nothing(len(column))
    column = one_chunk(column)
    if column.null_count:
        column = column.fill_null("")
    if pa.types.is_large_string(kind):
        column = column.cast(pa.string())
    _, offset_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(data_buffer, np.uint8)
    return read_only(offsets), read_only(data)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view. Numba compiles a kernel separately for writable and read-only arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def _nothing(rows: int) -> tuple[np.ndarray, np.ndarray]:
    return np.frombuffer(bytes(4 * (rows + 1)), np.int32), np.frombuffer(b"", np.uint8)


def one_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return (
            column.chunk(0)
            if column.num_chunks == 1
            else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
        )
    return column


def pieces_of(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """Return the chunks of a column."""
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def strings(offsets: np.ndarray, data: np.ndarray) -> pa.Array:
    """Return a string column from offsets (int32, rows + 1) and UTF-8 bytes (uint8)."""
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


@njit(cache=True, nogil=True)
def doubled(full: np.ndarray) -> np.ndarray:
    """Return a copy with twice the length. Numba needs a second to compile `np.append`."""
    wider = np.empty(2 * len(full), full.dtype)
    for k in range(len(full)):
        wider[k] = full[k]
    return wider
