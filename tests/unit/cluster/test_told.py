"""Why a cluster is one, in words and in order: its edges, what was cut, and the paper of each record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from s2corpus import titles as titles_of
from s2corpus.clustering import agreement, nodes, parts, places, similar
from s2corpus.clustering.cluster import named
from s2corpus.clustering.components import Fate
from s2corpus.clustering.edges import REASONS, TITLE, Edges, edges_of_similar, identifier_strength
from s2corpus.clustering.explain import Why, explanations, told
from s2corpus.clustering.identity import Difference, Parent, difference, identify, new_paper_id
from s2corpus.clustering.preprints import preprint_of
from s2corpus.papers import fewest
from s2corpus.tables import ALIASES, CLUSTERS, EDGES
from s2corpus.titles import choosing

YEARS = "; cut: their clusters have different DOIs, or years or records that contradict"


@pytest.mark.parametrize(
    ("reason", "taken", "words"),
    [
        ("doi", True, "equal doi"),
        ("doi", False, "equal doi" + YEARS),
        ("declared", True, "a drop's own record of the file"),
        ("title", True, "S_title = 0.812"),
        ("title", False, "S_title = 0.812" + YEARS),
        ("place", True, "S_title = 0.812, equal volume, pages that agree"),
        ("contradiction", False, "S_title = 0.812; cut: their journals, volumes, issues or first pages contradict"),
        ("unrelated", False, "equal identifier; cut: unrelated titles and authors"),
    ],
)
def test_a_reason_in_words(reason: str, taken: bool, words: str) -> None:
    assert str(Why("a:1", "b:1", reason, 0.8123, taken)) == f"a:1 — b:1: {words}"


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


def test_a_papers_explanation() -> None:
    (found,) = explanations(CLUSTERED, FOUND, {"p"})
    assert told(found).splitlines() == [
        "paper p: 3 record(s)", "  a:0", "  a:1", "  b:1", "  joined a:0 — a:1: equal doi", "  joined a:0 — b:1: S_title = 0.900",
        "  joined a:1 — b:1: S_title = 0.900", "  cut    a:1 — c:1: equal identifier; cut: unrelated titles and authors",
        f"  cut    b:1 — c:1: S_title = 0.850{YEARS}",
    ]  # fmt: skip


def test_every_paper_that_has_an_edge_is_explained_and_an_edge_between_two_for_both() -> None:
    found = list(explanations(CLUSTERED, FOUND))
    assert [(one.paper_id, one.record_ids, len(one.joined), len(one.cut)) for one in found] == [
        ("p", ["a:0", "a:1", "b:1"], 3, 2), ("q", ["c:1"], 0, 2),
    ]  # fmt: skip
    (alone,) = explanations(CLUSTERED, FOUND, {"r"})
    assert told(alone) == "paper r: 1 record(s)\n  d:1"
    assert list(explanations(CLUSTERED, FOUND, set())) == []


def test_edges_as_a_table() -> None:
    """In order of ids; without those that were needed no more, and each as strong as its reason."""
    edges = Edges(
        np.array([1, 0, 0, 2], np.int32),
        np.array([3, 2, 1, 3], np.int32),
        np.array([0, TITLE, 2, TITLE], np.int8),
        np.array([8.0, 0.9, 6.0, 1.0]),
    )
    fates = np.array([Fate.TAKEN, Fate.CONFLICT, Fate.TAKEN, Fate.NEEDLESS], np.int8)
    ids, ready = pa.array(["a", "b", "c", "d"]), pa.array(["3", "2", "1", "4"])
    found = named(ids, ready, np.array([0, 0, 2, 0], np.int32), edges, fates, Parent())
    assert found.conflicts == 1
    assert [tuple(row.values()) for row in found.edges.to_pylist()] == [
        ("a", "b", "arxiv_id", 6.0, True), ("a", "c", "title", 0.9, False), ("b", "d", "declared", 8.0, True),
    ]  # fmt: skip
    papers = dict(zip(found.clusters["record_id"].to_pylist(), found.clusters["paper_id"].to_pylist(), strict=True))
    assert papers == {"a": new_paper_id("b"), "b": new_paper_id("b"), "c": new_paper_id("c"), "d": new_paper_id("b")}
    assert [identifier_strength(reason) for reason in range(TITLE)] == [8, 7, 6, 5, 4, 3, 2]
    assert REASONS[TITLE:] == ("title", "place", "contradiction", "unrelated") and len(REASONS) == TITLE + 4


def test_what_became_of_papers() -> None:
    before = {"1": "a", "2": "a", "3": "b", "4": "c", "5": "c", "6": "d", "7": "e", "8": "e", "9": "f"}
    after = {"1": "a", "2": "a", "3": "a", "4": "c", "5": "g", "7": "e", "10": "e", "9": "f", "11": "h", "12": "h"}
    assert difference(before, after) == Difference(
        added=["h"], removed=["d"], merged={"a": ["a", "b"]}, split={"c": ["c", "g"]}, changed=["e"]
    )
    assert difference({}, {"1": "a"}) == Difference(["a"], [], {}, {}, [])
    assert difference({"1": "a"}, {}) == Difference([], ["a"], {}, {}, [])


def test_two_clusters_that_would_have_one_id() -> None:
    """The next record's id is taken, and at last one with a number."""
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


