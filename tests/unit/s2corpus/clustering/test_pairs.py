"""SPEC §4.6–4.14: authors, years and places in print of two records agree or contradict.

Records of a block are compared; each rule agrees with a definition in plain Python.
"""

from collections.abc import Iterable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.clustering import pairs
from s2corpus.clustering.edges import TITLE, edges_of_kind
from s2corpus.clustering.facts import IDENTIFIERS, Nodes, group_nodes, nodes_from, surname_keys
from s2corpus.clustering.functions import BANDS
from s2corpus.papers.support import MAX_EXHAUSTIVE
from s2corpus.sources.preprints import find_preprints, is_preprint_doi
from s2corpus.stages.link import MAX_GROUP
from s2corpus.tables.intake import RECORDS as TABLE
from s2corpus.titles.facts import ELECTRONIC, last_pages, page_keys
from s2corpus.titles.facts import number_keys as numbers
from s2corpus.titles.similarity import MAX_PAIRS_PER_TITLE
from s2corpus.titles.threegrams import ROWS

CODES = st.lists(st.integers(-1, 3), max_size=14)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "trusted": st.booleans(), "normalized": st.sampled_from(["", "a", "b"]), "doi": st.sampled_from([None, "1", "2"]),
        }
    ),
    min_size=14,
    max_size=14,
)  # fmt: skip
KINDS = {"trusted": pa.bool_(), "preprint": pa.bool_(), "year": pa.int32(), "volume": pa.uint32(), "page": pa.uint32()}


def make_nodes(records: list[dict[str, Any]]) -> Nodes:
    """Return nodes for records such as `{"year": 2011, "names": [3, 5], …}`. The default year is 2000."""
    columns: dict[str, pa.Array] = {
        "surnames": pa.array([record.get("names", []) for record in records], pa.list_(pa.uint64()))
    }
    columns |= {
        name: pa.array([record.get(name, 2000 if name == "year" else 0) for record in records]).cast(kind)
        for name, kind in KINDS.items()
    }
    for name in ("normalized", "doi", "final_doi"):
        columns[name] = pa.array([record.get(name) for record in records], pa.string())
    return nodes_from(pa.table(columns))


def list_pairs(blocks: Iterable[Any]) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for block in blocks for row in zip(*block, strict=True)]


@given(CODES, st.integers(1, 4), st.integers(1, 9))
def test_windows_pair_the_next_neighbors(codes: list[int], window: int, block: int) -> None:
    expected = [
        (members[p], members[q])
        for members in ([node for node, code in enumerate(codes) if code == group] for group in range(4))
        for p, q in combinations(range(len(members)), 2)
        if q - p <= window
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "WINDOW", window)
        patch.setattr(pairs, "_PAIRS_PER_BLOCK", block)
        assert list_pairs(pairs.windows(group_nodes(np.array(codes, np.int32)))) == expected


@given(CODES, RECORDS)
def test_untitled_pdf_joins_trusted_records_of_one_paper(codes: list[int], records: list[dict[str, Any]]) -> None:
    """SPEC §4.4: a PDF without a title joins the records with its SHA-1 if these have one title and no two DOIs."""
    nodes, expected = make_nodes(records[: len(codes)]), []
    for group in range(4):
        members = [node for node, code in enumerate(codes) if code == group]
        sure = [node for node in members if records[node]["trusted"]]
        titles = {records[node]["normalized"] for node in sure}
        dois = {records[node]["doi"] for node in sure}
        first = records[sure[0]]["doi"] if sure else None
        if len(titles) == 1 and (first is None or dois <= {first, None}):
            untitled = [node for node in members if not records[node]["trusted"] and not records[node]["normalized"]]
            expected += [(sure[0], node) for node in untitled]
    assert sorted(list_pairs([pairs.pair_untitled(nodes, np.array(codes, np.int32))])) == sorted(expected)


def test_identifiers_are_stronger_than_titles() -> None:
    given: dict[str, Any] = {name: ["x", "x"] for name in IDENTIFIERS}
    one = nodes_from(pa.table(given | {"trusted": [True] * 2, "declares": [True, False]}))
    strengths = [edges_of_kind(one, reason).strength.tolist() for reason in range(TITLE - 1)]
    assert strengths == [[8], [7], [6], [5], [4], [3]]


