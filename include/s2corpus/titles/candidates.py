"""Pairs of similar titles without comparing all with all: MinHash keys propose, S decides.

One side is held, a block at a time, and the other passes by, band after band. Pairs that share enough keys, and whose sizes and
sketches allow an S above the threshold, are scored exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from s2corpus.titles import minhash
from s2corpus.titles.postings import Buckets, Keys, keys_of, over_full, sharing
from s2corpus.titles.threegrams import grams, score_pairs

MIN_KEYS = 2
"""Equal keys that make a candidate pair."""
_BLOCK = 1 << 16
"""Pairs that are scored at once."""
_AT_ONCE = 1 << 18
"""Titles that pass by at once."""


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
    over_full: np.ndarray
    """keys left out because more than MAX_SHARED titles share them, uint64, each with its band in the upper half, ascending"""


@dataclass(frozen=True, slots=True)
class Search:
    """How candidates are found. The defaults are measured: `devtools/bench/link.py`."""

    threshold: float = 0.8
    """S must be above it (strict; S2ORC §2.6)"""
    bands: int = minhash.BANDS
    rows: int = minhash.ROWS
    min_keys: int = MIN_KEYS
    keep: int = 64
    """most pairs kept of one row of `titles_a`, the best"""
    memory_mb: int = 1024
    """decides how much is done at once, never the result"""


class Passing(Protocol):
    """Normalised titles that can be passed by, however many they are and wherever they are kept."""

    def __len__(self) -> int:
        """Titles."""

    def over_full(self, band: int) -> np.ndarray:
        """Keys of a band that more than MAX_SHARED titles share, uint32, ascending."""

    def chunks(self, band: int) -> Iterator[tuple[int, Keys]]:
        """Number of the first title, and one band's keys (with sizes and sketches), of some titles after the other."""

    def texts(self) -> Iterator[tuple[int, pa.Array]]:
        """Number of the first title, and the titles, of some after the other."""


def candidates(titles_a: pa.Array, titles_b: pa.Array, threshold: float = 0.8, search: Search | None = None) -> Pairs:
    """The pairs of a normalised title of `titles_a` with one of `titles_b` whose S is above the threshold (strict).

    A pair may be missed (`exhaustive` measures how many are), but every S is exact. Equal rows of `titles_b` propose more than once:
    group them first.
    """
    search = replace(search or Search(), threshold=threshold)
    return candidates_among(titles_a, Titles(titles_b, search), search)


def similar_pairs(titles: pa.Array, threshold: float = 0.8, search: Search | None = None) -> Pairs:
    """The pairs (a < b) of rows of one column of normalised titles whose S is above the threshold (strict).

    Equal strings are pairs too, and a group of n makes n(n-1)/2 of them: group them first.
    """
    search = replace(search or Search(), threshold=threshold)
    return _pairs(titles, Titles(titles, search), search, within=True)


def candidates_among(titles_a: pa.Array, titles_b: Passing, search: Search) -> Pairs:
    """`candidates` with titles that pass by: `b` is their number."""
    return _pairs(titles_a, titles_b, search, within=False)


