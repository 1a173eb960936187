"""A text that repeats another text is excluded or marked: equal texts, equal titles, similar texts (SPEC §9.5–9.7)."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from s2corpus.text.near_duplicates import Candidate, DuplicateReason, Pairs, cluster_duplicates, text_key, title_key
from s2corpus.text.splits import Split
from s2corpus.titles import normalise_one

TRAIN, VALID, LATE = Split.TRAIN, Split.VALID, Split.LATE
DUPLICATE, NEAR = Split.DUPLICATE, Split.NEAR_DUPLICATE


@pytest.mark.parametrize(
    ("candidates", "pairs", "hold_back", "expected"),
    [
        pytest.param([("2020", TRAIN, 1), ("2021", TRAIN, 1)], {}, False, {"a": (TRAIN, None), "b": (DUPLICATE, "a")}, id="equal texts"),
        pytest.param([("2022-12", VALID, 1), ("2022-12-05", VALID, 1)], {}, False, {"a": (VALID, None), "b": (DUPLICATE, "a")}, id="valid"),
        pytest.param(
            [(None, TRAIN, 1), ("2022-12-05", VALID, 1)], {}, False, {"a": (TRAIN, None), "b": (DUPLICATE, "a")},
            id="train before valid, with any dates",
        ),
        pytest.param([(None, TRAIN, 1), ("2021", TRAIN, 1)], {}, False, {"a": (DUPLICATE, "b"), "b": (TRAIN, None)}, id="undated last"),
        pytest.param([("2020", TRAIN, 1), ("2024", LATE, 1)], {}, False, {}, id="late"),
        pytest.param([("2020", TRAIN, 1, 7), ("2021", TRAIN, 2, 7)], {}, False, {"a": (TRAIN, None), "b": (NEAR, "a")}, id="titles"),
        pytest.param([("2022-12-02", VALID, 1, 7), ("2022-12-05", VALID, 2, 7)], {}, False, {}, id="titles within valid decide nothing"),
        pytest.param(
            [("2019", TRAIN, 1), ("2020", TRAIN, 1, 7), ("2021", TRAIN, 2, 7)], {}, False, {"a": (TRAIN, None), "b": (DUPLICATE, "a")},
            id="title of a duplicate decides nothing",
        ),
        pytest.param(
            [("2020", TRAIN, 1), ("2021", TRAIN, 2)], {(1, 2): 0.9}, False, {"a": (TRAIN, None), "b": (TRAIN, "a")},
            id="similar texts of one split are published",
        ),
        pytest.param(
            [("2020", TRAIN, 1), ("2021", TRAIN, 2), ("2022", TRAIN, 3)], {(1, 2): 0.81, (2, 3): 0.95}, True,
            {"a": (TRAIN, None), "b": (NEAR, "c"), "c": (NEAR, "b")}, id="similar texts are excluded if the spec requests it",
        ),
        pytest.param(
            [("2020", TRAIN, 1), ("2022-12-05", VALID, 2), ("2022-12-06", VALID, 3)], {(1, 2): 0.9, (2, 3): 0.8}, False,
            {"a": (TRAIN, None), "b": (NEAR, "a"), "c": (NEAR, "b")}, id="no cluster is in train and valid",
        ),
    ],
)  # fmt: skip
def test_duplicates_form_clusters(
    candidates: list[Any], pairs: Pairs, hold_back: bool, expected: dict[str, tuple[str, str | None]]
) -> None:
    sets = ("s2orc", "s2ag", "s2orc")
    given_ = [Candidate(sets[at], "abc"[at], *(*row, None)[:4]) for at, row in enumerate(candidates)]
    found = cluster_duplicates(given_, pairs, hold_back=hold_back)
    assert {paper_id: (one.split, one.duplicate_of) for (_, paper_id), one in found.items()} == expected
    assert {one.jaccard for one in found.values() if one.reason is DuplicateReason.WORDS} <= {*pairs.values()}


DOCUMENTS = st.lists(
    st.tuples(
        st.sampled_from(["2019", "2020-05", "2022-12-05", None]),
        st.sampled_from([TRAIN, VALID, LATE]),
        st.integers(0, 9),
        st.sampled_from([None, 20, 21, 22]),
    ),
    max_size=15,
).map(lambda rows: [Candidate(("s2orc", "s2ag")[i % 2], f"{i:02d}", *row) for i, row in enumerate(rows)])


@given(
    DOCUMENTS,
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
            assert a.split == b.split and not hold_back  # Similar texts never appear in both train and valid.
            assert found[a.set, a.paper_id].cluster == found[b.set, b.paper_id].cluster
        if a.title_key is not None and a.title_key == b.title_key and TRAIN in (a.split, b.split):
            assert hold_back or similar or pytest.fail("a title of a train text occurs twice")
    stand_for = {member.cluster for member in found.values()}
    assert all(splits[paper_id] in (TRAIN, VALID) for paper_id in stand_for)  # The text that names a cluster remains.
    assert {paper_id for (_, paper_id), m in found.items() if m.reason is None} == stand_for


def test_every_reason_occurs() -> None:
    rows = enumerate([(1, 5), (1, 6), (2, 5), (3, 7)])
    candidates = [Candidate("s2orc", str(i), f"20{i:02d}", TRAIN, text, title) for i, (text, title) in rows]
    found = cluster_duplicates(candidates, {(1, 3): 0.8}, hold_back=False)
    assert [(found["s2orc", str(i)].cluster, found["s2orc", str(i)].reason) for i in range(4)] == [
        ("0", None), ("0", DuplicateReason.TEXT), ("0", DuplicateReason.TITLE), ("0", DuplicateReason.WORDS),
    ]  # fmt: skip
    assert [found["s2orc", str(i)].jaccard for i in range(4)] == [None, 1.0, None, 0.8]


@given(st.text())
@example("The cell.\n\nIt GROWS")
def test_text_is_normalized_as_a_title(text: str) -> None:
    assert text_key(text) == text_key(normalise_one(text)) != text_key(f"{text}x")


def test_title_key_includes_surname_of_first_author() -> None:
    assert title_key("On cells", "Müller") == title_key("ON CELLS.", "Müller") != title_key("On cells", "Meier")
    assert (title_key("On cells", None), title_key("…", "Müller")) == (None, None)
