"""SPEC §4.6–4.14: authors, years and places in print of two records agree or contradict.

Records of a block are compared; each rule agrees with a definition in plain Python.
"""

import tempfile
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.clustering.edges import TITLE, UNRELATED
from s2corpus.clustering.facts import IDENTIFIERS, surname_keys
from s2corpus.clustering.functions import BANDS, FUNCTIONS, ROWS
from s2corpus.papers.support import MAX_EXHAUSTIVE
from s2corpus.sources import Record
from s2corpus.sources.arrow import batches
from s2corpus.sources.preprints import find_preprints, is_preprint_doi
from s2corpus.stages.cluster import ORDER, STATEMENTS
from s2corpus.stages.link import MAX_GROUP
from s2corpus.storage.engine import make_tables, open_duckdb
from s2corpus.storage.statements import read_statements
from s2corpus.tables.intake import RECORDS as TABLE
from s2corpus.titles.comparison import count_common
from s2corpus.titles.facts import ELECTRONIC, last_pages, page_keys
from s2corpus.titles.similarity import MAX_PAIRS_PER_TITLE
from tests.unit.s2corpus.clustering.samples import pdf, record

MEMBERS = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from([None, "Deep parsing of papers", "Walks on graphs"]),
        st.sampled_from([None, "1", "2"]),
    ),
    max_size=8,
)
"""records of one file: trusted, title and DOI"""


def find_identifier_edges(records: Sequence[Record]) -> list[tuple[str, str, int, float]]:
    """Return the edges by identifier: both records, the reason and the strength."""
    names = ORDER[: ORDER.index("edges_0") + 1]
    with tempfile.TemporaryDirectory() as folder, open_duckdb(512, Path(folder)) as engine:
        engine.create("records", pa.Table.from_batches(batches(records), schema=TABLE.schema))
        make_tables(engine, STATEMENTS, FUNCTIONS, names, ("edges_0", "numbers"), title=TITLE, unrelated=UNRELATED)
        sql = "SELECT x.record_id, y.record_id, reason, strength FROM edges_0 JOIN numbers x ON x.node = a JOIN numbers y ON y.node = b"
        return sorted(zip(*(column.to_pylist() for column in engine.fetch(sql).columns), strict=True))


def test_records_of_an_identifier_are_paired_with_the_next_64() -> None:
    """SPEC §4.4: headers with one DOI join if their titles are similar; far ones join through those between them."""
    found = find_identifier_edges([pdf(f"grobid:{n:03d}", doi="10.1016/a") for n in range(130)])
    expected = {(p, q) for p, q in combinations(range(130), 2) if q - p <= 64}
    assert {(int(a[-3:]), int(b[-3:])) for a, b, _, _ in found} == expected and len(found) == len(expected)


