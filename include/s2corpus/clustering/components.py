"""Take edges strongest first, without joining two DOIs of published papers or clusters that contradict (SPEC §4.15)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from s2corpus.clustering.edges import CONTRADICTION, PREFIX, TITLE, UNRELATED, Edges
from s2corpus.compiled import njit


class EdgeOutcome(IntEnum):
    """The decision on an edge."""

    REDUNDANT = 0  # Its records are in one cluster already.
    TAKEN = 1
    CONFLICT = 2  # Refused by its own reason, or cut; see `components`.


def components(
    final_doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, edges: Edges, max_preprint_years: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cluster of each node (its smallest node, int32) and the outcome of each edge (int8).

    The columns of nodes are those of `Nodes`. Edges are taken in their order, strongest first. An edge is cut

    - if it would join two different DOIs of published papers;
    - by title, if the years of the clusters disagree, or if two of their records contradict;
    - whatever its reason, if two records of the clusters are unrelated.

    A record without a year agrees with every year, but joins one cluster only: it does not join the papers of 1989 and
    1993 with its title. Of several edges cut between two clusters, only the first is a CONFLICT; the others are REDUNDANT.
    """
    labels = np.arange(len(final_doi), dtype=np.int32)
    years = np.stack((np.where(preprint, 0, year), np.where(preprint, year, 0)))
    refused = np.flatnonzero(edges.reason >= CONTRADICTION)
    conflicts = _build_conflict_lists(
        len(labels) if len(refused) else 0, edges.left[refused], edges.right[refused], edges.reason[refused]
    )
    outcomes = _take_edges(
        labels, final_doi.copy(), years.copy(), years.copy(), edges.left, edges.right, edges.reason, *conflicts,
        max_preprint_years,
    )  # fmt: skip
    outcomes[refused[labels[edges.left[refused]] == labels[edges.right[refused]]]] = EdgeOutcome.REDUNDANT
    cut = np.flatnonzero(outcomes == EdgeOutcome.CONFLICT)
    a, b = labels[edges.left[cut]].astype(np.int64), labels[edges.right[cut]].astype(np.int64)
    _, first = np.unique((np.minimum(a, b) << 32) | np.maximum(a, b), return_index=True)
    outcomes[cut] = EdgeOutcome.REDUNDANT
    outcomes[cut[first]] = EdgeOutcome.CONFLICT
    return labels, outcomes


@njit(cache=True, nogil=True)
def _find(parent: np.ndarray, node: int | np.int32) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = int(parent[node])
    return int(node)


@njit(cache=True, nogil=True)
def _take_edges(
    parent: np.ndarray, doi: np.ndarray, first: np.ndarray, last: np.ndarray, left: np.ndarray, right: np.ndarray,
    reason: np.ndarray, starts: np.ndarray, opponents: np.ndarray, is_unrelated: np.ndarray, max_preprint_years: int,
) -> np.ndarray:  # fmt: skip
    """Return the outcomes of the edges; update the arrays of clusters.

    `parent` is the union-find forest. `doi`, `first` and `last` are by root: the DOI of its cluster, and the first and last known year
    of its published records (row 0) and preprints (row 1).
    """
    outcomes = np.zeros(len(left), np.int8)
    # The nodes of a cluster that have opponents form a circular list: `ring` is the next node, `some` a node of a root's list.
    nodes = len(starts) - 1
    ring, some = np.arange(nodes).astype(np.int32), np.arange(nodes).astype(np.int32)
    in_ring = np.empty(nodes, np.int32)  # by root: number of these nodes
    for node in range(nodes):
        in_ring[node] = starts[node + 1] > starts[node]
    for edge in range(len(left)):
        if reason[edge] >= CONTRADICTION:
            outcomes[edge] = 2
            continue
        a, b = _find(parent, int(left[edge])), _find(parent, int(right[edge]))
        if a == b:
            continue
        if doi[a] >= 0 and doi[b] >= 0 and doi[a] != doi[b]:
            outcomes[edge] = 2
            continue
        by_year = reason[edge] == TITLE or reason[edge] == PREFIX
        if by_year and not _years_agree(first, last, a, b, max_preprint_years):
            outcomes[edge] = 2
            continue
        if len(ring) and in_ring[a] and in_ring[b]:
            x, y = (a, b) if in_ring[a] <= in_ring[b] else (b, a)
            if _clusters_conflict(parent, ring, some[x], y, starts, opponents, is_unrelated, reason[edge] >= TITLE):
                outcomes[edge] = 2
                continue
        root, child = min(a, b), max(a, b)
        if len(ring):
            _merge_rings(ring, in_ring, some, root, child)
        parent[child] = root
        doi[root] = max(doi[a], doi[b])
        _widen(first, last, root, child)
        outcomes[edge] = 1
    for node in range(len(parent)):
        parent[node] = _find(parent, np.int32(node))
    return outcomes


@njit(cache=True, nogil=True)
def _merge_rings(ring: np.ndarray, in_ring: np.ndarray, some: np.ndarray, root: int, child: int) -> None:
    """Add the circular list of one root to that of another."""
    if in_ring[child] and in_ring[root]:
        ring[some[root]], ring[some[child]] = ring[some[child]], ring[some[root]]
    elif in_ring[child]:
        some[root] = some[child]
    in_ring[root] += in_ring[child]


@njit(cache=True, nogil=True)
def _widen(first: np.ndarray, last: np.ndarray, root: int, child: int) -> None:
    """Add the first and last years of one root to another's."""
    for kind in range(2):
        if first[kind, child] != 0:
            known = first[kind, root] != 0
            first[kind, root] = min(first[kind, root], first[kind, child]) if known else first[kind, child]
            last[kind, root] = max(last[kind, root], last[kind, child])


@njit(cache=True, nogil=True)
def _clusters_conflict(
    parent: np.ndarray, ring: np.ndarray, begin: int, root: int, starts: np.ndarray, opponents: np.ndarray,
    is_unrelated: np.ndarray, by_title: bool,
) -> bool:  # fmt: skip
    """Return whether a node of a circular list has an opponent in the cluster of `root`."""
    node = begin
    while True:
        for at in range(starts[node], starts[node + 1]):
            if (by_title or is_unrelated[at]) and _find(parent, int(opponents[at])) == root:
                return True
        node = ring[node]
        if node == begin:
            return False


@njit(cache=True, nogil=True)
def _build_conflict_lists(
    nodes: int, left: np.ndarray, right: np.ndarray, reason: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the opponents of each node (starts, nodes) and whether the two are unrelated: such records never join."""
    starts = np.zeros(nodes + 1, np.int64)
    for k in range(len(left)):
        starts[left[k] + 1] += 1
        starts[right[k] + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    filled = starts.copy()
    opponents, is_unrelated = np.empty(2 * len(left), np.int32), np.empty(2 * len(left), np.bool_)
    for k in range(len(left)):
        for node, opponent in ((left[k], right[k]), (right[k], left[k])):
            opponents[filled[node]], is_unrelated[filled[node]] = opponent, reason[k] == UNRELATED
            filled[node] += 1
    return starts, opponents, is_unrelated


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
