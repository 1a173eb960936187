"""The search for similar titles beside comparing all, and its parts beside their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.clustering import similar
from s2corpus.titles import grams, score_pairs
from s2corpus.titles.postings import MAX_SHARED

STEMS = ("deepparsingofscientificpapers", "asurveyofrandomwalksongraphs", "citationsinsmallcorpora")
TITLES = sorted(
    {
        stem[:at] + letter + stem[at + gone :]
        for stem in STEMS
        for at in (3, 9, 17, 22)
        for letter in "xy"
        for gone in (0, 2)
    }
    | {*STEMS}
)
THRESHOLD = 0.8


def exact(normalised: list[str], threshold: float) -> dict[tuple[int, int], float]:
    """S above the threshold of every pair of places, the smaller first."""
    sets = grams(pa.array(normalised))
    i, j = np.triu_indices(len(normalised), 1)
    found = score_pairs(sets, i, sets, j)
    return {(int(a), int(b)): float(s) for a, b, s in zip(i, j, found, strict=True) if s > threshold}


@pytest.mark.parametrize("every", [1, 2, 3])
def test_similar_titles_are_those_that_comparing_all_finds(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which one side at least is asked for; in order of the passing one, then the best first; and in pieces as at once."""
    places = np.arange(len(TITLES))
    asked, others = places[::every], np.setdiff1d(places, places[::every])
    a, b, score = similar.similar(pa.array(TITLES), asked, others, THRESHOLD)
    found = {(min(x, y), max(x, y)): s for x, y, s in zip(a.tolist(), b.tolist(), score.tolist(), strict=True)}
    expected = {pair: s for pair, s in exact(TITLES, THRESHOLD).items() if not set(pair).isdisjoint(asked.tolist())}
    assert found == pytest.approx({pair: s for pair, s in expected.items() if pair in found}) and len(found) == len(a)
    assert len(found) >= 0.95 * len(expected) > 40
    assert set(b.tolist()) <= set(asked.tolist())
    order = {place: n for n, place in enumerate([*asked.tolist(), *others.tolist()])}
    rows = [(order[x], -s, y) for x, y, s in zip(a.tolist(), b.tolist(), score.tolist(), strict=True)]
    assert rows == sorted(rows)
    monkeypatch.setattr(similar, "_AT_ONCE", 7)
    pieces = similar.similar(pa.array(TITLES), asked, others, THRESHOLD)
    assert all((one == other).all() for one, other in zip(pieces, (a, b, score), strict=True))


def test_of_one_title_the_most_similar_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.arange(len(TITLES))
    a, _, score = similar.similar(pa.array(TITLES), places, places[:0], THRESHOLD)
    monkeypatch.setattr(similar, "KEEP", 2)
    few, _, best = similar.similar(pa.array(TITLES), places, places[:0], THRESHOLD)
    for title in set(a.tolist()):
        assert best[few == title].tolist() == sorted(score[a == title].tolist(), reverse=True)[:2]


def test_nothing_is_asked_for() -> None:
    assert [len(column) for column in similar.similar(pa.array(TITLES), np.arange(0), np.arange(3), THRESHOLD)] == [
        0,
        0,
        0,
    ]


def test_a_signature_is_keys_a_bit_for_each_3_gram_and_their_number() -> None:
    found = similar.signatures(pa.array(["abcd", "", "abcabc", "ab"]))
    assert found.keys.shape == (similar.BANDS, 4) and found.sizes.tolist() == [2, 0, 4, 1]
    assert (found.keys[:, 1] == 0).all() and (found.keys[:, [0, 2, 3]] != 0).all()
    sets = grams(pa.array(["abcd", "", "abcabc", "ab"]))
    for row in range(4):
        bits = {int(gram) & 255 for gram in sets.values[sets.offsets[row] : sets.offsets[row + 1]]}
        assert {64 * n + bit for n in range(4) for bit in range(64) if int(found.sketches[row, n]) >> bit & 1} == bits


@given(st.text("abc", max_size=20), st.text("abc", max_size=20), st.sampled_from([0.0, 0.5, 0.8, 0.95]))
def test_no_pair_above_the_threshold_is_thinned_out(one: str, other: str, threshold: float) -> None:
    signs, sets = similar.signatures(pa.array([one, other])), grams(pa.array([one, other]))
    (s,) = score_pairs(sets, np.array([0]), sets, np.array([1]))
    may = similar._may_reach(signs.sizes[0], signs.sizes[1], signs.sketches[0], signs.sketches[1], threshold)
    assert may or s <= threshold


@pytest.mark.parametrize(
    ("sizes", "only", "threshold", "may"),
    [
        ((10, 10), (0, 0), 0.99, True),
        ((10, 10), (2, 2), 0.72, True),  # 8 in common: 16 / (16 + 2 + 2 + 2) = 0.727
        ((10, 10), (2, 2), 0.73, False),
        ((10, 20), (0, 10), 0.66, True),  # 10 in common: 20 / (20 + 10) = 2/3
        ((10, 20), (0, 10), 0.67, False),
        ((12, 10), (2, 0), 0.90, True),  # 20 / 22
        ((12, 10), (2, 0), 0.91, False),
        ((0, 10), (0, 10), 0.0, False),
    ],
)
def test_how_similar_two_titles_can_be(
    sizes: tuple[int, int], only: tuple[int, int], threshold: float, may: bool
) -> None:
    """By the 3-grams that only one of them has: bits 0 … of the second word, and of the fourth."""
    sketches = np.zeros((2, 4), np.uint64)
    sketches[:, 0] = 0b1010
    sketches[0, 1], sketches[1, 3] = (1 << only[0]) - 1, (1 << only[1]) - 1
    assert similar._may_reach(*sizes, sketches[0], sketches[1], threshold) is may


