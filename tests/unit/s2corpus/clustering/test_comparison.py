"""SPEC §4.7: each fact of two descriptions gives evidence, and the sum decides."""

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from s2corpus.clustering.facts import nodes_from
from s2corpus.titles.comparison import (
    ALMOST,
    CUT,
    EQUAL,
    EVIDENCE,
    MIN_EVIDENCE,
    MISSING,
    OTHER,
    SIMILAR,
    WEAK,
    Comparison,
    compare,
    describe,
)
from s2corpus.titles.facts import ELECTRONIC, NUMERIC
from s2corpus.titles.rules import Difference
from tests.unit.house.test_imports import ROOT
from tests.unit.s2corpus.clustering.samples import TITLE, assert_joined, cluster_all, partition, pdf, record

Row = dict[str, Any]
KINDS = {
    "trusted": pa.bool_(), "preprint": pa.bool_(), "little": pa.bool_(), "translated": pa.bool_(), "year": pa.int32(),
    "document": pa.uint8(), "volume": pa.uint32(), "issue": pa.uint32(), "page": pa.uint32(), "last_page": pa.int64(),
}  # fmt: skip
ADA, BOTH, KURT = {"names": [3]}, {"names": [3, 5]}, {"names": [7]}
HERE, THERE = {"volume": 9, "page": 4}, {"volume": 13, "page": 8}
BLOOD, KIDNEY, KIDNEY_INT = ({"journal": name} for name in ("Blood", "Kidney International", "Kidney Int"))
MEETING = (
    {"journal": "2016 IEEE 9th International Conference on Cloud Computing"},
    {"journal": "Proceedings - CLOUD 2016, IEEE Computer Society"},
)
PAGES = {"page": 4, "last_page": 19}
GENERIC = {"little": True}
ISSUE = [{"issue": 4 | int(NUMERIC)}, {"issue": 8 | int(NUMERIC)}]


def compare_rows(one: Row, other: Row, title: int = EQUAL, number: int = 0) -> Comparison:
    """Return the evidence of two records such as `{"year": 2011, "names": [3, 5], …}`, in both directions. The default year is 2000."""
    rows = [one, other]
    columns: dict[str, pa.Array] = {
        "surnames": pa.array([[int(4 * name) for name in row.get("names", [])] for row in rows], pa.list_(pa.uint64()))
    }  # full surnames; 4.25 is a part of one, 4.75 a given name
    columns |= {
        name: pa.array([row.get(name, {"year": 2000, "trusted": 1}.get(name, 0)) for row in rows]).cast(kind)
        for name, kind in KINDS.items()
    }
    columns |= {
        "normalized": pa.array(["a", "a"]),
        "title": pa.array(["a", "a"]),
        "journal": pa.array([row.get("journal") for row in rows], pa.string()),
    }
    nodes, left, right = nodes_from(pa.table(columns)), np.array([0, 1]), np.array([1, 0])
    return compare(nodes, left, right, np.full(2, title), number, one.get("identifier", 0))


