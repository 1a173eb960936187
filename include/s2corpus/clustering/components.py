"""Take edges strongest first, without joining two DOIs of published papers or clusters that contradict (SPEC §4.15)."""

from __future__ import annotations

from collections import defaultdict
from enum import IntEnum
from functools import cache

import numpy as np

from s2corpus.clustering.edges import CONTRADICTION, OPPOSING, PREFIX, TITLE, UNRELATED, Edges
from s2corpus.titles.comparison import MAX_PREPRINT_YEARS


class EdgeOutcome(IntEnum):
    """The decision on an edge."""

    REDUNDANT = 0  # Its records are in one cluster, or another edge reports the conflict.
    TAKEN = 1
    CONFLICT = 2  # Refused (the records contradict), or cut (the clusters conflict).


Span = tuple[int, int] | None
"""First and last known year of some records."""


def components(
    final_doi: np.ndarray, year: np.ndarray, preprint: np.ndarray, edges: Edges
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cluster of each node (its smallest node, int32) and the outcome of each edge (int8).

    `Nodes` contains the columns of nodes. Edges are taken in their order, strongest first. An edge is cut

    - if it would join two different DOIs of published papers;
    - by title, if the years of the clusters disagree, or if two of their records contradict;
    - for any reason, if two records of the clusters are unrelated.

    A record without a year agrees with any year. It still joins only one cluster, so it does not merge two papers of 1989 and 1993. Of
    several edges cut between two clusters, only the first is a CONFLICT; the others are REDUNDANT. So are cut edges within a cluster
    that a later edge joined: a place joins records whose title edge was cut for their years.
    """
    clusters = _Clusters(final_doi, year, preprint)
    refused = np.flatnonzero(np.isin(edges.reason, OPPOSING))
    columns = edges.left.tolist(), edges.right.tolist(), edges.reason.tolist()
    for left, right, reason in (tuple(column[edge] for column in columns) for edge in refused.tolist()):
        clusters.opponents[left].append((right, reason == UNRELATED))
        clusters.opponents[right].append((left, reason == UNRELATED))
    outcomes = np.fromiter(map(clusters.take, *columns), np.int8, len(edges))
    labels = np.fromiter(map(clusters.find, range(len(final_doi))), np.int32, len(final_doi))
    is_inside = labels[edges.left] == labels[edges.right]
    outcomes[is_inside & (outcomes == EdgeOutcome.CONFLICT)] = EdgeOutcome.REDUNDANT
    cut = np.flatnonzero(outcomes == EdgeOutcome.CONFLICT)
    a, b = labels[edges.left[cut]].astype(np.int64), labels[edges.right[cut]].astype(np.int64)
    _, first = np.unique((np.minimum(a, b) << 32) | np.maximum(a, b), return_index=True)
    outcomes[cut] = EdgeOutcome.REDUNDANT
    outcomes[cut[first]] = EdgeOutcome.CONFLICT
    return labels, outcomes


class _Clusters:
    """Union-find. The facts of a cluster are stored at its root, which is its smallest node."""

    def __init__(self, doi: np.ndarray, year: np.ndarray, preprint: np.ndarray) -> None:
        self._parent = list(range(len(doi)))
        self._doi = doi.tolist()
        self._spans = list(map(_spans, year.tolist(), preprint.tolist()))
        self.opponents = defaultdict[int, list[tuple[int, bool]]](list)
        """by root: nodes that contradict a node of the cluster, and whether the two are unrelated"""

    def find(self, node: int) -> int:
        """Return the root of a node."""
        parent = self._parent
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    def take(self, left: int, right: int, reason: int) -> EdgeOutcome:
        """Join the clusters of an edge, unless they contradict; return the outcome."""
        if reason >= CONTRADICTION:
            return EdgeOutcome.CONFLICT
        a, b = self.find(left), self.find(right)
        if a == b:
            return EdgeOutcome.REDUNDANT
        doi, other_doi, spans, other_spans = self._doi[a], self._doi[b], self._spans[a], self._spans[b]
        if doi != other_doi and doi >= 0 and other_doi >= 0:
            return EdgeOutcome.CONFLICT
        # `_spans` is cached: the same object means the same years.
        if spans is not other_spans and reason in (TITLE, PREFIX) and self._years_differ(spans, other_spans):
            return EdgeOutcome.CONFLICT
        if a in self.opponents and b in self.opponents and self._are_opposed(a, b, reason):
            return EdgeOutcome.CONFLICT
        if a > b:
            a, b = b, a
        self._parent[b] = a
        if doi != other_doi:
            self._doi[a] = max(doi, other_doi)
        if spans is not other_spans:
            self._spans[a] = tuple(map(_cover, spans, other_spans))
        if b in self.opponents:
            shorter, longer = sorted((self.opponents[a], self.opponents.pop(b)), key=len)
            longer += shorter
            self.opponents[a] = longer
        return EdgeOutcome.TAKEN

    def _years_differ(self, spans: tuple[Span, ...], others: tuple[Span, ...]) -> bool:
        """Return whether years of one form are more than one apart, or a preprint and a published record are too many years apart."""
        limits = (1, MAX_PREPRINT_YEARS), (MAX_PREPRINT_YEARS, 1)
        return any(
            a
            and b
            and max(a[0] - b[1], b[0] - a[1])
            > (0 if x == y and max(a[1], b[1]) - min(a[0], b[0]) > 1 else limits[x][y])
            for x, a in enumerate(spans)
            for y, b in enumerate(others)
        )

    def _are_opposed(self, a: int, b: int, reason: int) -> bool:
        x, y = (a, b) if len(self.opponents[a]) <= len(self.opponents[b]) else (b, a)
        is_by_title = reason >= TITLE
        return any((is_by_title or unrelated) and self.find(node) == y for node, unrelated in self.opponents[x])


@cache
def _spans(year: int, is_preprint: bool) -> tuple[Span, ...]:
    """Return the years of published records and of preprints."""
    span = (year, year) if year else None
    return (None, span) if is_preprint else (span, None)


def _cover(a: Span, b: Span) -> Span:
    return (min(a[0], b[0]), max(a[1], b[1])) if a and b else a or b
