"""Find similar texts: word n-grams as sets, MinHash keys that similar sets share, and the exact Jaccard index.

MinHash: Broder 1997. Keys by bands of rows: Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", §3.4. Two sets with
Jaccard index J share one of b keys of r rows with probability 1 - (1 - J^r)^b.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from s2corpus.compiled import njit
from s2corpus.text import word_hashes
from s2corpus.text.word_hashes import mix
from s2corpus.titles import similarity
from s2corpus.titles.threegrams import lower

Hashes = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.int64]

SHINGLE_WORDS = 5
"""Words of an n-gram (Lee et al., arXiv:2107.06499, §4.2; also datatrove's default)."""
BANDS, ROWS, SEED = 20, 6, 1
"""MinHash keys of a text, hashes in a key, and seed of the hash functions. The probability to find a pair is 0.998 at a Jaccard index of
0.8, and 0.9999 at 0.85."""
MAX_GROUP = 100
"""If more texts share a MinHash key, each is compared with only this number of others."""


def hash_shingles(text: str, length: int = SHINGLE_WORDS) -> Hashes:
    """Return the hashes of the n-grams of `length` words, one for each position.

    A shorter text has one hash over all its words. An empty text has none.
    """
    return _shingles(word_hashes.hash_words(text)[0], length)


def compute_keys(shingles: Hashes, bands: int = BANDS, rows: int = ROWS, seed: int = SEED) -> Keys:
    """Return the keys of a set of n-grams, one for each band; the empty set has no keys.

    A key is a hash of the minima of `rows` hash functions and the band number. Keys of different bands never match.
    """
    return _keys(shingles, *_coefficients(bands * rows, seed), rows)


def list_candidate_pairs(keys: Keys, nodes: Keys, max_group: int = MAX_GROUP) -> Keys:
    """Return candidate pairs: nodes (texts) that share a key. Shape (pairs, 2), distinct, smaller node first, sorted.

    `keys[i]` is a key of `nodes[i]`. A node is paired only with the next `max_group` nodes that have the same key.
    """
    keys, nodes = similarity.unique_pairs(keys, nodes)
    place = np.arange(len(keys))
    count = np.minimum(np.searchsorted(keys, keys, "right") - place - 1, max_group)
    left = np.repeat(place, count)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    pairs: Keys = np.stack(similarity.unique_pairs(nodes[left], nodes[right]), axis=1)
    return pairs


@njit(cache=True, nogil=True)
def compute_jaccard(a: Hashes, b: Hashes) -> float:
    """Return the Jaccard index of two sorted sets of n-grams without repetition; 0 if both are empty."""
    i = j = both = 0
    while i < len(a) and j < len(b):
        if a[i] < b[j]:
            i += 1
        elif a[i] > b[j]:
            j += 1
        else:
            i, j, both = i + 1, j + 1, both + 1
    return both / max(len(a) + len(b) - both, 1)


@njit(cache=True, nogil=True)
def compute_jaccards(values: Hashes, starts: Keys, ends: Keys, left: Keys, right: Keys) -> npt.NDArray[np.float64]:
    """Return the Jaccard index of each pair of sets. Set `i` is `values[starts[i]:ends[i]]`, sorted, without repetition."""
    found = np.empty(len(left), np.float64)
    for i in range(len(left)):
        a, b = left[i], right[i]
        found[i] = compute_jaccard(values[starts[a] : ends[a]], values[starts[b] : ends[b]])
    return found


def _coefficients(hashes: int, seed: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the addends and multipliers of the hash functions."""
    drawn = [int(mix(np.uint64(seed), np.uint64(i))) for i in range(2 * hashes)]
    upper = np.array([value >> 32 for value in drawn], np.uint32)
    return upper[:hashes], upper[hashes:] | np.uint32(1)


@njit(cache=True, nogil=True)
def _shingles(words: Hashes, length: int) -> Hashes:
    length = min(length, len(words))
    if length == 0:
        return words[:0].copy()
    found = words[: len(words) - length + 1].copy()
    for i in range(len(found)):
        for next_ in words[i + 1 : i + length]:
            found[i] = mix(found[i], next_)
    return found


@njit(cache=True, nogil=True)
def _keys(
    shingles: Hashes, add: npt.NDArray[np.uint32], multiply: npt.NDArray[np.uint32], rows: int
) -> npt.NDArray[np.int64]:
    bands = len(add) // rows if len(shingles) else 0
    minima = np.full(len(add), np.uint32(0xFFFFFFFF))
    lower(minima, shingles, add, multiply)
    found = np.empty(bands, np.int64)
    for band in range(bands):
        key = np.uint64(band)
        for minimum in minima[band * rows : (band + 1) * rows]:
            key = mix(key, np.uint64(minimum))
        found[band] = np.int64(key)
    return found
