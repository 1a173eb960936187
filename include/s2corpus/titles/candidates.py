"""Pairs of alike titles without comparing all with all: MinHash keys propose, S decides.

Band after band, the titles' keys are put in order of key (8 MB a million titles: it stays in the cache), and every other title looks
its own key up. Pairs that share enough keys, and whose sizes allow an S above the threshold, are scored exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numba import njit

from s2corpus.titles import minhash
from s2corpus.titles.threegrams import grams, score_pairs

MIN_KEYS = 2
"""Equal keys that make a candidate pair."""
MAX_SHARED = 256
"""A key that more titles share proposes nobody, and is counted: it bounds the work on titles made from one template."""
_BLOCK = 1 << 16
"""Strings whose 3-grams are held at once: 30 MB."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows above the threshold, by `a`, then descending S, then `b`; and what it took to find them."""

    a: np.ndarray
    """int64"""
    b: np.ndarray
    """int64"""
    score: np.ndarray
    """S, float64"""
    proposed: int
    """times that two rows shared a key, and sizes and sketches allowed S"""
    verified: int
    """pairs that were scored"""
    crowded: np.ndarray
    """keys left out because more than MAX_SHARED titles share them, uint64, each with its band in the upper half, ascending"""


@dataclass(frozen=True, slots=True)
class Search:
    """How candidates are found. The defaults are measured: `bench/link.py`."""

    threshold: float = 0.8
    """S must be above it (strict; S2ORC §2.6)"""
    bands: int = minhash.BANDS
    rows: int = minhash.ROWS
    min_keys: int = MIN_KEYS
    keep: int = 64
    """most pairs kept of one row of `titles_a`, the best"""
    memory_mb: int = 1024
    """decides how much is done at once, never the result"""


def candidates(titles_a: pa.Array, titles_b: pa.Array, threshold: float = 0.8, search: Search | None = None) -> Pairs:
    """The pairs of a normalised title of `titles_a` with one of `titles_b` whose S is above the threshold (strict).

    A pair may be missed (`exhaustive` measures how many are), but every S is exact. Equal rows of `titles_b` propose more than once:
    group them first.
    """
    return _pairs(titles_a, titles_b, replace(search or Search(), threshold=threshold), within=False)


def similar_pairs(titles: pa.Array, threshold: float = 0.8, search: Search | None = None) -> Pairs:
    """The pairs (a < b) of rows of one column of normalised titles whose S is above the threshold (strict).

    Equal strings are pairs too, and a group of n makes n(n-1)/2 of them: group them first.
    """
    return _pairs(titles, titles, replace(search or Search(), threshold=threshold), within=True)


def score_proposed(
    titles_a: pa.Array, a: np.ndarray, titles_b: pa.Array, b: np.ndarray, threshold: float
) -> np.ndarray:
    """S of proposed pairs of rows, float64; 0 where it is not above the threshold. `a` ascends."""
    scores = np.empty(len(a), np.float64)
    for begin in range(0, len(a), _BLOCK):
        left, at_left = np.unique(a[begin : begin + _BLOCK], return_inverse=True)
        right, at_right = np.unique(b[begin : begin + _BLOCK], return_inverse=True)
        scores[begin : begin + _BLOCK] = score_pairs(
            grams(titles_a.take(pa.array(left))), at_left, grams(titles_b.take(pa.array(right))), at_right, threshold
        )
    scores[scores <= threshold] = 0.0
    return scores


def best(a: np.ndarray, b: np.ndarray, scores: np.ndarray, keep: int) -> np.ndarray:
    """Indices of the pairs with a score, by a, then descending S, then b; at most `keep` of each a."""
    order = np.flatnonzero(scores > 0.0)
    order = order[np.lexsort((b[order], -scores[order], a[order]))]
    rank = np.arange(len(order)) - np.searchsorted(a[order], a[order])
    return order[rank < keep]