CELLS: list[tuple[str, str, Row, Row, int, int]] = [
    ("title", "equal", {}, {}, EQUAL, 0), ("title", "almost equal", {}, {}, ALMOST, 0), ("title", "similar", {}, {}, SIMILAR, 0),
    ("title", "cut", {}, {}, CUT, 0), ("title", "missing or translated", {}, {}, MISSING, 0), ("title", "different", {}, {}, OTHER, 0),
    ("title", "uninformative or cut within a word", {}, {}, WEAK, 0),
    ("title", "uninformative, equal authors", GENERIC | BOTH, GENERIC | BOTH, EQUAL, 0),
    ("title", "uninformative or cut within a word", GENERIC | BOTH, GENERIC | ADA, EQUAL, 0),
    ("number", "agree", {}, {}, EQUAL, 0), ("number", "on one side", {}, {}, ALMOST, Difference.ONE_SIDED),
    ("number", "part on one side", {}, {}, ALMOST, Difference.PART), ("number", "differ", {}, {}, ALMOST, Difference.NUMBER),
    ("document", "agree", {}, {"document": 2}, EQUAL, 0),  # Only the source of one record names a kind.
    ("document", "differ", {}, {"document": 3}, EQUAL, 0),  # The title names it.
    ("document", "differ", {"document": 4}, {"document": 2}, EQUAL, 0),
    ("document", "agree", {"document": 3}, {"document": 2}, EQUAL, 0),
    ("authors", "agree", ADA, BOTH, EQUAL, 0), ("authors", "agree", {"names": [1, 2]}, {"names": [2, 3, 5]}, EQUAL, 0),
    ("authors", "differ", {"names": [1, 2, 3]}, {"names": [3, 4, 5]}, EQUAL, 0), ("authors", "missing", {}, {}, EQUAL, 0),
    ("authors", "missing on one side", ADA, {}, EQUAL, 0),
    ("authors", "agree by parts", {"names": [1, 4.25]}, {"names": [4, 5]}, EQUAL, 0),  # "García Márquez" and "García"
    ("authors", "agree by parts", {"names": [4, 5.75]}, {"names": [4.75, 5]}, EQUAL, 0),  # "Min Gao" and "Gao Min"
    ("authors", "agree by parts", {"names": [4, 5.75, 6, 7.75]}, {"names": [5, 7]}, EQUAL, 0),  # "Gao Min, Lin Yang" and "M. Gao, Y. Lin"
    ("authors", "differ", {"names": [4, 5.75]}, {"names": [5]}, EQUAL, 0),  # "Martin Thomas" and "Thomas, P."
    ("authors", "differ", {"names": [1, 4.5]}, {"names": [2, 4.5]}, EQUAL, 0),  # "García Márquez" and "García Lorca"
    ("year", "equal", {}, {}, EQUAL, 0), ("year", "unknown, or of a preprint", {}, {"year": 0}, EQUAL, 0),
    ("year", "unknown, or of a preprint", {}, {"year": 2002, "preprint": 1}, EQUAL, 0),
    ("year", "2 to 4 apart", {}, {"year": 2003, "preprint": 1}, EQUAL, 0), ("year", "2 to 4 apart", {}, {"year": 2002}, EQUAL, 0),
    ("year", "apart", {}, {"year": 2005}, EQUAL, 0), ("identifier", "not compared", {}, {}, EQUAL, 0),
    ("year", "neighboring", {}, {"year": 2001}, EQUAL, 0),
    ("year", "neighboring", {"preprint": 1}, {"year": 2001, "preprint": 1}, EQUAL, 0),
    ("year", "neighboring in one journal or volume, or of a PDF", {"volume": 9}, {"year": 2001, "volume": 9}, EQUAL, 0),
    ("year", "neighboring in one journal or volume, or of a PDF", KIDNEY, KIDNEY_INT | {"year": 2001}, EQUAL, 0),
    ("year", "neighboring in one journal or volume, or of a PDF", {}, {"year": 2001, "trusted": 0}, EQUAL, 0),
    ("year", "equal", MEETING[0], MEETING[1] | {"year": 2001}, ALMOST, 0),
    ("year", "2 to 4 apart", MEETING[0], MEETING[1] | {"year": 2002}, EQUAL, 0),
    ("year", "neighboring in one journal or volume, or of a PDF", KIDNEY, KIDNEY | {"year": 2001}, EQUAL, 0),
    ("year", "neighboring", MEETING[0], {"journal": "CLOUD 2017", "year": 2001}, EQUAL, 0),
    ("place", "unknown", HERE, {}, EQUAL, 0), ("place", "volume or page agrees", HERE, {"volume": 9}, EQUAL, 0),
    ("place", "volume and page, or both pages", HERE, HERE, EQUAL, 0),
    ("place", "volume and page, or both pages", PAGES, PAGES, EQUAL, 0),
    ("place", "volume or page agrees", PAGES | {"volume": 9}, PAGES | {"volume": 13}, EQUAL, 0),
    ("place", "journal, volume and page agree", HERE | KIDNEY, HERE | KIDNEY_INT, EQUAL, 0),
    ("place", "volume and page, or both pages", HERE | {"last_page": 19}, {"volume": 9, "page": 8, "last_page": 19}, EQUAL, 0),
    ("page", "differ", HERE | {"last_page": 19}, {"page": 8, "last_page": 20}, EQUAL, 0),
    ("volume", "agree", HERE, HERE, EQUAL, 0), ("volume", "differ", HERE, {"volume": 13}, EQUAL, 0),
    ("volume", "agree", HERE, {"volume": 13, "preprint": 1}, EQUAL, 0),  # A preprint has another place.
    ("page", "agree", HERE, {"page": 8 | int(ELECTRONIC)}, EQUAL, 0),  # An article number and a page.
    ("page", "differ", HERE, {"page": 8}, EQUAL, 0), ("page", "differ like titles", HERE, {"page": 8}, ALMOST, 0),
    ("issue", "agree", HERE | ISSUE[0], HERE | ISSUE[1], EQUAL, 0),  # Title, volume and page are equal.
    ("issue", "differ, few authors or no page", HERE | ISSUE[0], HERE | ISSUE[1], ALMOST, 0),
    ("issue", "differ, few authors or no page", {"volume": 9} | ISSUE[0], {"volume": 9} | ISSUE[1], EQUAL, 0),
    ("issue", "differ", HERE | ISSUE[0] | {"names": [1, 2, 3]}, {"volume": 9, "page": 8} | ISSUE[1], EQUAL, 0),
    ("issue", "agree", ISSUE[0], ISSUE[1], EQUAL, 0),
    ("journal", "agree", KIDNEY, KIDNEY_INT, ALMOST, 0), ("journal", "agree", KIDNEY, {"journal": "—"}, ALMOST, 0),
    ("journal", "differ", KIDNEY, BLOOD, EQUAL, 0), ("journal", "differ like titles", KIDNEY, BLOOD, ALMOST, 0),
    ("journal", "differ", HERE | KIDNEY, HERE | BLOOD, ALMOST, 0), ("journal", "agree", *MEETING, EQUAL, 0),
    ("journal", "agree", MEETING[0] | PAGES, MEETING[1] | PAGES, ALMOST, 0), ("journal", "differ like titles", *MEETING, ALMOST, 0),
    ("journal", "differ", MEETING[0], BLOOD, EQUAL, 0),
    ("identifier", "equal", {"identifier": 1}, {}, EQUAL, 0),
]  # fmt: skip
"""Cells of the table, each with two descriptions that have this value of the fact, their titles' similarity and difference."""


