"""Rounds that assign paper ids and write the tables: edges, clusters, aliases, and the records of each paper."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from s2corpus.clustering.facts import FACTS, codes_of
from s2corpus.clustering.identity import Parent, identify, new_paper_id
from s2corpus.stages.cluster.rounds import EDGE, LABELS, Partition, Rounds
from s2corpus.storage.parts import TableRef
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES, MEMBERS
from s2corpus.tables.schema import paper_shard
from s2corpus.titles.arrays import bucket_of, one_chunk

_FORMER = pa.schema([("paper_id", pa.string()), ("node", pa.int64())])
_NAMED = pa.schema([*LABELS, ("paper_id", pa.string()), ("first_ready", pa.string())])
_FAMILY = pa.schema([("family", pa.int64()), *_NAMED, FACTS.field("record_id"), FACTS.field("ready_at")])
_ORIGIN = pa.schema([("row", pa.int32()), ("label", pa.int64()), ("paper_id", pa.string())])
_MEMBERS = pa.schema([*MEMBERS.schema, ("label", pa.int64())])


def write_edges(rounds: Rounds, task: int) -> None:
    """Write the edges that start in a partition."""
    edges = rounds.receive("decided", task, EDGES.schema).sort_by([("left", "ascending"), ("right", "ascending")])
    TableRef(rounds.exchange.lake, f"{rounds.release}/{EDGES.name}", EDGES).write(task, edges)


def former_papers(rounds: Rounds, task: int) -> dict[str, int]:
    """Send the records of a partition that are in the parent to the bucket of their paper; return the number of clusters.

    A cluster counts in the partition of its first record.
    """
    partition = Partition(rounds, task)
    papers, _ = _read_parent(rounds, partition)
    rows = pa.table([papers, partition.nodes], schema=_FORMER).filter(papers.is_valid())
    rounds.send("former", task, rows, bucket_of(rows["paper_id"], rounds.partitions))
    return {"papers": int(np.count_nonzero(rounds.labels(2, task) == partition.nodes))}


def connect_heirs(rounds: Rounds, task: int) -> None:
    """Write edges from the first record of each paper of the parent to its other records."""
    rows = rounds.receive("former", task, _FORMER).sort_by("node").combine_chunks()
    codes, distinct = codes_of(rows["paper_id"])
    node = rows["node"].to_numpy()
    first = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(first, codes, node)
    left = first[codes]
    reason = np.zeros(len(node), np.int8)
    table = pa.table([left, node, reason, reason, np.zeros(len(node)), np.full(len(node), -1)], schema=EDGE)
    rounds.send("edges-3", task, table, rounds.find_homes(left))


def families(rounds: Rounds, task: int) -> None:
    """Send the records of a partition to the bucket of their family: clusters connected by papers of the parent."""
    partition = Partition(rounds, task)
    family = rounds.exchange.array("components-3", task)
    named = [partition.nodes, rounds.labels(2, task), *_read_parent(rounds, partition)]
    columns = [family, *named, partition["record_id"], partition["ready_at"]]
    rounds.send("families", task, pa.table(columns, schema=_FAMILY), bucket_of(family, rounds.partitions))


def name_papers(rounds: Rounds, task: int) -> None:
    """Assign the ids of the papers in a bucket of families, and write aliases."""
    rows = rounds.receive("families", task, _FAMILY).sort_by("node").combine_chunks()
    label = rows["label"].to_numpy()
    in_parent = rows.filter(rows["paper_id"].is_valid()).select(CLUSTERS.schema.names).cast(CLUSTERS.schema)
    aliases = ALIASES.schema.empty_table()
    if rounds.parent is not None and len(in_parent):
        former = _parent_table(rounds, ALIASES.name)
        aliases = former.to_table(filter=pc.field("paper_id").isin(in_parent["paper_id"].unique())).cast(ALIASES.schema)
    record_ids, ready = (
        pa.concat_arrays([pa.array([], pa.string()), *rows[name].chunks]) for name in ("record_id", "ready_at")
    )
    clusters, renamed = identify(
        record_ids, np.unique(label, return_inverse=True)[1], ready, Parent(in_parent, aliases)
    )
    found = pa.table([rows["node"], label, clusters["paper_id"], clusters["first_ready"]], schema=_NAMED)
    rounds.send("named", task, found, rounds.find_homes(rows["node"].to_numpy()))
    rounds.exchange.write("aliases", task, renamed, np.zeros(len(renamed), np.int64), 1)


def write_clusters(rounds: Rounds, task: int) -> None:
    """Write the paper of each record of a partition, and send it to the part of `records` that contains the record."""
    partition = Partition(rounds, task)
    rows = rounds.receive("named", task, _NAMED).sort_by("node")
    clusters = pa.table([partition["record_id"], rows["paper_id"], rows["first_ready"]], schema=CLUSTERS.schema)
    TableRef(rounds.exchange.lake, f"{rounds.release}/{CLUSTERS.name}", CLUSTERS).write(task, clusters)
    origins = pa.table([partition["row"], rows["label"], rows["paper_id"]], schema=_ORIGIN)
    rounds.exchange.write("origins", task, origins, partition["part"].to_numpy(), len(rounds.records))


def send_by_paper(rounds: Rounds, task: int) -> None:
    """Send every record of a part to the bucket of its paper."""
    origins = rounds.receive("origins", task, _ORIGIN).sort_by("row")
    with rounds.exchange.lake_file(rounds.records[task]) as file:
        records = pq.ParquetFile(file).read()
    table = records.append_column("paper_id", origins["paper_id"]).append_column("label", origins["label"])
    table = table.select(_MEMBERS.names).cast(_MEMBERS)
    bucket = np.array([paper_shard(paper, rounds.paper_buckets) for paper in table["paper_id"].to_pylist()], np.int64)
    rounds.exchange.write("members", task, table, bucket, rounds.paper_buckets)


def write_members(rounds: Rounds, task: int) -> dict[str, list[str]]:
    """Write the records of the papers in a bucket. If two papers have the same id, return a record of each, and the id, as `twice`."""
    rows = rounds.exchange.read("members", range(len(rounds.records)), task, _MEMBERS)
    rows = rows.sort_by([("paper_id", "ascending"), ("record_id", "ascending")])
    papers = (
        rows.select(["paper_id", "label"])
        .group_by(["paper_id"], use_threads=False)
        .aggregate([("label", "count_distinct")])
    )
    colliding_ids = papers.filter(pc.greater(papers["label_count_distinct"], 1))["paper_id"]
    if len(colliding_ids):
        paper_id = colliding_ids[0].as_py()
        rows_of_paper = rows.filter(pc.equal(rows["paper_id"], paper_id)).select(["record_id", "label"]).to_pylist()
        first: dict[int, str] = {}
        for row in rows_of_paper:  # Prefer the record from which the id was hashed.
            if row["label"] not in first or new_paper_id(row["record_id"]) == paper_id:
                first[row["label"]] = row["record_id"]
        return {"twice": [*sorted(first.values()), paper_id]}
    ref = TableRef(rounds.exchange.lake, f"{rounds.release}/{MEMBERS.name}", MEMBERS)
    ref.write(task, iter(rows.drop_columns(["label"]).to_batches(max_chunksize=10_000)))
    return {}


def _read_parent(rounds: Rounds, partition: Partition) -> tuple[pa.Array, pa.Array]:
    """Return paper and first delivery of each record of a partition in the parent, or null."""
    ids = partition["record_id"]
    if rounds.parent is None or not len(ids):
        return pa.nulls(len(ids), pa.string()), pa.nulls(len(ids), pa.string())
    within = (pc.field("record_id") >= ids[0]) & (pc.field("record_id") <= ids[-1])
    rows = _parent_table(rounds, CLUSTERS.name).to_table(filter=within).combine_chunks()
    place = pc.index_in(ids, rows["record_id"])
    paper, ready = (rows[name].take(place).cast(pa.string()) for name in ("paper_id", "first_ready"))
    return one_chunk(paper), one_chunk(ready)


def _parent_table(rounds: Rounds, name: str) -> ds.Dataset:
    fs, root = rounds.exchange.lake.filesystem()
    return ds.dataset(f"{root}{rounds.parent}/{name}.parquet", filesystem=fs, format="parquet")
