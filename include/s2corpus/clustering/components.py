"""Edges to clusters, strongest first, never joining two DOIs of published papers, nor by title two years that disagree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from s2corpus.clustering.edges import (
    CONTRADICTION,
    TITLE,
    UNRELATED,
    Edges,
    equal_title_edges,
    identifier_edges,
    near_title_edges,
    together,
)
from s2corpus.clustering.nodes import Nodes
from s2corpus.compiled import njit


class Fate(IntEnum):
    """What became of an edge."""

    NEEDLESS = 0  # its records were one cluster already
    TAKEN = 1
    CONFLICT = 2  # refused itself, or cut: see `components`


def joined(nodes: Nodes, min_title_score: float, max_preprint_years: int) -> tuple[Edges, np.ndarray, np.ndarray]:
    """(all edges in the order they are taken, cluster of each node, fate of each edge).

    Equal titles are only compared across clusters. Titles that are similar but not equal are only looked for where they can still join
    something: a cluster whose DOI no other cluster has cannot be joined by title to another such.
    """
    facts = nodes.final_doi, nodes.year, nodes.preprint
    of_identifiers = identifier_edges(nodes, min_title_score, max_preprint_years)
    by_identifiers = _taken(_single(*facts), of_identifiers, max_preprint_years)
    certain = together([of_identifiers, equal_title_edges(nodes, by_identifiers.labels, max_preprint_years)])
    without_near = _taken(by_identifiers, certain, max_preprint_years)
    labels, doi = without_near.labels, without_near.doi
    of_roots = doi[(labels == np.arange(len(nodes))) & (doi >= 0)]
    shared = np.bincount(of_roots, minlength=1) > 1
    settled = (doi[labels] >= 0) & ~shared[doi[labels]]
    edges = together([certain, near_title_edges(nodes, ~settled, min_title_score, max_preprint_years)])
    return edges, *_reported(edges, _taken(by_identifiers, edges, max_preprint_years))


def components(
    final_doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, edges: Edges, max_preprint_years: int
) -> tuple[np.ndarray, np.ndarray]:
    """(cluster of each node: its smallest node, int32; fate of each edge, int8), from what `Nodes` has of each node.

    Edges are taken in their order (strongest first). Two records' years may agree only because one has none: such a record joins
    one cluster, it does not bring the 1989 and the 1993 paper of one title together. Of the edges cut between the same two
    clusters only the first is a CONFLICT, the others are NEEDLESS: a conflict is reported once.

    An edge is cut that would join two different DOIs of published papers; by title, clusters whose years disagree, or of which two
    records contradict; or whatever its reason, two records that are unrelated.
    """
    return _reported(edges, _taken(_single(final_doi, year, preprint), edges, max_preprint_years))


@dataclass(frozen=True)
class _State:
    """Clusters after some edges."""

    labels: np.ndarray  # int32 a node: the smallest of its cluster
    doi: np.ndarray  # int32 code, of such a node: its cluster's, of which there is at most one
    first: (
        np.ndarray
    )  # int32 (2, nodes), of such a node: first known year of its published records, and of its preprints
    last: np.ndarray  # the last ones
    fates: np.ndarray  # int8 an edge


def _single(final_doi: np.ndarray, year: np.ndarray, preprint: np.ndarray) -> _State:
    """Every node by itself."""
    years = np.stack((np.where(preprint, 0, year), np.where(preprint, year, 0)))
    return _State(np.arange(len(final_doi), dtype=np.int32), final_doi, years, years, np.empty(0, np.int8))


def _taken(state: _State, edges: Edges, max_preprint_years: int) -> _State:
    """The clusters after `edges`, of which the first gave `state`; a cut edge is CONFLICT wherever others are too.

    Where those first are all by identifiers, no edge that follows can change their fates.
    """
    refused = np.flatnonzero(edges.reason >= CONTRADICTION)
    nodes = len(state.labels) if len(refused) else 0
    foes = _foes(nodes, edges.left[refused], edges.right[refused], edges.reason[refused])
    left, right, reason = (column[len(state.fates) :] for column in (edges.left, edges.right, edges.reason))
    clusters = state.labels.copy(), state.doi.copy(), state.first.copy(), state.last.copy()
    fates = _kruskal(*clusters, left, right, reason, *foes, max_preprint_years)
    return _State(*clusters, np.concatenate([state.fates, fates]))


def _reported(edges: Edges, state: _State) -> tuple[np.ndarray, np.ndarray]:
    """The labels, and the fates, of which one a pair of clusters is a CONFLICT."""
    labels, fates = state.labels, state.fates
    refused = np.flatnonzero(edges.reason >= CONTRADICTION)
    fates[refused[labels[edges.left[refused]] == labels[edges.right[refused]]]] = Fate.NEEDLESS
    cut = np.flatnonzero(fates == Fate.CONFLICT)
    if len(cut):
        a, b = labels[edges.left[cut]].astype(np.int64), labels[edges.right[cut]].astype(np.int64)
        _, first = np.unique((np.minimum(a, b) << 32) | np.maximum(a, b), return_index=True)
        fates[cut] = Fate.NEEDLESS
        fates[cut[first]] = Fate.CONFLICT
    return labels, fates


@njit(cache=True, nogil=True)
def _find(parent: np.ndarray, node: int | np.int32) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = int(parent[node])
    return int(node)


@njit(cache=True, nogil=True)
def _kruskal(
    parent: np.ndarray, doi: np.ndarray, first: np.ndarray, last: np.ndarray, left: np.ndarray, right: np.ndarray,
    reason: np.ndarray, foe_starts: np.ndarray, foes: np.ndarray, for_certain: np.ndarray, max_preprint_years: int,
) -> np.ndarray:  # fmt: skip
    """Take edges after others: a `_State`'s arrays are changed; the fates of the edges."""
    fates = np.zeros(len(left), np.int8)
    # nodes of a cluster that have foes, as a ring; of a root: how many they are
    nodes = len(foe_starts) - 1
    ring, hostile = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    some = np.empty(nodes, np.int32)  # of a root: a node of its ring
    for node in range(nodes):
        ring[node], some[node], hostile[node] = node, node, foe_starts[node + 1] > foe_starts[node]
    for node in range(nodes):
        if hostile[node] and parent[node] != node:
            _link(ring, hostile, some, int(parent[node]), np.int32(node))
    for edge in range(len(left)):
        if reason[edge] >= CONTRADICTION:
            fates[edge] = 2
            continue
        a, b = _find(parent, int(left[edge])), _find(parent, int(right[edge]))
        if a == b:
            continue
        if doi[a] >= 0 and doi[b] >= 0 and doi[a] != doi[b]:
            fates[edge] = 2
            continue
        if reason[edge] == TITLE and not _years_agree(first, last, a, b, max_preprint_years):
            fates[edge] = 2
            continue
        if len(ring) and hostile[a] and hostile[b]:
            x, y = (a, b) if hostile[a] <= hostile[b] else (b, a)
            if _are_foes(parent, ring, some[x], y, foe_starts, foes, for_certain, reason[edge] >= TITLE):
                fates[edge] = 2
                continue
        root, child = min(a, b), max(a, b)
        if len(ring):
            _link(ring, hostile, some, root, child)
        parent[child] = root
        doi[root] = max(doi[a], doi[b])
        _widen(first, last, root, child)
        fates[edge] = 1
    for node in range(len(parent)):
        parent[node] = _find(parent, np.int32(node))
    return fates