@pytest.mark.parametrize(("fact", "value", "one", "other", "title", "number"), CELLS)
def test_fact_has_its_value(fact: str, value: str, one: Row, other: Row, title: int, number: int) -> None:
    found = compare_rows(one, other, title, number).values[list(EVIDENCE).index(fact)]
    assert [EVIDENCE[fact][at][0] for at in found.tolist()] == [value, value]


def test_each_cell_is_tested() -> None:
    assert {cell[:2] for cell in CELLS} == {(fact, value) for fact, values in EVIDENCE.items() for value, _ in values}


def test_specification_has_the_table_of_evidence() -> None:
    text = (ROOT / "docs" / "specification.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (\w+) \| (.*[+−]\d.*) \|$", text[text.index("**4.7**") : text.index("**4.8**")], re.MULTILINE
    )
    weights = {
        fact: [int(w.replace("−", "-")) for w in re.findall(r" ([+−]?\d+)(?=;|$)", cells)] for fact, cells in rows
    }
    assert weights == {fact: [weight for _, weight in cells] for fact, cells in EVIDENCE.items()}


@pytest.mark.parametrize(
    ("one", "other", "title", "number", "joined"),
    [
        (ADA, BOTH, SIMILAR, 0, True), (ADA, KURT, EQUAL, 0, False), ({}, {}, EQUAL, 0, True), ({}, {}, ALMOST, 0, True),
        ({}, {}, SIMILAR, 0, False), (HERE, {"volume": 9}, SIMILAR, 0, True), (HERE, {"volume": 9, "page": 8}, SIMILAR, 0, False),
        (HERE | ADA, HERE | KURT, EQUAL, 0, True),  # An equal place and title allow other authors.
        (HERE | ADA, HERE | ADA | {"year": 2001}, EQUAL, 0, True),  # Online, then in print.
        (HERE | ADA, HERE | ADA | {"year": 2004}, EQUAL, 0, True), (HERE | ADA, HERE | ADA | {"year": 2005}, EQUAL, 0, False),
        (HERE | ADA, ADA | {"year": 2004}, EQUAL, 0, False),
        (HERE | ADA | BLOOD, HERE | ADA | BLOOD | {"year": 2014}, EQUAL, 0, True),  # A wrong year.
        (ADA | BLOOD, ADA | BLOOD | {"year": 2001}, EQUAL, 0, True), (ADA, ADA | {"year": 2001}, EQUAL, 0, False),
        (ADA, ADA | {"year": 2001, "trusted": 0}, EQUAL, 0, True), (ADA, ADA | {"year": 2001, "trusted": 0}, ALMOST, 0, False),
        (ADA, ADA | {"year": 2002, "trusted": 0}, EQUAL, 0, False), ({}, {"year": 2001, "trusted": 0}, EQUAL, 0, False),
        (ADA | PAGES | MEETING[0], ADA | PAGES | MEETING[1] | {"year": 2001}, EQUAL, 0, True),  # Proceedings appear after the meeting.
        (ADA | MEETING[0], ADA | MEETING[1] | {"year": 2001}, EQUAL, 0, True),
        (ADA | MEETING[0], ADA | {"journal": "CLOUD 2017", "year": 2001}, EQUAL, 0, False),  # The next meeting.
        (ADA | HERE, ADA | THERE, EQUAL, 0, False), (ADA | HERE, ADA | {"volume": 9, "page": 8}, EQUAL, 0, True),  # An erratum.
        (ADA | HERE, ADA | {"volume": 9, "page": 8}, ALMOST, 0, False),
        (ADA, ADA, ALMOST, Difference.NUMBER, False), (ADA, ADA, ALMOST, Difference.ONE_SIDED, True),
        (HERE | ADA | BLOOD, HERE | ADA | BLOOD, ALMOST, Difference.NUMBER, True),  # p6 for p16
        (ADA, ADA, ALMOST, Difference.PART, False), (ADA, ADA | {"document": 3}, EQUAL, 0, False),
        (GENERIC | BOTH, GENERIC | BOTH, EQUAL, 0, True), (GENERIC | BOTH, GENERIC | ADA, EQUAL, 0, False),
        (GENERIC | BOTH, GENERIC | BOTH | {"year": 2001}, EQUAL, 0, False),
        (GENERIC | BOTH | {"year": 0}, GENERIC | BOTH, EQUAL, 0, False), (GENERIC, GENERIC, EQUAL, 0, False),
        (HERE | GENERIC, HERE | GENERIC | ADA, EQUAL, 0, False), (HERE | ADA | BLOOD, HERE | ADA | BLOOD, MISSING, 0, True),
        (HERE | ADA, HERE | ADA, MISSING, 0, False), (HERE | ADA | BLOOD, HERE | ADA | BLOOD, OTHER, 0, False),
        (ADA | {"volume": 9} | ISSUE[0], ADA | {"volume": 9} | ISSUE[1], EQUAL, 0, False),  # A column in two issues of a volume.
        (HERE | ADA | ISSUE[0], HERE | ADA | ISSUE[1], EQUAL, 0, True),  # A wrong issue.
    ],
)  # fmt: skip
def test_evidence_decides(one: Row, other: Row, title: int, number: int, joined: bool) -> None:
    found = compare_rows(one, other, title, number)
    assert found.agrees.tolist() == [joined, joined]


