"""Printed numbers map to entries by their labels, or by the citations that the TEI resolves (SPEC §3.13)."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2orc_parse.tei.numbers import map_numbers


@pytest.mark.parametrize(
    ("labels", "votes", "expected"),
    [
        ([None] * 3, [], {1: 0, 2: 1, 3: 2}),
        ([], [], {}),
        # One known number places the numbers after it, and the numbers before it only if they start at 1.
        ([None] * 4, [(2, 1)], {1: 0, 2: 1, 3: 2, 4: 3}),
        ([None] * 4, [(3, 1)], {3: 1, 4: 2, 5: 3}),
        ([None] * 5, [(4, 3)], {1: 0, 2: 1, 3: 2, 4: 3, 5: 4}),
        ([None] * 4, [(9, 3)], {9: 3}),
        # Numbers between two known numbers get their places if the counts agree.
        ([None] * 6, [(1, 0), (4, 3)], {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5}),
        ([None] * 6, [(1, 0), (4, 4)], {1: 0, 4: 4, 5: 5}),
        # Printed numeric labels count; other labels do not.
        (["7", None, "9", "x", ""], [], {7: 0, 8: 1, 9: 2, 10: 3, 11: 4}),
        (["7", None, "9"], [(8, 1), (7, 2), (7, 2)], {7: 0, 8: 1, 9: 2}),
        (["5", None, None], [], {5: 0, 6: 1, 7: 2}),
        ([None, None, "2"], [], {2: 2}),
        (["1", None, None], [(2, 0)] * 9, {1: 0, 2: 1, 3: 2}),
        # If a number has several candidate places, the most frequent one wins, then the first.
        ([None] * 5, [(2, 4), (2, 1), (2, 4)], {2: 4}),
        ([None] * 5, [(2, 3), (2, 1)], {1: 0, 2: 1, 3: 2, 4: 3, 5: 4}),
        # Of contradicting places, the largest consistent set wins, then the lowest number.
        ([None] * 6, [(1, 5), (2, 3), (3, 4)], {2: 3, 3: 4, 4: 5}),
        ([None] * 6, [(1, 5), (2, 3)], {1: 5}),
        ([None] * 6, [(2, 3), (3, 3)], {2: 3, 3: 4, 4: 5}),
        # Printed labels outweigh resolved callouts.
        ([None, None, "3"], [(1, 2)] * 9, {1: 0, 2: 1, 3: 2}),
    ],
)
def test_number_maps_to_its_entry(
    labels: list[str | None], votes: list[tuple[int, int]], expected: dict[int, int]
) -> None:
    assert map_numbers(labels, votes, len(labels)) == expected


@given(st.dictionaries(st.integers(1, 9), st.tuples(st.integers(1, 3), st.integers(0, 6)), min_size=1, max_size=6))
def test_map_follows_largest_consistent_set_of_votes(votes: dict[int, tuple[int, int]]) -> None:
    """`votes` maps a number to its count and place. Greater numbers must have later places."""
    found = map_numbers([None] * 7, [(number, at) for number, (count, at) in votes.items() for _ in range(count)], 7)
    chains = [
        chain
        for size in range(1, len(votes) + 1)
        for chain in combinations(sorted(votes), size)
        if all(votes[a][1] < votes[b][1] for a, b in pairwise(chain))
    ]
    heaviest = max(sum(votes[number][0] for number in chain) for chain in chains)
    assert any(
        sum(votes[number][0] for number in chain) == heaviest and all(found.get(n) == votes[n][1] for n in chain)
        for chain in chains
    )
    assert all(a < b for a, b in pairwise(at for _, at in sorted(found.items())))


def test_thousands_of_contradicting_votes_are_not_searched() -> None:
    descending = [(number, 3_000 - number) for number in range(1, 3_001)]
    assert map_numbers([], descending, 3_000) == {1: 2_999}  # the largest size of a bibliography.
    assert map_numbers([], [(0, 3_000), *descending], 3) == {1: 0, 2: 1, 3: 2}
    ascending = [(number, number) for number in range(3_001)]
    assert len(map_numbers([], ascending, 3_001)) == 3_001
