"""Titles compared: the normal form, 3-grams, S, keys, and the rules for titles that say little (SEMANTICS: Link)."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.titles import (
    Search,
    candidates,
    differ_only_in_number,
    grams,
    is_generic,
    minhash_keys,
    normalise,
    normalise_one,
    score,
    score_pairs,
    similar_pairs,
    threegrams,
    word_count,
)
from s2corpus.titles.arrays import taken
from s2corpus.titles.equal import EqualStrings
from s2corpus.titles.exhaustive import best_matches
from s2corpus.titles.minhash import keys as keys_in
from s2corpus.titles.rules import few_words, only_numbers_differ, say_little

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
TITLE = st.one_of(TEXT, st.text("abcABC 12-é", max_size=20), st.text("ab", max_size=300))


@pytest.fixture(scope="module")
def real(shared_data: Path) -> list[str]:
    with gzip.open(shared_data / "titles" / "titles_dev.tsv.gz", "rt", encoding="utf-8") as lines:
        return [line.split("\t")[4] for line in lines.read().split("\n")[1:] if line]


@pytest.mark.parametrize(
    ("title", "normal"),
    [
        ("A Survey of Deep Learning", "asurveyofdeeplearning"),
        ("Graph-\nbased  methods: a (short) survey", "graphbasedmethodsashortsurvey"),
        ("Eﬃcient ﬁne-tuning", "efficientfinetuning"),  # ligatures
        ("Schrödinger’s naïve Über-Straße", "schrodingersnaiveuberstrasse"),
        ("ＤＥＥＰ　Ｌｅａｒｎｉｎｇ", "deeplearning"),  # full width
        ("Part Ⅱ: x² + CO₂", "partiix2co2"),
        ("Глубокое обучение", "глубокоеобучение"),
        ("深層学習：サーベイ", "深層学習サーヘイ"),  # the voicing mark is a combining mark with a class of its own
        ("हिन्दी भाषा", "हिनदीभाषा"),  # vowel signs stay, the virama (class 9) goes
        ("??? — …", ""),
        ("", ""),
    ],
)
def test_normal_form(title: str, normal: str) -> None:
    assert normalise_one(title) == normal
    assert normalise(pa.array([title])).to_pylist() == [normal]


@given(st.lists(st.one_of(st.none(), TITLE), max_size=20), st.integers(0, 5))
def test_the_ascii_path_is_the_rule(titles: list[str | None], skipped: int) -> None:
    column = pa.array(titles, pa.string()).slice(skipped)
    assert normalise(column).to_pylist() == [normalise_one(t or "") for t in titles[skipped:]]


def test_the_ascii_path_is_the_rule_on_real_titles(real: list[str]) -> None:
    some = real[::7]
    assert normalise(pa.chunked_array([some[:100], some[100:]])).to_pylist() == [normalise_one(t) for t in some]


@given(st.lists(st.lists(st.one_of(st.none(), TITLE), max_size=5), max_size=4), st.randoms(use_true_random=False))
def test_a_column_in_pieces_is_read_as_one(pieces: list[list[str | None]], random: Random) -> None:
    column = pa.chunked_array(pieces, pa.string())
    whole = pa.array(column.to_pylist(), pa.string())
    assert normalise(column).equals(normalise(whole))
    assert say_little(column, normalise(column)).tolist() == say_little(whole, normalise(whole)).tolist()
    rows = np.array(sorted(random.sample(range(len(column)), len(column) // 2)), np.int64)
    assert taken(column, rows).equals(whole.take(pa.array(rows)))


@pytest.mark.parametrize("rows", [[1, 0], [3], [-1]])
def test_rows_that_a_column_does_not_have_in_order_are_refused(rows: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending ones below 3 are expected"):
        taken(pa.chunked_array([["a"], ["b", "c"]]), np.array(rows))


def test_more_text_than_arrow_can_address_is_refused_before_memory_is_taken() -> None:
    piece = pa.array(["a" * (1 << 27)])
    with pytest.raises(pa.ArrowCapacityError, match=r"titles of 2,281,701,376 bytes.*cut them into batches"):
        normalise(pa.chunked_array([piece] * 17))


def _grams_of(text: str) -> set[str]:
    return {text[i : i + 3] for i in range(len(text) - 2)} or ({text} if text else set())


def _s(a: set[str], b: set[str]) -> float:
    """S2ORC §2.6, eq. 1, as it is printed."""
    common = len(a & b)
    if not common:
        return 0.0
    jaccard, containment = common / len(a | b), common / min(len(a), len(b))
    return 2 * jaccard * containment / (jaccard + containment)


@given(st.lists(TITLE, min_size=1, max_size=12))
def test_s_is_equation_1(titles: list[str]) -> None:
    normal = normalise(pa.array(titles))
    sets = grams(normal)
    expected = [_grams_of(text) for text in normal.to_pylist()]
    assert sets.sizes.tolist() == [len(s) for s in expected]
    assert all((np.diff(v.astype(object)) > 0).all() for v in np.split(sets.values, sets.offsets[1:-1]))
    i, j = (x.ravel() for x in np.indices((len(titles), len(titles))))
    scores = score_pairs(sets, i, sets, j)
    assert scores == pytest.approx([_s(expected[a], expected[b]) for a, b in zip(i, j, strict=True)])
    early = score_pairs(sets, i, sets, j, 0.8)
    assert (early == np.where(scores >= 0.8, scores, 0.0)).all()


@pytest.mark.parametrize(
    ("a", "b", "s"),
    [
        ("A survey of deep learning", "A survey on deep learning", 0.780),  # the example of the rule
        ("Attention Is All You Need", "attention is all you need.", 1.0),
        ("ab", "AB", 1.0),
        ("ab", "abc", 0.0),
        ("", "", 0.0),
        ("abcd", "abce", 0.4),  # I=1, sets of 2: 2/(2+2+2-1)
    ],
)
def test_score_of_two_titles(a: str, b: str, s: float) -> None:
    assert score(a, b) == pytest.approx(s, abs=5e-4)


def test_keys_are_shared_as_often_as_the_jaccard_index_says() -> None:
    common = [f"{i:03d}" for i in range(60)]
    a, b = ("".join(common), "".join(common[:45] + [f"{i:03d}" for i in range(500, 515)]))
    sets = grams(pa.array([a, b]))
    shared = set(sets.values[: sets.offsets[1]]) & set(sets.values[sets.offsets[1] :])
    jaccard = len(shared) / (len(sets.values) - len(shared))
    row, keys = minhash_keys(sets, bands=2000, rows=1)
    assert len(set(keys[row == 0]) & set(keys[row == 1])) / 2000 == pytest.approx(jaccard, abs=0.04)


def test_keys_name_their_band_and_do_not_depend_on_the_others() -> None:
    sets = grams(pa.array(["thefirsttitle", "", "another"]))
    row, keys = minhash_keys(sets, bands=8)
    assert row.tolist() == [0] * 8 + [2] * 8
    assert (keys >> 32).tolist() == list(range(8)) * 2
    assert (minhash_keys(sets, bands=3)[1].reshape(2, 3) == keys.reshape(2, 8)[:, :3]).all()
    together = keys_in(sets, range(8), 6)
    assert all((keys_in(sets, range(b, b + 2), 6) == together[b : b + 2]).all() for b in range(0, 8, 2))


@pytest.mark.parametrize(
    ("title", "generic", "words"),
    [
        ("Editorial", True, 1),
        ("BOOK REVIEW.", True, 2),
        ("Letter to the Editor", True, 4),
        ("Editorial: graph learning", False, 3),
        ("Deep learning — ...", False, 2),
        ("深度学习", False, 2),
        ("深度学习综述", False, 3),
        ("BERT 模型", False, 2),
        ("", False, 0),
    ],
)
def test_titles_that_say_little(title: str, generic: bool, words: int) -> None:
    assert is_generic(title) is generic
    assert word_count(title) == words


@pytest.mark.parametrize(
    ("a", "b", "only"),
    [
        ("Foundations, Part I", "Foundations, Part II", True),
        ("Foundations, Part II", "Foundations: part 2", False),  # the same number
        ("Foundations", "Foundations 2", True),
        ("2D convolutions", "3D convolutions", True),
        ("The Fourth Workshop on X", "The Fifth Workshop on X", True),
        ("COVID-19 in 2020", "Covid 19 in 2021", True),
        ("量子力学（一）", "量子力学（二）", True),
        ("On graphs", "On graph", False),
        ("On mix models", "On dim models", False),  # Roman digits, but words
        ("Report 007", "Report 7", False),
    ],
)
def test_titles_that_differ_only_in_a_number(a: str, b: str, only: bool) -> None:
    assert differ_only_in_number(a, b) is only
    assert only_numbers_differ(pa.array([a]), pa.array([b])).tolist() == [only]


NUMBERED = st.lists(
    st.sampled_from(
        ["Part", "ii", "II", "iii", "ix", "x", "xxxix", "xl", "c", "ten", "twelve", "first", "Tenth", "2", "02", "007", "0", "00",
         "10", "2D", "D2", "1a2b", "12345678901234567890", "000000000000000000123", "mix", "b",
         "twelvefold", "é", "一", "/", "@", "[", "`", "{", ":", "~"]
    ),
    max_size=5,
).flatmap(
    lambda words: st.sampled_from(
        [" ", "-", "", ".", "\t", "\n", "\r", "\x08", "\x0e", "\x1b", "\x1c", "\x1f", "\x7f"]
    ).map(lambda between: between.join(words))
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(st.tuples(TITLE | NUMBERED, TITLE | NUMBERED), max_size=8))
def test_the_compiled_rules_are_the_rules(pairs: list[tuple[str, str]]) -> None:
    a, b = (pa.array([pair[i] for pair in pairs], pa.string()) for i in (0, 1))
    assert few_words(a).tolist() == [word_count(title) < 3 for title, _ in pairs]
    assert only_numbers_differ(a, b).tolist() == [differ_only_in_number(*pair) for pair in pairs]


@given(st.lists(st.text("ab", max_size=3)), st.lists(st.text("ab", max_size=3)))
def test_equal_strings_are_one_group(column: list[str], others: list[str]) -> None:
    groups = EqualStrings.of(pa.array(column, pa.string()))
    number = {text: n for n, text in enumerate(dict.fromkeys(t for t in column if t))}
    assert groups.groups.tolist() == [number.get(text, -1) for text in column]
    assert [column[row] for row in groups.first] == list(number)
    assert groups.distinct.to_pylist() == list(number)
    assert groups.find(pa.array(others, pa.string())).tolist() == [number.get(text, -1) for text in others]


def _all_pairs(a: list[str], b: list[str], threshold: float) -> dict[tuple[int, int], float]:
    sets_a, sets_b = [_grams_of(t) for t in a], [_grams_of(t) for t in b]
    scores = {(i, j): _s(x, y) for i, x in enumerate(sets_a) for j, y in enumerate(sets_b)}
    return {pair: s for pair, s in scores.items() if s > threshold}


def _with_typos(titles: list[str], seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    noisy = []
    for title in titles:
        for at in rng.integers(0, len(title), 2):
            title = title[:at] + "x" + title[at + 1 :]
        noisy.append(title)
    return noisy


def test_candidates_find_what_comparing_all_finds(real: list[str]) -> None:
    titles = list(dict.fromkeys(normalise_one(t) for t in real[:6000:15]))
    entries = _with_typos(titles, 1)
    expected = _all_pairs(entries, titles, 0.8)
    found = candidates(pa.array(entries), pa.array(titles))
    pairs = dict(zip(zip(found.a.tolist(), found.b.tolist(), strict=True), found.score, strict=True))
    assert pairs == pytest.approx({pair: s for pair, s in expected.items() if pair in pairs})
    assert len(pairs) >= 0.99 * len(expected) > 300
    best, row = best_matches(pa.array(entries), pa.array(titles))
    for i, (s, j) in enumerate(zip(best, row, strict=True)):
        mine = {k: v for k, v in expected.items() if k[0] == i}
        assert s == pytest.approx(max(mine.values(), default=0.0))
        assert j == min((k[1] for k, v in mine.items() if v >= s - 1e-12), default=-1)


def test_candidates_do_not_depend_on_memory_or_order(real: list[str]) -> None:
    titles = pa.array(list(dict.fromkeys(normalise_one(t) for t in real[::30])))
    entries = pa.array(_with_typos(titles.to_pylist()[::2] * 5, 2))
    at_once = candidates(entries, titles)
    in_pieces = candidates(entries, titles, search=Search(memory_mb=1))
    assert len(at_once.a) > 5000
    for name in ("a", "b", "score"):
        assert (getattr(at_once, name) == getattr(in_pieces, name)).all()
    order = np.random.default_rng(3).permutation(len(titles))
    shuffled = candidates(entries, titles.take(pa.array(order)))
    assert set(zip(at_once.a, at_once.b, strict=True)) == set(zip(shuffled.a, order[shuffled.b], strict=True))


def test_similar_pairs_are_the_candidates_within_one_column(real: list[str]) -> None:
    titles = [normalise_one(t) for t in real[:400]]
    titles += _with_typos(titles, 4)
    found = similar_pairs(pa.array(titles))
    both = candidates(pa.array(titles), pa.array(titles))
    assert (found.a < found.b).all()
    assert set(zip(found.a, found.b, strict=True)) == {(i, j) for i, j in zip(both.a, both.b, strict=True) if i < j}


def test_a_key_that_everybody_shares_is_counted_and_does_no_harm() -> None:
    crowd = pa.array(
        [f"proceedingsoftheconferenceontemplatesvolume{i}" for i in range(3000)] + ["somethingelseentirely"]
    )
    found = similar_pairs(crowd, search=Search(memory_mb=1))
    assert len(found.over_full) > 0
    assert candidates(pa.array(["somethingelseentirelx"]), crowd).b.tolist() == [3000]
    assert np.bincount(found.a).max() <= Search().keep


@pytest.mark.parametrize("titles", [[], ["", ""], ["a"], ["ab", "ab"]])
def test_columns_that_hold_next_to_nothing(titles: list[str]) -> None:
    column = pa.array(titles, pa.string())
    assert similar_pairs(column).a.tolist() == ([0] if titles == ["ab", "ab"] else [])
    assert best_matches(column, pa.array([], pa.string()))[1].tolist() == [-1] * len(titles)


@given(st.integers(0, 2**63 - 1))
def test_3_grams_are_scrambled_one_to_one(gram: int) -> None:
    """The scrambling has an inverse: two 3-grams never become one value."""
    mask = 2**64 - 1

    def unshifted(value: int, shift: int) -> int:
        found = value
        for _ in range(64 // shift + 1):
            found = value ^ (found >> shift)
        return found

    value = unshifted(int(threegrams._scrambled(np.uint64(gram))), 31)
    value = unshifted(value * pow(0x94D049BB133111EB, -1, 2**64) & mask, 27)
    value = unshifted(value * pow(0xBF58476D1CE4E5B9, -1, 2**64) & mask, 30)
    assert value == gram
