"""Records in, clusters out: nodes, edges, components and ids together (SEMANTICS: Cluster)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.clustering.components import Connect, Fate, joined
from s2corpus.clustering.edges import REASONS
from s2corpus.clustering.identity import Parent, identify
from s2corpus.clustering.nodes import IDENTIFIERS, nodes_of
from s2corpus.tables import EDGES

COLUMNS = ("record_id", "source", "kind", "ready_at", "title", "authors", "date", *IDENTIFIERS)
"""The columns of `records` that decide."""


@dataclass(frozen=True)
class Clustering:
    """The tables `clusters`, `edges` (those taken, and those cut as conflicts) and `aliases`, sorted by key."""

    clusters: pa.Table
    edges: pa.Table
    aliases: pa.Table


def cluster(
    records: pa.Table,
    *,
    preprint_prefixes: Sequence[str],
    min_title_score: float = 0.8,
    max_preprint_years: int = 2,
    parent: Parent | None = None,
    connect: Connect | None = None,
) -> Clustering:
    """Cluster a table that has COLUMNS: which records are one paper, why, and under which id.

    The order of records does not matter. `connect` decides over edges elsewhere than here (an engine), to the same end.

    Raises:
        ValueError: a record_id occurs twice.
    """
    nodes = nodes_of(records, preprint_prefixes)
    edges, labels, fates = joined(nodes, min_title_score, max_preprint_years, connect)
    told = np.flatnonzero(fates != Fate.NEEDLESS)
    told = told[np.lexsort((edges.right[told], edges.left[told]))]
    edge_table = pa.table(
        {
            "left": nodes.record_ids.take(pa.array(edges.left[told])),
            "right": nodes.record_ids.take(pa.array(edges.right[told])),
            "reason": pa.array(np.array(REASONS)[edges.reason[told]], pa.string()),
            "strength": edges.strength[told],
            "taken": fates[told] == Fate.TAKEN,
        },
        schema=EDGES.schema,
    )
    roots = np.flatnonzero(labels == np.arange(len(labels)))
    number = np.zeros(len(labels), np.int64)
    number[roots] = np.arange(len(roots))
    clusters, aliases = identify(nodes.record_ids, number[labels], nodes.ready_at, parent or Parent())
    return Clustering(clusters, edge_table, aliases)