def _pairs(titles_a: pa.Array, titles_b: pa.Array, search: Search, within: bool) -> Pairs:
    """Blocks of `titles_a` small enough for the memory allowed, one after the other."""
    half = search.memory_mb << 19
    block = int(np.clip(half // 512, 1 << 12, 1 << 20))
    results = []
    todo = [(begin, min(begin + block, len(titles_a))) for begin in reversed(range(0, len(titles_a), block))]
    while todo:
        begin, end = todo.pop()
        proposed, crowded = _proposed(titles_a, titles_b, search, begin, end, within, most=half // 16)
        if proposed is None:  # many titles alike: half as many at once
            todo += [((begin + end) // 2, end), (begin, (begin + end) // 2)]
            continue
        pairs = _shared(proposed, search.min_keys)
        a, b = (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
        scores = score_proposed(titles_a, a, titles_b, b, search.threshold)
        kept = best(a, b, scores, search.keep)
        results.append(Pairs(a[kept], b[kept], scores[kept], len(proposed), len(pairs), crowded))
    return Pairs(
        np.concatenate([np.empty(0, np.int64), *(r.a for r in results)]),
        np.concatenate([np.empty(0, np.int64), *(r.b for r in results)]),
        np.concatenate([np.empty(0, np.float64), *(r.score for r in results)]),
        sum(r.proposed for r in results),
        sum(r.verified for r in results),
        results[0].crowded if results else np.empty(0, np.uint64),
    )


def _proposed(
    titles_a: pa.Array, titles_b: pa.Array, search: Search, begin: int, end: int, within: bool, most: int
) -> tuple[np.ndarray | None, np.ndarray]:
    """Every (a << 32 | b) once for each key they share, a in [begin, end); None if that is more than `most` (and can be cut)."""
    part = titles_a.slice(begin, end - begin)
    at_once = int(np.clip((search.memory_mb << 18) // (4 * len(titles_b) + 1), 1, search.bands))
    found: list[np.ndarray] = []
    crowded = [np.empty(0, np.uint64)]
    total = 0
    a = None if within else keys_of(part, range(search.bands), search.rows)
    for low in range(0, search.bands, at_once):
        some = range(low, min(low + at_once, search.bands))
        b = keys_of(titles_b, some, search.rows)
        keys_a = b.keys[:, begin:end] if a is None else a.keys[low:]
        sizes_a, sketches_a = (b.sizes[begin:end], b.sketches[begin:end]) if a is None else (a.sizes, a.sketches)
        for band, number in enumerate(some):
            index = Index.of(b.keys[band])
            crowded.append(np.uint64(number << 32) | index.crowded)
            row = 0
            while row < len(part):
                pairs, row = _probe(
                    keys_a[band], sizes_a, sketches_a, row, begin, index.keys, index.rows, index.starts, index.ends,
                    b.sizes, b.sketches, search.threshold, within, max(1 << 20, index.widest),
                )  # fmt: skip
                total += len(pairs)
                found.append(pairs)
                if total > most and end - begin > 1:
                    return None, crowded[0]
    del a, b, keys_a, index  # what comes next needs the room
    return np.concatenate(found), np.sort(np.concatenate(crowded))


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
    for begin in range(0, len(titles), _BLOCK):
        sets = grams(titles.slice(begin, _BLOCK))
        table[:, begin : begin + _BLOCK] = minhash.keys(sets, bands, rows)
        sizes[begin : begin + _BLOCK] = sets.sizes
        _sketch(sets.offsets, sets.values, sketches[begin : begin + _BLOCK])
    return Keys(table, sizes, sketches)


def _shared(proposed: np.ndarray, min_keys: int) -> np.ndarray:
    """The values that occur at least `min_keys` times, ascending."""
    proposed.sort()
    first = np.flatnonzero(np.r_[True, proposed[1:] != proposed[:-1]]) if len(proposed) else np.empty(0, np.int64)
    times = np.diff(np.r_[first, len(proposed)])
    shared: np.ndarray = proposed[first[times >= min_keys]]
    return shared


@dataclass(frozen=True, slots=True)
class Index:
    """The rows of one band in order of the upper bits of their key: bucket `k` is [starts[k], ends[k]). Crowded keys are left out."""

    keys: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    widest: int
    """most rows in a bucket"""
    crowded: np.ndarray
    """keys that more than MAX_SHARED rows share, uint64"""

    @staticmethod
    def of(keys: np.ndarray) -> Index:
        """Index one band's keys, a row each."""
        bits = max(len(keys).bit_length(), 4)
        in_order, rows, starts, ends = _bucketed(keys, bits)
        crowded = [np.empty(0, np.uint64)]
        for bucket in np.flatnonzero(ends - starts > MAX_SHARED):
            begin, end = int(starts[bucket]), int(ends[bucket])
            values, inverse, times = np.unique(in_order[begin:end], return_inverse=True, return_counts=True)
            crowded.append(values[times > MAX_SHARED].astype(np.uint64))
            kept = np.flatnonzero(times[inverse] <= MAX_SHARED)
            in_order[begin : begin + len(kept)] = values[inverse[kept]]
            rows[begin : begin + len(kept)] = rows[begin:end][kept]
            ends[bucket] = begin + len(kept)
        return Index(in_order, rows, starts, ends, int((ends - starts).max()), np.concatenate(crowded))


@njit(cache=True, nogil=True)
def _bucketed(keys: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    shift = np.uint32(32 - bits)
    ends = np.zeros(1 << bits, np.int32)
    for i in range(len(keys)):
        if keys[i] != 0:
            ends[keys[i] >> shift] += 1
    starts = np.empty(1 << bits, np.int32)
    before = 0
    for bucket in range(1 << bits):
        starts[bucket] = before
        before += ends[bucket]
        ends[bucket] = starts[bucket]
    in_order = np.empty(before, np.uint32)
    rows = np.empty(before, np.uint32)
    for i in range(len(keys)):
        if keys[i] != 0:
            bucket = keys[i] >> shift
            in_order[ends[bucket]] = keys[i]
            rows[ends[bucket]] = i
            ends[bucket] += 1
    return in_order, rows, starts, ends


@njit(cache=True, nogil=True)
def _sketch(offsets: np.ndarray, values: np.ndarray, sketches: np.ndarray) -> None:
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            bit = values[k] & np.uint64(255)
            sketches[i, bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))


@njit(cache=True, nogil=True)
def _ones(bits: np.uint64) -> int:
    """How many bits are set."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _may_reach(size_a: int, size_b: int, sketch_a: np.ndarray, sketch_b: np.ndarray, threshold: float) -> bool:
    """Whether S of two sets can be above the threshold: at most as many 3-grams are common as either has bits not of its own."""
    smaller = min(size_a, size_b)
    if 2.0 * smaller <= threshold * (size_a + size_b):
        return False
    only_a, only_b = 0, 0
    for word in range(4):
        only_a += _ones(sketch_a[word] & ~sketch_b[word])
        only_b += _ones(sketch_b[word] & ~sketch_a[word])
    common = min(size_a - only_a, size_b - only_b)
    return 2.0 * common > threshold * (size_a + size_b + smaller - common)


@njit(cache=True, nogil=True)
def _probe(
    keys_a: np.ndarray,
    sizes_a: np.ndarray,
    sketches_a: np.ndarray,
    row: int,
    begin: int,
    keys: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    sizes_b: np.ndarray,
    sketches_b: np.ndarray,
    threshold: float,
    within: bool,
    room: int,
) -> tuple[np.ndarray, int]:
    """Pairs from `row` on until `room` is full, and the row to go on with."""
    shift = np.uint32(32)
    size = len(starts)
    while size > 1:
        size >>= 1
        shift -= np.uint32(1)
    found = np.empty(room, np.uint64)
    count = 0
    while row < len(keys_a):
        key = keys_a[row]
        bucket = key >> shift
        if count + ends[bucket] - starts[bucket] > room:
            break
        if key != 0:
            for place in range(starts[bucket], ends[bucket]):
                if keys[place] == key:
                    other = rows[place]
                    if within and other <= row + begin:
                        continue
                    if _may_reach(sizes_a[row], sizes_b[other], sketches_a[row], sketches_b[other], threshold):
                        found[count] = np.uint64(row + begin) << np.uint64(32) | np.uint64(other)
                        count += 1
        row += 1
    return found[:count].copy(), row
