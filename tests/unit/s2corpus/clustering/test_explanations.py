"""An explanation lists, in order, the edges of a cluster, the edges that were cut, and the paper of each record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from s2corpus.clustering import facts
from s2corpus.clustering.edges import REASONS, TITLE, edges_of_kind
from s2corpus.clustering.explain import EdgeExplanation, explanations, format_explanation
from s2corpus.clustering.facts import IDENTIFIERS
from s2corpus.clustering.identity import Parent, identify, new_paper_id
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES

YEARS = "; cut: their clusters have different DOIs, contradicting years or contradicting records"


def test_reason_is_explained_in_words() -> None:
    words = {
        ("doi", True): "equal doi",
        ("doi", False): "equal doi" + YEARS,
        ("declared", True): "a drop's own record of the file",
        ("title", True): "S_title = 0.812",
        ("title", False): "S_title = 0.812" + YEARS,
        ("place", True): "S_title = 0.812, equal volume, pages that agree",
        ("prefix", True): "one title is a truncation of the other; equal authors, year and first page",
        ("contradiction", False): "S_title = 0.812; cut: their journals, volumes, issues or first pages contradict",
        ("unrelated", False): "equal identifier; cut: unrelated titles and authors",
    }
    for (reason, taken), said in words.items():
        assert str(EdgeExplanation("a:1", "b:1", reason, 0.8123, taken)) == f"a:1 — b:1: {said}"


PAPERS = {"a:1": "p", "b:1": "p", "c:1": "q", "d:1": "r", "a:0": "p"}
CLUSTERED = pa.Table.from_pylist(
    [{"record_id": id_, "paper_id": paper, "first_ready": None} for id_, paper in PAPERS.items()], CLUSTERS.schema
)
FOUND = pa.Table.from_pylist(
    [
        {"left": "a:1", "right": "b:1", "reason": "title", "strength": 0.9, "taken": True},
        {"left": "a:0", "right": "b:1", "reason": "title", "strength": 0.9, "taken": True},
        {"left": "a:0", "right": "a:1", "reason": "doi", "strength": 7.0, "taken": True},
        {"left": "b:1", "right": "c:1", "reason": "title", "strength": 0.85, "taken": False},
        {"left": "a:1", "right": "c:1", "reason": "unrelated", "strength": 6.0, "taken": False},
    ],
    EDGES.schema,
)


def test_explanation_lists_edges_and_records_of_a_paper() -> None:
    (found,) = explanations(CLUSTERED, FOUND, {"p"})
    assert format_explanation(found).splitlines() == [
        "paper p: 3 record(s)", "  a:0", "  a:1", "  b:1", "  joined a:0 — a:1: equal doi", "  joined a:0 — b:1: S_title = 0.900",
        "  joined a:1 — b:1: S_title = 0.900", "  cut    a:1 — c:1: equal identifier; cut: unrelated titles and authors",
        f"  cut    b:1 — c:1: S_title = 0.850{YEARS}",
    ]  # fmt: skip


def test_cut_edge_appears_in_both_explanations() -> None:
    found = [(one.paper_id, one.record_ids, len(one.joined), len(one.cut)) for one in explanations(CLUSTERED, FOUND)]
    assert found == [("p", ["a:0", "a:1", "b:1"], 3, 2), ("q", ["c:1"], 0, 2)]
    (alone,) = explanations(CLUSTERED, FOUND, {"r"})
    assert format_explanation(alone) == "paper r: 1 record(s)\n  d:1"
    assert list(explanations(CLUSTERED, FOUND, set())) == []


def test_identifiers_are_stronger_than_titles() -> None:
    one = facts.nodes_from(
        pa.table({name: ["x", "x"] for name in IDENTIFIERS} | {"trusted": [True] * 2, "declares": [True, False]})
    )
    strengths = [edges_of_kind(one, reason, 0.8, 2).strength.tolist() for reason in range(TITLE - 1)]
    assert strengths == [[8], [7], [6], [5], [4], [3]]
    assert REASONS[TITLE:] == ("title", "place", "prefix", "contradiction", "unrelated")


def test_colliding_new_ids_are_resolved() -> None:
    """The next record's id is used. If all are taken, the id gets a number."""
    taken = new_paper_id("b")
    parent = Parent(
        pa.Table.from_pylist([{"record_id": "x", "paper_id": taken, "first_ready": "1"}], CLUSTERS.schema),
        pa.Table.from_pylist(
            [{"alias": "0" * 15, "paper_id": taken}, {"alias": "1" * 15, "paper_id": "gone"}], ALIASES.schema
        ),
    )
    ids = pa.array(["b", "c", "x"])
    table, aliases = identify(ids, np.array([0, 0, 1]), pa.array(["1", "2", "3"]), parent)
    assert table["paper_id"].to_pylist() == [new_paper_id("c")] * 2 + [taken]
    assert table["first_ready"].to_pylist() == ["1", "2", "1"]
    assert aliases.to_pylist() == [{"alias": "0" * 15, "paper_id": taken}]
    table, _ = identify(pa.array(["b", "x"]), np.array([0, 1]), pa.array(["1", "3"]), parent)
    assert table["paper_id"].to_pylist() == [new_paper_id("b#2"), taken]
