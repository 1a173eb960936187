"""A text that repeats another text is excluded or marked: equal texts, equal titles, similar texts (SPEC §9.5–9.7).

MinHash keys find similar texts, and the final decision uses the exact Jaccard index (SPEC §9.7).

A document that shares 13 consecutive words with a benchmark is listed, regardless of case and punctuation.
"""

import hashlib
import itertools
import random
import string
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from s2corpus.errors import UserError
from s2corpus.outcomes import Split
from s2corpus.spec import ReleaseSpec
from s2corpus.text import minhash
from s2corpus.text.near_duplicates import (
    MIN_JACCARD,
    Candidate,
    DuplicateReason,
    Pairs,
    cluster_duplicates,
    text_key,
    title_key,
)
from s2corpus.text.overlaps import Benchmarks
from s2corpus.titles import normalize_one
from tests.unit.s2corpus.snapshot.release import papers, release

TRAIN, VALID, LATE = Split.TRAIN, Split.VALID, Split.LATE
DUPLICATE, NEAR = Split.DUPLICATE, Split.NEAR_DUPLICATE


@pytest.mark.parametrize(
    ("candidates", "pairs", "hold_back", "expected"),
    [
        pytest.param([("2021", TRAIN, 1), ("2020", TRAIN, 1)], {}, False, {"a": (DUPLICATE, "b"), "b": (TRAIN, None)}, id="equal texts"),
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
def test_clusters_obey_their_laws(given_: list[Candidate], pairs: Pairs, hold_back: bool, random: Random) -> None:
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
    assert text_key(text) == text_key(normalize_one(text)) != text_key(f"{text}x")


def test_title_key_includes_surname_of_first_author() -> None:
    assert title_key("On cells", "Müller") == title_key("ON CELLS.", "Müller") != title_key("On cells", "Meier")
    assert (title_key("On cells", None), title_key("…", "Müller")) == (None, None)


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
    given = minhash.hash_shingles("one two three four five six one two three four five", 5)
    keys = [minhash.compute_keys(one, 20, 6, 1).tolist() for one in (given, np.unique(given)[::-1].copy())]
    assert keys[0] == keys[1] and len(set(keys[0])) == 20


def test_published_keys_of_texts_are_pinned() -> None:
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
    assert (MIN_JACCARD, minhash.SHINGLE_WORDS, minhash.BANDS, minhash.ROWS) == (0.8, 5, 20, 6)
    for both, low, high in ((16, 0.97, 1.0), (8, 0.03, 0.14)):
        met = 0
        for _ in range(150):
            values = np.array([rng.getrandbits(64) for _ in range(20)], np.uint64)
            one, other = np.split(values[both:], 2)
            keys = [minhash.compute_keys(np.concatenate([values[:both], own])) for own in (one, other)]
            met += bool(np.intersect1d(keys[0], keys[1]).size)
        assert low <= met / 150 <= high


QUESTION = "Which of the following enzymes unwinds the double helix ahead of the replication fork in bacteria?"
ANSWER = "helicase"


def test_ngrams_of_benchmark_questions_are_found() -> None:
    line = orjson.dumps({"question": {"stem": QUESTION}, "choices": [ANSWER, 3, None], "n": 1})
    benchmarks = Benchmarks({"exam": line + b"\n" + b"in plain lines: " + b"word " * 12 + b"\n"})
    text = (
        f"We ask: WHICH of the following enzymes unwinds -- the double helix, ahead of the replication fork? {ANSWER}"
    )
    ((name, ngrams, share),) = benchmarks.overlaps(text)
    words = len(QUESTION.split())
    assert (name, ngrams) == ("exam", 14 - 13 + 1)
    assert share == pytest.approx(ngrams / (words - 12 + len({"line 1", "line 2", "line 3"})))
    assert list(benchmarks.overlaps(text.replace("double", "twofold"))) == []
    with pytest.raises(UserError, match="no item of 13 words"):
        Benchmarks({"short": b"too short\n"})


def test_overlapping_documents_are_listed_and_published(tmp_path: Path) -> None:
    abstract = next(paper.row["abstract"] for paper in papers(12) if paper.row["record_ids"] == ["crossref:5"])
    path = tmp_path / "exam.jsonl"
    path.write_bytes(orjson.dumps({"passage": " ".join(abstract.split()[10:30])}))
    named = {"name": "exam", "uri": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2, "benchmarks": [named]}})
    run = release(tmp_path, count=12, spec=spec)
    folder = tmp_path / "lake" / "snapshots" / run.snapshot_id
    rows = pq.read_table(folder / "overlaps.parquet").to_pylist()
    index = {row["id"]: row for row in pq.read_table(folder / "index.parquet").to_pylist()}
    assert [(row["benchmark"], row["ngrams"], row["share"]) for row in rows] == [("exam", 8, 1.0)]
    assert all((index[row["id"]]["set"], index[row["id"]]["split"]) == (row["set"], row["split"]) for row in rows)