def test_which_dois_are_preprints() -> None:
    is_preprint = preprint_of(["10.1101", "10.48550/arxiv"])
    found = [is_preprint(doi) for doi in ("10.1101/x", "10.11/x", "10.48550/arxiv.1", "10.48550/x", "10.1101/x")]
    assert found == [True, False, True, False, True]


def test_the_numbers_that_the_rules_name() -> None:
    """Neighbours, pairs and papers that are looked at (SEMANTICS §4, §7); what is said of keys and offsets beside them."""
    assert (agreement.WINDOW, similar.KEEP, choosing.MOST, fewest.EXACT, places.ELECTRONIC) == (64, 64, 64, 16, 2)
    assert round(1 - (1 - 0.8**similar.ROWS) ** similar.BANDS, 4) == 0.9923
    assert np.iinfo(np.int32).max == nodes.MAX_TEXT - 1


@pytest.mark.parametrize(("spare", "refused"), [(0, True), (1, False)])
def test_more_text_than_one_process_holds(spare: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"record_id": ["a" * (2 << 20), "b"], "title": ["T", "U"]})
    part = parts.part_from(table)
    monkeypatch.setattr(nodes, "MAX_TEXT", part.record_id.nbytes + spare)
    if refused:
        said = "2 records have 2 MiB of record_id or more, too much for one process: set ENGINE to a Spark (docs/sizing.md)"
        with pytest.raises(nodes.TooManyRecords) as found:
            nodes.nodes_from([part], ())
        assert str(found.value) == said
    else:
        assert len(nodes.nodes_from([part], ())) == 2


def test_a_doi_that_a_drop_gives_overrules_only_those_read_from_its_files() -> None:
    rows = {
        "record_id": list("abcdefg"), "declared": ["1", "1", "2", "2", None, "3", "3"], "doi": ["x", "y", None, "z", "w", "p/1", "v"],
        "declares": [True, False, True, False, True, True, False],
    }  # fmt: skip
    found = nodes.nodes_from([parts.part_from(pa.table(rows))], ["p"])
    codes = found.identifiers["doi"]
    assert (found.final_doi == codes).tolist() == [True, False, True, True, True, False, True]
    assert found.final_doi[[1, 5]].tolist() == [-1, -1], "the header of a file of another DOI, and a preprint"


@pytest.mark.parametrize(("journal", "reason"), [("Blood", "title"), ("Kidney Int", "contradiction")])
def test_similar_titles_are_not_equal_ones_whichever_is_first(journal: str, reason: str) -> None:
    """Two journals contradict each other where titles are only similar."""
    titles = ["Role of complement in renal disease", "The role of complement in renal disease"]
    rows = {
        "record_id": ["a", "b"], "title": titles, "normalised": titles_of.normalise(pa.array(titles)), "journal": ["Blood", journal],
        "surnames": pa.array([[1], [1]], pa.list_(pa.uint64())),
    }  # fmt: skip
    made = nodes.nodes_from([parts.part_from(pa.table(rows))], [])
    for a, b in ((0, 1), (1, 0)):
        found = edges_of_similar(made, np.array([a]), np.array([b]), np.array([0.85]), 2)
        assert [REASONS[one] for one in found.reason] == [reason] and (found.left[0], found.right[0]) == (0, 1)
        assert found.strength.tolist() == [0.85]
