"""Equal strings: grouped, and looked up, by a hash table over Arrow columns; what has one hash is compared byte by byte."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import pieces_of, read_only, strings, text_of

_UPPER = np.uint64(0xFFFFFFFF00000000)
_STEP = 1 << 12


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows in groups."""

    groups: np.ndarray
    """group of each row, int32, -1 for none"""
    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True)
class EqualStrings(Groups):
    """The groups of equal strings of one column, numbered by first occurrence; the empty string (and null) is in none."""

    first: np.ndarray
    """first row of each group, int32"""
    _offsets: np.ndarray
    _data: np.ndarray
    _slots: np.ndarray
    """0, or the upper half of a hash and one more than the row that has it"""
    _seen: np.ndarray
    """by the slot where the search for a string begins, a bit for the three upper ones of its hash: most absent strings end here, uint8"""

    @property
    def distinct(self) -> pa.Array:
        """The string of each group."""
        return strings(self._offsets, self._data).take(pa.array(self.first))

    @staticmethod
    def of(column: pa.Array | pa.ChunkedArray, hashes: np.ndarray | None = None) -> EqualStrings:
        """Group the rows of a string column; their `hash_strings` may be given."""
        offsets, data = text_of(column)
        if hashes is None:
            hashes = hash_strings(offsets, data) if len(data) else np.zeros(len(column), np.uint64)
        hashes = read_only(hashes)
        slots = np.zeros(2 << int(np.count_nonzero(hashes)).bit_length(), np.uint64)
        seen = np.zeros(len(slots), np.uint8)
        groups, first = _group(offsets, data, hashes, slots, seen)
        return EqualStrings(groups, len(first), first, offsets, data, slots, seen)

    def find(self, column: pa.Array | pa.ChunkedArray, hashes: np.ndarray | None = None) -> np.ndarray:
        """Group that each row of another string column is equal to, int32; -1 for none. Their `hash_strings` may be given."""
        offsets, data = text_of(column)
        hashes = read_only(hash_strings(offsets, data) if hashes is None else hashes)
        rows = _find(self._offsets, self._data, self._slots, self._seen, offsets, data, hashes)
        return np.where(rows < 0, np.int32(-1), self.groups[rows]) if len(self.groups) else rows


def hashes_of(column: pa.ChunkedArray) -> np.ndarray:
    """`hash_strings` of a string column, or of one whose strings are in dictionaries: each of these once."""
    found = [np.empty(0, np.uint64)]
    for piece in pieces_of(column):
        if pa.types.is_dictionary(piece.type):
            hashes = np.append(hash_strings(*text_of(piece.dictionary)), np.uint64(0))
            found.append(hashes[piece.indices.fill_null(len(hashes) - 1).to_numpy()])
        else:
            found.append(hash_strings(*text_of(piece)))
    return np.concatenate(found)


@njit(cache=True, nogil=True)
def hash_strings(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """64-bit hashes of strings, eight bytes at a time; 0 for the empty string only."""
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


@njit(cache=True, nogil=True)
def _same(
    offsets_a: np.ndarray, data_a: np.ndarray, a: int, offsets_b: np.ndarray, data_b: np.ndarray, b: int | np.int64
) -> bool:
    size = offsets_a[a + 1] - offsets_a[a]
    if size != offsets_b[b + 1] - offsets_b[b]:
        return False
    differ = np.uint8(0)  # without a branch it is many bytes at a time, and what has one hash is nearly always equal
    at_a, at_b = np.uint64(offsets_a[a]), np.uint64(offsets_b[b])
    for i in range(np.uint64(size)):
        differ |= data_a[at_a + i] ^ data_b[at_b + i]
    return bool(differ == 0)


@njit(cache=True, nogil=True)
def _group(
    offsets: np.ndarray, data: np.ndarray, hashes: np.ndarray, slots: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    rows = len(hashes)
    groups = np.full(rows, -1, np.int32)
    first = np.empty(rows, np.int32)
    count = 0
    last = len(slots) - 1
    for row in range(rows):
        if hashes[row] == 0:
            continue
        slot = np.int64(hashes[row] & np.uint64(last))
        seen[slot] |= np.uint8(1) << np.uint8(hashes[row] >> np.uint64(61))
        while True:
            if slots[slot] == 0:
                slots[slot] = (hashes[row] & _UPPER) | np.uint64(row + 1)
                groups[row] = count
                first[count] = row
                count += 1
                break
            other = np.int64(slots[slot] & ~_UPPER) - 1
            if (slots[slot] ^ hashes[row]) & _UPPER == 0 and _same(offsets, data, row, offsets, data, other):
                groups[row] = groups[other]
                break
            slot = (slot + 1) & last
    return groups, first[:count].copy()


@njit(cache=True, nogil=True)
def _find(
    offsets: np.ndarray,
    data: np.ndarray,
    slots: np.ndarray,
    seen: np.ndarray,
    wanted_offsets: np.ndarray,
    wanted_data: np.ndarray,
    wanted: np.ndarray,
) -> np.ndarray:
    """First row equal to each wanted string, -1 for none."""
    found = np.full(len(wanted), -1, np.int32)
    last = len(slots) - 1
    passed = np.empty(_STEP, np.int64)
    for begin in range(0, len(wanted), _STEP):
        left = 0
        for row in range(
            begin, min(begin + _STEP, len(wanted))
        ):  # slots are seldom in the cache, these bits are: there is no branch
            bits = seen[wanted[row] & np.uint64(last)]
            passed[left] = row
            left += int(bits >> np.uint8(wanted[row] >> np.uint64(61)) & np.uint8(1))
        for k in range(left):
            row = passed[k]
            if wanted[row] == 0:
                continue
            slot = np.int64(wanted[row] & np.uint64(last))
            while slots[slot] != 0:
                other = np.int64(slots[slot] & ~_UPPER) - 1
                if (slots[slot] ^ wanted[row]) & _UPPER == 0 and _same(
                    wanted_offsets, wanted_data, row, offsets, data, other
                ):
                    found[row] = other
                    break
                slot = (slot + 1) & last
    return found
