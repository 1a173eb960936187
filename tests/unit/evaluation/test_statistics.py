"""Intervals and agreement equal numbers from the literature and from statistics packages."""

from __future__ import annotations

import pytest

from s2corpus.evaluation.statistics import accuracy, kappa


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe (1998), Table I: method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_equal_published_values(right: int, of: int, low: float, high: float) -> None:
    found = accuracy([True] * right + [False] * (of - right))
    assert found is not None
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)


def test_kappa_equals_cohens_kappa() -> None:
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    assert kappa(pairs) == pytest.approx(0.4)  # the example of the article on Wikipedia, after Cohen (1960)
    assert kappa([(True, True)]) == 1.0
    assert kappa([]) is None and accuracy([]) is None
