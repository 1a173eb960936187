"""Records of a block are compared by the rules; each rule agrees with a definition in plain Python."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.clustering import pairs
from s2corpus.clustering.agreement import agree, agree_strictly, count_common
from s2corpus.clustering.nodes import group_nodes
from s2corpus.clustering.places import ELECTRONIC

CODES = st.lists(st.integers(-1, 3), max_size=14)
FLAGS = st.lists(st.booleans(), min_size=14, max_size=14)
TITLES = st.lists(st.integers(-1, 2), min_size=14, max_size=14)


def blocks(codes: list[int]) -> list[list[int]]:
    return [[node for node, code in enumerate(codes) if code == block] for block in range(4)]


def found(columns: tuple[np.ndarray, ...]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(CODES, FLAGS, TITLES, TITLES)
def test_blocks_and_the_pairs_around_one_record(
    codes: list[int], flags: list[bool], titles: list[int], dois: list[int]
) -> None:
    block = group_nodes(np.array(codes, np.int32), 4)
    assert [block.nodes[a:b].tolist() for a, b in zip(block.starts, block.starts[1:], strict=False)] == blocks(codes)
    trusted, title = np.array(flags), np.array(titles, np.int32)
    stars, around, untitled = [], [], []
    for members in blocks(codes):
        sure = [node for node in members if flags[node]]
        if sure:
            centre = next((node for node in sure if titles[node] >= 0), sure[0])
            stars += [(centre, node) for node in sure if node != centre]
            around += [(sure[0], node) for node in members if node != sure[0]]
            first = dois[sure[0]]
            if len({titles[node] for node in sure}) == 1 and (
                first < 0 or {dois[node] for node in sure} <= {first, -1}
            ):
                untitled += [(sure[0], node) for node in members if not flags[node] and titles[node] < 0]
    assert found(pairs.stars(block.nodes, block.starts, trusted, title)) == stars
    assert found(pairs.around(block.nodes, block.starts, trusted)) == around
    assert found(pairs.untitled(block.nodes, block.starts, trusted, title, np.array(dois, np.int32))) == untitled


@given(CODES, FLAGS, st.integers(1, 4))
def test_doubtful_pairs_are_looked_for_among_the_next_neighbours(
    codes: list[int], flags: list[bool], window: int
) -> None:
    block = group_nodes(np.array(codes, np.int32), 4)
    expected = [
        (members[p], members[q])
        for members in blocks(codes)
        for p, q in combinations(range(len(members)), 2)
        if q - p <= window and not (flags[members[p]] and flags[members[q]])
    ]
    assert found(pairs.doubtful(block.nodes, block.starts, np.array(flags), window)) == expected


def test_more_pairs_than_there_is_room_for_at_first() -> None:
    block = group_nodes(np.zeros(60, np.int32), 1)
    expected = list(combinations(range(60), 2))
    assert found(pairs.doubtful(block.nodes, block.starts, np.zeros(60, bool), 64)) == expected
    facts = facts_of([{}] * 60)
    assert (
        found(
            pairs.equal_titles(block.nodes, block.starts, np.zeros(1, bool), np.arange(60, dtype=np.int32), 64, *facts)
        )
        == expected
    )
    halves = group_nodes(np.repeat(np.array([0, 1], np.int32), 40), 2)
    near = pairs.near_titles(
        halves.nodes, halves.starts, np.array([0]), np.array([1]), np.array([0.95]), 64, *facts_of([{}] * 80)
    )
    assert found(near) == [(i, j, 0) for i in range(40) for j in range(40, 80)]


def facts_of(records: list[dict[str, Any]], years: int = 2) -> tuple[Any, ...]:
    """Return the arguments of `agree` for records such as `{"year": 2011, "names": [3, 5], …}`.

    The default year is 2000.
    """
    names = [record.get("names", []) for record in records]

    def column(name: str, default: int, kind: Any) -> np.ndarray:
        return np.array([record.get(name, default) for record in records], kind)

    offsets = np.cumsum([0, *map(len, names)], dtype=np.int64)
    return (
        column("doi", -1, np.int32), column("year", 2000, np.int32), column("preprint", 0, np.bool_), offsets,
        np.array([name for some in names for name in some], np.uint64), column("volume", 0, np.uint32), column("page", 0, np.uint32), years,
    )  # fmt: skip


ADA, BOTH, KURT = {"names": [3]}, {"names": [3, 5]}, {"names": [7]}
HERE = {"volume": 9, "page": 4}
OTHER_PAGE, ELECTRONIC_PAGE = {"volume": 9, "page": 8}, {"volume": 9, "page": 8 | int(ELECTRONIC)}


@pytest.mark.parametrize(
    ("one", "other", "exact", "near", "agreed"),
    [
        ({"doi": 0}, {"doi": 0}, True, True, True),
        ({"doi": 0}, {"doi": 1}, True, True, False),
        ({"doi": 0}, {}, True, True, True),
        ({}, {"doi": 0}, True, True, True),
        (ADA, BOTH, False, False, True),
        (ADA, KURT, True, True, False),
        ({"names": [1, 2, 3]}, {"names": [3, 4, 5]}, False, False, False),  # A third.
        ({"names": [1, 2, 3]}, {"names": [2, 3, 5]}, False, False, True),
        ({"names": [1, 2]}, {"names": [2, 3, 5]}, False, False, True),  # Half of the shorter list.
        ({"names": [1, 9]}, {"names": [2, 9]}, False, False, True),
        (ADA, {}, False, False, True),  # One list is empty.
        ({}, ADA, False, False, True),
        ({}, {}, True, False, True),  # No authors: the titles must be equal,
        ({}, {}, False, True, True),  # or nearly equal,
        (HERE, HERE, False, False, True),  # or the place must be equal.
        (HERE, {"volume": 9}, False, False, True),
        ({"volume": 9}, HERE, False, False, True),
        ({"volume": 9}, {"volume": 9}, False, False, True),
        (HERE, OTHER_PAGE, False, False, False),
        (HERE, ELECTRONIC_PAGE, False, False, True),
        ({"page": 4}, {"page": 4}, False, False, False),
        ({}, {}, False, False, False),
        (HERE | ADA, HERE | KURT, True, False, True),  # An equal place and title allow other authors.
        (HERE | ADA, HERE | KURT, False, True, False),
        (HERE | ADA, OTHER_PAGE | KURT, True, True, False),
        ({"page": 4} | ADA, {"page": 4} | KURT, True, True, False),
        (ADA, ADA | {"year": 2001}, True, True, False),
        (ADA, ADA | {"year": 0}, True, True, True),
        (ADA | {"year": 0}, ADA, True, True, True),
        (HERE | ADA, HERE | ADA | {"year": 2001}, True, True, True),  # Online, then in print.
        (HERE | ADA | {"year": 2001}, HERE | ADA, True, True, True),
        (HERE | ADA, HERE | ADA | {"year": 2002}, True, True, False),
        (HERE | ADA, OTHER_PAGE | ADA | {"year": 2001}, True, True, False),
        (ADA, ADA | {"year": 2002, "preprint": 1}, True, True, True),
        (ADA | {"preprint": 1}, ADA | {"year": 2002}, True, True, True),
        (ADA, ADA | {"year": 2003, "preprint": 1}, True, True, False),
        (ADA | {"preprint": 1}, ADA | {"year": 2001, "preprint": 1}, True, True, False),
    ],
)
def test_when_records_of_similar_titles_may_be_one_paper(
    one: dict[str, Any], other: dict[str, Any], exact: bool, near: bool, agreed: bool
) -> None:
    facts = facts_of([{"names": [99]}, one, {"names": [98]}, other])
    for i, j in ((1, 3), (3, 1)):
        assert agree(i, j, *facts, exact, near) is agreed


@pytest.mark.parametrize(
    ("one", "other", "agreed"),
    [
        (BOTH, BOTH, True),
        (BOTH, ADA, False),
        (BOTH, {"names": [3, 7]}, False),
        ({}, {}, False),
        (BOTH, BOTH | {"year": 2001}, False),
        (BOTH | {"year": 0}, BOTH | {"year": 0}, False),
        (BOTH | {"doi": 0}, BOTH | {"doi": 1}, False),
        (BOTH | {"doi": 0}, BOTH | {"doi": 0}, True),
        (BOTH | {"doi": 0}, BOTH, True),
    ],
)
def test_titles_that_say_little_need_equal_years_and_authors(
    one: dict[str, Any], other: dict[str, Any], agreed: bool
) -> None:
    doi, year, _, offsets, names, *_ = facts_of([{"names": [99]}, one, other])
    for i, j in ((1, 2), (2, 1)):
        assert agree_strictly(i, j, doi, year, offsets, names) is agreed


@given(st.lists(st.sets(st.integers(0, 6)), min_size=2, max_size=2))
def test_shared_names(sets: list[set[int]]) -> None:
    names = np.array([name for one in sets for name in sorted(one)], np.uint64)
    assert count_common(np.cumsum([0, *map(len, sets)], dtype=np.int64), names, 0, 1) == len(sets[0] & sets[1])


RECORDS = st.lists(
    st.fixed_dictionaries({"year": st.sampled_from([0, 2000, 2001]), "names": st.sampled_from([[], [1], [1, 2], [3]])}),
    min_size=8,
    max_size=8,
)  # fmt: skip


@given(RECORDS, st.lists(st.integers(0, 2), min_size=8, max_size=8), st.lists(st.integers(0, 3), min_size=8, max_size=8),
       st.integers(1, 4))  # fmt: skip
def test_records_of_equal_and_of_similar_titles(
    records: list[dict[str, Any]], titles: list[int], labels: list[int], window: int
) -> None:
    facts, of_title = facts_of(records), group_nodes(np.array(titles, np.int32), 3)
    strict = np.array([True, False, False])
    expected = [
        (i, j)
        for title in range(3)
        for members in [[node for node in range(8) if titles[node] == title]]
        for at, i in enumerate(members)
        for j in members[at + 1 : at + 1 + window]
        if labels[i] != labels[j]
        and (agree_strictly(i, j, *facts[:2], *facts[3:5]) if strict[title] else agree(i, j, *facts, True, True))
    ]
    assert (
        found(pairs.equal_titles(of_title.nodes, of_title.starts, strict, np.array(labels, np.int32), window, *facts))
        == expected
    )
    a, b, score = [0, 1], [1, 2], [0.9, 0.95]
    expected_near = [
        (i, j, k)
        for k in range(2)
        for i in [node for node in range(8) if titles[node] == a[k]][:window]
        for j in [node for node in range(8) if titles[node] == b[k]][:window]
        if agree(i, j, *facts, False, score[k] > 0.9)
    ]
    near = pairs.near_titles(of_title.nodes, of_title.starts, np.array(a), np.array(b), np.array(score), window, *facts)
    assert found(near) == expected_near


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 9)), max_size=90))
def test_records_of_a_title_are_sorted_by_year_then_id(rows: list[tuple[int, int]]) -> None:
    codes, years = np.array(rows, np.int32).reshape(-1, 2).T
    by_title = group_nodes(codes, 2, years)
    expected = [
        sorted((node for node, (code, _) in enumerate(rows) if code == t), key=lambda node: rows[node][1])
        for t in (0, 1)
    ]
    assert by_title.nodes.tolist() == [node for members in expected for node in members]
