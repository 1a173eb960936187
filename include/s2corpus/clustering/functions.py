"""Functions of `stages/cluster.sql`: each makes the rows of a table from rows of a statement, as Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.components import EdgeOutcome, components
from s2corpus.clustering.edges import QUESTIONS, REASONS, Edges, judge, judge_cut_titles
from s2corpus.clustering.facts import FACTS, Nodes, codes_of, nodes_from, read_facts
from s2corpus.compiled import njit
from s2corpus.rules import MIN_SCORE_WITHOUT_AUTHORS, MIN_TITLE_SCORE
from s2corpus.titles import similarity
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import ALMOST, EQUAL, SIMILAR, compare, describe
from s2corpus.titles.rules import differences

BANDS, ROWS = 24, 7
"""number of MinHash keys of one title, and the hashes of a key. Two titles with Jaccard index J share a key with probability
1 − (1 − J⁷)²⁴: 0.996 at J = 0.8. One key is enough here, so a key has more hashes than in linking: pairs of unrelated titles are few.
"""
_INT, _TEXT, _FLAG, _REAL = pa.int64(), pa.string(), pa.bool_(), pa.float64()
_PAIR = {"a": _INT, "b": _INT}
_EDGE_ROW = pa.schema(
    {"left": _TEXT, "right": _TEXT, "reason": _TEXT, "strength": _REAL, "taken": _FLAG, "evidence": _TEXT, "a": _INT}
)
EDGE = pa.schema({**_PAIR, "reason": pa.int8(), "near": pa.int8(), "strength": _REAL, "evidence": _INT})


def answer(rows: pa.Table) -> pa.Table:
    """Return pairs of records that share an identifier, and the answer to the question about each pair (see `QUESTIONS`)."""
    nodes, left, right = _pair(rows)
    holds = np.ones(len(rows), bool)
    for question, is_true in QUESTIONS.items():
        asked = np.flatnonzero(np.asarray(pc.equal(rows["question"], question)))
        holds[asked] = is_true(nodes, left[asked], right[asked])
    return rows.append_column("holds", pa.array(holds))


def judge_equal(rows: pa.Table) -> pa.Table:
    """Return the edges between records with equal titles."""
    nodes, left, right = _pair(rows)
    found = compare(nodes, left, right, np.full(len(rows), EQUAL))
    return _join(rows, judge(rows, found, np.ones(len(rows))), near=0)


def judge_similar(rows: pa.Table) -> pa.Table:
    """Return the edges between records with similar titles."""
    nodes, left, right = _pair(rows)
    score = rows["score"].to_numpy()
    title = np.where(score > MIN_SCORE_WITHOUT_AUTHORS, ALMOST, SIMILAR)
    numbers = differences(nodes.given_titles.take(pa.array(left)), nodes.given_titles.take(pa.array(right)))
    return _join(rows, judge(rows, compare(nodes, left, right, title, numbers), score), near=1)


def judge_cut(rows: pa.Table) -> pa.Table:
    """Return the edges between different titles of one paper."""
    nodes, left, right = _pair(rows)
    return _join(rows, judge_cut_titles(nodes, left, right), near=1)


def _flatten(column: pa.ChunkedArray) -> pa.Table:
    return pa.Table.from_struct_array(one_chunk(column))


def _pair(rows: pa.Table) -> tuple[Nodes, np.ndarray, np.ndarray]:
    nodes = nodes_from(pa.concat_tables([_flatten(rows["facts_a"]), _flatten(rows["facts_b"])]))
    return nodes, np.arange(len(rows)), np.arange(len(rows), 2 * len(rows))


def _join(rows: pa.Table, edges: Edges, near: int) -> pa.Table:
    """Return edges, whose left and right ends are the same row, as a table."""
    a, b = (rows[name].to_numpy()[edges.left] for name in _PAIR)
    ends = [np.minimum(a, b), np.maximum(a, b)]
    columns = [*ends, edges.reason, np.full(len(a), near), edges.strength, edges.evidence]
    return pa.table([pa.array(column) for column in columns], EDGE.names).cast(EDGE)


def connect(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield the component of each record that is not the first of its component; it needs 8 bytes for each record."""
    parent = np.empty(0, np.int64)
    for rows in batches:
        a, b = (rows[name].to_numpy() for name in _PAIR)
        if (size := int(b.max(initial=-1)) + 1) > len(parent):
            parent = np.concatenate([parent, np.arange(len(parent), max(size, 2 * len(parent)))])
        unite(parent, a, b)
    point_to_roots(parent)
    for begin in range(0, len(parent), 1 << 18):
        label = parent[begin : begin + (1 << 18)]
        node = np.arange(begin, begin + len(label))
        yield pa.table([node[label != node], label[label != node]], ["node", "label"])


