"""Clusters by an engine: connected components by large-star and small-star, then the edges of each component one by one.

Kiveris et al., "Connected Components in MapReduce and Beyond", 2014: some log² n rounds of joins, where label propagation needs as many
as the longest chain. All of it is in the engine, and what is kept between rounds is on its disks. What may be cut is decided within a
component, so components are decided apart, and here: some whole ones at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.clustering.components import Fate, components
from s2corpus.clustering.edges import Edges
from s2corpus.stages.cluster.spark_exchange import Work, schema_of, side_of
from s2corpus.storage.engine import Engine

STARS = pa.schema([("u", pa.int64()), ("v", pa.int64())])
EDGE_ROWS = schema_of(("int64", "left right"), ("int32", "reason near"), ("float64", "strength"))
_SIDES = schema_of(("string", "final_doi_a final_doi_b"), ("int32", "year_a year_b"), ("bool", "preprint_a preprint_b"))
_DECIDED = pa.schema([*EDGE_ROWS, *_SIDES, pa.field("component", pa.int64())])
_LABELS = schema_of(("int64", "node label"))
_TOLD = schema_of(("int64", "left right"), ("int32", "reason fate"), ("float64", "strength"))
_MAX_ROUNDS = 100


def decided(work: Work, name: str, facts: Any, edges: Any, max_preprint_years: int) -> tuple[Any, pa.Table]:
    """(DataFrame: cluster of each node that has an edge; the edges that are taken or cut, by ids), as `clustering.components` has it."""
    f = work.at_work.functions
    stars = connected(work.at_work, edges.select(f.col("left").alias("u"), f.col("right").alias("v")), work.scratch)
    edges = edges.join(stars, on=f.col("left") == f.col("u"), how="left")
    edges = edges.select(*EDGE_ROWS.names, f.coalesce("v", "left").alias("component"))
    for side, end in (("a", "left"), ("b", "right")):
        ends = side_of(f, facts.withColumnRenamed("node", end), side, [end], "final_doi year preprint")
        edges = edges.join(ends, on=end, how="inner")
    told = [_TOLD.empty_table()]

    def labels() -> Iterator[pa.Table]:
        for share in work.taken(edges, _DECIDED, "component"):
            found, fates = _share_decided(share, max_preprint_years)
            told.append(fates)
            yield found

    frame = work.given(f"labels-{name}", _LABELS, labels())
    return frame, pa.concat_tables(told).sort_by([("left", "ascending"), ("right", "ascending")])


def _share_decided(share: pa.Table, max_preprint_years: int) -> tuple[pa.Table, pa.Table]:
    share = share.sort_by(
        [("near", "ascending"), ("strength", "descending"), ("left", "ascending"), ("right", "ascending")]
    )
    left, right = share["left"].to_numpy(), share["right"].to_numpy()
    nodes, first, place = np.unique(np.concatenate([left, right]), return_index=True, return_inverse=True)
    place = place.astype(np.int32)

    def of_nodes(name: str) -> pa.Array:
        both = pa.chunked_array([*share[f"{name}_a"].chunks, *share[f"{name}_b"].chunks])
        return both.take(pa.array(first)).combine_chunks()

    doi = pc.fill_null(of_nodes("final_doi").dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    edges = Edges(
        place[: len(left)],
        place[len(left) :],
        share["reason"].to_numpy().astype(np.int8),
        share["strength"].to_numpy(),
    )
    labels, fates = components(
        doi.astype(np.int32), of_nodes("year").to_numpy(), np.asarray(of_nodes("preprint")), edges, max_preprint_years
    )
    told = np.flatnonzero(fates != Fate.NEEDLESS)
    fated = pa.table(
        {
            "left": left[told],
            "right": right[told],
            "reason": edges.reason[told],
            "fate": fates[told],
            "strength": edges.strength[told],
        }
    )
    return pa.table({"node": nodes, "label": nodes[labels]}), fated.select(_TOLD.names).cast(_TOLD)


def connected(at_work: Engine, edges: Any, scratch: Path) -> Any:
    """Every node but the smallest of its component (u), with that smallest (v), from a DataFrame of edges u, v."""
    f = at_work.functions
    stars = _kept(at_work, edges.where(f.col("u") != f.col("v")).select("u", "v").distinct(), scratch, 0)
    before = None
    for round_ in range(1, _MAX_ROUNDS):
        stars = _kept(at_work, _small_star(f, _large_star(f, stars)), scratch, round_)
        totals = stars.agg(f.count(f.lit(1)).alias("n"), f.sum("u").alias("u"), f.sum("v").alias("v"))
        now = tuple(int(value or 0) for value in totals.collect()[0])
        if now == before:
            return stars
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
    pq.write_table(at_work.arrow(frame, STARS), path)
    return at_work.read([str(path)])
