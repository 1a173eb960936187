"""Hashes of strings, facts and keys: equal ones only for equal values, and the same from release to release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.titles import grams, score_pairs, threegrams
from s2corpus.titles.arrays import text_of
from s2corpus.titles.changes import fingerprints
from s2corpus.titles.equal import EqualStrings, hash_strings, hashes_of
from s2corpus.titles.partial import Sought
from s2corpus.titles.places import first_numbers, journal_keys
from s2corpus.titles.targets import NARROWED, NO_YEAR, Facts, key_of, partial_keys

WORDS = ("", "a", "ab", "deep", "learning", "attention", "attention is all you need", "é", "深層学習")

HASHES = [
    0,
    377321346718024083,
    10842921217519817231,
    17839413154450119090,
    18410219118461685480,
    7427233272655406356,
    5436283580222503898,
    13434680417670242730,
    16364105303748251069,
]
NUMBERS = [265727921, 1074224679, 0, 2484607783]
JOURNALS = [2966288409, 1636035825, 0]
KEYS = [12994901551905087503, 15109691355763678677, 5336846905172699497, 15755718720431038347, 11218769512692835869]
PARTIAL = [[14271294478619390781, 14271294478619390781, 0, 0, 0], [0, 0, 0, 0, 8476620807738689053]]
FINGERPRINTS = [12852925323553603614, 17614805807796876125]


def test_hashes_are_those_of_earlier_releases() -> None:
    """What is kept across releases was made with them: who changes one changes the versions of what holds it."""
    assert hash_strings(*text_of(pa.array(WORDS))).tolist() == HASHES
    assert first_numbers(pa.array(["58(6)", "pp. 0985–990", "", "vol. 7"])).tolist() == NUMBERS
    assert journal_keys(pa.array(["J. Biol. Chem.", "Nature", None])).tolist() == JOURNALS
    assert [
        int(key_of(np.uint64(7), by, np.int32(1999), np.uint64(5), np.uint32(3), np.uint32(4))) for by in range(5)
    ] == KEYS
    assert [column.tolist() for column in partial_keys(FACTS)] == PARTIAL
    assert fingerprints(pa.table({"a": ["x", None], "b": pa.array([1, 2])})).tolist() == FINGERPRINTS


FACTS = Facts(
    pa.array(["cellularsenescence", "cellul", "cellu", "cellularsenescence", ""]),
    np.zeros(5, np.bool_),
    np.array([2007, 2007, 2007, NO_YEAR, 1981], np.int32),
    np.array([9, 9, 9, 9, 0], np.uint64),
    np.array([0, 0, 0, 2, 2], np.uint32),
    np.array([0, 0, 0, 3, 3], np.uint32),
    np.array([0, 0, 0, 4, 4], np.uint32),
)


def test_a_key_is_made_only_of_what_is_known() -> None:
    begins, places = partial_keys(FACTS)
    assert (begins != 0).tolist() == [True, True, False, False, False], "six bytes at least, year and surname"
    assert begins[0] == begins[1], "titles with one beginning"
    assert (places != 0).tolist() == [False, False, False, False, True], "journal, volume, page and year"


@pytest.mark.parametrize(
    ("entries", "papers", "counts"),
    [([0], [0], [2]), ([1], [0, 1], [2]), ([0, 1], [0, 1], [2, 0]), ([4], [4], [1]), ([2, 3], [], []), ([], [], [])],
)
def test_papers_that_begin_so_or_stand_there(entries: list[int], papers: list[int], counts: list[int]) -> None:
    """They are found if they may be one of the entries, and counted by key whether they may or not."""
    sought = Sought.of(FACTS, np.isin(np.arange(5), entries))
    assert np.flatnonzero(sought.fitting(FACTS)).tolist() == papers
    assert sought.papers.tolist() == counts
    sought.fitting(FACTS)
    assert sought.papers.sum() == 2 * sum(counts)


@pytest.mark.parametrize(
    ("known", "ways"),
    [
        ({}, {0, 1, 2, 3, 4}),
        ({"year": NO_YEAR}, {0, 1, 4}),
        ({"surname": np.uint64(0)}, {0, 1, 3}),
        ({"volume": np.uint32(0)}, {0, 2, 3, 4}),
        ({"page": np.uint32(0)}, {0, 2, 3, 4}),
    ],
)
def test_an_over_full_group_is_narrowed_by_what_is_known(known: dict[str, np.generic], ways: set[int]) -> None:
    facts = {"year": np.int32(1999), "surname": np.uint64(5), "volume": np.uint32(3), "page": np.uint32(4)} | known
    keys = [int(key_of(np.uint64(7), by, *facts.values())) for by in range(NARROWED + 1)]
    assert {by for by, key in enumerate(keys) if key} == ways
    assert len(set(keys) - {0}) == len(ways), "each way has its own key"


@given(st.lists(st.text("ab", max_size=3)), st.lists(st.text("ab", max_size=3)), st.integers(1, 3))
def test_strings_of_one_hash_are_told_apart(column: list[str], others: list[str], hashes: int) -> None:
    """As if all strings had but one, two or three hashes, in the upper half or in the lower."""
    for shift in (0, 32):
        kinds = np.arange(1, hashes + 1, dtype=np.uint64) << np.uint64(shift)
        of = lambda texts: np.array([kinds[len(t) % hashes] if t else 0 for t in texts], np.uint64)  # noqa: E731, B023
        groups = EqualStrings.of(pa.array(column, pa.string()), of(column))
        number = {text: n for n, text in enumerate(dict.fromkeys(t for t in column if t))}
        assert groups.groups.tolist() == [number.get(text, -1) for text in column]
        assert [column[row] for row in groups.first] == list(number)
        found = groups.find(pa.array(others, pa.string()), of(others))
        assert found.tolist() == [number.get(text, -1) for text in others]


@given(st.lists(st.lists(st.none() | st.sampled_from(WORDS), max_size=6), min_size=1, max_size=3))
def test_strings_in_dictionaries_have_the_same_hashes(pieces: list[list[str | None]]) -> None:
    """As Parquet's reader gives them: each piece with a dictionary of its own."""
    plain = pa.chunked_array(pieces, pa.string())
    hashes = hash_strings(*text_of(plain)).tolist()
    assert hashes_of(plain).tolist() == hashes
    assert hashes_of(pa.chunked_array([piece.dictionary_encode() for piece in plain.chunks])).tolist() == hashes


