"""Search for similar titles (SPEC §7.3, §7.14): MinHash keys propose candidate pairs, and S decides.

Clustering, linking, the recall sample and near-duplicate texts use one search: sort the keys of one side, then find the
keys of the other side by binary search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.threegrams import BANDS, grams, minhash_keys, score_pairs

MIN_KEYS = 2
"""Equal keys that make a candidate pair."""
MAX_TITLES_PER_KEY = 256
"""A key of more titles proposes no candidate pairs. This limit bounds the work on titles made from one template."""
MAX_PAIRS_PER_TITLE = 64
"""The search keeps at most this number of similar titles for one title: those with the highest S."""


_PAIRS_PER_BLOCK = 1 << 16
_TITLES_PER_BLOCK = 1 << 12
"""Pairs that are scored, and titles that get keys, in one batch: their 3-grams are in memory."""
_BYTES_PER_TITLE = 4096
"""Memory that one searched title may take, with its candidate pairs."""


@dataclass(frozen=True, slots=True)
class Search:
    """Parameters of the search. The defaults are measured by `devtools/bench/link.py`."""

    threshold: float = 0.8
    """S must be above this value (SPEC §7.4)"""
    bands: int = BANDS
    by_title: bool = False
    """whether only S links an entry (`link.evidence: title`)"""
    memory_mb: int = 1024
    """limits the number of titles in one batch; never changes the result"""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of similar titles, by `a`, then descending S, then `b`."""

    a: np.ndarray
    """int64"""
    b: np.ndarray
    """int64"""
    score: np.ndarray
    """S, float64"""
    verified: int
    """number of candidate pairs that were scored"""


class SortedKeys(NamedTuple):
    """Keys in ascending order, and the row of each key."""

    keys: np.ndarray
    rows: np.ndarray


def sort_keys(keys: np.ndarray) -> SortedKeys:
    """Sort keys; rows with equal keys are in any order."""
    rows = np.argsort(keys)
    return SortedKeys(keys[rows], rows)