@njit(cache=True, nogil=True)
def _link(ring: np.ndarray, hostile: np.ndarray, some: np.ndarray, root: int, child: int | np.int32) -> None:
    """Give the nodes that have foes of one root to another."""
    if hostile[child] and hostile[root]:
        ring[some[root]], ring[some[child]] = ring[some[child]], ring[some[root]]
    elif hostile[child]:
        some[root] = some[child]
    hostile[root] += hostile[child]


@njit(cache=True, nogil=True)
def _widen(first: np.ndarray, last: np.ndarray, root: int, child: int) -> None:
    """Add the first and last years of one root to another's."""
    for kind in range(2):
        if first[kind, child] != 0:
            known = first[kind, root] != 0
            first[kind, root] = min(first[kind, root], first[kind, child]) if known else first[kind, child]
            last[kind, root] = max(last[kind, root], last[kind, child])


@njit(cache=True, nogil=True)
def _are_foes(
    parent: np.ndarray, ring: np.ndarray, begin: int, root: int, starts: np.ndarray, foes: np.ndarray, for_certain: np.ndarray,
    by_title: bool,
) -> bool:  # fmt: skip
    """Whether a node of a ring has a foe in the cluster of `root`."""
    node = begin
    while True:
        for at in range(starts[node], starts[node + 1]):
            if (by_title or for_certain[at]) and _find(parent, int(foes[at])) == root:
                return True
        node = ring[node]
        if node == begin:
            return False


@njit(cache=True, nogil=True)
def _foes(
    nodes: int, left: np.ndarray, right: np.ndarray, reason: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(starts, foes of each node; whether whatever the reason they must not be one): no starts but one where nothing was refused."""
    starts = np.zeros(nodes + 1, np.int64)
    for k in range(len(left)):
        starts[left[k] + 1] += 1
        starts[right[k] + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    filled = starts.copy()
    foes, for_certain = np.empty(2 * len(left), np.int32), np.empty(2 * len(left), np.bool_)
    for k in range(len(left)):
        for node, foe in ((left[k], right[k]), (right[k], left[k])):
            foes[filled[node]], for_certain[filled[node]] = foe, reason[k] == UNRELATED
            filled[node] += 1
    return starts, foes, for_certain


@njit(cache=True, nogil=True)
def _years_agree(first: np.ndarray, last: np.ndarray, a: int, b: int, max_preprint_years: int) -> bool:
    """Published and published overlap, so do preprint and preprint; preprint and published lie at most some years apart."""
    for x in range(2):
        for y in range(2):
            if first[x, a] != 0 and first[y, b] != 0:
                apart = max(first[x, a] - last[y, b], first[y, b] - last[x, a])
                if apart > (0 if x == y else max_preprint_years):
                    return False
    return True