@pytest.mark.parametrize("crowd", [MAX_SHARED, MAX_SHARED + 1])
def test_a_key_that_more_titles_have_than_may_share_one_proposes_none(crowd: int) -> None:
    """Others in its bucket do."""
    keys = np.array([77] * crowd + [78, 78, 0, 1 << 31], np.uint32)
    there, starts, in_order, rows = similar.index(keys)
    found = {key: sorted(rows[in_order == key].tolist()) for key in (77, 78, 1 << 31)}
    assert found == {
        77: list(range(crowd)) if crowd == MAX_SHARED else [],
        78: [crowd, crowd + 1],
        1 << 31: [crowd + 3],
    }
    assert starts[0] == 0 and starts[-1] == len(keys)
    ones, twos = (sum(int(word).bit_count() for word in row) for row in there)
    assert (ones, twos) == (2, 1), "the upper bits of 77 and 78, and of the last"
    bits = len(starts).bit_length() - 1
    for bucket, (begin, end) in enumerate(pairwise(starts)):
        assert all(key == 0 or key >> (32 - bits) == bucket for key in in_order[begin:end].tolist())


def test_pairs_of_one_key_are_those_that_the_search_proposes() -> None:
    """As another engine finds them: rows by key, then by title."""
    signs = similar.signatures(pa.array(TITLES))
    count = len(TITLES)
    asked = np.arange(count) % 3 == 0
    for band in range(similar.BANDS):
        keys = signs.keys[band]
        order = np.lexsort((np.arange(count), keys))
        args = np.arange(count)[order], asked[order], signs.sizes[order], signs.sketches[order]
        a, b = similar.pairs_of_keys(keys[order], *args, 0.5)
        expected = {
            (i, j)
            for i in range(count)
            for j in range(count)
            if i != j and keys[i] == keys[j] and asked[j] and not (asked[i] and j < i)
            and similar._may_reach(signs.sizes[i], signs.sizes[j], signs.sketches[i], signs.sketches[j], 0.5)
        }  # fmt: skip
        assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == sorted(expected)


@pytest.mark.parametrize(("crowd", "pairs"), [(MAX_SHARED, True), (MAX_SHARED + 1, False)])
def test_keys_that_too_many_have_pair_none_for_another_engine_either(crowd: int, pairs: bool) -> None:
    asked = np.zeros(crowd + 2, bool)
    asked[:crowd] = True
    keys = np.array([5] * (crowd + 2), np.uint32)
    sketches, sizes = np.ones((crowd + 2, 4), np.uint64), np.full(crowd + 2, 4, np.int32)
    titles = np.repeat(np.arange(2), [crowd, 2])  # but two titles, so that there are few pairs
    a, _ = similar.pairs_of_keys(keys, titles, asked, sizes, sketches, 0.5)
    assert (len(a) > 0) is pairs
    a, _ = similar.pairs_of_keys(np.zeros(4, np.uint32), np.arange(4), np.ones(4, bool), sizes[:4], sketches[:4], 0.5)
    assert len(a) == 0, "key 0 is the empty title's"


def test_of_a_bucket_that_begins_with_too_many_of_a_key_the_others_stay() -> None:
    for crowd in (MAX_SHARED, MAX_SHARED + 1):
        keys = np.array([78] + [77] * crowd + [78, 79], np.uint32)
        _, _, in_order, rows = similar.index(keys)
        found = {key: sorted(rows[in_order == key].tolist()) for key in (77, 78, 79)}
        assert found == {
            77: list(range(1, crowd + 1)) if crowd == MAX_SHARED else [],
            78: [0, crowd + 1],
            79: [crowd + 2],
        }
        _, _, in_order, _ = similar.index(np.array([77, 77, *[78] * crowd], np.uint32))
        assert (in_order == 78).sum() == (crowd if crowd == MAX_SHARED else 0) and (in_order == 77).sum() == 2


@pytest.mark.parametrize("key", [1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE])
@pytest.mark.parametrize("crowd", [MAX_SHARED, MAX_SHARED + 1])
def test_too_many_of_a_key_are_left_out_in_whichever_bucket(key: int, crowd: int) -> None:
    _, _, in_order, rows = similar.index(np.array([*[key] * crowd, key + 1], np.uint32))
    assert (in_order == key).sum() == (crowd if crowd == MAX_SHARED else 0)
    assert rows[in_order == key + 1].tolist() == [crowd]


def test_more_pairs_of_a_key_than_there_is_room_for_at_first() -> None:
    count, keys = 50, np.full(50, 7, np.uint32)
    sketches, sizes = np.ones((count, 4), np.uint64), np.full(count, 4, np.int32)
    pairs = similar._proposed(keys, sketches, sizes, *similar.index(keys), sketches, sizes, 0, 0.5)
    expected = [(i, j) for i in range(count) for j in range(i + 1, count)]
    assert sorted((int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in pairs) == expected
    both = similar._proposed(keys, sketches, sizes, *similar.index(keys), sketches, sizes, -1, 0.5)
    assert len(both) == count * count, "titles that are not held are compared with all"
    a, b = similar.pairs_of_keys(keys, np.arange(count), np.ones(count, bool), sizes, sketches, 0.5)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == expected