def test_limits_of_neighbors_pairs_and_papers_are_those_of_earlier_releases() -> None:
    """Other limits give other edges and links. The bands find 99 % of the pairs with S = 0.8 (SPEC §7.14)."""
    assert (pairs.WINDOW, MAX_PAIRS_PER_TITLE, MAX_GROUP, MAX_EXHAUSTIVE) == (64, 64, 64, 16)
    assert round(1 - (1 - 0.8**ROWS) ** BANDS, 4) == 0.9923


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 9)), max_size=90))
def test_records_of_a_title_are_sorted_by_year_then_id(rows: list[tuple[int, int]]) -> None:
    codes, years = np.array(rows, np.int32).reshape(-1, 2).T
    order = sorted((row for row in enumerate(rows) if row[1][0] >= 0), key=lambda row: row[1])
    assert group_nodes(codes, years).nodes.tolist() == [node for node, _ in order]


# -- Names and places in print

AUTHORS = TABLE.schema.field("authors").type


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


def test_placeholders_and_groups_have_no_surname_key() -> None:
    assert keys(["A|—"], ["|"], ["|The Complement Study Group"], ["|Complement Consortium"]) == [[], [], [], []]
    assert len(keys(["Ada|Group"])[0]) == 1, "a person may be called so"


def test_volumes_and_issues_compare_by_first_number() -> None:
    same = [("58 (Suppl. 6)", "58"), ("058", "58"), ("Spring", "spring"), ("V 7", "7")]
    different = [("58", "59"), ("100", "1")]
    a, b = (numbers(pa.array(side)) for side in zip(*same, *different, strict=True))
    assert a.all() and b.all() and (a == b).tolist() == [True] * 4 + [False] * 2


def test_last_page_is_read_from_a_range_only() -> None:
    ranges = [("2141–2147", 2147), ("2142-7", 2147), ("S212-S216", 216), ("pp. 099–101", 101)]
    others = ["945", "945-945", "41, 67–95", "e1754", "", None]
    found = last_pages(pa.array([pages for pages, _ in ranges] + others, pa.string()))
    assert found.tolist() == [last for _, last in ranges] + [0] * 6


def test_first_pages_are_compared() -> None:
    same = [
        ("S212-S216", "s212"), ("e01234", "E1234"), ("pp. 33-40", "33"), ("art. 7", "7"), ("a 17", "a17"), ("30a", "30"),
        ("811a-19", "811"),
    ]  # fmt: skip
    different = [("33", "34"), ("1001", "1")]
    a, b = (page_keys(pa.array(side)) & ~ELECTRONIC for side in zip(*same, *different, strict=True))
    assert a.all() and b.all() and (a == b).tolist() == [True] * 7 + [False] * 2


def test_page_with_letters_is_electronic() -> None:
    column = pa.array(["33", "e33", "S33", "pp. 33", "a1754", None, "Suppl-29", ""])
    found = page_keys(column)
    assert (found != 0).tolist() == [True, True, True, True, True, False, False, False]
    assert ((found & ELECTRONIC) != 0).tolist() == [False, True, False, False, True, False, False, False]
    assert numbers(pa.array([None, "—"])).tolist() == [0, 0] == numbers(pa.array([None, None], pa.string())).tolist()


def test_preprint_server_is_matched_by_prefix_or_registrant() -> None:
    dois = ["10.1101/2020.1", "10.11012/2020.1", "10.48550/arxiv.1", "10.485501/x", "10.1/10.1101/2020.1"]
    expected = [True, False, True, False, False]
    assert find_preprints(pa.array(dois)).tolist() == list(map(is_preprint_doi, dois)) == expected
    assert len(find_preprints(pa.array([], pa.string()))) == 0


def test_preprint_patterns_do_not_match_journals() -> None:
    servers = "48550 21203 2139 31219 31234 31235 26434 20944 36227 22541 7287 5281 6084"  # SPEC §4, configuration.
    preprints = [f"10.{server}/x" for server in servers.split()]
    preprints += ["10.2196/preprints.1", "10.1101/2020.01.01.1", "10.5194/acp-discuss-1", "10.5194/gmd-2016-78"]
    journals = ["10.2196/12345", "10.1101/gr.123456.107", "10.5194/acp-1-1-2001", "10.1149/2.0101501jes"]
    found = find_preprints(pa.array(preprints + journals))
    assert found.tolist() == [True] * len(preprints) + [False] * len(journals)