def test_100_000_records_of_one_title_have_64_pairs_each() -> None:
    """SPEC §4.7: "Editorial" is compared with the next 64; a join of all pairs of the title would not end."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            "CREATE TABLE clustered AS SELECT n AS node, n AS label, 0 AS title, n + 1 AS rank, true AS is_common, NULL AS final_doi "
            "FROM range(100_000) numbers(n)"
        )
        pairs = connection.execute(
            f"SELECT count(*), max(b - a) FROM ({read_statements(STATEMENTS)['equal'].sql})"
        ).fetchall()
    assert pairs == [(64 * 100_000 - sum(range(65)), 64)]


@settings(max_examples=40)
@given(MEMBERS)
def test_untitled_pdf_joins_trusted_records_of_one_paper(members: list[tuple[bool, str | None, str | None]]) -> None:
    """SPEC §4.4: a PDF without a title joins the records with its SHA-1 if these have one title and no two DOIs."""
    records = [
        (record if trusted else pdf)(f"a:{n}", title, "", None, doi=doi and f"10.1016/{doi}", file_sha1="a" * 40)
        for n, (trusted, title, doi) in enumerate(members)
    ]
    trusted = [n for n, (is_trusted, _, _) in enumerate(members) if is_trusted]
    titles, dois = ({members[n][place] for n in trusted} for place in (1, 2))
    untitled = [n for n, (is_trusted, title, _) in enumerate(members) if not is_trusted and not title]
    joins = len(titles) == 1 and len(dois - {None}) <= 1
    expected = {tuple(sorted((f"a:{trusted[0]}", f"a:{n}"))) for n in untitled} if joins else set()
    found = find_identifier_edges(records)
    of_file = {(a, b) for a, b, reason, _ in found if reason == IDENTIFIERS.index("file_sha1")}
    assert {pair for pair in of_file if {int(one[2:]) for one in pair} & {*untitled}} == expected


def test_identifiers_are_stronger_than_titles() -> None:
    given: dict[str, Any] = {
        "doi": "10.1016/a",
        "arxiv_id": "1911.02782",
        "pubmed_id": "1",
        "pmc_id": "PMC1",
        "acl_id": "P19-1",
    }
    found = find_identifier_edges(
        [record("declared:1", file_sha1="a" * 40, **given), pdf("a:1", file_sha1="a" * 40, **given)]
    )
    assert [(reason, strength) for *_, reason, strength in found] == [(reason, 8 - reason) for reason in range(7)]


def test_limits_of_neighbors_pairs_and_papers_are_those_of_earlier_releases() -> None:
    """Other limits give other edges and links. The bands find 99 % of the pairs with S = 0.8 (SPEC §7.14)."""
    assert (MAX_PAIRS_PER_TITLE, MAX_GROUP, MAX_EXHAUSTIVE) == (64, 64, 16)
    assert round(1 - (1 - 0.8**ROWS) ** BANDS, 4) == 0.9965


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


def full(*rows: list[str]) -> list[list[int]]:
    """Return the keys of complete surnames."""
    return [[key for key in row if key % 2 == 0] for row in keys(*rows)]


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (["A|van der Berg"], ["A|Berg"], 1), (["A|van der Berg"], ["A|van den Berg"], 0), (["A|García Márquez"], ["A|Garcia"], 1),
        (["A|García Márquez"], ["A|Márquez"], 1), (["A|García Márquez"], ["A|García-Lorca"], 0), (["H|Il Cheong"], ["HI|Cheong"], 1),
        (["E|Goicoechea de Jorge"], ["EG|de Jorge"], 1), (["J|Esparza-Gordillo"], ["J|Esparza"], 1), (["A|van Dyk"], ["A|Van"], 0),
        (["A|De la Vega", "B|Lopez-Trascasa"], ["A|Vega", "B|Trascasa", "C|Pérez"], 2), (["A|Berg", "B|van der Berg"], ["A|Berg"], 1),
        (["A|van der Berg", "B|Smith"], ["A|Vandenberg", "B|Jones"], 0),
    ],
)  # fmt: skip
def test_forms_of_one_surname_are_common(one: list[str], other: list[str], count: int) -> None:
    """Libraries and journals file "van der Berg" under Berg, and cite "García Márquez" as García."""
    column = pa.array([[author(name) for name in row] for row in (one, other)], AUTHORS)
    assert count_common(*surname_keys(column), np.array([0, 1]), np.array([1, 0]))[0].tolist() == [count, count]


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (["Min|Gao"], ["Gao|Min"], 1), (["Min|Gao", "Yang|Lin"], ["Gao|Min", "Lin|Yang"], 2), (["Min|Gao"], ["Min|Gao"], 0),
        (["Gao|Min", "Lin|Yang"], ["M.|Gao", "Y.|Lin"], 2), (["Gao|Min"], ["M|Gao"], 0), (["Thomas|Martin"], ["Mary|Thomas"], 0),
        (["Gabriel|García Márquez"], ["García|Gabriel"], 1), (["JH|Smith", "AB|Jones"], ["Smith|JH", "Jones|AB"], 2),
    ],
)  # fmt: skip
def test_given_name_and_surname_are_exchanged(one: list[str], other: list[str], count: int) -> None:
    """A journal prints "Gao Min", and a library files Gao, Min."""
    column = pa.array([[author(name) for name in row] for row in (one, other)], AUTHORS)
    assert count_common(*surname_keys(column), np.array([0, 1]), np.array([1, 0]))[2].tolist() == [count, count]


def test_surname_keys_ignore_case_accents_hyphens_and_spaces() -> None:
    same = [["Ada|van der Berg"], ["B.|Van der Berg"], ["|VANDERBERG"], ["Ada|van-der Berg"], ["vanderBerg|"]]
    assert len({tuple(found) for found in full(*same)}) == 1
    assert keys(["A|Müller"], ["A|Muller"])[0] == keys(["A|Muller"])[0] == keys(["A|Mueller"])[0]
    assert keys(["A|李"]) != keys(["A|王"])


def test_surname_keys_are_ascending_and_unique() -> None:
    names = [f"A|{chr(97 + n % 26)}{n // 26}" for n in range(60)]
    (found,) = keys([*names, *names[:2]])
    assert found == sorted(set(found)) and len(found) == 60
    assert [len(row) for row in keys(None, [], ["A|B"], None, ["A|C", "A|B"])] == [0, 0, 1, 0, 2]


def test_placeholders_and_groups_have_no_surname_key() -> None:
    assert keys(["A|—"], ["|"], ["|The Complement Study Group"], ["|Complement Consortium"]) == [[], [], [], []]
    assert len(keys(["A|Group"])[0]) == 1, "a person may be called so"


def test_last_page_is_read_from_a_range_only() -> None:
    ranges = [("2141–2147", 2147), ("1–6", -6), ("S212-S216", 216), ("pp. 099–101", 101)]
    others = ["945", "945-945", "41, 67–95", "e1754", "", None]
    found = last_pages(pa.array([pages for pages, _ in ranges] + others, pa.string()))
    assert found.tolist() == [last for _, last in ranges] + [0] * 6


def test_article_number_is_electronic() -> None:
    """IEEE's and ACM's records have numbers of articles, as Scopus exports them: 7015492, 19:1-19:12."""
    pages, numbered = ["33", "S33", "pp. 33", "10581-10590"], ["e33", "a1754", "7015492", "19:1-19:12", "UNSP 804009"]
    found = page_keys(pa.array([*pages, *numbered]))
    assert found.all() and ((found & ELECTRONIC) != 0).tolist() == [False] * len(pages) + [True] * len(numbered)
    assert page_keys(pa.array([None, "Suppl-29", ""])).tolist() == [0] * 3


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
