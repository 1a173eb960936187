"""The later duplicate of a train text is held back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text.near_duplicates import Candidate, later_duplicates, repeated, text_key, title_key
from s2corpus.text.splits import Split
from s2corpus.titles.normalised import normalise_one


def candidate(paper_id: str, created: str | None, split: str, *keys: int, set_: str = "s2orc") -> Candidate:
    return Candidate(set_, paper_id, created, split, keys)


TRAIN, VALID, LATE = Split.TRAIN, Split.VALID, Split.LATE


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        pytest.param(
            [candidate("a", "2020", TRAIN, 1), candidate("b", "2021", TRAIN, 1)], {"b": "a"}, id="later in train"
        ),
        pytest.param(
            [candidate("b", "2022-12-05", VALID, 1), candidate("a", "2020", TRAIN, 1)],
            {"b": "a"},
            id="valid repeats train",
        ),
        pytest.param(
            [candidate("a", "2022-12-02", VALID, 1), candidate("b", "2022-12-05", VALID, 1)], {}, id="valid duplicates"
        ),
        pytest.param(
            [candidate("b", "2020", TRAIN, 1), candidate("a", "2020", TRAIN, 1)], {"b": "a"}, id="one day: by id"
        ),
        pytest.param(
            [candidate("a", "2020", TRAIN, 1, 2), candidate("b", "2021", TRAIN, 3, 2)], {"b": "a"}, id="any key"
        ),
        pytest.param(
            [candidate("a", "2019", TRAIN, 1), candidate("b", "2020", TRAIN, 1, 2), candidate("c", "2021", TRAIN, 2)],
            {"b": "a"},
            id="the duplicate of a duplicate is not a train text's duplicate",
        ),
        pytest.param(
            [candidate("a", None, TRAIN, 1), candidate("b", "2021", TRAIN, 1)], {"a": "b"}, id="undated: the later"
        ),
        pytest.param(
            [candidate("a", "2020", TRAIN, 1), candidate("b", "2021", VALID, 1, set_="s2ag")],
            {"b": "a"},
            id="of both sets",
        ),
        pytest.param([candidate("a", "2020", TRAIN, 1), candidate("b", "2024", LATE, 1)], {}, id="held back already"),
        pytest.param([candidate("a", "2020", TRAIN), candidate("b", "2021", TRAIN)], {}, id="no keys"),
    ],
)
def test_later_twins(candidates: list[Candidate], expected: dict[str, str]) -> None:
    assert {paper_id: duplicate for (_, paper_id), duplicate in later_duplicates(candidates).items()} == expected


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["2019", "2020-05", "2022-12-05", None]),
            st.sampled_from([TRAIN, VALID, LATE]),
            st.lists(st.integers(0, 6), max_size=2),
        ),
        max_size=15,
    ),
    st.randoms(use_true_random=False),
)
def test_no_twin_of_a_train_text_is_left_whatever_the_order(rows, random) -> None:  # type: ignore[no-untyped-def]
    candidates = [candidate(f"{i:02d}", date, split, *keys) for i, (date, split, keys) in enumerate(rows)]
    found = later_duplicates(candidates)
    shuffled = random.sample(candidates, len(candidates))
    assert later_duplicates(shuffled) == found
    left = [c for c in candidates if (c.set, c.paper_id) not in found]
    train = [c for c in left if c.split == TRAIN]
    for one in train:
        later = [c for c in left if c.split in (TRAIN, VALID) and _order(c) > _order(one)]
        assert not any(set(one.keys) & set(c.keys) for c in later)


def _order(c: Candidate) -> tuple[bool, str, str]:
    return c.created is None, c.created or "", c.paper_id


def test_texts_are_compared_normalised() -> None:
    assert text_key("The cell.\n\nIt grows") == text_key("THE CELL it grows")
    assert text_key("The cell") != text_key("The cells")


@given(st.text())
def test_a_text_is_normalised_as_a_title_is(text: str) -> None:
    assert text_key(text) == text_key(normalise_one(text))
    assert (text_key(text) == text_key(text + "x")) is False


def test_titles_are_compared_with_their_first_authors_surname() -> None:
    assert title_key("On cells", "Müller") == title_key("ON CELLS.", "Müller")
    assert title_key("On cells", "Müller") != title_key("On cells", "Meier")
    assert title_key("On cells", None) is None
    assert title_key("…", "Müller") is None


def test_repeated_keys() -> None:
    assert repeated(np.array([3, -1, 3, 5, -1, 3])).tolist() == [-1, 3]
