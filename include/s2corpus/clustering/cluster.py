"""Records in, clusters out: nodes, edges, components and ids together (SEMANTICS: Cluster)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.clustering.components import Fate, components
from s2corpus.clustering.edges import REASONS, edges_of
from s2corpus.clustering.identity import Parent, earlier, identify
from s2corpus.clustering.nodes import IDENTIFIERS, nodes_of
from s2corpus.tables import ALIASES, CLUSTERS, EDGES

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
) -> Clustering:
    """Cluster a table that has COLUMNS: which records are one paper, why, and under which id.

    The order of records does not matter.

    Raises:
        ValueError: a record_id occurs twice.
    """
    nodes = nodes_of(records, preprint_prefixes)
    edges = edges_of(nodes, min_title_score, max_preprint_years)
    labels, fates = components(nodes, edges, max_preprint_years)
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
    parent = parent or Parent()
    ready_at = dict(zip(records["record_id"].to_pylist(), records["ready_at"].to_pylist(), strict=True))
    record_ids = nodes.record_ids.to_pylist()
    roots, numbers = np.unique(labels, return_inverse=True)
    members: list[list[str]] = [[] for _ in roots]
    for record_id, number in zip(record_ids, numbers.tolist(), strict=True):
        members[number].append(record_id)
    identity = identify(members, ready_at, parent)
    clusters = pa.table(
        {
            "record_id": nodes.record_ids,
            "paper_id": pa.array(identity.paper_ids, pa.string()).take(pa.array(numbers)),
            "first_ready": pa.array([earlier(ready_at[r], parent.first_ready.get(r)) for r in record_ids], pa.string()),
        },
        schema=CLUSTERS.schema,
    )
    former, now = list(identity.aliases), list(identity.aliases.values())
    aliases = pa.table(
        {"alias": pa.array(former, pa.string()), "paper_id": pa.array(now, pa.string())}, schema=ALIASES.schema
    )
    return Clustering(clusters, edge_table, aliases)
