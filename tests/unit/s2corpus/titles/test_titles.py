"""Titles are compared by normal form, 3-grams, S and keys.

Special rules apply to uninformative titles (SPEC §7).
"""

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.rules import LinkRules
from s2corpus.stages.link import make_link_tables
from s2corpus.storage.engine import open_duckdb
from s2corpus.titles import compare_numbers, grams, normalize, normalize_one, score
from s2corpus.titles.rules import Difference, are_uninformative, differences, is_generic, word_count
from s2corpus.titles.similarity import find_best_scores, score_titles
from s2corpus.titles.threegrams import minhash_keys
from tests.papers.test_s2orc_links import compute_s, grams_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LONG = st.text("abcdefghijklmnopq", min_size=60, max_size=400)
TITLE = st.one_of(TEXT, st.text("abcABC 12-é", max_size=20), st.text("ab", max_size=300), LONG)


@pytest.fixture(scope="module")
def real(shared_data: Path) -> list[str]:
    with gzip.open(shared_data / "titles" / "titles_dev.tsv.gz", "rt", encoding="utf-8") as lines:
        return [line.split("\t")[4] for line in lines.read().split("\n")[1:] if line]


def test_title_has_its_normal_form() -> None:
    table = {
        "A Survey of Deep Learning": "asurveyofdeeplearning",
        "Graph-\nbased  methods: a (short) survey": "graphbasedmethodsashortsurvey",
        "Eﬃcient ﬁne-tuning": "efficientfinetuning",  # Ligatures.
        "Schrödinger’s naïve Über-Straße": "schrodingersnaiveuberstrasse",
        "ＤＥＥＰ　Ｌｅａｒｎｉｎｇ": "deeplearning",  # Full-width letters.
        "深層学習：サーベイ": "深層学習サーヘイ",  # The voicing mark is a combining mark with its own class.
        "हिन्दी भाषा": "हिनदीभाषा",  # Vowel signs remain; the virama (class 9) is removed.
        "": "",
    }
    assert {title: normalize_one(title) for title in table} == table
    assert normalize(pa.array(list(table))).to_pylist() == list(table.values())


@given(st.lists(st.one_of(st.none(), TITLE), max_size=20), st.integers(0, 5))
def test_column_is_normalized_title_by_title(titles: list[str | None], skipped: int) -> None:
    column = pa.array(titles, pa.string()).slice(skipped)
    assert normalize(column).to_pylist() == [normalize_one(t or "") for t in titles[skipped:]]


def test_two_titles_have_their_score() -> None:
    for a, b, s in (
        ("A survey of deep learning", "A survey on deep learning", 0.780),  # The example of the rule.
        ("ab", "AB", 1.0),
    ):
        assert score(a, b) == pytest.approx(s, abs=5e-4)


def test_keys_are_equal_with_minhash_probability() -> None:
    common = [f"{i:03d}" for i in range(60)]
    a, b = ("".join(common), "".join(common[:45] + [f"{i:03d}" for i in range(500, 515)]))
    sets = grams(pa.array([a, b]))
    shared = set(sets.values[: sets.offsets[1]]) & set(sets.values[sets.offsets[1] :])
    jaccard = len(shared) / (len(sets.values) - len(shared))
    a_keys, b_keys = minhash_keys(sets, 2000, 1).T
    assert (a_keys == b_keys).mean() == pytest.approx(jaccard, abs=0.04)


def test_uninformative_titles_are_recognized() -> None:
    for title, generic, words in (
        ("Editorial", True, 1), ("BOOK REVIEW.", True, 2), ("Letter to the Editor", True, 4), ("Editorial: graph learning", False, 3),
        ("Deep learning — ...", False, 2), ("深度学习", False, 2), ("深度学习综述", False, 3), ("BERT 模型", False, 2), ("", False, 0),
    ):  # fmt: skip
        assert (is_generic(title), word_count(title)) == (generic, words)
        uninformative = are_uninformative(pa.array([title, None]), normalize(pa.array([title, None])))
        assert uninformative.tolist() == [generic or words < 3, True]


