"""Records in, clusters out: nodes, edges, components and ids together (SEMANTICS: Cluster)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from s2corpus.clustering.components import Fate, components
from s2corpus.clustering.edges import REASONS, edges_of
from s2corpus.clustering.identity import Parent, identify
from s2corpus.clustering.nodes import nodes_of
from s2corpus.tables import ALIASES, CLUSTERS, EDGES


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
    """Cluster a table with the columns of `records`: which records are one paper, why, and under which id.

    The order of records does not matter.

    Raises:
        ValueError: a record_id occurs twice.
    """
    nodes = nodes_of(records, preprint_prefixes)
    edges = edges_of(nodes, min_title_score, max_preprint_years)
    labels, fates = components(nodes.final_doi, edges)
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
    paper_ids, aliases = _identities(records, nodes.record_ids, labels, parent or Parent())
    alias_table = pa.table(
        {"alias": pa.array(list(aliases), pa.string()), "paper_id": pa.array(list(aliases.values()), pa.string())},
        schema=ALIASES.schema,
    )
    clusters = pa.table({"record_id": nodes.record_ids, "paper_id": paper_ids}, schema=CLUSTERS.schema)
    return Clustering(clusters, edge_table, alias_table)


def _identities(
    records: pa.Table, record_ids: pa.Array, labels: np.ndarray, parent: Parent
) -> tuple[pa.Array, Mapping[str, str]]:
    """(paper_id of each record, in the order of record_ids; aliases)."""
    roots, numbers = np.unique(labels, return_inverse=True)
    ids = record_ids.to_pylist()
    clusters: list[list[str]] = [[] for _ in roots]
    for record_id, number in zip(ids, numbers.tolist(), strict=True):
        clusters[number].append(record_id)
    ready_at = dict(zip(records["record_id"].to_pylist(), records["ready_at"].to_pylist(), strict=True))
    identity = identify(clusters, ready_at, parent)
    return pa.array(identity.paper_ids, pa.string()).take(pa.array(numbers)), identity.aliases
