"""MinHash keys find similar texts, and the final decision uses the exact Jaccard index (SPEC §9.7)."""

from __future__ import annotations

import random
import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from s2corpus.text import minhash
from tests.unit.s2corpus.stages.clean.jats import documents

WORDS = st.lists(st.sampled_from(["of", "the", "cell", "Cell,", "grows", "—", "β-sheet", "2"]), max_size=30)


def split_words(text: str) -> list[str]:
    """Return RedPajama-v2's words, computed with plain Python."""
    without = text.lower().translate(str.maketrans("", "", string.punctuation))
    return without.split()


def ngrams(words: list[str], length: int) -> set[tuple[str, ...]]:
    length = min(length, len(words))
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)} if words else set()


@given(WORDS.map(" ".join), WORDS.map(" \n".join), st.integers(1, 5))
@example("", "", 1)
@example("cell", "Cell,", 1)
def test_jaccard_index_is_that_of_word_ngrams(left: str, right: str, length: int) -> None:
    a, b = (ngrams(split_words(text), length) for text in (left, right))
    found = minhash.compute_jaccard(*(np.unique(minhash.hash_shingles(text, length)) for text in (left, right)))
    assert found == pytest.approx(len(a & b) / max(len(a | b), 1))


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
    def list_pairs(given: list[tuple[int, int]]) -> list[list[int]]:
        keys, nodes = np.array(given, np.int64).reshape(-1, 2).T
        pairs: list[list[int]] = minhash.list_candidate_pairs(keys, nodes, most).tolist()
        return pairs

    pairs = list_pairs(rows)
    assert pairs == list_pairs(rng.sample(rows, len(rows))) == sorted(pairs)
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


def test_two_parses_of_one_article_are_found(shared_data: Path) -> None:
    """Check ten articles, each from its publisher's XML and from GROBID 0.5.6.

    Pairs are similar exactly if their sets of n-grams are similar.
    """
    texts = {}
    for article in documents(shared_data / "pmc-with-tei"):
        texts[article["id"], "jats"] = "\n".join(part["text"] for part in article["body"] if part["text"])
        body = etree.parse(str(shared_data / "pmc-with-tei" / f"{article['id']}.tei.xml")).getroot().find(".//{*}body")
        assert body is not None
        texts[article["id"], "tei"] = "\n".join("".join(p.itertext()) for p in body.iter("{*}p"))
    names = sorted(texts)
    sets = [ngrams(split_words(texts[name]), 5) for name in names]
    pairs = [(a, b) for b in range(len(names)) for a in range(b)]
    exact = {(a, b) for a, b in pairs if len(sets[a] & sets[b]) >= 0.8 * len(sets[a] | sets[b])}
    assert all(names[a][0] == names[b][0] for a, b in exact) and len(exact) >= 4
    hashed = [minhash.hash_shingles(texts[name], 5) for name in names]
    keys = [minhash.compute_keys(one, 20, 6, 1) for one in hashed]
    nodes = np.repeat(np.arange(len(names)), [len(one) for one in keys])
    candidates = minhash.list_candidate_pairs(np.concatenate(keys), nodes, 100).tolist()
    unique = [np.unique(one) for one in hashed]
    assert {(a, b) for a, b in candidates if minhash.compute_jaccard(unique[a], unique[b]) >= 0.8} == exact


@given(st.lists(st.sets(st.integers(0, 9), max_size=8), min_size=1, max_size=5))
@example([{1}, set(), {1}, {2}])
def test_jaccard_indexes_of_many_sets_are_computed(sets: list[set[int]]) -> None:
    values = np.array([value for one in sets for value in sorted(one)], np.uint64)
    ends = np.cumsum([len(one) for one in sets], dtype=np.int64)
    starts = ends - np.array([len(one) for one in sets], np.int64)
    left, right = (side.ravel().astype(np.int64) for side in np.indices((len(sets), len(sets))))
    expected = [len(sets[a] & sets[b]) / max(len(sets[a] | sets[b]), 1) for a, b in zip(left, right, strict=True)]
    assert minhash.compute_jaccards(values, starts, ends, left, right).tolist() == expected