def test_pdf_joins_the_version_of_its_year() -> None:
    """A PDF may print the year before its paper's, but of two versions it matches the version of its year (SPEC §4.15)."""
    journal, meeting = record("a:1", year=2021, doi="10.1016/a"), record("b:1", year=2020, doi="10.1145/b")
    assert partition(cluster_all(pdf("pdf:1"), journal)) == {frozenset({"pdf:1", "a:1"})}
    assert partition(cluster_all(pdf("pdf:1"), journal, meeting)) == {frozenset({"a:1"}), frozenset({"pdf:1", "b:1"})}


def test_evidence_is_told_in_words() -> None:
    found = compare_rows(ADA, KURT)
    assert describe(int(found.codes()[0])) == f"title equal +10, authors differ -4, year equal +1: 7 of {MIN_EVIDENCE}"


def test_refused_pair_keeps_its_reason_and_evidence() -> None:
    others = {
        "authors": record("b:1", authors="Kurt Gödel"), "years": record("b:1", year=1999), "document": record("b:1", f"{TITLE} - Reply"),
        "number": record("b:1", f"{TITLE}, part II"), "contradiction": record("b:1", volume="9", pages="7-9"),
        "weak": record("b:1", TITLE, "", None), "dois": record("b:1", doi="10.1016/b"),
    }  # fmt: skip
    for reason, other in others.items():
        one = record(
            "a:1", TITLE if reason != "weak" else "Deep parsing of scientific paper x", doi="10.1016/a", volume="4", pages="1-3",
        )  # fmt: skip
        if reason == "weak":
            one = record("a:1", "Deep parsing of scientific paperback", "", None)
        (edge,) = cluster_all(one, other).edges.to_pylist()
        assert (edge["reason"], edge["taken"]) == (reason, False)
        assert edge["evidence"].endswith(f"of {MIN_EVIDENCE}")


def place(title: str | None) -> Row:
    """Return a place for the case of a title."""
    return {"journal": "Nefrologia", "volume": "30", "pages": str(100 + len(title or ""))}


def test_other_titles_at_one_place_join() -> None:
    """A translation, a title with its translation, a missing title, but no other work on the page."""
    table = [
        (("Indicaciones del trasplante renal", None), False), (("Indicaciones del trasplante", "[Indicaciones del trasplante]"), True),
        (("Трансплантация почки от живого донора", None), True),
        (("Indicaciones del trasplante renal; Choice of living kidney donors", None), True), ((None, "Nefrologia"), True),
    ]  # fmt: skip
    assert_joined(
        table,
        lambda case: [
            record("a:1", "Choice of living kidney donors", **place(case[0])),
            pdf("b:1", case[0], original_title=case[1], **place(case[0])),
        ],
    )


def test_abstracts_of_a_supplement_have_one_doi_and_several_pages() -> None:
    renal, hearing = (
        record(f"{source}:1", title, "Ada Lovelace", doi="10.1016/s", pages=page)
        for source, title, page in (("a", "Renal damage after operation", "S1"), ("b", "Screening of newborn hearing", "S2"))
    )  # fmt: skip
    (cut,) = cluster_all(renal, hearing).edges.to_pylist()
    assert (cut["reason"], cut["taken"]) == ("unrelated", False)