@pytest.mark.parametrize(
    ("a", "b", "difference"),
    [
        ("Foundations, Part I", "Foundations, Part II", 3), ("Foundations", "Foundations 2", 1), ("Foundations", "Foundations, part 2", 2),
        ("Foundations, Part II", "Foundations: part 2", 0),  # The same number.
        ("Foundations: a first view, part 1", "Foundations: views, part 2", 3), ("Foundations of walks", "Foundations of walks II", 2),
        ("2D convolutions", "3D convolutions", 3), ("The Fourth Workshop on X", "The Fifth Workshop on X", 3),
        ("COVID-19 in 2020", "Covid 19 in 2021", 3), ("量子力学（一）", "量子力学（二）", 3), ("On graphs", "On graph", 0),
        ("On mix models", "On dim models", 0),  # Roman digits that are words.
        ("Report 007", "Report 7", 0), ("Graphs 1", "Graphs, 2", 3), ("On graphs 1", "On graphs №2", 3),
        ("Части I", "Части", 2), ("Части 1", "Слова 2", 0), ("On p6 expression", "On p16 expression", 3),
        ("Guidelines", "Guidelines: 2. Panels", 2), ("Graphs at scale: 1", "Graphs at scale: 2. Proofs", 3),
        ("Graphs", "Graphs of 2 men", 0),
        ("1" * 19, "0" + "1" * 19, 3), ("1" * 18, "0" + "1" * 18, 3), ("1" * 17, "0" + "1" * 17, 0),
    ],
)  # fmt: skip
def test_difference_of_numbers_is_recognized(a: str, b: str, difference: int) -> None:
    assert compare_numbers(a, b) is Difference(difference)
    assert differences(pa.array([a, b, "x"]), pa.array([b, a, "y"])).tolist() == [difference, difference, 0]


def _all_pairs(a: list[str], b: list[str], threshold: float) -> dict[tuple[int, int], float]:
    sets_a, sets_b = [grams_of(t) for t in a], [grams_of(t) for t in b]
    scores = {(i, j): compute_s(x, y) for i, x in enumerate(sets_a) for j, y in enumerate(sets_b)}
    return {pair: s for pair, s in scores.items() if s > threshold}


def _with_typos(titles: list[str], seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    noisy = []
    for title in titles:
        for at in rng.integers(0, len(title), 2):
            title = title[:at] + "x" + title[at + 1 :]
        noisy.append(title)
    return noisy


def _search(entries: list[str], titles: list[str]) -> dict[tuple[int, int], float]:
    """Return S of the pairs (place of an entry, place of a title) that the search finds."""
    with tempfile.TemporaryDirectory() as folder, open_duckdb(1024, Path(folder)) as engine:
        for name, texts in (("searched", entries), ("titles", titles)):
            engine.create(name, pa.table([range(len(texts)), texts], ["title_hash", "normalized"]))
        make_link_tables(engine, LinkRules(), ("searched_keys", "title_keys", "pairs", "scored"), ("scored",))
        found = engine.fetch("FROM scored").to_pylist()
    return {(entries.index(row["title_a"]), titles.index(row["title_b"])): row["score"] for row in found}


def test_search_finds_typos() -> None:
    stems = ("deepparsingofscientificpapers", "asurveyofrandomwalksongraphs", "citationsinsmallcorpora")
    places = [(at, letter, skip) for at in (3, 9, 17, 22) for letter in "xy" for skip in (0, 2)]
    titles = [stem[:at] + letter + stem[at + skip :] for stem in stems for at, letter, skip in places]
    pairs = _search(titles, titles)
    assert pairs == pytest.approx(_all_pairs(titles, titles, 0.8))
    assert len(pairs) > 2 * len(titles)


@pytest.mark.compiled
def test_search_finds_what_exhaustive_comparison_finds(real: list[str]) -> None:
    titles = list(dict.fromkeys(normalize_one(t) for t in real[:6000:15]))
    entries = _with_typos(titles, 1)
    expected = _all_pairs(entries, titles, 0.8)
    pairs = _search(entries, titles)
    assert pairs == pytest.approx({pair: s for pair, s in expected.items() if pair in pairs})
    assert len(pairs) >= 0.99 * len(expected) > 300
    best = find_best_scores(pa.array(entries), pa.array(titles), 0.8)
    for i, s in enumerate(best):
        assert s == pytest.approx(max((v for k, v in expected.items() if k[0] == i), default=0.0))


def test_score_at_the_threshold_is_dropped() -> None:
    column = pa.array(["abcdefg", "abcdefh"])
    score = 8 / 11  # 4 common 3-grams of 5 and 5: 2·4 / (5 + 5 + 5 − 4).
    a, b = np.array([0]), np.array([1])
    assert score_titles(column, a, column, b, score).tolist() == [0.0]
    assert score_titles(column, a, column, b, score - 0.01).tolist() == [score]
