"""Search for similar titles (SPEC §7.3, §7.14): MinHash keys propose candidate pairs, and S decides.

Clustering, linking, the recall sample and near-duplicate texts use one search: sort the keys of one side, then find the
keys of the other side by binary search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from s2corpus.titles.threegrams import grams, score_pairs

MAX_TITLES_PER_KEY = 256
"""A key of more titles proposes no candidate pairs. This limit bounds the work on titles made from one template."""
MAX_PAIRS_PER_TITLE = 64
"""The search keeps at most this number of similar titles for one title: those with the highest S."""


class SortedKeys(NamedTuple):
    """Keys in ascending order, and the row of each key."""

    keys: np.ndarray
    rows: np.ndarray


def sort_keys(keys: np.ndarray) -> SortedKeys:
    """Sort keys; rows with equal keys keep their order."""
    rows = np.argsort(keys, kind="stable")
    return SortedKeys(keys[rows], rows)


def find_keys(sorted_keys: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each key in `sorted_keys`, and the number of places with this key."""
    first = np.searchsorted(sorted_keys, keys, "left")
    return first, np.searchsorted(sorted_keys, keys, "right") - first


def expand_ranges(first: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs (i, place) for all places in `[first[i], first[i] + count[i])`."""
    i = np.repeat(np.arange(len(count)), count)
    begin = np.cumsum(count) - count
    return i, np.arange(len(i)) + (first - begin)[i]


def pair_equal_keys(
    keys: np.ndarray, others: SortedKeys, max_per_key: int = MAX_TITLES_PER_KEY
) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs (row of `keys`, row of `others`) with an equal key, in the order of `keys`.

    A key of more than `max_per_key` rows of `others` matches nothing.
    """
    first, count = find_keys(others.keys, keys)
    count[count > max_per_key] = 0
    row, place = expand_ranges(first, count)
    return row, others.rows[place]


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
    rows_a, place_a = np.unique(a, return_inverse=True)
    rows_b, place_b = np.unique(b, return_inverse=True)
    sets_a, sets_b = (grams(titles.take(pa.array(rows))) for titles, rows in ((titles_a, rows_a), (titles_b, rows_b)))
    scores = score_pairs(sets_a, place_a, sets_b, place_b, max(threshold, 0.0))
    scores[scores <= threshold] = 0.0
    return scores


def select_best(a: np.ndarray, b: np.ndarray, scores: np.ndarray, most: int = MAX_PAIRS_PER_TITLE) -> np.ndarray:
    """Return the places of the pairs with S > 0, by a, then descending S, then b; at most `most` for each a."""
    places = np.flatnonzero(scores > 0.0)
    places = places[np.lexsort((b[places], -scores[places], a[places]))]
    rank = np.arange(len(places)) - np.searchsorted(a[places], a[places])
    return places[rank < most]
