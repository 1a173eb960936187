"""Paper ids are stable over releases.

Papers are added, merged, split and removed in three releases; laws apply to any change.
"""

import hashlib
from typing import NamedTuple

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.stages.cluster import NAMES, STATEMENTS
from s2corpus.storage.engine import DuckEngine, make_tables
from s2corpus.tables.papers import ALIASES, CLUSTERS

Clusters = list[set[str]]
READY = {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6", "g": "7"}


class Parent(NamedTuple):
    """The tables `clusters` and `aliases` of the parent release."""

    clusters: pa.Table = CLUSTERS.schema.empty_table()
    aliases: pa.Table = ALIASES.schema.empty_table()


def release(
    clusters: Clusters, parent: Parent | None = None, ready: dict[str, str | None] | None = None
) -> tuple[dict[str, str], Parent]:
    """Return the paper of each record, and the parent for the next release."""
    ids = sorted(record for cluster in clusters for record in cluster)
    labels = [next(i for i, cluster in enumerate(clusters) if record in cluster) for record in ids]
    when = [(ready or READY).get(record) for record in ids]
    found = identify(ids, labels, when, parent or Parent())
    return dict(zip(*found.clusters.select(["record_id", "paper_id"]).to_pydict().values(), strict=True)), found


def identify(ids: list[str], labels: list[int], when: list[str | None], parent: Parent) -> Parent:
    """Return the tables `clusters` and `aliases` of records with these clusters and first deliveries."""
    with duckdb.connect(config={"threads": 1}) as connection:
        engine = DuckEngine(connection, 1)
        nodes = list(range(len(ids)))
        engine.create("clustered", pa.table({"node": nodes, "label": labels}))
        engine.create("nodes", pa.table({"node": nodes, "record_id": ids, "ready_at": pa.array(when, pa.string())}))
        engine.create("parent_clusters", parent.clusters)
        engine.create("parent_aliases", parent.aliases)
        make_tables(engine, STATEMENTS, {}, NAMES, NAMES)
        clusters = engine.fetch("SELECT record_id, paper_id, first_ready FROM cluster_rows ORDER BY record_id")
        return Parent(clusters, engine.fetch("FROM alias_rows ORDER BY alias"))


def new_paper_id(record_id: str) -> str:
    return hashlib.sha256(record_id.encode()).hexdigest()[:15]


def aliases(parent: Parent) -> dict[str, str]:
    return dict(zip(parent.aliases["alias"].to_pylist(), parent.aliases["paper_id"].to_pylist(), strict=True))


def test_new_paper_id_is_a_hash_of_its_earliest_record() -> None:
    papers, _ = release([{"b", "a"}, {"d", "c"}])
    assert papers["a"] == papers["b"] == hashlib.sha256(b"a").hexdigest()[:15]
    assert papers["c"] == new_paper_id("c")
    assert release([{"x", "y"}], ready={"x": "9", "y": "9"})[0]["y"] == new_paper_id("x"), "a tie: the smallest id"


def test_new_paper_never_takes_an_id_of_the_parent() -> None:
    # `a` was added to the paper of `c`, then `c` was split off. The part with the older record keeps the id that `c`
    # alone would have.
    _, parent = release([{"a", "c"}], ready={"a": "5", "c": "3"})
    papers, _ = release([{"a"}, {"c"}], parent, ready={"a": "1", "c": "3"})
    assert papers["a"] == new_paper_id("c") != papers["c"]


def test_ids_follow_merges_and_splits_over_three_releases() -> None:
    first, parent = release([{"a", "b"}, {"c"}, {"d", "e"}, {"f"}])
    # `g` is added to the paper of `f`, `c` is merged into the paper of `a`, and `d` and `e` are split.
    second, parent2 = release([{"a", "b", "c"}, {"d"}, {"e"}, {"f", "g"}], parent)
    assert second["a"] == second["c"] == first["a"] and aliases(parent2) == {first["c"]: first["a"]}
    assert second["d"] == first["d"] and second["e"] == new_paper_id("e") != first["e"]
    assert second["g"] == first["f"]
    # The paper of `a` loses `a`, `e` disappears, and `f` and `d` are merged: the paper of `d` is older.
    third, parent3 = release([{"b", "c"}, {"d", "f", "g"}], parent2)
    assert third["b"] == first["a"], "the paper keeps its id though the record that named it is gone"
    assert third["f"] == first["d"]
    assert aliases(parent3) == {first["c"]: first["a"], first["f"]: first["d"]}


def test_alias_follows_its_paper() -> None:
    first, parent = release([{"a"}, {"b"}, {"c"}])
    _, parent = release([{"b", "c"}, {"a"}], parent)
    _, parent = release([{"a", "b", "c"}], parent)
    assert aliases(parent) == {first["b"]: first["a"], first["c"]: first["a"]}
    assert aliases(release([{"d"}], parent)[1]) == {}


def test_colliding_new_ids_are_resolved() -> None:
    """The next record's id is used. If all are taken, the id gets a number."""
    taken = new_paper_id("b")
    known = pa.Table.from_pylist([{"record_id": "x", "paper_id": taken, "first_ready": "1"}], CLUSTERS.schema)
    parent = Parent(known)
    table = identify(["b", "c", "x"], [0, 0, 1], ["1", "2", "3"], parent).clusters
    assert table["paper_id"].to_pylist() == [new_paper_id("c")] * 2 + [taken]
    assert table["first_ready"].to_pylist() == ["1", "2", "1"]
    table = identify(["b", "x"], [0, 1], ["1", "3"], parent).clusters
    assert table["paper_id"].to_pylist() == [new_paper_id("b#2"), taken]


partitions = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1).map(
    lambda of: [{r for r in of if of[r] == number} for number in sorted(set(of.values()))]
)


@settings(max_examples=60)
@given(st.lists(partitions, min_size=2, max_size=4))
def test_ids_obey_the_laws_of_identity(releases: list[Clusters]) -> None:
    parent: Parent | None = None
    before: dict[str, str] = {}
    for clusters in releases:
        papers, now = release(clusters, parent)
        assert len(set(papers.values())) == len(clusters), "one id a paper"
        for former, paper in aliases(now).items():
            assert former not in papers.values() and paper in papers.values(), "an alias leads to a paper and is none"
        for paper in set(before.values()):
            heirs = {papers[r] for r in before if before[r] == paper and r in papers}
            assert not heirs or paper in papers.values() or aliases(now)[paper] in heirs, (
                "no id with records left is lost"
            )
        if parent is not None and clusters == releases[0]:
            assert release(clusters, now)[0] == papers, "the same again changes nothing"
        parent, before = now, papers