class Titles:
    """Titles in memory, to pass by. As many bands' keys are made at once as the search's memory allows."""

    def __init__(self, titles: pa.Array, search: Search) -> None:
        self._titles, self._search = titles, search
        self._at_once = int(np.clip((search.memory_mb << 18) // (4 * len(titles) + 1), 1, search.bands))
        self._made = range(0)
        self._crowded: dict[int, np.ndarray] = {}
        self._keys = Keys(np.empty((0, 0), np.uint32), np.empty(0, np.int32), np.empty((0, 4), np.uint64))

    def __len__(self) -> int:
        return len(self._titles)

    def band(self, band: int) -> Keys:
        """One band's keys of all titles."""
        if band not in self._made:
            low = band - band % self._at_once
            self._made = range(low, min(low + self._at_once, self._search.bands))
            self._keys = keys_of(self._titles, self._made, self._search.rows)
        at = band - self._made.start
        return replace(self._keys, keys=self._keys.keys[at : at + 1])

    def over_full(self, band: int) -> np.ndarray:
        """See `Passing`."""
        if band not in self._crowded:
            self._crowded[band] = over_full(lambda: iter(self.band(band).keys), len(self))
        return self._crowded[band]

    def chunks(self, band: int) -> Iterator[tuple[int, Keys]]:
        """See `Passing`."""
        every = self.band(band)
        for begin in range(0, len(self), _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            yield begin, Keys(every.keys[:, some], every.sizes[some], every.sketches[some])

    def texts(self) -> Iterator[tuple[int, pa.Array]]:
        """See `Passing`."""
        yield 0, self._titles


def over_full_keys(titles: Passing, bands: int) -> np.ndarray:
    """`Pairs.over_full` of any search among these titles, without searching."""
    found = [np.uint64(band << 32) | titles.over_full(band).astype(np.uint64) for band in range(bands)]
    return np.concatenate([np.empty(0, np.uint64), *found])


def scores_of(titles_a: pa.Array, a: np.ndarray, titles_b: Passing, b: np.ndarray, threshold: float) -> np.ndarray:
    """S of pairs of rows, float64; 0 where it is not above the threshold. `b` ascends."""
    scores = np.zeros(len(a), np.float64)
    for first, texts in titles_b.texts():
        low, high = np.searchsorted(b, (first, first + len(texts)))
        for begin in range(low, high, _BLOCK):
            some = slice(begin, min(begin + _BLOCK, high))
            left, at_left = np.unique(a[some], return_inverse=True)
            right, at_right = np.unique(b[some] - first, return_inverse=True)
            sets = grams(titles_a.take(pa.array(left))), grams(texts.take(pa.array(right)))
            scores[some] = score_pairs(sets[0], at_left, sets[1], at_right, threshold)
    scores[scores <= threshold] = 0.0
    return scores


def best(a: np.ndarray, b: np.ndarray, scores: np.ndarray, keep: int) -> np.ndarray:
    """Indices of the pairs with a score, by a, then descending S, then b; at most `keep` of each a."""
    order = np.flatnonzero(scores > 0.0)
    order = order[np.lexsort((b[order], -scores[order], a[order]))]
    rank = np.arange(len(order)) - np.searchsorted(a[order], a[order])
    return order[rank < keep]


def _pairs(titles_a: pa.Array, titles_b: Passing, search: Search, within: bool) -> Pairs:
    """Blocks of `titles_a` small enough for the memory allowed, one after the other."""
    half = search.memory_mb << 19
    block = int(np.clip(half // 512, 1 << 12, 1 << 20))
    results = []
    todo = [(begin, min(begin + block, len(titles_a))) for begin in reversed(range(0, len(titles_a), block))]
    while todo:
        begin, end = todo.pop()
        part = None if within else titles_a.slice(begin, end - begin)
        proposed = _proposed(part, titles_b, search, begin, end, most=half // 16)
        if proposed is None:  # many similar titles: half as many at once
            todo += [((begin + end) // 2, end), (begin, (begin + end) // 2)]
            continue
        times = len(proposed)
        pairs = shared(proposed, search.min_keys)
        del proposed
        a, b = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64), (pairs >> np.uint64(32)).astype(np.int64)
        scores = scores_of(titles_a, a, titles_b, b, search.threshold)
        kept = best(a, b, scores, search.keep)
        results.append((a[kept], b[kept], scores[kept], times, len(pairs)))
    return Pairs(
        np.concatenate([np.empty(0, np.int64), *(r[0] for r in results)]),
        np.concatenate([np.empty(0, np.int64), *(r[1] for r in results)]),
        np.concatenate([np.empty(0, np.float64), *(r[2] for r in results)]),
        sum(r[3] for r in results),
        sum(r[4] for r in results),
        over_full_keys(titles_b, search.bands) if results else np.empty(0, np.uint64),
    )


def _proposed(
    part: pa.Array | None, titles_b: Passing, search: Search, begin: int, end: int, most: int
) -> np.ndarray | None:
    """Every (b << 32 | a) once for each key they share, a in [begin, end); None if that is more than `most` (and can be cut).

    Without `part`, the rows are those of `titles_b` themselves, and only pairs a < b count.
    """
    found = [np.empty(0, np.uint64)]
    total = 0
    a = keys_of(part, range(search.bands), search.rows) if part is not None else None
    for band in range(search.bands):
        if a is not None:
            mine = replace(a, keys=a.keys[band : band + 1])
        else:
            assert isinstance(titles_b, Titles)
            every = titles_b.band(band)
            mine = Keys(every.keys[:, begin:end], every.sizes[begin:end], every.sketches[begin:end])
        buckets = Buckets.of(mine.keys[0], titles_b.over_full(band))
        for first, some in titles_b.chunks(band):
            for pairs in sharing(
                buckets, mine, begin, some.keys[0], some.sizes, some.sketches, first, search.threshold, a is None
            ):
                total += len(pairs)
                found.append(pairs)
                if total > most and end - begin > 1:
                    return None
    return np.concatenate(found)


def shared(proposed: np.ndarray, min_keys: int) -> np.ndarray:
    """The values that occur at least `min_keys` times, ascending; they are put in order where they are."""
    proposed.sort()
    first = np.flatnonzero(np.r_[True, proposed[1:] != proposed[:-1]]) if len(proposed) else np.empty(0, np.int64)
    times = np.diff(np.r_[first, len(proposed)])
    pairs: np.ndarray = proposed[first[times >= min_keys]]
    return pairs
