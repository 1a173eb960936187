"""Who shares a MinHash key: band after band, one side's keys are put in buckets, and the other side's pass by and look themselves up.

The side in buckets is the one whose size can be chosen, so that its buckets stay in the cache however many titles pass by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles import minhash
from s2corpus.titles.threegrams import grams

MAX_SHARED = 256
"""A key that more titles share proposes no candidates, and is counted: it bounds the work on titles made from one template."""
_STEP = 1 << 12
BLOCK = 1 << 12
"""Strings whose 3-grams are held at once: 2 MB, which stay in the cache, and for which the system is asked for memory once."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What is compared of some titles before their 3-grams are."""

    keys: np.ndarray
    """uint32, (bands, titles)"""
    sizes: np.ndarray
    """3-grams in the set, int32"""
    sketches: np.ndarray
    """a bit of 256 for each 3-gram, uint64, (titles, 4): a bit that only one of two sets has is a 3-gram that only it has"""


def keys_of(titles: pa.Array, bands: range, rows: int) -> Keys:
    """Keys, sizes and sketches of normalised titles."""
    table = np.empty((len(bands), len(titles)), np.uint32)
    sizes = np.empty(len(titles), np.int32)
    sketches = np.zeros((len(titles), 4), np.uint64)
    for begin in range(0, len(titles), BLOCK):
        sets = grams(titles.slice(begin, BLOCK))
        table[:, begin : begin + BLOCK] = minhash.keys(sets, bands, rows)
        sizes[begin : begin + BLOCK] = sets.sizes
        _sketch(sets.offsets, sets.values, sketches[begin : begin + BLOCK])
    return Keys(table, sizes, sketches)


@dataclass(frozen=True, slots=True)
class Buckets:
    """Rows of one band in order of the upper bits of their key: bucket `k` is [starts[k], starts[k + 1])."""

    keys: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    seen: np.ndarray
    """four bytes a bucket, a bit for each value of the five bits that follow: nearly all absent keys end here, uint32"""
    widest: int
    """most rows in a bucket"""

    @staticmethod
    def of(keys: np.ndarray, over_full: np.ndarray) -> Buckets:
        """Put one band's keys, a row each, in buckets; over_full ones are left out."""
        if len(over_full):
            keys = np.where(np.isin(keys, over_full), np.uint32(0), keys)
        in_order, rows, starts, seen = _bucketed(keys, min(max(len(keys).bit_length(), 4), 27))
        return Buckets(in_order, rows, starts, seen, int(np.diff(starts).max()))


def over_full(chunks: Callable[[], Iterator[np.ndarray]], titles: int) -> np.ndarray:
    """The keys of one band that more than MAX_SHARED of the titles share, uint32, ascending. The keys are read once or twice."""
    counts = np.zeros(1 << int(np.clip(titles.bit_length() - 3, 10, 24)), np.uint32)
    for keys in chunks():
        _count(keys, counts)
    heavy = counts > MAX_SHARED
    if not heavy.any():
        return np.empty(0, np.uint32)
    values, times = np.unique(np.concatenate([_counted_in(keys, heavy) for keys in chunks()]), return_counts=True)
    return values[times > MAX_SHARED]


def sharing(
    buckets: Buckets,
    a: Keys,
    first_a: int,
    keys_b: np.ndarray,
    sizes_b: np.ndarray,
    sketches_b: np.ndarray,
    first_b: int,
    threshold: float,
    within: bool,
) -> Iterator[np.ndarray]:
    """Pairs (b << 32 | a) of rows that share a key of this band and whose sizes and sketches allow S above the threshold, uint64.

    `first_a` and `first_b` are the numbers of the first rows; `within` leaves out the pairs without a < b.
    """
    row = 0
    while row < len(keys_b):
        pairs, row = _probe(
            buckets.keys, buckets.rows, buckets.starts, buckets.seen, a.sizes, a.sketches, first_a,
            keys_b, sizes_b, sketches_b, first_b, row, threshold, within, max(1 << 20, buckets.widest),
        )  # fmt: skip
        yield pairs