def find_keys(sorted_keys: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each key in `sorted_keys`, and the number of places with this key."""
    first = np.searchsorted(sorted_keys, keys, "left")
    count = np.zeros(len(keys), np.int64)
    found = np.flatnonzero(first < len(sorted_keys))
    found = found[sorted_keys[first[found]] == keys[found]]
    count[found] = np.searchsorted(sorted_keys, keys[found], "right") - first[found]
    return first, count


def expand_ranges(first: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs (i, place) for all places in `[first[i], first[i] + count[i])`."""
    i = np.repeat(np.arange(len(count)), count)
    begin = np.cumsum(count) - count
    return i, np.arange(len(i)) + (first - begin)[i]


def pair_equal_keys(keys: np.ndarray, others: SortedKeys) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs (row of `keys`, row of `others`) with an equal key, in the order of `keys`.

    A key of more than MAX_TITLES_PER_KEY rows of `others` matches nothing.
    """
    first, count = find_keys(others.keys, keys)
    count[count > MAX_TITLES_PER_KEY] = 0
    row, place = expand_ranges(first, count)
    return row, others.rows[place]


def compute_keys(titles: pa.Array, bands: int) -> np.ndarray:
    """Return the MinHash keys of normalized titles, uint32 (bands, titles); 0 for the empty title."""
    keys = np.zeros((bands, len(titles)), np.uint32)
    for begin in range(0, len(titles), _TITLES_PER_BLOCK):
        block = titles.slice(begin, _TITLES_PER_BLOCK)
        keys[:, begin : begin + len(block)] = minhash_keys(grams(block, sort=False), bands)
    return keys


class TitlesOnDisk:
    """Distinct normalized titles with their sorted MinHash keys: a piece of the index. Files are memory-mapped, one band at a time."""

    def __init__(self, texts: Path, bands: int) -> None:
        self._texts = texts
        self._keys = texts.with_name(texts.name.replace("titles-", "keys-"))
        self._count = self._keys.stat().st_size // (8 * bands)

    def __len__(self) -> int:
        return self._count

    def keys(self, band: int) -> SortedKeys:
        """Return the keys of one band."""
        if not self._count:
            return SortedKeys(np.empty(0, np.uint32), np.empty(0, np.uint32))
        both = np.memmap(self._keys, np.uint32, "r", 8 * self._count * band, (2, self._count))
        return SortedKeys(both[0], both[1])

    def texts(self) -> pa.Array:
        """Return the titles."""
        with pa.memory_map(str(self._texts)) as file, pa.ipc.open_stream(file) as reader:
            return one_chunk(reader.read_all()["normalized"])


def find_similar(titles: pa.Array, pieces: Sequence[TitlesOnDisk], search: Search) -> Pairs:
    """Return the pairs of a title with a title of the pieces with S above the threshold.

    `Pairs.b` numbers the titles of all pieces in their order. A pair may be missed (SPEC §7.14), but every S is exact.
    """
    block = max((search.memory_mb << 20) // _BYTES_PER_TITLE, 1)
    found = [
        _find_similar_block(titles.slice(begin, block), begin, pieces, search)
        for begin in range(0, max(len(titles), 1), block)
    ]
    a, b, score = (np.concatenate(column) for column in zip(*((p.a, p.b, p.score) for p in found), strict=True))
    return Pairs(a, b, score, sum(part.verified for part in found))


def _find_similar_block(titles: pa.Array, begin: int, pieces: Sequence[TitlesOnDisk], search: Search) -> Pairs:
    keys = compute_keys(titles, search.bands)
    codes = _propose(keys, 0, pieces, search)
    a, b = (codes >> np.uint64(32)).astype(np.int64), (codes & np.uint64(0xFFFFFFFF)).astype(np.int64)
    scores = np.zeros(len(codes))
    first = 0
    for piece in pieces:
        places = np.flatnonzero((b >= first) & (b < first + len(piece)))
        if len(places):
            scores[places] = score_titles(titles, a[places], piece.texts(), b[places] - first, search.threshold)
        first += len(piece)
    best = select_best(a, b, scores)
    return Pairs(a[best] + begin, b[best], scores[best], len(codes))


def _propose(keys: np.ndarray, begin: int, pieces: Sequence[TitlesOnDisk], search: Search) -> np.ndarray:
    """Return the candidate pairs as a << 32 | b (uint64, ascending): two titles with MIN_KEYS equal keys."""
    found = [np.empty(0, np.uint64)]
    room = search.memory_mb << 15  # pairs of half the memory, which is needed twice to sort them
    for band in range(len(keys)):
        searched = sort_keys(keys[band])
        sides = [piece.keys(band) for piece in pieces]
        ranges = [find_keys(side.keys, searched.keys) for side in sides]
        total = sum((count for _, count in ranges), np.zeros(len(searched.keys), np.int64))
        is_unusable = (total > MAX_TITLES_PER_KEY) | (searched.keys == 0)
        first_title = 0
        for piece, side, (first, count) in zip(pieces, sides, ranges, strict=True):
            count[is_unusable] = 0
            row, place = expand_ranges(first, count)
            a = (searched.rows[row] + begin).astype(np.uint64)
            found.append(a << np.uint64(32) | (side.rows[place].astype(np.uint64) + np.uint64(first_title)))
            first_title += len(piece)
            room -= len(row)
        if room < 0 and keys.shape[1] > 1:
            middle = keys.shape[1] // 2
            halves = (keys[:, :middle], begin), (keys[:, middle:], begin + middle)
            return np.concatenate([_propose(half, first_row, pieces, search) for half, first_row in halves])
    codes, count = np.unique(np.concatenate(found), return_counts=True)
    return codes[count >= MIN_KEYS]


def find_best_scores(sample: pa.Array, pieces: Sequence[TitlesOnDisk], threshold: float) -> np.ndarray:
    """Return the highest S of each sampled title over all titles, or 0 if none is above the threshold.

    This comparison is exhaustive. S above t needs a Jaccard index above t / (2 − t). So fewer than 1 − t / (2 − t) of the 3-grams of a
    title are not in the other title. Of so many of its rarest 3-grams and eight more, at least eight are common.
    """
    sets, best = grams(sample), np.zeros(len(sample))
    blocks = [(piece, begin) for piece in pieces for begin in range(0, len(piece), _TITLES_PER_BLOCK)]
    if not blocks:
        return best
    rows = np.repeat(np.arange(len(sets)), sets.sizes)
    common = np.sort(grams(blocks[0][0].texts().slice(0, _TITLES_PER_BLOCK)).values)
    order = np.lexsort((find_keys(common, sets.values)[1], rows))
    rank = np.arange(len(rows)) - sets.offsets[rows]
    allowed = (1.0 - threshold / (2.0 - threshold)) * sets.sizes  # 3-grams that the other title may lack
    rare = order[rank < np.floor(allowed)[rows] + 8]
    needed = np.bincount(rows[rare], minlength=len(sets)) - np.floor(allowed).astype(np.int64)
    keys = sort_keys(sets.values[rare])
    table = np.searchsorted(keys.keys >> np.uint64(48), np.arange((1 << 16) + 1, dtype=np.uint64))
    for piece, begin in blocks:
        texts = piece.texts().slice(begin, _TITLES_PER_BLOCK)
        others = grams(texts, sort=False)
        found = _find_common(others.offsets, others.values, keys.keys, rows[rare[keys.rows]], table, needed)
        b, a = np.divmod(found, len(sets))
        np.maximum.at(best, a, score_titles(sample, a, texts, b, threshold))
    return best


@njit(cache=True, nogil=True)
def _find_common(
    offsets: np.ndarray, values: np.ndarray, keys: np.ndarray, rows: np.ndarray, table: np.ndarray, needed: np.ndarray
) -> np.ndarray:
    """Return the pairs of a set and a row with `needed[row]` of its keys, as set × rows + row.

    `table` is the first key by its upper bits.
    """
    found = [0 for _ in range(0)]
    count = np.zeros(len(needed), np.int64)
    for i in range(len(offsets) - 1):
        count[:] = 0
        for value in values[offsets[i] : offsets[i + 1]]:
            bucket = value >> np.uint64(48)
            for at in range(table[bucket], table[bucket + np.uint64(1)]):
                if keys[at] == value:
                    count[rows[at]] += 1
                    if count[rows[at]] == needed[rows[at]]:
                        found.append(i * len(needed) + rows[at])
    return np.array(found, np.int64)


def unique_pairs(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort pairs by a, then b, and drop repeated pairs."""
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    is_new = np.ones(len(a), np.bool_)
    is_new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return a[is_new], b[is_new]


def score_titles(
    titles_a: pa.Array, a: np.ndarray, titles_b: pa.Array, b: np.ndarray, threshold: float = -1.0
) -> np.ndarray:
    """Return S of pairs of rows of two columns of normalized titles; 0 if S is not above the threshold."""
    scores = np.zeros(len(a))
    for begin in range(0, len(a), _PAIRS_PER_BLOCK):
        block = slice(begin, begin + _PAIRS_PER_BLOCK)
        rows_a, place_a = np.unique(a[block], return_inverse=True)
        rows_b, place_b = np.unique(b[block], return_inverse=True)
        sets_a, sets_b = grams(titles_a.take(pa.array(rows_a))), grams(titles_b.take(pa.array(rows_b)))
        scores[block] = score_pairs(sets_a, place_a, sets_b, place_b, max(threshold, 0.0))
    scores[scores <= threshold] = 0.0
    return scores


def select_best(a: np.ndarray, b: np.ndarray, scores: np.ndarray, most: int = MAX_PAIRS_PER_TITLE) -> np.ndarray:
    """Return the places of the pairs with S > 0, by a, then descending S, then b; at most `most` for each a."""
    places = np.flatnonzero(scores > 0.0)
    places = places[np.lexsort((b[places], -scores[places], a[places]))]
    rank = np.arange(len(places)) - np.searchsorted(a[places], a[places])
    return places[rank < most]
