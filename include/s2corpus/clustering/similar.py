"""Titles that are similar but not equal, one side of each pair among those asked for: MinHash keys propose, sketches thin out, S decides.

As in `titles.candidates`, but for the many pairs of one corpus with itself: the keys and sketches of the titles asked for are held,
all others' are made as they pass by, straight from the text and without the sets of 3-grams. Fewer keys do than for linking: of a
pair that is missed, one side is most often joined by a third record.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus import titles
from s2corpus.compiled import njit
from s2corpus.titles.arrays import doubled, text_of
from s2corpus.titles.candidates import best
from s2corpus.titles.minhash import coefficients, key_of, lower
from s2corpus.titles.postings import MAX_SHARED, ones
from s2corpus.titles.threegrams import in_order

BANDS = 16
ROWS = 6
"""Hashes a key: two titles with Jaccard index J share one of the 16 keys with probability 1 − (1 − J⁶)¹⁶, 0.99 at J = 0.8."""
KEEP = 64
"""Most pairs kept of one title that passes by, the best."""
_AT_ONCE = 1 << 14
"""Titles that pass by at once: with MAX_SHARED, a bound of the pairs held."""


@dataclass(frozen=True, slots=True)
class Signatures:
    """What is compared of some titles before their 3-grams are."""

    keys: np.ndarray
    """uint32, (BANDS, titles)"""
    sketches: np.ndarray
    """a bit of 256 for each 3-gram, uint64, (titles, 4): a bit that only one of two titles has is a 3-gram that only it has"""
    sizes: np.ndarray
    """3-grams, repeated ones counted again, int32: no fewer than in the set"""


def signatures(normalised: pa.Array) -> Signatures:
    """The signatures of normalised titles; an empty one has key 0 in every band."""
    return Signatures(*_signatures(*text_of(normalised), *coefficients(range(BANDS), ROWS), ROWS))


def similar(
    normalised: pa.Array, asked: np.ndarray, others: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a, b, S) of the pairs of places in `normalised` with S above the threshold, b among `asked`, a among both, each pair once.

    Ordered by place of a in (asked, others), then descending S, then b. Both are ascending places of distinct titles.
    """
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        texts = normalised.take(pa.array(asked))
        parts = list(pool.map(signatures, [texts.slice(at, _AT_ONCE) for at in range(0, len(asked), _AT_ONCE)]))
        if not parts:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        keys, sketches, sizes = (
            np.concatenate([getattr(p, name) for p in parts], axis=axis)
            for name, axis in (("keys", 1), ("sketches", 0), ("sizes", 0))
        )
        held = Signatures(keys, sketches, sizes)
        del parts, keys, sketches, sizes
        indexes = list(pool.map(index, held.keys))

        def passed(chunk: tuple[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            first, places = chunk
            mine = normalised.take(pa.array(places))
            if first >= 0:
                some = slice(first, first + len(places))
                passing = Signatures(held.keys[:, some], held.sketches[some], held.sizes[some])
            else:
                passing = signatures(mine)
            proposed = [
                _proposed(
                    passing.keys[band], passing.sketches, passing.sizes, *indexes[band], held.sketches, held.sizes, first, threshold
                )
                for band in range(BANDS)
            ]  # fmt: skip
            pairs = np.concatenate(proposed)
            pairs.sort()
            pairs = pairs[np.flatnonzero(np.diff(pairs, prepend=~pairs[:1]))]
            a, b = (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
            score = scores(mine, a, texts, b, threshold)
            kept = best(a, b, score, KEEP)
            return places[a[kept]], asked[b[kept]], score[kept]

        chunks = [(at, asked[at : at + _AT_ONCE]) for at in range(0, len(asked), _AT_ONCE)]
        chunks += [(-1, others[at : at + _AT_ONCE]) for at in range(0, len(others), _AT_ONCE)]
        columns = zip(*pool.map(passed, chunks), strict=True)
        a, b, score = (np.concatenate(column) for column in columns)
    return a, b, score


def scores(titles_a: pa.Array, a: np.ndarray, titles_b: pa.Array, b: np.ndarray, threshold: float) -> np.ndarray:
    """S of pairs of rows, float64; 0 where it is not above the threshold."""
    left, at_left = np.unique(a, return_inverse=True)
    right, at_right = np.unique(b, return_inverse=True)
    sets = titles.grams(titles_a.take(pa.array(left))), titles.grams(titles_b.take(pa.array(right)))
    found = titles.score_pairs(sets[0], at_left, sets[1], at_right, threshold)
    found[found <= threshold] = 0.0
    return found


@njit(cache=True, nogil=True)
def _signatures(
    offsets: np.ndarray, data: np.ndarray, add: np.ndarray, multiply: np.ndarray, rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    strings, hashes = len(offsets) - 1, len(add)
    keys = np.zeros((hashes // rows, strings), np.uint32)
    sketches = np.zeros((strings, 4), np.uint64)
    sizes = np.zeros(strings, np.int32)
    longest = 0
    for i in range(strings):
        longest = max(longest, offsets[i + 1] - offsets[i])
    found = np.empty(longest, np.uint64)
    minima = np.empty(hashes, np.uint32)
    for i in range(strings):
        sizes[i] = in_order(data, offsets[i], offsets[i + 1], found)
        if sizes[i] == 0:
            continue
        for k in range(hashes):
            minima[k] = np.uint32(0xFFFFFFFF)
        for k in range(sizes[i]):
            bit = found[k] & np.uint64(255)
            sketches[i, bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
        lower(minima, found[: sizes[i]], add, multiply)
        for band in range(hashes // rows):
            keys[band, i] = key_of(minima[band * rows : (band + 1) * rows], band)
    return keys, sketches, sizes


def index(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One band's keys by their upper bits: (filters: a bit for each key's upper bits, eight times as many as buckets, and in a second
    row those that several keys have; starts of the buckets with the end; keys; rows). Crowded keys and 0 are left out."""
    starts, in_order, rows = _in_buckets(keys)
    for bucket in np.flatnonzero(np.diff(starts) > MAX_SHARED):
        held = in_order[starts[bucket] : starts[bucket + 1]]
        _, same, times = np.unique(held, return_inverse=True, return_counts=True)
        held[times[same] > MAX_SHARED] = 0
    return _filters(in_order, len(starts) - 1), starts, in_order, rows


@njit(cache=True, nogil=True)
def _in_buckets(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    bits = 6
    while 1 << bits < len(keys) and bits < 26:
        bits += 1
    shift = np.uint32(32 - bits)
    starts = np.zeros((1 << bits) + 1, np.int32)
    for i in range(len(keys)):
        starts[(keys[i] >> shift) + 1] += 1
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    filled = starts[:-1].copy()
    in_order, rows = np.empty(len(keys), np.uint32), np.empty(len(keys), np.int32)
    for i in range(len(keys)):
        at = filled[keys[i] >> shift]
        in_order[at], rows[at] = keys[i], i
        filled[keys[i] >> shift] += 1
    return starts, in_order, rows


@njit(cache=True, nogil=True)
def _filters(in_order: np.ndarray, buckets: int) -> np.ndarray:
    bits = 6
    while 1 << bits < buckets:
        bits += 1
    fine = np.uint32(29 - bits)
    there = np.zeros((2, 1 << (bits - 3)), np.uint64)
    for k in range(len(in_order)):
        if in_order[k] != 0:
            at = in_order[k] >> fine
            bit = np.uint64(1) << np.uint64(at & np.uint32(63))
            there[1, at >> np.uint32(6)] |= there[0, at >> np.uint32(6)] & bit
            there[0, at >> np.uint32(6)] |= bit
    return there


@njit(cache=True, nogil=True)
def _proposed(
    keys: np.ndarray, sketches: np.ndarray, sizes: np.ndarray,
    there: np.ndarray, starts: np.ndarray, held_keys: np.ndarray, held_rows: np.ndarray, held_sketches: np.ndarray,
    held_sizes: np.ndarray, first: int, threshold: float,
) -> np.ndarray:  # fmt: skip
    """Pairs (a << 32 | b) of passing and held titles with one band's key, of which S may be above the threshold.

    Passing titles that are held ones, from number `first` on (−1: they are not), only propose those after themselves, and have
    none to propose where no other key has their bit.
    """
    told = there[1 if first >= 0 else 0]
    bits = 6
    while 1 << bits < len(starts) - 1:
        bits += 1
    shift, fine = np.uint32(32 - bits), np.uint32(29 - bits)
    left, m = np.empty(len(keys), np.int32), 0
    for i in range(len(keys)):  # without a branch: each is written, and only those that stay move the place
        at = keys[i] >> fine
        left[m] = i
        m += int(told[at >> np.uint32(6)] >> np.uint64(at & np.uint32(63)) & np.uint64(1))
    found, n = np.empty(1024, np.uint64), 0
    for i in left[:m]:
        key = keys[i]
        if key == 0:
            continue
        for place in range(starts[key >> shift], starts[(key >> shift) + np.uint32(1)]):
            j = held_rows[place]
            if held_keys[place] != key or (first >= 0 and j <= first + i):
                continue
            if not _may_reach(sizes[i], held_sizes[j], sketches[i], held_sketches[j], threshold):
                continue
            if n == len(found):
                found = doubled(found)
            found[n] = np.uint64(i) << np.uint64(32) | np.uint64(j)
            n += 1
    return found[:n]


@njit(cache=True, nogil=True)
def pairs_of_keys(
    keys: np.ndarray, title: np.ndarray, asked: np.ndarray, sizes: np.ndarray, sketches: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """(a, b) of titles with an equal key, b among those asked for, of which S may be above the threshold; as `similar` proposes them.

    Rows are by key (of one band), then by title; each pair is found once a band that it shares.
    """
    a, b, n = np.empty(1024, np.int64), np.empty(1024, np.int64), 0
    begin = 0
    while begin < len(keys):
        end, held = begin, 0
        while end < len(keys) and keys[end] == keys[begin]:
            held += asked[end]
            end += 1
        for i in range(begin, end if keys[begin] != 0 and held <= MAX_SHARED else begin):
            for j in range(begin, end):
                if not asked[j] or title[i] == title[j] or (asked[i] and title[j] < title[i]):
                    continue
                if not _may_reach(sizes[i], sizes[j], sketches[i], sketches[j], threshold):
                    continue
                if n == len(a):
                    a, b = doubled(a), doubled(b)
                a[n], b[n] = title[i], title[j]
                n += 1
        begin = end
    return a[:n], b[:n]


@njit(cache=True, nogil=True)
def _may_reach(size_a: int, size_b: int, sketch_a: np.ndarray, sketch_b: np.ndarray, threshold: float) -> bool:
    """Whether S can be above the threshold, from below: x 3-grams that only A has and y that only B has are seen.

    With I common 3-grams S is at most 2I/(2I + x + y + min(x, y)), which grows with I, and I is at most what either has left.
    """
    only_a, only_b = 0, 0
    for word in range(4):
        only_a += ones(sketch_a[word] & ~sketch_b[word])
        only_b += ones(sketch_b[word] & ~sketch_a[word])
    common = min(size_a - only_a, size_b - only_b)
    return 2.0 * common > threshold * (2 * common + only_a + only_b + min(only_a, only_b))
