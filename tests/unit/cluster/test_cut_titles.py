"""A title without its subtitle joins the complete title (SPEC §4.7, §7.7)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from s2corpus.clustering.explain import explanations, format_explanation
from s2corpus.rules.cluster import ClusterRules
from s2corpus.sources import Record
from s2corpus.sources.record import WorkType
from tests.unit.cluster.test_cluster import clustered, partition, record, together

MAIN = "Guideline-based treatment of hypertension"
COMPLETE = f"{MAIN}: a systematic review and meta-analysis of randomised controlled trials in primary care"
AUTHORS = "Maria Garcia, John Smith"


def make_record(record_id: str, title: str, authors: str = AUTHORS, year: int | None = 2010, **more: Any) -> Record:
    return record(record_id, title, authors, year, **{"pages": "2141-2147", **more})


def test_missing_subtitle_joins_complete_title() -> None:
    found = clustered(make_record("a:1", COMPLETE), make_record("b:1", MAIN))
    (edge,) = found.edges.to_pylist()
    assert (edge["left"], edge["right"], edge["reason"], edge["taken"]) == ("a:1", "b:1", "prefix", True)
    assert edge["strength"] <= ClusterRules().min_title_score
    assert len(partition(found)) == 1


def test_explanation_names_the_cut_title() -> None:
    found = clustered(make_record("a:1", COMPLETE), make_record("b:1", MAIN))
    (explanation,) = explanations(found.clusters, found.edges)
    assert "one title is a truncation of the other; equal authors, year and first page" in format_explanation(
        explanation
    )


@pytest.mark.parametrize(
    "more",
    [
        {"authors": "Garcia M, Smith JA"},
        {"pages": "2141"},
        {"volume": "10", "issue": "9"},
        {"doi": "10.1111/j.1600-6143.2010.03252.x"},
        {"title": MAIN.upper()},
        {"title": f"{MAIN}."},
        {"title": f"{MAIN}: a systematic review"},
    ],
)
def test_agreeing_facts_join_cut_title(more: dict[str, Any]) -> None:
    complete = make_record("a:1", COMPLETE, volume="10", journal="Am J Transplant")
    assert together(complete, make_record("b:1", **{"title": MAIN, **more}))


@pytest.mark.parametrize(
    "more",
    [
        {"year": 2011},
        {"year": None},
        {"pages": "2150-2152"},
        {"pages": None},
        {"authors": "Maria Garcia"},
        {"authors": "Maria Garcia, Ann Jones"},
        {"authors": ""},
        {"volume": "11"},
        {"volume": "10", "issue": "3"},
        {"journal": "Kidney International"},
        {"doi": "10.1111/b"},
        {"title": f"{MAIN[:-3]}"},
        {"title": "Guideline-based treatment of hyper"},
    ],
)
def test_different_fact_prevents_join_of_cut_title(more: dict[str, Any]) -> None:
    given: dict[str, Any] = {"doi": "10.1111/a", "journal": "Circulation", "issue": "9", "volume": "10"}
    if "journal" in more:
        del given["volume"]  # An equal volume and page outweighs the names of journals.
    complete = make_record("a:1", COMPLETE, **given)
    assert not together(complete, make_record("b:1", **{"title": MAIN, **more}))


@pytest.mark.parametrize(
    ("cut", "complete"),
    [
        ("Editorial", "Editorial: what the new guideline means for hypertension in primary care"),
        ("Letter to the editor", "Letter to the editor: treatment of hypertension in primary care"),
        ("Hypertension", "Hypertension research in rural districts of Kenya and Tanzania"),
        ("Lemmas on random graphs", "Lemmas on random graphs 2"),
        ("Lemmas on random graphs", "Lemmas on random graphs, part II"),
        ("Lemmas on random graphs", "Lemmas on random graphs. II. The connected case and its applications"),
        ("Lemmas on random graphs", "Lemmas on random graphs, part II: the connected case and its applications"),
    ],
)
def test_generic_and_numbered_titles_do_not_join(cut: str, complete: str) -> None:
    assert not together(make_record("a:1", cut), make_record("b:1", complete))


def test_short_title_joins_with_equal_volume() -> None:
    complete = "Hypertension: pathways to care in rural districts of Kenya and Tanzania"
    records = make_record("a:1", "Hypertension", volume="7"), make_record("b:1", complete, volume="7")
    assert together(*records)


def test_cut_title_joins_preprint_with_its_doi() -> None:
    preprint = make_record("a:1", COMPLETE, doi="10.21203/rs.3.rs-1/v1", type=WorkType.PREPRINT)
    assert together(preprint, make_record("b:1", MAIN, doi="10.1111/b"))


def test_cut_title_never_joins_two_published_dois() -> None:
    ends = ["a cohort of children in Oslo", "randomised trials of adults in Kenya"]
    papers = [make_record(f"a:{i}", f"{MAIN}: {end}", doi=f"10.1111/{i}") for i, end in enumerate(ends)]
    found = clustered(*papers, make_record("b:1", MAIN))
    assert len(partition(found)) == 2
    assert [edge["taken"] for edge in found.edges.to_pylist()].count(False) == 1


def test_crowded_beginning_has_bounded_edges() -> None:
    """A cut title is compared with at most 64 of the 300 complete titles with its author, year and first page."""
    letters = str.maketrans("0123456789", "ghijklmnop")
    ends = [hashlib.sha1(bytes([i % 256, i // 256])).hexdigest().translate(letters) for i in range(300)]
    complete = [make_record(f"a:{i}", f"{MAIN}: {end}", doi=f"10.1111/{i}") for i, end in enumerate(ends)]
    found = clustered(*complete, make_record("b:1", MAIN))
    assert found.edges["reason"].to_pylist().count("prefix") == 64
