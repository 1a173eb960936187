"""The rules for titles, journals and keys agree with their definitions, and are tested at their limits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.titles import differ_only_in_number, grams, score_pairs
from s2corpus.titles.arrays import bucket_of, one_chunk, strings, text_of
from s2corpus.titles.journals import journal_key, journal_words, same_journal
from s2corpus.titles.places import first_numbers, journal_keys
from s2corpus.titles.rules import _without_numbers, only_numbers_differ

ROMANS = [
    "i",
    "ii",
    "iii",
    "iv",
    "v",
    "vi",
    "vii",
    "viii",
    "ix",
    "x",
    "xi",
    "xii",
    "xiii",
    "xiv",
    "xv",
    "xvi",
    "xvii",
    "xviii",
    "xix",
    "xx",
    "xxi",
    "xxii",
    "xxiii",
    "xxiv",
    "xxv",
    "xxvi",
    "xxvii",
    "xxviii",
    "xxix",
    "xxx",
    "xxxi",
    "xxxii",
    "xxxiii",
    "xxxiv",
    "xxxv",
    "xxxvi",
    "xxxvii",
    "xxxviii",
    "xxxix",
]
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]


@pytest.mark.parametrize("words", [ROMANS, WORDS, ORDINALS, list("一二三四五六七八九十")], ids=lambda words: words[0])
def test_number_words_are_removed(words: list[str]) -> None:
    titles = [f"On graphs, part {word}" for word in words]
    expected = [("ongraphspart", f"{number},") for number in range(1, len(words) + 1)]
    assert [_without_numbers(title) for title in titles] == expected
    pairs = pa.array(titles), pa.array([f"On graphs, part {number % len(words) + 40}" for number in range(len(words))])
    assert only_numbers_differ(*pairs).all()


@pytest.mark.parametrize("word", ["xl", "xxxx", "iiii", "vx", "thirteen", "eleventh", "zero", "百"])
def test_other_words_are_not_removed(word: str) -> None:
    assert _without_numbers(f"On {word}") == (f"on{word}", "")


@pytest.mark.parametrize(
    ("a", "b", "only"),
    [
        ("Части 1", "Части 2", True), ("Части", "Части", False), ("Части I", "Части", True), ("Части", "Части II", True),
        ("Части 1", "Слова 2", False), ("On graphs 1", "On graphs №2", False), ("Graphs 1", "Graphs, 2", True),
        ("1" * 19, "0" + "1" * 19, True), ("1" * 18, "0" + "1" * 18, True), ("1" * 17, "0" + "1" * 17, False),
    ],
)  # fmt: skip
def test_numbers_are_recognized_in_any_script(a: str, b: str, only: bool) -> None:
    assert differ_only_in_number(a, b) is only
    assert only_numbers_differ(pa.array([a, b, "x"]), pa.array([b, a, "y"])).tolist() == [only, only, False]


def test_strings_are_read_as_arrays() -> None:
    with pytest.raises(TypeError, match="a column of strings is expected, this is int64"):
        text_of(pa.array([1]))
    large = text_of(pa.array(["ab", None, "c"], pa.large_string()))
    assert (large[0].tolist(), bytes(large[1])) == ([0, 2, 2, 3], b"abc")
    assert one_chunk(pa.chunked_array([["a"], ["b"]])).to_pylist() == ["a", "b"]
    assert one_chunk(pa.chunked_array([], pa.string())).to_pylist() == []
    assert strings(np.array([0, 1, 3], np.int32), np.frombuffer(b"abc", np.uint8)).to_pylist() == ["a", "bc"]


@settings(max_examples=30)
@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=60, max_size=400), min_size=1, max_size=3))
def test_sets_of_3_grams_are_complete(texts: list[str]) -> None:
    sets = grams(pa.array(texts))
    theirs = [{text[i : i + 3] for i in range(len(text) - 2)} for text in texts]
    assert sets.sizes.tolist() == [len(some) for some in theirs]
    assert all((np.diff(some.astype(object)) > 0).all() for some in np.split(sets.values, sets.offsets[1:-1]))
    i, j = (x.ravel() for x in np.indices((len(texts), len(texts))))
    for a, b, s in zip(i, j, score_pairs(sets, i, sets, j), strict=True):
        common, total = (
            len(theirs[a] & theirs[b]),
            len(theirs[a]) + len(theirs[b]) + min(len(theirs[a]), len(theirs[b])),
        )
        assert s == pytest.approx(2 * common / (total - common))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("JAMA", ("j", "a", "m", "a")),  # Four letters are an acronym.
        ("LANCE", ("lance",)),  # Five letters are an acronym only if they are unpronounceable.
        ("BCMJK", ("b", "c", "m", "j", "k")),
        ("BCMJKL", ("b", "c", "m", "j", "k", "l")),
        ("BCMJKLN", ("bcmjkln",)),
        ("Jama", ("jama",)),
        ("PNAS USA", ("pnas",)),
        ("Proc. Natl. Acad. Sci. U.S.A.", ("proc", "natl", "acad", "sci")),
        ("Proceedings of the United States of America", ("proceedings",)),
        ("USA", ("u", "s", "a")),
        ("U S A", ("u", "s", "a")),
        ("United States America", ("united", "states", "america")),
        ("The", ("the",)),  # A stop word remains if it is the only word.
        ("Journal of the Chemistry", ("journal", "chemistry")),
        ("Physical Review (Section B) [online]", ("physical", "review")),
        ("Nature (London", ("nature",)),
        ("Z. für Physik 12", ("z", "physik")),
        ("Children's Health", ("childrens", "health")),
        ("12", ()), ("—", ()), ("", ()),
    ],
)  # fmt: skip
def test_journal_name_is_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert journal_words(name) == words


@pytest.mark.parametrize(
    ("name", "key"),
    [("Journal of Biological Chemistry B", "jbc"), ("Nature", "n"), ("PNAS", "pna"), ("", ""), ("J Phys", "jp")],
)
def test_journal_key_has_three_initials(name: str, key: str) -> None:
    assert journal_key(name) == key


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("", "Nature", False), ("", "", False), ("Chem", "Journal of Chemistry", False), ("J Chem", "Journal of Physical Chemistry", True),
        ("J Chem Phys", "Journal of Physical Chemistry", False), ("J Chem Phys", "J Chem", True), ("Nature Physics", "Nature", True),
        ("Ntl", "National", True), ("Ntlx", "National", False), ("Nl", "National", False), ("Atl", "National", False),
    ],
)  # fmt: skip
def test_journal_names_abbreviate_each_other(a: str, b: str, same: bool) -> None:
    assert same_journal(a, b) is same is same_journal(b, a)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("58(6)", "58", True), ("vol. 58", "58", True), ("Volume 058", "58", True), ("pp. 0985–990", "985", True), ("p. 7", "7", True),
        ("art. 7", "Article 7", True), ("s. 7", "7", True), ("S7", "7", False), ("e1754", "E1754", True), ("e1754", "1754", False),
        ("1.7", "1", False), ("A-7", "a", True), ("58", "59", False),
    ],
)  # fmt: skip
def test_first_number_of_a_place_is_compared(one: str, other: str, same: bool) -> None:
    a, b = first_numbers(pa.array([one, other]))
    assert a and b and bool(a == b) is same


def test_missing_place_is_zero() -> None:
    assert first_numbers(pa.array(["", None, "—", " – ", "7"]))[:4].tolist() == [0] * 4, "two dashes are not one volume"
    assert (
        first_numbers(pa.array([None, None], pa.string())).tolist()
        == [0, 0]
        == journal_keys(pa.array([None, None], pa.string())).tolist()
    )
    keys = journal_keys(pa.array(["Nature", None, "—", "Nat.", "Blood"]))
    assert (keys != 0).tolist() == [True, False, False, True, True] and keys[0] == keys[3] != keys[4]
    assert keys.dtype == np.uint32 and (keys & 1).tolist() == [1, 0, 0, 1, 1]


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20), st.integers(1, 9))
def test_numbers_and_texts_are_divided_into_buckets(values: list[int], buckets: int) -> None:
    found = bucket_of(np.array(values, np.int64), buckets)
    mixed = [(value * 0x9E3779B97F4A7C15 % 2**64 >> 32) % buckets for value in values]
    assert found.dtype == np.int64 and found.tolist() == mixed
    texts = list(map(str, values))
    for column in (texts, pa.array(texts, pa.string()), pa.chunked_array([texts], pa.string())):
        assert (bucket_of(column, buckets) == bucket_of(texts, buckets)).all() if texts else len(column) == 0
