"""The rules of titles, journals and keys beside their definitions, and at their borders."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.titles import differ_only_in_number, grams, normalise_one, score_pairs
from s2corpus.titles.arrays import one_chunk, strings, text_of
from s2corpus.titles.buckets import bucket_of
from s2corpus.titles.candidates import Search
from s2corpus.titles.changes import fingerprints, rows_only_in, touched
from s2corpus.titles.equal import EqualStrings
from s2corpus.titles.journals import journal_key, journal_words, same_journal
from s2corpus.titles.partial import Sought
from s2corpus.titles.places import first_numbers, journal_keys
from s2corpus.titles.rules import _columns_without_numbers, _without_numbers, only_numbers_differ
from s2corpus.titles.targets import IDENTIFIERS, NARROWED, NO_YEAR, Facts, Targets, key_of, partial_keys
from tests.unit.titles.test_titles import NUMBERED, TITLE

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
def test_words_that_are_numbers(words: list[str]) -> None:
    titles = [f"On graphs, part {word}" for word in words]
    expected = [("ongraphspart", f"{number},") for number in range(1, len(words) + 1)]
    assert [_without_numbers(title) for title in titles] == expected
    rest, numbers = _columns_without_numbers(pa.array(titles))
    assert list(zip(rest.to_pylist(), numbers.to_pylist(), strict=True)) == expected


@pytest.mark.parametrize("word", ["xl", "xxxx", "iiii", "vx", "thirteen", "eleventh", "zero", "百"])
def test_other_words_are_not(word: str) -> None:
    assert _without_numbers(f"On {word}") == (f"on{word}", "")


@given(st.lists(TITLE | NUMBERED | st.text("ab1 0xi-", max_size=30), max_size=6))
def test_titles_without_their_numbers(titles: list[str]) -> None:
    rest, numbers = _columns_without_numbers(pa.array(titles, pa.string()))
    assert list(zip(rest.to_pylist(), numbers.to_pylist(), strict=True)) == [
        _without_numbers(title) for title in titles
    ]


@pytest.mark.parametrize(
    ("a", "b", "only"),
    [
        ("Части 1", "Части 2", True), ("Части", "Части", False), ("Части I", "Части", True), ("Части", "Части II", True),
        ("Части 1", "Слова 2", False), ("On graphs 1", "On graphs №2", False), ("Graphs 1", "Graphs, 2", True),
        ("1" * 19, "0" + "1" * 19, True), ("1" * 18, "0" + "1" * 18, True), ("1" * 17, "0" + "1" * 17, False),
    ],
)  # fmt: skip
def test_numbers_of_titles_in_any_script(a: str, b: str, only: bool) -> None:
    assert differ_only_in_number(a, b) is only
    assert only_numbers_differ(pa.array([a, b, "x"]), pa.array([b, a, "y"])).tolist() == [only, only, False]


def test_strings_as_arrays() -> None:
    with pytest.raises(TypeError, match="a column of strings is expected, this is int64"):
        text_of(pa.array([1]))
    large = text_of(pa.array(["ab", None, "c"], pa.large_string()))
    assert (large[0].tolist(), bytes(large[1])) == ([0, 2, 2, 3], b"abc")
    assert one_chunk(pa.chunked_array([["a"], ["b"]])).to_pylist() == ["a", "b"]
    assert one_chunk(pa.chunked_array([], pa.string())).to_pylist() == []
    assert strings(np.array([0, 1, 3], np.int32), np.frombuffer(b"abc", np.uint8)).to_pylist() == ["a", "bc"]


@settings(max_examples=30)
@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=60, max_size=400), min_size=1, max_size=3))
def test_sets_of_many_3_grams(texts: list[str]) -> None:
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
        ("JAMA", ("j", "a", "m", "a")),  # of four letters an acronym,
        ("LANCE", ("lance",)),  # of five only where it cannot be said
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
        ("The", ("the",)),  # a word that is left out, where there is no other
        ("Journal of the Chemistry", ("journal", "chemistry")),
        ("Physical Review (Section B) [online]", ("physical", "review")),
        ("Nature (London", ("nature",)),
        ("Z. für Physik 12", ("z", "physik")),
        ("Children's Health", ("childrens", "health")),
        ("12", ()), ("—", ()), ("", ()),
    ],
)  # fmt: skip
def test_the_words_of_a_journals_name(name: str, words: tuple[str, ...]) -> None:
    assert journal_words(name) == words


@pytest.mark.parametrize(
    ("name", "key"),
    [("Journal of Biological Chemistry B", "jbc"), ("Nature", "n"), ("PNAS", "pna"), ("", ""), ("J Phys", "jp")],
)
def test_initials_of_the_first_three_words(name: str, key: str) -> None:
    assert journal_key(name) == key


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("", "Nature", False), ("", "", False), ("Chem", "Journal of Chemistry", False), ("J Chem", "Journal of Physical Chemistry", True),
        ("J Chem Phys", "Journal of Physical Chemistry", False), ("J Chem Phys", "J Chem", True), ("Nature Physics", "Nature", True),
        ("Ntl", "National", True), ("Ntlx", "National", False), ("Nl", "National", False), ("Atl", "National", False),
    ],
)  # fmt: skip
def test_names_that_abbreviate(a: str, b: str, same: bool) -> None:
    assert same_journal(a, b) is same is same_journal(b, a)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("58(6)", "58", True), ("vol. 58", "58", True), ("Volume 058", "58", True), ("pp. 0985–990", "985", True), ("p. 7", "7", True),
        ("art. 7", "Article 7", True), ("s. 7", "7", True), ("S7", "7", False), ("e1754", "E1754", True), ("e1754", "1754", False),
        ("1.7", "1", False), ("A-7", "a", True), ("58", "59", False),
    ],
)  # fmt: skip
def test_the_first_number_of_a_place(one: str, other: str, same: bool) -> None:
    a, b = first_numbers(pa.array([one, other]))
    assert a and b and bool(a == b) is same


def test_no_place_is_0() -> None:
    assert first_numbers(pa.array(["", None, "—", " – ", "7"]))[:4].tolist() == [0] * 4, "two dashes are not one volume"
    assert (
        first_numbers(pa.array([None, None], pa.string())).tolist()
        == [0, 0]
        == journal_keys(pa.array([None, None], pa.string())).tolist()
    )
    keys = journal_keys(pa.array(["Nature", None, "—", "Nat.", "Blood"]))
    assert (keys != 0).tolist() == [True, False, False, True, True] and keys[0] == keys[3] != keys[4]
    assert keys.dtype == np.uint32 and (keys & 1).tolist() == [1, 0, 0, 1, 1]


def test_fingerprints_differ_where_a_column_does() -> None:
    rows = {"a": ["x", "y", "x", "", None, "12", "1"], "b": pa.array([1, 1, 2, 1, 1, None, 2])}
    found = fingerprints(pa.table(rows)).tolist()
    assert found[3] == found[4] and len(set(found)) == 6, "null and empty are the same, and nothing else"
    swapped = fingerprints(pa.table({"a": ["x", "y"], "b": ["y", "x"]})).tolist()
    assert swapped[0] != swapped[1]
    kept = rows_only_in(pa.table(rows), pa.table({"a": ["y", ""], "b": [1, 1]}))
    assert kept.to_pylist() == [{"a": "x", "b": 1}, {"a": "x", "b": 2}, {"a": "12", "b": None}, {"a": "1", "b": 2}]


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20), st.integers(1, 9))
def test_buckets_of_numbers_and_of_texts(values: list[int], buckets: int) -> None:
    found = bucket_of(np.array(values, np.int64), buckets)
    mixed = [(value * 0x9E3779B97F4A7C15 % 2**64 >> 32) % buckets for value in values]
    assert (found.dtype, found.tolist()) == (np.int64, mixed)
    texts = list(map(str, values))
    for column in (texts, pa.array(texts, pa.string()), pa.chunked_array([texts], pa.string())):
        assert (bucket_of(column, buckets) == bucket_of(texts, buckets)).all() if texts else len(column) == 0


NUMBERS = st.sampled_from([0, 1, 2])
FACTS_ROWS = st.lists(
    st.tuples(st.sampled_from(["", "short", "sixsix", "sixsixandmore", "another"]), st.sampled_from([int(NO_YEAR), 1999, 2000]),
              NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=9,
)  # fmt: skip
Known = list[tuple[str, int, int, int, int, int]]


def facts_of(rows: Known) -> Facts:
    texts, years, names, journals, volumes, pages = (
        (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [], [], [])
    )
    numbers = (np.array(column, np.uint32) for column in (journals, volumes, pages))
    return Facts(
        pa.array(texts, pa.string()),
        np.zeros(len(rows), bool),
        np.array(years, np.int32),
        np.array(names, np.uint64),
        *numbers,
    )


@given(FACTS_ROWS, FACTS_ROWS)
def test_keys_of_beginnings_and_of_places(rows: Known, others: Known) -> None:
    """Equal for equal facts, different for different ones, 0 where one is unknown; and found among others'."""

    def parts(row: tuple[str, int, int, int, int, int]) -> tuple[tuple[object, ...] | None, tuple[object, ...] | None]:
        text, year, name, *place = row
        begins = (text[:6], year, name) if year != NO_YEAR and name and len(text) >= 6 else None
        return begins, (year, *place) if year != NO_YEAR and all(place) else None

    made = [column.tolist() for column in partial_keys(facts_of([*rows, *others]))]
    told = [parts(row) for row in [*rows, *others]]
    for kind in (0, 1):
        assert [key != 0 for key in made[kind]] == [part[kind] is not None for part in told]
        known = {(key, part[kind]) for key, part in zip(made[kind], told, strict=True) if key}
        assert len(known) == len({key for key, _ in known}) == len({part for _, part in known})
    entries, papers = (zip(some, map(parts, some), strict=True) for some in (others, list(rows)))
    wanted = [(row, (0, part[0]) if row[0] else (1, part[1])) for row, part in entries]

    def fit(paper: tuple[str, int, int, int, int, int], entry: tuple[str, int, int, int, int, int]) -> bool:
        numbers = zip(paper[4:], entry[4:], strict=True)
        return paper[0].startswith(entry[0]) and all(a == b or not a or not b for a, b in numbers)

    expected = [
        any(key[1] and key in enumerate(part) and fit(paper, entry) for entry, key in wanted) for paper, part in papers
    ]
    assert Sought.of(facts_of(others), np.ones(len(others), bool)).fitting(facts_of(rows)).tolist() == expected


