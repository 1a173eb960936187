"""Edges to clusters, strongest first, never joining two different DOIs of published papers."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numba import njit

from s2corpus.clustering.edges import Edges


class Fate(IntEnum):
    """What became of an edge."""

    NEEDLESS = 0  # its records were one cluster already
    TAKEN = 1
    CONFLICT = 2  # cut: it would have joined two different non-preprint DOIs


def components(final_doi: np.ndarray, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """(cluster of each node: its smallest node, int32; fate of each edge, int8).

    Edges are taken in their order (strongest first). Of the edges cut between the same two clusters only the first is a
    CONFLICT, the others are NEEDLESS: a conflict is told once.
    """
    labels, fates = _kruskal(final_doi.astype(np.int32), edges.left, edges.right)
    cut = np.flatnonzero(fates == Fate.CONFLICT)
    if len(cut):
        a, b = labels[edges.left[cut]].astype(np.int64), labels[edges.right[cut]].astype(np.int64)
        _, first = np.unique((np.minimum(a, b) << 32) | np.maximum(a, b), return_index=True)
        fates[cut] = Fate.NEEDLESS
        fates[cut[first]] = Fate.CONFLICT
    return labels, fates


@njit(cache=True, nogil=True)
def _find(parent: np.ndarray, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@njit(cache=True, nogil=True)
def _kruskal(final_doi: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    parent = np.arange(len(final_doi)).astype(np.int32)
    doi = final_doi.copy()  # of a root: its cluster's, of which there is at most one
    fates = np.zeros(len(left), np.int8)
    for edge in range(len(left)):
        a, b = _find(parent, left[edge]), _find(parent, right[edge])
        if a == b:
            continue
        if doi[a] >= 0 and doi[b] >= 0 and doi[a] != doi[b]:
            fates[edge] = 2
            continue
        root, child = min(a, b), max(a, b)
        parent[child] = root
        doi[root] = max(doi[a], doi[b])
        fates[edge] = 1
    for node in range(len(parent)):
        parent[node] = _find(parent, node)
    return parent, fates