@given(st.lists(st.text("abc", max_size=12), min_size=2, max_size=6))
def test_a_pair_at_the_very_threshold_has_its_score(texts: list[str]) -> None:
    sets = grams(pa.array(texts))
    i, j = (x.ravel() for x in np.indices((len(texts), len(texts))))
    for a, b, s in zip(i, j, score_pairs(sets, i, sets, j), strict=True):
        assert score_pairs(sets, np.array([a]), sets, np.array([b]), s).tolist() == [s]
        assert s == 0 or score_pairs(sets, np.array([a]), sets, np.array([b]), s + 1e-6).tolist() == [0.0]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_a_3_gram_is_its_three_code_points(text: str) -> None:
    offsets, data = text_of(pa.array([text]))
    found = np.zeros(max(len(data), 1), np.uint64)
    count = threegrams.in_order(data, offsets[0], offsets[1], found)
    points = [ord(character) for character in text]
    packed = [a << 42 | b << 21 | c for a, b, c in zip(points, points[1:], points[2:], strict=False)]
    if 0 < len(points) < 3:
        packed = [points[0] if len(points) == 1 else points[0] << 21 | points[1]]
    assert found[:count].tolist() == [int(threegrams._scrambled(np.uint64(gram))) for gram in packed]


@pytest.mark.parametrize(
    "column",
    [pa.nulls(3), pa.nulls(3, pa.string()), pa.array(["", None, ""]), pa.chunked_array([pa.nulls(2), pa.nulls(1)])],
)
def test_a_column_without_text_has_as_many_empty_strings(column: pa.Array | pa.ChunkedArray) -> None:
    offsets, data = text_of(column)
    assert offsets.tolist() == [0] * 4 and len(data) == 0
    assert len(text_of(column[:0])[0]) == 1