@settings(max_examples=30)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"title": st.sampled_from(["Deep parsing of papers", "Editorial", "", "Graphs"]), "year": st.sampled_from([None, 1999]),
             "surname": st.sampled_from([None, "A"]), "volume": st.sampled_from([None, "1"]), "pages": st.sampled_from([None, "2"]),
             "doi": st.sampled_from([None, "x", "y"]), "pmc_id": st.sampled_from([None, "x"])}
        ), max_size=8,
    ), st.randoms(use_true_random=False),
)  # fmt: skip
def test_papers_in_groups(rows: list[dict[str, str | int | None]], rng: object) -> None:
    """Of one title or identifier: the only paper, or their keys, each with its papers in order of their ids."""
    ids = [f"p{n}" for n in range(len(rows))]
    rng.shuffle(ids)  # type: ignore[attr-defined]
    names = [
        ("year", pa.int32()),
        *((name, pa.string()) for name in ("title", "surname", "volume", "pages", "paper_id", *IDENTIFIERS)),
    ]
    targets = Targets.of(
        pa.Table.from_pylist(
            [{**row, "paper_id": id_} for row, id_ in zip(rows, ids, strict=True)], schema=pa.schema(names)
        )
    )
    assert [ids[row] for row in np.argsort(targets.rank)] == sorted(ids)
    values = [
        [normalise_one(str(row["title"])) for row in rows],
        *([row.get(name) for row in rows] for name in IDENTIFIERS),
    ]
    groups = [(kind, value) for kind, column in enumerate(values) for value in dict.fromkeys(v for v in column if v)]
    assert len(targets.single) == len(groups)
    expected = []
    for number, (kind, value) in enumerate(groups):
        members = [row for row in range(len(rows)) if values[kind][row] == value]
        assert targets.single[number] == (members[0] if len(members) == 1 else -1)
        for row in members if len(members) > 1 else []:
            facts = targets.facts
            known = facts.year[row], facts.surname[row], facts.volume[row], facts.page[row]
            made = [int(key_of(np.uint64(number), by, *known)) for by in range(NARROWED + 1)]
            expected += [(key, targets.rank[row], row) for key in made if key]
    assert targets.keys.tolist() == [key for key, _, _ in sorted(expected)]
    assert targets.rows.tolist() == [row for _, _, row in sorted(expected)]
    little = {normalise_one(str(row["title"])) for row in rows if row["title"] in ("Editorial", "Graphs")}
    assert [value in little for kind, value in groups if kind == 0] == targets.little.tolist()
    distinct = EqualStrings.of(targets.facts.normalised).distinct
    assert distinct.to_pylist() == [value for kind, value in groups if kind == 0]


