"""Authors and places in print are compared by surname keys, volumes, issues and first pages."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from s2corpus import spec
from s2corpus.clustering.facts import (
    from_preprint_server,
    preprint_of,
    surname_keys,
)
from s2corpus.clustering.places import ELECTRONIC, Places, contradict, first_pages, located, numbers
from s2corpus.tables.intake import RECORDS

AUTHORS = RECORDS.schema.field("authors").type


def author(name: str) -> dict[str, Any]:
    first, _, last = name.partition("|")
    return {"first": first, "middle": [], "last": last, "suffix": ""}


def keys(*rows: list[str] | None) -> list[list[int]]:
    """Return the surname keys of rows of authors, given as "First|Last"."""
    column = pa.array([None if row is None else [author(name) for name in row] for row in rows], AUTHORS)
    offsets, found = surname_keys(column)
    return [found[a:b].tolist() for a, b in pairwise(offsets)]


def test_surname_keys_ignore_case_accents_hyphens_and_spaces() -> None:
    same = [["Ada|van der Berg"], ["B.|Van der Berg"], ["|VANDERBERG"], ["Ada|van-der Berg"], ["vanderBerg|"]]
    assert len({tuple(found) for found in keys(*same)}) == 1
    assert keys(["A|Müller"], ["A|Muller"])[0] == keys(["A|Muller"])[0] != keys(["A|Mueller"])[0]
    assert keys(["A|李"]) != keys(["A|王"])


def test_surname_keys_are_ascending_and_unique() -> None:
    names = [f"A|{chr(97 + n % 26)}{n // 26}" for n in range(60)]
    (found,) = keys([*names, *names[:2]])
    assert found == sorted(set(found)) and len(found) == 60
    assert [len(row) for row in keys(None, [], ["A|B"], None, ["A|C", "A|B"])] == [0, 0, 1, 0, 2]
    sliced = pa.array([[{"first": "A", "middle": [], "last": last, "suffix": ""}] for last in "BCD"], AUTHORS).slice(1)
    offsets, codes = surname_keys(sliced)
    assert (offsets.tolist(), codes.tolist()) == ([0, 1, 2], [key for row in keys(["A|C"], ["A|D"]) for key in row])


def test_placeholders_and_groups_have_no_surname_key() -> None:
    assert keys(["A|—"], ["|"], ["|The Complement Study Group"], ["|Complement Consortium"]) == [[], [], [], []]
    assert len(keys(["Ada|Group"])[0]) == 1, "a person may be called so"


def test_volumes_and_issues_compare_by_first_number() -> None:
    same = [("58 (Suppl. 6)", "58"), ("058", "58"), ("Spring", "spring"), ("V 7", "7")]
    different = [("58", "59"), ("100", "1")]
    a, b = (numbers(pa.array(side)) for side in zip(*same, *different, strict=True))
    assert a.all() and b.all() and (a == b).tolist() == [True] * 4 + [False] * 2


def test_first_pages_are_compared() -> None:
    same = [("S212-S216", "s212"), ("e01234", "E1234"), ("pp. 33-40", "33"), ("art. 7", "7"), ("a 17", "a17")]
    different = [("33", "34"), ("1001", "1")]
    a, b = (first_pages(pa.array(side)) & ~ELECTRONIC for side in zip(*same, *different, strict=True))
    assert a.all() and b.all() and (a == b).tolist() == [True] * 5 + [False] * 2


def test_page_with_letters_is_electronic() -> None:
    column = pa.array(["33", "e33", "S33", "pp. 33", "a1754", None, "Suppl-29", ""])
    found = first_pages(column)
    assert (found != 0).tolist() == [True, True, True, True, True, False, False, False]
    assert ((found & ELECTRONIC) != 0).tolist() == [False, True, False, False, True, False, False, False]
    assert numbers(pa.array([None, "—"])).tolist() == [0, 0] == numbers(pa.array([None, None], pa.string())).tolist()


def place(volume: int = 0, issue: int = 0, page: int = 0, journal: int = -1) -> Places:
    columns = [np.array([value], np.uint32) for value in (volume, issue, page)]
    return Places(columns[0], columns[1], columns[2], np.array([journal], np.int32))


def test_places_in_print_contradict() -> None:
    """Titles are equal (`exact`) or only similar; the title may be uninformative (`strict`): then any difference counts."""
    table: list[tuple[Places, Places, bool, bool, bool]] = [
        (place(4, 0, 12), place(8, 0, 16), True, False, True),  # Volume and page differ.
        (place(4, 0, 12), place(8, 0, 12), True, False, False),
        (place(4, 0, 12), place(0, 0, 16), True, False, False),  # A missing volume contradicts nothing.
        (place(4, 0, 12), place(4, 0, 16), True, False, False),  # An erratum.
        (place(4, 0, 12), place(4, 0, 16), False, False, True),
        (place(4, 0, 12), place(8, 0, 14), False, False, False),  # One page is electronic.
        (place(4), place(8), True, True, True),
        (place(0, 4), place(0, 8), True, True, True),
        (place(0, 4), place(0, 8), True, False, False),
        (place(0, 0, 12), place(0, 0, 16), True, True, True),
        (place(journal=0), place(journal=1), False, False, True),
        (place(journal=0), place(journal=1), True, False, False),
        (place(4, journal=0), place(8, journal=1), True, False, True),
        (place(0, 0, 12, 0), place(0, 0, 16, 1), True, False, True),
        (place(4, 0, 12, 0), place(4, 0, 12, 1), False, False, False),  # The place is equal.
        (place(4, 0, 0, 0), place(4, 0, 0, 1), False, False, True),
        (place(journal=1), place(journal=2), False, False, False),  # One name abbreviates the other.
        (place(journal=0), place(journal=3), False, False, False),  # No words.
    ]
    journals = pa.array(["Blood", "Kidney Int", "Kidney International", "—"])
    for one, other, exact, strict, found in table:
        for a, b in ((one, other), (other, one)):
            result = contradict(a, b, journals, np.array([exact]), np.array([strict]), np.array([False]))
            assert result.tolist() == [found], (one, other)


def test_places_in_print_agree() -> None:
    for one, other, same in (
        (place(4, 0, 12), place(4, 0, 12), True), (place(4, 0, 12), place(4), True), (place(4, 0, 12), place(4, 0, 14), True),
        (place(4, 0, 12), place(4, 0, 16), False), (place(4), place(8), False),
        (place(0, 0, 12), place(0, 0, 12), False), (place(), place(), False),
    ):  # fmt: skip
        assert located(one, other).tolist() == [same] == located(other, one).tolist()


def test_preprint_server_is_matched_by_prefix_or_registrant() -> None:
    dois = ["10.1101/x", "10.11012/x", "10.48550/arxiv.1", "10.48550/x", "10.1/10.1101/x"]
    prefixes = ["10.1101", "10.48550/arxiv"]
    expected = [True, False, True, False, False]
    assert from_preprint_server(pa.array(dois), prefixes).tolist() == list(map(preprint_of(prefixes), dois)) == expected
    assert from_preprint_server(pa.array(dois), []).tolist() == [False] * 5
    assert len(from_preprint_server(pa.array([], pa.string()), prefixes)) == 0


def test_preprint_patterns_do_not_match_journals() -> None:
    preprints = [
        "10.2196/preprints.12345", "10.1002/essoar.10501234.1", "10.33774/coe-2020-abc", "10.31224/osf.io/abcde",
        "10.31124/advance.123", "10.31230/osf.io/abcde", "10.31223/x5abcd", "10.3762/bxiv.2019.1.v1", "10.21034/wp.123",
        "10.1590/scielopreprints.123", "10.64898/2025.12.01.123456", "10.1101/2020.01.01.123456", "10.5194/egusphere-2023-1",
    ]  # fmt: skip
    journals = [
        "10.2196/12345", "10.1002/jgrb.50123", "10.3762/bjoc.1.1", "10.1590/s0100-123", "10.1101/gr.123456.107",
        "10.3897/zookeys.1.1", "10.14293/s2199-1006.1.sor-med.abc.v1", "10.1149/2.0101501jes", "10.5194/acp-1-1-2001",
    ]  # fmt: skip
    found = from_preprint_server(pa.array(preprints + journals), spec.ClusterRules().preprint_prefixes)
    assert found.tolist() == [True] * len(preprints) + [False] * len(journals)
