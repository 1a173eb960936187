"""SPEC §4, §7: titles, journals and places give equal facts only if they are equal."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.titles import grams, score_pairs
from s2corpus.titles.facts import (
    COMPARED,
    FACTS,
    add_facts,
    hash_surnames,
    journal_key,
    journal_keys,
    journal_words,
    number_keys,
    page_keys,
    same_journal,
)
from s2corpus.titles.rules import _split_numbers


def test_unknown_facts_are_null() -> None:
    rows = pa.table(
        {
            "title": ["Cellular senescence", "Cellul", "Cellu", "—", None, "深度学习"],
            "authors": [[{"first": "", "last": name}] for name in ("Collado", "", None, "—", "Müller", "Muller")],
            "volume": ["130", "", None, "—", "7", "7"],
        }
    )
    for name, kind in (("year", pa.int32()), ("journal", pa.string()), ("pages", pa.string())):
        rows = rows.append_column(name, pa.nulls(6, kind))
    facts = add_facts(rows).select(FACTS.names).to_pydict()
    assert facts["normalized"] == ["cellularsenescence", "cellul", "cellu", None, None, "深度学习"]
    assert facts["opening"] == [b"cellul", b"cellul", None, None, None, "深度".encode()]
    assert facts["is_uninformative"] == [True, True, True, True, True, True]
    of = {name: [row[name] for row in facts["facts"]] for name in COMPARED.names}
    assert [key is None for key in of["surname"]] == [False, True, True, True, False, False]
    assert of["surname"][4] == of["surname"][5], "accents do not count"
    assert [key is None for key in of["volume"]] == [False, True, True, True, False, False]
    assert of["journal_key"] == of["page"] == of["year"] == [None] * 6


@given(st.lists(st.text("abc", max_size=12), min_size=2, max_size=6))
def test_pair_exactly_at_the_threshold_has_its_score(texts: list[str]) -> None:
    sets = grams(pa.array(texts))
    i, j = (x.ravel() for x in np.indices((len(texts), len(texts))))
    for a, b, s in zip(i, j, score_pairs(sets, i, sets, j), strict=True):
        assert score_pairs(sets, np.array([a]), sets, np.array([b]), s).tolist() == [s]
        assert s == 0 or score_pairs(sets, np.array([a]), sets, np.array([b]), s + 1e-6).tolist() == [0.0]


def test_number_words_are_removed() -> None:
    tens, units = ("", "x", "xx", "xxx"), ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    roman = [(tens[n // 10] + units[n % 10], n) for n in range(1, 40)]
    for word, number in (*roman, ("one", 1), ("twelve", 12), ("first", 1), ("tenth", 10), ("十", 10)):
        assert _split_numbers(f"On graphs, part {word}") == ("ongraphspart", f"{number},")
    for word in ("xl", "xxxx", "iiii", "vx", "thirteen", "eleventh", "zero", "百"):
        assert _split_numbers(f"On {word}") == (f"on{word}", "")


def test_journal_name_is_split_into_words() -> None:
    table: dict[str, str] = {
        "JAMA": "j a m a",  # Four letters are an acronym.
        "LANCE": "lance",  # Five letters are an acronym only if they are unpronounceable.
        "BCMJK": "b c m j k", "BCMJKL": "b c m j k l", "BCMJKLN": "bcmjkln", "Jama": "jama",
        "PNAS USA": "pnas", "Proc. Natl. Acad. Sci. U.S.A.": "proc natl acad sci",
        "Proceedings of the United States of America": "proceedings",
        "USA": "u s a", "United States America": "united states america",
        "The": "the",  # A stop word remains if it is the only word.
        "Physical Review (Section B) [online]": "physical review", "Nature (London": "nature",
        "Z. für Physik 12": "z physik", "Children's Health": "childrens health", "12": "", "—": "", "": "",
    }  # fmt: skip
    assert {name: " ".join(journal_words(name)) for name in table} == table
    keys = {"Journal of Biological Chemistry B": "jbc", "Nature": "n", "PNAS": "pna", "": "", "J Phys": "jp"}
    assert {name: journal_key(name) for name in keys} == keys


ACADEMY = "Proceedings of the National Academy of Sciences"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("J. Biol. Chem.", "The Journal of Biological Chemistry", True), ("Proc Natl Acad Sci U S A", ACADEMY, True),
        ("PNAS", f"{ACADEMY} of the United States of America", True), ("PNAS", "Proceedings of Natural Science", False),
        ("Acta Cryst. D", "Acta Crystallographica Section D: Biological Crystallography", True), ("Nature (London)", "Nature", True),
        ("J. Phys. A", "Journal of Physics B", False), ("J Bacteriol", "Journal of Biological Chemistry", False),
        ("Ztg. Chem.", "Zeitung Chemie", True),  # Three letters may be anywhere in the word, two at its start.
        ("Zg. Chem.", "Zeitung Chemie", False), ("Ntl", "National", True), ("Ntlx", "National", False), ("Atl", "National", False),
        ("LANCET", "Lancet", True),  # A pronounceable word in capitals is not an acronym.
        ("BMCMJ", "Blood Medicine Cells Muscles Joints", True), ("Blood", "British Journal of Haematology", False),
        ("CA: a Cancer Journal for Clinicians", "CA Cancer J Clin", True),  # A word is missing in the abbreviation.
        ("Neuro- therapeutics", "Neurotherapeutics", True),
        ("Nature Physics", "Nature", True), ("", "", False), ("J Chem Phys", "Journal of Physical Chemistry", False),
    ],
)  # fmt: skip
def test_journal_names_abbreviate_each_other(a: str, b: str, same: bool) -> None:
    assert same_journal(a, b) is same is same_journal(b, a)


@pytest.mark.parametrize(
    ("keys", "same", "different"),
    [
        (number_keys, [("58(6)", "58"), ("vol. 58", "58"), ("Volume 058", "58"), ("58 (Suppl. 6)", "58"), ("058", "58"), ("V 7", "7"),
          ("Spring", "spring")],
         [("58", "59"), ("100", "1")]),
        (page_keys, [("pp. 0985–990", "985"), ("p. 7", "7"), ("art. 7", "Article 7"), ("e1754", "E1754"), ("S212-S216", "s212"),
         ("30a", "30"), ("811a-19", "811"), ("a 17", "a17"), ("UNSP 804009", "804009"), ("Article No. 7", "art. 7"), ("ARTN e17", "e17"),
         ("e01234", "E1234"), ("pp. 33-40", "33")],
         [("S7", "7"), ("e1754", "1754"), ("33", "34"), ("1001", "1")]),
    ],
)  # fmt: skip
def test_first_number_is_compared(keys: Any, same: list[tuple[str, str]], different: list[tuple[str, str]]) -> None:
    a, b = (keys(pa.array(side)) for side in zip(*same, *different, strict=True))
    assert a.all() and b.all() and (a == b).tolist() == [True] * len(same) + [False] * len(different)


def test_surnames_are_compared_without_transliteration() -> None:
    """Web of Science prints Maeder for Mäder and Jorgensen for Jørgensen."""
    same = [("Mäder", "Maeder"), ("Mäder", "Mader"), ("Jørgensen", "Jorgensen"), ("Skakkebæk", "Skakkebaek"), ("Łabaj", "Labaj"),
            ("Işık", "Isik")]  # fmt: skip
    different = [("Xu", "Xue"), ("Li", "Liu"), ("Bauer", "Baur")]
    a, b = (hash_surnames(pa.array(side)) for side in zip(*same, *different, strict=True))
    assert a.all() and b.all() and (a == b).tolist() == [True] * len(same) + [False] * len(different)


def test_missing_place_is_zero() -> None:
    assert number_keys(pa.array(["", None, "—", " – ", "7"]))[:4].tolist() == [0] * 4, "two dashes are not one volume"
    missing = pa.array([None, None], pa.string())
    assert page_keys(missing).tolist() == journal_keys(missing).tolist() == number_keys(missing).tolist() == [0, 0]
    keys = journal_keys(pa.array(["Nature", None, "—", "Nat.", "Blood"]))
    assert (keys != 0).tolist() == [True, False, False, True, True] and keys[0] == keys[3] != keys[4]
    assert keys.dtype == np.uint32 and (keys & 1).tolist() == [1, 0, 0, 1, 1]
