"""Hashes of strings, facts and keys are equal only for equal values, and are the same in every release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.titles import grams, score_pairs
from s2corpus.titles.arrays import hash_strings, text_of
from s2corpus.titles.facts import FACTS, add_facts, first_numbers, journal_keys

WORDS = ("", "a", "ab", "deep", "learning", "attention", "attention is all you need", "é", "深層学習")

HASHES = [
    0, 377321346718024083, 10842921217519817231, 17839413154450119090, 18410219118461685480, 7427233272655406356,
    5436283580222503898, 13434680417670242730, 16364105303748251069,
]  # fmt: skip
NUMBERS = [265727921, 1074224679, 0, 2484607783]
JOURNALS = [2966288409, 1636035825, 0]


def test_hashes_equal_those_of_earlier_releases() -> None:
    """Stored data of earlier releases contain these hashes.

    If a hash changes, change the versions of the data that contain it.
    """
    assert hash_strings(*text_of(pa.array(WORDS))).tolist() == HASHES
    assert first_numbers(pa.array(["58(6)", "pp. 0985–990", "", "vol. 7"])).tolist() == NUMBERS
    assert journal_keys(pa.array(["J. Biol. Chem.", "Nature", None])).tolist() == JOURNALS


def test_unknown_facts_are_null() -> None:
    rows = pa.table(
        {
            "title": ["Cellular senescence", "Cellul", "Cellu", "—", None, "深度学习"],
            "surname": ["Collado", "", None, "—", "Müller", "Muller"],
            "volume": ["130", "", None, "—", "7", "7"],
        }
    )
    facts = add_facts(rows).select(FACTS.names).to_pydict()
    assert facts["normalised"] == ["cellularsenescence", "cellul", "cellu", None, None, "深度学习"]
    assert facts["opening"] == [b"cellul", b"cellul", None, None, None, "深度".encode()]
    assert facts["is_uninformative"] == [True, True, True, True, True, True]
    assert [key is None for key in facts["surname_key"]] == [False, True, True, True, False, False]
    assert facts["surname_key"][4] == facts["surname_key"][5], "accents do not count"
    assert [key is None for key in facts["volume_key"]] == [False, True, True, True, False, False]
    assert facts["journal_key"] == facts["page_key"] == [None] * 6


@given(st.lists(st.text("abc", max_size=12), min_size=2, max_size=6))
def test_pair_exactly_at_the_threshold_has_its_score(texts: list[str]) -> None:
    sets = grams(pa.array(texts))
    i, j = (x.ravel() for x in np.indices((len(texts), len(texts))))
    for a, b, s in zip(i, j, score_pairs(sets, i, sets, j), strict=True):
        assert score_pairs(sets, np.array([a]), sets, np.array([b]), s).tolist() == [s]
        assert s == 0 or score_pairs(sets, np.array([a]), sets, np.array([b]), s + 1e-6).tolist() == [0.0]


def test_column_without_text_gives_empty_strings() -> None:
    chunks = pa.chunked_array([pa.nulls(2), pa.nulls(1)])
    for column in (pa.nulls(3), pa.nulls(3, pa.string()), pa.array(["", None, ""]), chunks):
        offsets, data = text_of(column)
        assert offsets.tolist() == [0] * 4 and len(data) == 0
        assert len(text_of(column[:0])[0]) == 1
