"""Clusters by an engine: connected components by large-star and small-star, then each component's edges one by one.

Large-star/small-star (Kiveris et al., "Connected Components in MapReduce and Beyond", 2014) needs some log² n rounds of joins where
label propagation needs as many as the longest chain. What may be cut is decided within a component, so components can be decided
apart: the clusters are those of union-find over all edges at once (`clustering.components`), a test compares them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.clustering.components import components
from s2corpus.clustering.edges import Edges
from s2corpus.clustering.nodes import Nodes
from s2corpus.engine import Engine

_EDGES = pa.schema([("u", pa.int64()), ("v", pa.int64())])
_MAX_ROUNDS = 100
_SHARE = 1 << 20
"""Edges decided at once."""


def components_by_engine(
    at_work: Engine, nodes: Nodes, edges: Edges, max_preprint_years: int, scratch: Path
) -> tuple[np.ndarray, np.ndarray]:
    """What `clustering.components.components` gives, with the components from an engine."""
    path = scratch / "edges.parquet"
    pq.write_table(pa.table([edges.left.astype(np.int64), edges.right.astype(np.int64)], schema=_EDGES), path)
    stars = connected(at_work, at_work.read([str(path)]), scratch)
    component = np.arange(len(nodes))
    component[stars["u"].to_numpy()] = stars["v"].to_numpy()
    labels, fates = np.arange(len(nodes), dtype=np.int32), np.zeros(len(edges), np.int8)
    of_edge = component[edges.left]
    by_component = np.argsort(of_edge, kind="stable")  # within a component edges keep their order
    for some in _shares(of_edge[by_component]):
        chosen = np.sort(by_component[some])
        part = Edges(edges.left[chosen], edges.right[chosen], edges.reason[chosen], edges.strength[chosen])
        found, fates[chosen] = components(nodes, part, max_preprint_years)
        labels = np.where(found != np.arange(len(nodes)), found, labels)
    return labels, fates


def connected(at_work: Engine, edges: Any, scratch: Path) -> pa.Table:
    """Every node but the smallest of its component (u), with that smallest (v), from a DataFrame of edges u, v."""
    f = at_work.functions
    stars = _kept(at_work, edges.where(f.col("u") != f.col("v")).select("u", "v").distinct(), scratch, 0)
    before = None
    for round_ in range(1, _MAX_ROUNDS):
        stars = _kept(at_work, _small_star(f, _large_star(f, stars)), scratch, round_)
        totals = stars.agg(f.count(f.lit(1)).alias("n"), f.sum("u").alias("u"), f.sum("v").alias("v"))
        now = tuple(int(value or 0) for value in totals.collect()[0])
        if now == before:
            return at_work.arrow(stars, _EDGES).sort_by("u")
        before = now
    raise RuntimeError(f"components did not settle in {_MAX_ROUNDS} rounds")


def _large_star(f: Any, edges: Any) -> Any:
    """Every neighbour greater than a node goes to the smallest of node and neighbours."""
    both = edges.select("u", "v").union(edges.select(f.col("v").alias("u"), f.col("u").alias("v")))
    smallest = both.groupBy("u").agg(f.min("v").alias("least_v"))
    smallest = smallest.select(f.col("u"), f.least("u", "least_v").alias("m"))
    larger = both.where(f.col("v") > f.col("u")).join(smallest, on="u", how="inner")
    return larger.select(f.col("v").alias("u"), f.col("m").alias("v")).distinct()


def _small_star(f: Any, edges: Any) -> Any:
    """A node and every neighbour smaller than it go to the smallest of them."""
    down = edges.select(f.greatest("u", "v").alias("u"), f.least("u", "v").alias("v"))
    smallest = down.groupBy("u").agg(f.min("v").alias("m"))
    moved = down.join(smallest, on="u", how="inner").where(f.col("v") != f.col("m"))
    own = smallest.select(f.col("u"), f.col("m").alias("v"))
    return moved.select(f.col("v").alias("u"), f.col("m").alias("v")).union(own).distinct()


def _kept(at_work: Engine, frame: Any, scratch: Path, round_: int) -> Any:
    """The rows of a frame, computed once: else every round would compute all before it again."""
    if at_work.name != "duckdb":
        return frame.localCheckpoint()
    path = scratch / f"stars-{round_}.parquet"
    pq.write_table(at_work.arrow(frame, _EDGES), path)
    return at_work.read([str(path)])


def _shares(of_edge: np.ndarray) -> list[slice]:
    """Edges, sorted by component, in pieces of about `_SHARE` that no component straddles."""
    ends = np.append(np.flatnonzero(np.diff(of_edge)) + 1, len(of_edge))
    shares, begin = [], 0
    for end in ends[np.searchsorted(ends, np.arange(_SHARE, len(of_edge), _SHARE))] if len(of_edge) else ():
        if end > begin:
            shares.append(slice(begin, end))
            begin = end
    return [*shares, slice(begin, len(of_edge))]
