"""The best match among all titles, without fail: what the recall of the candidates is measured against.

A pair with S above the threshold t shares at least the share t/(2-t) of either title's 3-grams, so of any `size - least + 2` of them
it shares two; likewise four of two more: that many of the rarest are looked for in every title, and what has four is scored.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numba import njit

from s2corpus.titles.threegrams import grams, score_pairs

_BLOCK = 1 << 16
_SHARED = 4
_SEEN_BITS = 18
"""A 3-gram whose first bits no rare 3-gram has is passed over without being looked up."""


def best_matches(sample: pa.Array, titles: pa.Array, threshold: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """For each normalised title of `sample` the highest S over all of `titles`, float64, and its first row, int64.

    0 and -1 where no S is above the threshold (strict).
    """
    return best_among(sample, [titles], threshold)


def best_among(sample: pa.Array, parts: Iterable[pa.Array], threshold: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """`best_matches` over titles that come in parts."""
    sets = grams(sample)
    owner = np.repeat(np.arange(len(sets)), sets.sizes)
    _, inverse, times = np.unique(sets.values, return_inverse=True, return_counts=True)
    by_rarity = np.lexsort((times[inverse], owner))
    place = np.arange(len(owner)) - sets.offsets[owner]
    least = np.ceil(sets.sizes * (threshold / (2.0 - threshold)) - 1e-9).astype(np.int32)
    rare = by_rarity[place < (sets.sizes - least + _SHARED)[owner]]
    order = rare[np.argsort(sets.values[rare], kind="stable")]
    values, starts = np.unique(sets.values[order], return_index=True)
    starts = np.append(starts, len(order))
    slots = np.full(1 << (2 * len(values) + 1).bit_length(), -1, np.int32)
    first_bits = np.zeros(1 << _SEEN_BITS, np.bool_)
    first_bits[values >> np.uint64(64 - _SEEN_BITS)] = True
    seen = np.packbits(first_bits, bitorder="little")
    _fill(values, slots)
    needed = np.minimum(least, _SHARED).astype(np.int32)
    best, row = np.zeros(len(sample)), np.full(len(sample), -1, np.int64)
    begin = 0
    for block in (part.slice(low, _BLOCK) for part in parts for low in range(0, len(part), _BLOCK)):
        others = grams(block)
        i, j = _proposed(others.offsets, others.values, seen, values, slots, starts, owner[order], needed)
        scores = score_pairs(sets, i, others, j, threshold)
        for pair in np.lexsort((j, -scores))[: int((scores > threshold).sum())][::-1]:
            if scores[pair] > best[i[pair]] or (scores[pair] == best[i[pair]] and row[i[pair]] >= begin):
                best[i[pair]], row[i[pair]] = scores[pair], begin + j[pair]
        begin += len(block)
    return best, row


@njit(cache=True, nogil=True)
def _fill(values: np.ndarray, slots: np.ndarray) -> None:
    last = len(slots) - 1
    for i in range(len(values)):
        slot = np.int64(values[i] & np.uint64(last))
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = i


@njit(cache=True, nogil=True)
def _proposed(
    offsets: np.ndarray,
    grams_b: np.ndarray,
    seen: np.ndarray,
    values: np.ndarray,
    slots: np.ndarray,
    starts: np.ndarray,
    owners: np.ndarray,
    needed: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (sample, title) that share as many of the sample's rare 3-grams as they need."""
    last = len(slots) - 1
    common = np.zeros(len(needed), np.int32)
    room = 1 << 16
    found_i, found_j, count = np.empty(room, np.int64), np.empty(room, np.int64), 0
    longest = 0
    for j in range(len(offsets) - 1):
        longest = max(longest, offsets[j + 1] - offsets[j])
    hits = np.empty(longest, np.int32)
    for j in range(len(offsets) - 1):
        hit = 0
        for k in range(offsets[j], offsets[j + 1]):
            bit = grams_b[k] >> np.uint64(64 - _SEEN_BITS)
            if not seen[bit >> np.uint64(3)] >> (bit & np.uint64(7)) & np.uint64(1):
                continue
            slot = np.int64(grams_b[k] & np.uint64(last))
            while slots[slot] >= 0:
                if values[slots[slot]] == grams_b[k]:
                    hits[hit] = slots[slot]
                    hit += 1
                    break
                slot = (slot + 1) & last
        for k in range(hit):
            for place in range(starts[hits[k]], starts[hits[k] + 1]):
                i = owners[place]
                common[i] += 1
                if common[i] == needed[i]:
                    if count == room:
                        room *= 2
                        wider_i, wider_j = np.empty(room, np.int64), np.empty(room, np.int64)
                        wider_i[:count], wider_j[:count] = found_i, found_j
                        found_i, found_j = wider_i, wider_j
                    found_i[count], found_j[count] = i, j
                    count += 1
        for k in range(hit):
            for place in range(starts[hits[k]], starts[hits[k] + 1]):
                common[owners[place]] = 0
    return found_i[:count], found_j[:count]