@njit(cache=True, nogil=True)
def _bucketed(keys: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    shift = np.uint32(32 - bits)
    starts = np.zeros((1 << bits) + 1, np.int32)
    seen = np.zeros(1 << bits, np.uint32)
    for key in keys:
        if key != 0:
            bucket = key >> shift
            starts[bucket + 1] += 1
            seen[bucket] |= np.uint32(1) << ((key >> (shift - np.uint32(5))) & np.uint32(31))
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    at = starts[:-1].copy()
    in_order = np.empty(starts[-1], np.uint32)
    rows = np.empty(starts[-1], np.uint32)
    for i in range(len(keys)):
        key = keys[i]
        if key != 0:
            place = at[key >> shift]
            at[key >> shift] += 1
            in_order[place] = key
            rows[place] = i
    return in_order, rows, starts, seen


@njit(cache=True, nogil=True)
def _count(keys: np.ndarray, counts: np.ndarray) -> None:
    shift = np.uint32(32)
    size = len(counts)
    while size > 1:
        size >>= 1
        shift -= np.uint32(1)
    for key in keys:
        if key != 0:
            counts[key >> shift] += np.uint32(1)


@njit(cache=True, nogil=True)
def _counted_in(keys: np.ndarray, heavy: np.ndarray) -> np.ndarray:
    shift = np.uint32(32)
    size = len(heavy)
    while size > 1:
        size >>= 1
        shift -= np.uint32(1)
    found = np.empty(len(keys), np.uint32)
    count = 0
    for key in keys:
        if key != 0 and heavy[key >> shift]:
            found[count] = key
            count += 1
    return found[:count].copy()


@njit(cache=True, nogil=True)
def _sketch(offsets: np.ndarray, values: np.ndarray, sketches: np.ndarray) -> None:
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            bit = values[k] & np.uint64(255)
            sketches[i, bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))


@njit(cache=True, nogil=True)
def ones(bits: np.uint64) -> int:
    """How many bits are set."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _probe(
    keys: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    seen: np.ndarray,
    sizes_a: np.ndarray,
    sketches_a: np.ndarray,
    first_a: int,
    keys_b: np.ndarray,
    sizes_b: np.ndarray,
    sketches_b: np.ndarray,
    first_b: int,
    row: int,
    threshold: float,
    within: bool,
    room: int,
) -> tuple[np.ndarray, int]:
    """Pairs of the passing rows from `row` on until `room` is full, and the row to go on with."""
    shift = np.uint32(32)
    size = len(seen)
    while size > 1:
        size >>= 1
        shift -= np.uint32(1)
    fine = shift - np.uint32(5)
    found = np.empty(room, np.uint64)
    count = 0
    passed = np.empty(_STEP, np.int64)
    # What a key is compared with is seldom in the cache: loops that branch on none of it wait for many at once.
    while row < len(keys_b):
        end_of_step = min(row + _STEP, len(keys_b))
        left = 0
        for i in range(row, end_of_step):
            key = keys_b[i]
            passed[left] = i
            left += int(seen[key >> shift] >> ((key >> fine) & np.uint32(31)) & np.uint32(1))
        row = end_of_step
        width = 0
        for k in range(left):
            bucket = keys_b[passed[k]] >> shift
            width += starts[bucket + np.uint32(1)] - starts[bucket]
            if count + width > room:
                left, row = k, passed[k]
                break
        first = count
        for k in range(left):
            i = passed[k]
            key = keys_b[i]
            for place in range(starts[key >> shift], starts[(key >> shift) + np.uint32(1)]):
                found[count] = np.uint64(i) << np.uint64(32) | np.uint64(rows[place])
                count += int(keys[place] == key)
        last, count = count, first
        for k in range(first, last):
            near, far = np.int64(found[k] & np.uint64(0xFFFFFFFF)), np.int64(found[k] >> np.uint64(32))
            size_a, size_b = sizes_a[near], sizes_b[far]
            found[count] = found[k]
            count += int(2.0 * min(size_a, size_b) > threshold * (size_a + size_b))
        last, count = count, first
        for k in range(first, last):
            near, far = np.int64(found[k] & np.uint64(0xFFFFFFFF)), np.int64(found[k] >> np.uint64(32))
            only_a, only_b = 0, 0
            for word in range(4):
                only_a += ones(sketches_a[near, word] & ~sketches_b[far, word])
                only_b += ones(sketches_b[far, word] & ~sketches_a[near, word])
            size_a, size_b = sizes_a[near], sizes_b[far]
            # At most as many 3-grams are common as either has bits not of its own.
            common = min(size_a - only_a, size_b - only_b)
            found[count] = np.uint64(far + first_b) << np.uint64(32) | np.uint64(near + first_a)
            count += int(2.0 * common > threshold * (size_a + size_b + min(size_a, size_b) - common))
        if within:
            last, count = count, first
            for k in range(first, last):
                found[count] = found[k]
                count += int(found[k] >> np.uint64(32) > found[k] & np.uint64(0xFFFFFFFF))
        if row < end_of_step:
            break
    return found[:count].copy(), row
