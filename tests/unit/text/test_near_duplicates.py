"""A text that repeats another text is held back or marked: equal texts, equal titles, similar texts."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text.near_duplicates import (
    Candidate,
    DuplicateReason,
    Pairs,
    cluster_duplicates,
    find_repeated_keys,
    text_key,
    title_key,
)
from s2corpus.text.splits import Split
from s2corpus.titles.normalised import normalise_one

TRAIN, VALID, LATE = Split.TRAIN, Split.VALID, Split.LATE
DUPLICATE, NEAR = Split.DUPLICATE, Split.NEAR_DUPLICATE


def candidate(
    paper_id: str, created: str | None, split: Split, text: int, title: int | None = None, set_: str = "s2orc"
) -> Candidate:
    return Candidate(set_, paper_id, created, split, text, title)


@pytest.mark.parametrize(
    ("candidates", "pairs", "expected"),
    [
        pytest.param(
            [candidate("a", "2020", TRAIN, 1), candidate("b", "2021", TRAIN, 1)], {},
            {"a": (TRAIN, None), "b": (DUPLICATE, "a")}, id="equal texts: the later one",
        ),
        pytest.param(
            [candidate("a", "2022-12-02", VALID, 1), candidate("b", "2022-12-05", VALID, 1)], {},
            {"a": (VALID, None), "b": (DUPLICATE, "a")}, id="in valid too",
        ),
        pytest.param(
            [candidate("a", None, TRAIN, 1), candidate("b", "2022-12-05", VALID, 1)], {},
            {"a": (TRAIN, None), "b": (DUPLICATE, "a")}, id="across splits the valid one, whatever the dates",
        ),
        pytest.param(
            [candidate("a", None, TRAIN, 1), candidate("b", "2021", TRAIN, 1)], {},
            {"a": (DUPLICATE, "b"), "b": (TRAIN, None)}, id="undated: the later",
        ),
        pytest.param(
            [candidate("a", "2020", TRAIN, 1), candidate("b", "2021", VALID, 1, set_="s2ag")], {},
            {"a": (TRAIN, None), "b": (DUPLICATE, "a")}, id="of both sets",
        ),
        pytest.param(
            [candidate("a", "2020", TRAIN, 1), candidate("b", "2024", LATE, 1)], {}, {}, id="held back already"
        ),
        pytest.param(
            [candidate("a", "2020", TRAIN, 1, 7), candidate("b", "2021", TRAIN, 2, 7)], {},
            {"a": (TRAIN, None), "b": (NEAR, "a")}, id="title and author of a train text",
        ),
        pytest.param(
            [candidate("a", "2022-12-02", VALID, 1, 7), candidate("b", "2022-12-05", VALID, 2, 7)], {}, {},
            id="titles within valid decide nothing",
        ),
        pytest.param(
            [candidate("a", "2019", TRAIN, 1), candidate("b", "2020", TRAIN, 1, 7), candidate("c", "2021", TRAIN, 2, 7)],
            {}, {"a": (TRAIN, None), "b": (DUPLICATE, "a")}, id="what is held back holds nothing else back by its title",
        ),
        pytest.param(
            [candidate("a", "2020", TRAIN, 1), candidate("b", "2021", TRAIN, 2)], {(1, 2): 0.9},
            {"a": (TRAIN, None), "b": (TRAIN, "a")}, id="similar texts of one split are published, and named",
        ),
        pytest.param(
            [candidate("a", "2020", TRAIN, 1), candidate("b", "2022-12-05", VALID, 2), candidate("c", "2022-12-06", VALID, 3)],
            {(1, 2): 0.9, (2, 3): 0.8}, {"a": (TRAIN, None), "b": (NEAR, "a"), "c": (NEAR, "b")},
            id="never across train and valid, not by way of another either",
        ),
    ],
)  # fmt: skip
def test_duplicates_form_clusters(
    candidates: list[Candidate], pairs: Pairs, expected: dict[str, tuple[str, str | None]]
) -> None:
    found = cluster_duplicates(candidates, pairs, hold_back=False)
    assert {paper_id: (one.split, one.duplicate_of) for (_, paper_id), one in found.items()} == expected


def test_spec_can_hold_back_similar_texts() -> None:
    documents = [candidate("a", "2020", TRAIN, 1), candidate("b", "2021", TRAIN, 2), candidate("c", "2022", TRAIN, 3)]
    found = cluster_duplicates(documents, {(1, 2): 0.81, (2, 3): 0.95}, hold_back=True)
    assert {id_: (m.cluster, m.split, m.duplicate_of, m.jaccard) for (_, id_), m in found.items()} == {
        "a": ("a", TRAIN, None, None),
        "b": ("a", NEAR, "c", 0.95),  # It names the most similar text.
        "c": ("a", NEAR, "b", 0.95),
    }


def documents() -> st.SearchStrategy[list[Candidate]]:
    one = st.tuples(
        st.sampled_from(["2019", "2020-05", "2022-12-05", None]),
        st.sampled_from([TRAIN, VALID, LATE]),
        st.integers(0, 9),
        st.sampled_from([None, 20, 21, 22]),
        st.sampled_from(["s2orc", "s2ag"]),
    )
    return st.lists(one, max_size=15).map(
        lambda rows: [
            Candidate(set_, f"{i:02d}", d, s, text, title) for i, (d, s, text, title, set_) in enumerate(rows)
        ]
    )


@given(
    documents(),
    st.dictionaries(st.sampled_from(list(itertools.combinations(range(10), 2))), st.sampled_from([0.8, 0.9, 0.95])),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_clusters_of_duplicates_obey_their_laws(
    given_: list[Candidate], pairs: Pairs, hold_back: bool, random: Random
) -> None:
    found = cluster_duplicates(given_, pairs, hold_back=hold_back)
    shuffled = dict(random.sample(sorted(pairs.items()), len(pairs)))
    again = cluster_duplicates(random.sample(given_, len(given_)), shuffled, hold_back=hold_back)
    assert again == found  # The order does not matter.
    splits = {c.paper_id: found[c.set, c.paper_id].split if (c.set, c.paper_id) in found else c.split for c in given_}
    left = [c for c in given_ if splits[c.paper_id] in (TRAIN, VALID)]
    assert len({c.text_key for c in left}) == len(left)  # No text appears twice.
    for a, b in itertools.combinations(left, 2):
        similar = (min(a.text_key, b.text_key), max(a.text_key, b.text_key)) in pairs
        if similar:
            assert a.split == b.split  # Similar texts never appear in both train and valid.
            assert not hold_back
            assert found[a.set, a.paper_id].cluster == found[b.set, b.paper_id].cluster
        if a.title_key is not None and a.title_key == b.title_key and TRAIN in (a.split, b.split):
            assert hold_back or similar or pytest.fail("a title of a train text is there twice")
    stand_for = {member.cluster for member in found.values()}
    assert all(
        splits[paper_id] in (TRAIN, VALID) for paper_id in stand_for
    )  # The text that names a cluster always remains.
    assert {paper_id for (_, paper_id), m in found.items() if m.reason is None} == stand_for


def test_every_reason_occurs() -> None:
    rows = [
        candidate(str(i), f"20{i:02d}", TRAIN, text, title)
        for i, (text, title) in enumerate([(1, 5), (1, 6), (2, 5), (3, 7)])
    ]
    found = cluster_duplicates(rows, {(1, 3): 0.8}, hold_back=False)
    assert [found["s2orc", str(i)].reason for i in range(4)] == [
        None,
        DuplicateReason.TEXT,
        DuplicateReason.TITLE,
        DuplicateReason.WORDS,
    ]


def test_texts_are_compared_after_normalization() -> None:
    assert text_key("The cell.\n\nIt grows") == text_key("THE CELL it grows")
    assert text_key("The cell") != text_key("The cells")


@given(st.text())
def test_text_is_normalized_as_a_title(text: str) -> None:
    assert text_key(text) == text_key(normalise_one(text))
    assert (text_key(text) == text_key(text + "x")) is False


def test_title_key_includes_surname_of_first_author() -> None:
    assert title_key("On cells", "Müller") == title_key("ON CELLS.", "Müller")
    assert title_key("On cells", "Müller") != title_key("On cells", "Meier")
    assert title_key("On cells", None) is None
    assert title_key("…", "Müller") is None


def test_repeated_keys_are_found() -> None:
    assert find_repeated_keys(np.array([3, -1, 3, 5, -1, 3])).tolist() == [-1, 3]