@njit(cache=True, nogil=True)
def unite(parent: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Unite the ends of each edge in one tree. The root of a tree is its smallest node. All arrays are int64."""
    for edge in range(len(left)):
        a, b = left[edge], right[edge]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b


@njit(cache=True, nogil=True)
def point_to_roots(parent: np.ndarray) -> None:
    """Set the parent of every node to the root of its tree. Parents are smaller than children, so one pass is enough."""
    for node in range(len(parent)):
        parent[node] = parent[parent[node]]


def decide(rows: pa.Table) -> pa.Table:
    """Return the edges of components with the decision on each, and the clusters of their records."""
    a, b = (rows[name].to_numpy() for name in _PAIR)
    node, first, place = np.unique(np.concatenate([a, b]), return_index=True, return_inverse=True)
    doi, year, preprint = (
        pa.chunked_array([*rows[f"{name}_a"].chunks, *rows[f"{name}_b"].chunks]).take(pa.array(first))
        for name in ("doi", "year", "preprint")
    )
    edges = Edges(
        place[: len(a)], place[len(a) :], *(rows[name].to_numpy() for name in ("reason", "strength", "evidence"))
    )
    label, outcome = components(codes_of(doi)[0], year.to_numpy(), preprint.to_numpy(), edges)
    columns = [rows[name] for name in EDGE.names]
    columns += [outcome, node[label[edges.left]], node[label[edges.right]]]
    return pa.table(columns, [*EDGE.names, "outcome", "label_a", "label_b"])


def name_edges(rows: pa.Table) -> pa.Table:
    """Return edges with their reason and evidence in words."""
    codes, which = np.unique(rows["evidence"].to_numpy(), return_inverse=True)
    texts = pa.array([None if code < 0 else describe(code) for code in codes.tolist()], _TEXT)
    taken = pc.equal(rows["outcome"], int(EdgeOutcome.TAKEN))
    columns = [rows["left"], rows["right"], pa.array(REASONS).take(rows["reason"]), rows["strength"], taken]
    return pa.table(
        [*columns, texts.take(pa.array(which)), rows["a"]],
        ["left", "right", "reason", "strength", "taken", "evidence", "a"],
    )


def read_record_facts(rows: pa.Table) -> pa.Table:
    """Return the facts of records."""
    return read_facts(rows.combine_chunks().to_batches()[0]) if len(rows) else FACTS.empty_table()


FUNCTIONS: dict[str, tuple[Callable[..., Any], pa.Schema]] = {
    "read_facts": (read_record_facts, FACTS),
    "answer": (answer, pa.schema({"question": _TEXT, "kind": pa.int32(), "first": _INT, **_PAIR, "holds": _FLAG})),
    "judge_equal": (judge_equal, EDGE),
    "judge_similar": (judge_similar, EDGE),
    "judge_cut": (judge_cut, EDGE),
    "compute_title_keys": (
        partial(similarity.add_keys, bands=BANDS, band_rows=ROWS),
        pa.schema({"title": _INT, "is_open": _FLAG, "key": _INT}),
    ),
    "score_titles": (partial(similarity.add_scores, threshold=MIN_TITLE_SCORE), pa.schema({**_PAIR, "score": _REAL})),
    "connect": (connect, pa.schema({"node": _INT, "label": _INT})),
    "decide": (decide, pa.schema([*EDGE, ("outcome", pa.int8()), ("label_a", _INT), ("label_b", _INT)])),
    "name_edges": (name_edges, _EDGE_ROW),
}
"""Functions by name, with the schema of their rows."""
