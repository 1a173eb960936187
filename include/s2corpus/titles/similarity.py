"""Search for similar titles (SPEC §7.3, §7.14): MinHash keys propose candidate pairs, and S decides.

`stages/cluster.sql` and `stages/link.sql` join the keys.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from s2corpus.compiled import njit
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.threegrams import grams, minhash_keys, score_pairs

MIN_KEYS = 2
"""Equal keys that make a candidate pair."""
MAX_TITLES_PER_KEY = 256
"""A key of more titles proposes no candidate pairs. This limit bounds the work on titles made from one template."""
MAX_PAIRS_PER_TITLE = 64
"""The search keeps at most this number of similar titles for one title: those with the highest S."""


def find_best_scores(sample: pa.Array, titles: pa.Array, threshold: float) -> np.ndarray:
    """Return the highest S of each sampled title over all titles, or 0 if none is above the threshold.

    This comparison is exhaustive. S above t needs a Jaccard index above t / (2 − t). So fewer than 1 − t / (2 − t) of the 3-grams of a
    title are not in the other title. Of so many of its rarest 3-grams and eight more, at least eight are common.
    """
    sets, others, best = grams(sample), grams(titles, sort=False), np.zeros(len(sample))
    rows = np.repeat(np.arange(len(sets)), sets.sizes)
    common = np.sort(others.values)
    first, last = (np.searchsorted(common, sets.values, side) for side in ("left", "right"))
    order = np.lexsort((last - first, rows))
    rank = np.arange(len(rows)) - sets.offsets[rows]
    allowed = (1.0 - threshold / (2.0 - threshold)) * sets.sizes  # 3-grams that the other title may lack
    rare = order[rank < np.floor(allowed)[rows] + 8]
    needed = np.bincount(rows[rare], minlength=len(sets)) - np.floor(allowed).astype(np.int64)
    by_key = np.argsort(sets.values[rare])
    keys = sets.values[rare][by_key]
    table = np.searchsorted(keys >> np.uint64(48), np.arange((1 << 16) + 1, dtype=np.uint64))
    found = _find_common(others.offsets, others.values, keys, rows[rare[by_key]], table, needed)
    b, a = np.divmod(found, len(sets))
    np.maximum.at(best, a, score_titles(sample, a, titles, b, threshold))
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
    rows_a, place_a = np.unique(a, return_inverse=True)
    rows_b, place_b = np.unique(b, return_inverse=True)
    sets_a, sets_b = grams(titles_a.take(pa.array(rows_a))), grams(titles_b.take(pa.array(rows_b)))
    scores = score_pairs(sets_a, place_a, sets_b, place_b, max(threshold, 0.0))
    scores[scores <= threshold] = 0.0
    return scores


def add_keys(rows: pa.Table, bands: int, band_rows: int) -> pa.Table:
    """Return the MinHash keys of normalized titles: the other columns of `rows`, and `key`, in at most `bands` rows for each."""
    keys = minhash_keys(grams(rows["normalized"], sort=False), bands, band_rows)
    band = (np.arange(bands, dtype=np.uint64) << np.uint64(32))[:, None]
    used = np.flatnonzero(keys.ravel())
    owners = rows.drop_columns(["normalized"]).take(pa.array(used % max(len(rows), 1)))
    return owners.append_column("key", pa.array((keys | band).ravel()[used].astype(np.int64)))


def add_scores(rows: pa.Table, threshold: float) -> pa.Table:
    """Append S of pairs of normalized titles (`title_a`, `title_b`), and keep the pairs with S above the threshold."""
    coded = [one_chunk(rows[name]).dictionary_encode() for name in ("title_a", "title_b")]
    (texts_a, a), (texts_b, b) = ((side.dictionary, side.indices.to_numpy()) for side in coded)
    score = score_titles(texts_a, a, texts_b, b, threshold)
    return rows.append_column("score", pa.array(score)).filter(pa.array(score > 0.0))
