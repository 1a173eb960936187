"""Records in, clusters out: nodes, edges, components and ids together (SEMANTICS: Cluster)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from s2corpus.clustering.components import Fate, joined
from s2corpus.clustering.edges import REASONS, Edges
from s2corpus.clustering.identity import Parent, identify
from s2corpus.clustering.nodes import nodes_of
from s2corpus.clustering.parts import GIVEN
from s2corpus.rules.cluster import Cluster as ClusterRules
from s2corpus.tables import EDGES

COLUMNS = (
    "record_id", "source", "kind", "ready_at", "title", "authors.list.element.first", "authors.list.element.last", "date",
    "journal", "volume", "issue", "pages", "type", *GIVEN,
)  # fmt: skip
"""What of `records` decides, as Parquet names it."""
REPEATED = ("source", "kind", "ready_at", "date", "type")
"""Of these the few that have few values: they are quicker read as dictionaries."""
_RULES = ClusterRules()


@dataclass(frozen=True)
class Clustering:
    """The tables `clusters` and `aliases`, sorted by key, and how they came about."""

    clusters: pa.Table
    aliases: pa.Table
    _record_ids: pa.Array
    _edges: Edges
    _fates: np.ndarray

    @property
    def conflicts(self) -> int:
        """Edges that were cut."""
        return int(np.count_nonzero(self._fates == Fate.CONFLICT))

    @cached_property
    def edges(self) -> pa.Table:
        """The table `edges`: those taken, and those cut as conflicts; sorted by key."""
        told = np.flatnonzero(self._fates != Fate.NEEDLESS)
        told = told[np.lexsort((self._edges.right[told], self._edges.left[told]))]
        return pa.table(
            {
                "left": self._record_ids.take(pa.array(self._edges.left[told])),
                "right": self._record_ids.take(pa.array(self._edges.right[told])),
                "reason": pa.array(REASONS).take(pa.array(self._edges.reason[told])),
                "strength": self._edges.strength[told],
                "taken": self._fates[told] == Fate.TAKEN,
            },
            schema=EDGES.schema,
        )


def cluster(
    records: pa.Table | Iterable[pa.RecordBatch],
    *,
    preprint_prefixes: Sequence[str],
    min_title_score: float = _RULES.min_title_score,
    max_preprint_years: int = _RULES.max_preprint_years,
    parent: Parent | None = None,
) -> Clustering:
    """Cluster records with COLUMNS (or more of them): which records are one paper, why, and under which id.

    The order of records does not matter.

    Raises:
        ValueError: a record_id occurs twice.
    """
    nodes = nodes_of(records, preprint_prefixes)
    edges, labels, fates = joined(nodes, min_title_score, max_preprint_years)
    return named(nodes.record_ids, nodes.ready_at, labels, edges, fates, parent or Parent())


def named(
    record_ids: pa.Array, ready_at: pa.Array, labels: np.ndarray, edges: Edges, fates: np.ndarray, parent: Parent
) -> Clustering:
    """The clusters with their ids, from the smallest node of each node's cluster."""
    number = np.cumsum(labels == np.arange(len(labels))) - 1
    clusters, aliases = identify(record_ids, number[labels], ready_at, parent)
    return Clustering(clusters, aliases, record_ids, edges, fates)
