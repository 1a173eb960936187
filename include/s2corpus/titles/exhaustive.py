"""The best match among all titles, without fail: what the recall of the candidates is measured against.

S above a threshold t means a Jaccard index above t/(2-t), so that two titles of sizes a and b have more than t(a+b)/2 3-grams in
common. As many bits of their sketches are common, but for 3-grams of a title that share a bit: only such pairs are scored.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import place_of
from s2corpus.titles.candidates import Passing, Search, Titles
from s2corpus.titles.postings import keys_of, ones
from s2corpus.titles.threegrams import grams, score_pairs


def best_matches(sample: pa.Array, titles: pa.Array, threshold: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """For each normalised title of `sample` the highest S over all of `titles`, float64, and its first row, int64.

    0 and -1 where no S is above the threshold (strict).
    """
    return best_among(sample, Titles(titles, Search(bands=1, rows=1)), threshold)


def best_among(sample: pa.Array, titles: Passing, threshold: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """`best_matches` over titles that pass by."""
    mine = keys_of(sample, range(0), 1)
    order = np.argsort(mine.sizes, kind="stable")
    found_i, found_j = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for first, some in titles.chunks(0):
        i, j = _alike(mine.sizes[order], mine.sketches[order], some.sizes, some.sketches, threshold)
        found_i.append(order[i])
        found_j.append(j + first)
    i, j = np.concatenate(found_i), np.concatenate(found_j)
    best, row = np.zeros(len(sample)), np.full(len(sample), -1, np.int64)
    sets = grams(sample)
    for first, texts in titles.texts():
        low, high = np.searchsorted(j, (first, first + len(texts)))
        wanted, k = np.unique(j[low:high], return_inverse=True)
        scores = score_pairs(sets, i[low:high], grams(texts.take(pa.array(wanted - first))), k, threshold)
        for pair in np.flatnonzero(scores > threshold):
            if scores[pair] > best[i[low + pair]]:
                best[i[low + pair]], row[i[low + pair]] = scores[pair], j[low + pair]
    return best, row


@njit(cache=True, nogil=True)
def _alike(
    sizes_a: np.ndarray, sketches_a: np.ndarray, sizes_b: np.ndarray, sketches_b: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that may have S above the threshold, by `b`; the sizes of `a` ascend."""
    share = threshold / 2.0
    least = np.empty(len(sizes_a), np.float64)
    # What two neighbours have in common with a third is at most what their union has: nearly all are left out two at a time.
    pairs = (len(sizes_a) + 1) // 2
    least_of_two = np.full(pairs, np.inf)
    words = np.zeros((4, pairs), np.uint64)
    for i in range(len(sizes_a)):
        bits = 0
        for word in range(4):
            words[word, i >> 1] |= sketches_a[i, word]
            bits += ones(sketches_a[i, word])
        least[i] = share * sizes_a[i] - (sizes_a[i] - bits)
        least_of_two[i >> 1] = min(least_of_two[i >> 1], least[i])
    longest = np.int32(0)
    for size in sizes_b:
        longest = max(longest, size)
    begins, ends = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    for size in range(longest + 1):  # neither is above 1/share - 1 times as long as the other
        begins[size] = place_of(sizes_a, size * share / (1.0 - share) - 1e-6)
        ends[size] = place_of(sizes_a, size * (1.0 - share) / share + 1e-6)
    u0, u1, u2, u3 = words[0], words[1], words[2], words[3]
    room = 1 << 16
    found_i, found_j, count = np.empty(room, np.int64), np.empty(room, np.int64), 0
    for j in range(len(sizes_b)):
        size = sizes_b[j]
        begin, end = begins[size], ends[size]
        if size == 0 or begin >= end:
            continue
        if count + end - begin > room:
            room = 2 * room + end - begin
            wider_i, wider_j = np.empty(room, np.int64), np.empty(room, np.int64)
            for k in range(count):
                wider_i[k], wider_j[k] = found_i[k], found_j[k]
            found_i, found_j = wider_i, wider_j
        b0, b1, b2, b3 = sketches_b[j, 0], sketches_b[j, 1], sketches_b[j, 2], sketches_b[j, 3]
        more = share * size - 1e-6
        hits = 0  # of most there is none: this loop branches on nothing, and is done for several at once
        first, last = begin >> 1, (end + 1) >> 1
        # Of signed places numba counts those below zero from the end: what lies in a row would be read one by one.
        for place in range(np.uint64(first), np.uint64(last)):
            common = ones(u0[place] & b0) + ones(u1[place] & b1) + ones(u2[place] & b2) + ones(u3[place] & b3)
            hits += int(common >= least_of_two[place] + more)
        for two in range(first, last if hits else first):
            common = ones(u0[two] & b0) + ones(u1[two] & b1) + ones(u2[two] & b2) + ones(u3[two] & b3)
            if common < least_of_two[two] + more:
                continue
            for i in range(max(begin, 2 * two), min(end, 2 * two + 2)):
                common = 0
                for word in range(4):
                    common += ones(sketches_a[i, word] & sketches_b[j, word])
                found_i[count], found_j[count] = i, j
                count += int(common >= least[i] + more)
    return found_i[:count].copy(), found_j[:count].copy()
