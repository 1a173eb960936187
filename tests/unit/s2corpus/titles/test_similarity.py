"""The search for similar titles agrees with the rule of SPEC §7.3, written with Python sets."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.titles.similarity import (
    MAX_TITLES_PER_KEY,
    pair_equal_keys,
    score_titles,
    select_best,
    sort_keys,
    unique_pairs,
)

KEYS = st.lists(st.integers(0, 5), max_size=20)
NUMBERS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30)


@given(KEYS, KEYS, st.integers(0, 4))
def test_pairs_are_all_rows_with_equal_keys(keys: list[int], others: list[int], most: int) -> None:
    with patch("s2corpus.titles.similarity.MAX_TITLES_PER_KEY", most):
        row, other = pair_equal_keys(np.array(keys, np.uint32), sort_keys(np.array(others, np.uint32)))
    expected = [
        (i, j)
        for (i, key), (j, candidate) in product(enumerate(keys), enumerate(others))
        if key == candidate and others.count(key) <= most
    ]
    assert sorted(zip(row.tolist(), other.tolist(), strict=True)) == expected


@pytest.mark.parametrize(("titles", "pairs"), [(MAX_TITLES_PER_KEY, MAX_TITLES_PER_KEY), (MAX_TITLES_PER_KEY + 1, 0)])
def test_key_of_too_many_titles_matches_nothing(titles: int, pairs: int) -> None:
    row, _ = pair_equal_keys(np.array([7]), sort_keys(np.full(titles, 7)))
    assert len(row) == pairs


@given(NUMBERS)
def test_unique_pairs_are_sorted(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, np.int64).reshape(-1, 2).T
    assert list(zip(*(side.tolist() for side in unique_pairs(a, b)), strict=True)) == sorted(set(pairs))


def test_score_at_the_threshold_is_dropped() -> None:
    column = pa.array(["abcdefg", "abcdefh"])
    score = 8 / 11  # 4 common 3-grams of 5 and 5: 2·4 / (5 + 5 + 5 − 4).
    a, b = np.array([0]), np.array([1])
    assert score_titles(column, a, column, b, score).tolist() == [0.0]
    assert score_titles(column, a, column, b, score - 0.01).tolist() == [score]


def test_best_pairs_of_a_title_are_selected() -> None:
    a, b = np.array([0, 0, 0, 1, 1, 2]), np.array([5, 4, 3, 9, 8, 7])
    scores = np.array([0.9, 0.95, 0.9, 0.0, 0.85, 0.0])
    assert select_best(a, b, scores, 2).tolist() == [1, 2, 4]
