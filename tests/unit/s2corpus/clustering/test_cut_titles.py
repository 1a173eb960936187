"""A title without its subtitle joins the complete title (SPEC §4.7, §7.7)."""

from typing import Any

from s2corpus.rules import MIN_TITLE_SCORE
from s2corpus.sources import Record
from s2corpus.sources.record import WorkType
from tests.unit.s2corpus.clustering.samples import Row, assert_joined, cluster_all, partition, record

MAIN = "Guideline-based treatment of hypertension"
COMPLETE = f"{MAIN}: a systematic review and meta-analysis of randomised controlled trials in primary care"
AUTHORS = "Maria Garcia, John Smith"


def make_record(record_id: str, title: str, authors: str = AUTHORS, year: int | None = 2010, **more: Any) -> Record:
    return record(record_id, title, authors, year, **{"pages": "2141-2147", **more})


def test_missing_subtitle_joins_complete_title() -> None:
    found = cluster_all(make_record("a:1", COMPLETE), make_record("b:1", MAIN))
    (edge,) = found.edges.to_pylist()
    assert (edge["left"], edge["right"], edge["reason"], edge["taken"]) == ("a:1", "b:1", "prefix", True)
    assert edge["strength"] <= MIN_TITLE_SCORE
    assert len(partition(found)) == 1


def test_cut_title_joins_if_all_facts_agree() -> None:
    complete = make_record("a:1", COMPLETE, volume="10", issue="9", journal="Am J Transplant", doi="10.1111/a")
    no_volume = make_record("a:1", COMPLETE, journal="Am J Transplant")
    preprint = make_record("a:1", COMPLETE, doi="10.21203/rs.3.rs-1/v1", type=WorkType.PREPRINT)
    table: list[tuple[tuple[Record, Row], bool]] = [
        ((complete, {}), True), ((complete, {"authors": "Garcia M, Smith JA"}), True),
        ((complete, {"authors": "Maria Garcia, Ann Jones"}), False), ((complete, {"pages": "2150-2152"}), False),
        ((complete, {"pages": None}), False), ((complete, {"year": 2011}), False), ((complete, {"year": None}), False),
        ((complete, {"volume": "10", "issue": "3"}), False), ((no_volume, {"journal": "Kidney International"}), False),
        ((complete, {"doi": "10.1111/b"}), False), ((preprint, {"doi": "10.1111/b"}), True),
        ((complete, {"title": f"{MAIN}: a systematic review"}), True),
        ((complete, {"title": MAIN[:-3]}), True), ((complete, {"title": MAIN[:-3], "pages": "2141"}), False),  # Both pages are equal.
    ]  # fmt: skip
    assert_joined(table, lambda case: (case[0], make_record("b:1", **{"title": MAIN, **case[1]})))


def test_generic_and_numbered_titles_do_not_join() -> None:
    graphs, research = "Lemmas on random graphs", "Hypertension research in rural districts of Kenya and Tanzania"
    table: list[tuple[tuple[str, str, Row], bool]] = [
        (("Editorial", "Editorial: what the new guideline means for hypertension in primary care", {}), False),
        ((graphs, f"{graphs}, part II: the connected case and its applications", {}), False),
        ((graphs, f"{graphs}: 3. the connected case and its applications", {}), False),  # So does a member of a series.
        (
            ("Hypertension", research, {"pages": "2141"}),
            False,
        ),  # A short title needs an equal volume, or two equal pages.
        (("Hypertension", research, {"pages": "2141", "volume": "7"}), True),
        (("Hypertension", research, {}), True),
    ]
    assert_joined(table, lambda case: [make_record(f"{title}:1", title, **case[2]) for title in case[:2]])


def test_cut_title_never_joins_two_published_dois() -> None:
    ends = ["a cohort of children in Oslo", "randomised trials of adults in Kenya"]
    papers = [make_record(f"a:{i}", f"{MAIN}: {end}", doi=f"10.1111/{i}") for i, end in enumerate(ends)]
    found = cluster_all(*papers, make_record("b:1", MAIN))
    assert len(partition(found)) == 2
    assert [edge["taken"] for edge in found.edges.to_pylist()].count(False) == 1