ENTRY = {"title": "Deep parsing of scientific papers at scale", "year": 1999, "surname": "Ada", "doi": "10.1/x", "journal": "Nature",
         "volume": "7", "pages": "5"}  # fmt: skip
COLUMNS = pa.schema(
    [
        ("year", pa.int32()),
        *((n, pa.string()) for n in ("title", "surname", "journal", "volume", "pages", "paper_id", *IDENTIFIERS)),
    ]
)


@pytest.mark.parametrize(
    ("paper", "found"),
    [
        ({"doi": "10.1/x"}, [0]),
        ({"pubmed_id": "9"}, [4]),
        ({"title": "Deep parsing of scientific papers at scale"}, [0, 1]),
        ({"title": "Deep parsing of scientific papers at scales"}, [0, 1]),
        (
            {
                "title": "Deep parsing of scientific papers at scale: " + "a survey of all that was done " * 3,
                "year": 1999,
                "surname": "Ada",
            },
            [0],
        ),
        ({"journal": "Nature", "volume": "7", "pages": "5", "year": 1999}, [2]),
        ({"title": "Something else", "doi": "10.1/z"}, []),
        ({"title": ""}, []),
    ],
)
def test_which_entries_a_paper_that_came_or_went_touches(paper: dict[str, str | int], found: list[int]) -> None:
    rows = [
        ENTRY, {"title": ENTRY["title"]}, {"journal": "Nature", "volume": "7", "pages": "5", "year": 1999}, {"title": "Graphs in time"},
        {"title": "Random walks on graphs", "pubmed_id": "9"},
    ]  # fmt: skip
    entries = pa.Table.from_pylist(rows, schema=COLUMNS)
    nobody, somebody = (
        Targets.of(pa.Table.from_pylist(some, schema=COLUMNS))
        for some in ([], [{"title": "", **paper, "paper_id": "p"}])
    )
    for removed, added in ((nobody, somebody), (somebody, nobody)):
        mask = touched(entries, removed, added, np.empty(0, np.uint64), Search())
        assert np.flatnonzero(mask).tolist() == found


@pytest.mark.parametrize(("title", "found"), [(ENTRY["title"], [True, False]), (f"{ENTRY['title']}s", [False, False])])
def test_an_equal_title_touches_an_entry_that_no_search_finds(title: str, found: list[bool]) -> None:
    """As where its keys are over-full."""
    entries = pa.Table.from_pylist([{"title": ENTRY["title"]}, {"title": "Graphs in time and space"}], schema=COLUMNS)
    nobody, somebody = (
        Targets.of(pa.Table.from_pylist(some, schema=COLUMNS)) for some in ([], [{"title": title, "paper_id": "p"}])
    )
    assert touched(entries, nobody, somebody, np.empty(0, np.uint64), Search(1.0)).tolist() == found
