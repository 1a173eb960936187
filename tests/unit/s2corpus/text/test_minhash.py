"""MinHash keys find similar texts, and the final decision uses the exact Jaccard index (SPEC §9.7)."""

from __future__ import annotations

import random
import string

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from s2corpus.text import minhash

WORDS = st.lists(st.sampled_from(["of", "the", "cell", "Cell,", "grows", "—", "β-sheet", "2"]), max_size=30)


def ngrams(text: str, length: int) -> set[tuple[str, ...]]:
    """Return the n-grams of RedPajama-v2's words."""
    words = text.lower().translate(str.maketrans("", "", string.punctuation)).split()
    length = min(length, len(words))
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)} if words else set()


@given(WORDS.map(" ".join), WORDS.map(" \n".join), st.integers(1, 5))
@example("", "", 1)
@example("cell", "Cell,", 1)
def test_jaccard_index_is_that_of_word_ngrams(left: str, right: str, length: int) -> None:
    a, b = (ngrams(text, length) for text in (left, right))
    hashed = [np.unique(minhash.hash_shingles(text, length)) for text in (left, right)]
    expected = len(a & b) / max(len(a | b), 1)
    assert minhash.compute_jaccard(*hashed) == pytest.approx(expected)
    ends = np.cumsum([len(one) for one in hashed], dtype=np.int64)
    starts, (zero, one) = np.concatenate([[0], ends[:1]]), np.array([[0], [1]])
    assert minhash.compute_jaccards(np.concatenate(hashed), starts, ends, zero, one)[0] == pytest.approx(expected)


def test_equal_sets_of_ngrams_have_equal_keys() -> None:
    a = minhash.hash_shingles("one two three four five six one two three four five", 5)
    b = np.unique(a)[::-1].copy()
    assert minhash.compute_keys(a, 20, 6, 1).tolist() == minhash.compute_keys(b, 20, 6, 1).tolist()
    assert len(set(minhash.compute_keys(a, 20, 6, 1).tolist())) == 20
    assert minhash.compute_keys(a, 20, 6, 1).tolist() != minhash.compute_keys(a, 20, 6, 2).tolist()
    assert len(minhash.compute_keys(minhash.hash_shingles(" . ", 5), 20, 6, 1)) == 0


def test_keys_of_texts_are_pinned() -> None:
    """Pin the keys: published documents contain them."""
    found = minhash.compute_keys(minhash.hash_shingles("The quick brown fox jumps over the lazy dog", 5), 2, 3, 1)
    assert found.tolist() == [3640899039185727801, 4059086398637589081]


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-4, 4)), max_size=40),
    st.integers(1, 50),
    st.randoms(use_true_random=False),
)
def test_candidate_pairs_share_a_key_and_are_unique(rows: list[tuple[int, int]], most: int, rng: random.Random) -> None:
    tables = [np.array(given, np.int64).reshape(-1, 2).T for given in (rows, rng.sample(rows, len(rows)))]
    pairs, again = (minhash.list_candidate_pairs(keys, nodes, most).tolist() for keys, nodes in tables)
    assert pairs == again == sorted(pairs)
    assert len(pairs) == len({*map(tuple, pairs)})
    groups = [sorted({node for key, node in rows if key == one}) for one in {key for key, _ in rows}]
    next_ones = {(a, b) for nodes in groups for at, a in enumerate(nodes) for b in nodes[at + 1 : at + 1 + most]}
    assert {*map(tuple, pairs)} == next_ones


def test_pairs_are_found_with_the_expected_probability() -> None:
    """Check measured shares against 1 - (1 - J^6)^20, which is 0.998 at J = 0.8 and 0.08 at J = 0.4."""
    rng = random.Random(5)
    for both, low, high in ((16, 0.97, 1.0), (8, 0.03, 0.14)):
        met = 0
        for _ in range(150):
            values = np.array([rng.getrandbits(64) for _ in range(20)], np.uint64)
            one, other = np.split(values[both:], 2)
            keys = [minhash.compute_keys(np.concatenate([values[:both], own]), 20, 6, 1) for own in (one, other)]
            met += bool(np.intersect1d(keys[0], keys[1]).size)
        assert low <= met / 150 <= high
