"""Common parts of the clustering rounds, and the first rounds: number the records, and divide them into partitions.

Records have numbers in the order of record_id (nodes, int64). A partition is a range of some hundred thousand numbers. A round sends
records with the same identifier, title or component to one bucket by hash. There, the kernels of `clustering` compare them. Neighbors,
ties and order depend only on node numbers, so the result does not depend on the number of partitions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.clustering.edges import Edges
from s2corpus.clustering.facts import COLUMNS, FACTS, PREPRINT, read_facts
from s2corpus.rules import ClusterRules
from s2corpus.sources.preprints import find_preprints
from s2corpus.storage.exchange import Exchange

SAMPLED = 256
"""number of ids that are sampled from each part of records, to choose the first record of each partition"""
ORIGIN = pa.schema([("part", pa.int32()), ("row", pa.int32())])
PARTITION = pa.schema([*FACTS, *ORIGIN])
FORM = pa.schema([("node", pa.int64()), FACTS.field("form")])
NODE = pa.schema([("node", pa.int64())])
LABELS = pa.schema([("node", pa.int64()), ("label", pa.int64())])
EDGE = pa.schema(
    [
        ("left", pa.int64()),
        ("right", pa.int64()),
        ("reason", pa.int8()),
        ("near", pa.int8()),
        ("strength", pa.float64()),
        ("evidence", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Rounds:
    """Parameters and exchange that all tasks of the rounds share."""

    exchange: Exchange
    release: str
    """folder of the release in the lake"""
    records: tuple[str, ...]
    """keys of the parts of `records` and `pdf_records`"""
    partitions: int
    """number of partitions, and of buckets in each round"""
    rules: ClusterRules
    parent: str | None
    """folder of the parent snapshot"""
    begins: tuple[str, ...] = ()
    """the first record_id of each partition except partition 0"""
    starts: tuple[int, ...] = ()
    """the first node of each partition, followed by the total number of nodes"""
    paper_buckets: int = 1

    @property
    def tasks(self) -> Sequence[int]:
        """The tasks of a round: one for each partition or bucket."""
        return range(self.partitions)

    def find_homes(self, nodes: np.ndarray) -> np.ndarray:
        """Return the partition of each node."""
        found: np.ndarray = np.searchsorted(np.array(self.starts[1:], np.int64), nodes, side="right")
        return found

    def send(self, name: str, task: int, rows: pa.Table, bucket: np.ndarray) -> None:
        """Send rows to the partitions or buckets of the next round."""
        self.exchange.write(name, task, rows, bucket, self.partitions)

    def receive(self, name: str, bucket: int, schema: pa.Schema) -> pa.Table:
        """Return the rows that all tasks of a round sent to a partition or bucket, in one chunk."""
        return self.exchange.read(name, self.tasks, bucket, schema).combine_chunks()

    def write_edges(self, name: str, task: int, edges: Edges, nodes: np.ndarray, near: int) -> None:
        """Send edges to the partition of their left node. `edges` contains indexes into `nodes`; `near` is 1 for similar titles."""
        left, right = nodes[edges.left], nodes[edges.right]
        kind = np.full(len(left), near, np.int8)
        rows = pa.table([left, right, edges.reason.astype(np.int8), kind, edges.strength, edges.evidence], schema=EDGE)
        self.send(name, task, rows, self.find_homes(left))

    def read_edges(self, number: int, partition: int) -> pa.Table:
        """Return the edges of a pass that have their left node in the partition."""
        names = ("edges-2", "prefix-edges") if number == 2 else (f"edges-{number}",)
        return pa.concat_tables([self.receive(name, partition, EDGE) for name in names])

    def labels(self, number: int, partition: int) -> np.ndarray:
        """Return the cluster of each node of a partition after a pass. The label of a cluster is its smallest node."""
        found = self.receive(f"labels-{number}", partition, LABELS)
        labels = np.arange(self.starts[partition], self.starts[partition + 1])
        labels[found["node"].to_numpy() - self.starts[partition]] = found["label"].to_numpy()
        return labels


class Partition:
    """Records of one partition."""

    def __init__(self, rounds: Rounds, number: int) -> None:
        """Read the records."""
        self._rounds, self._number = rounds, number
        self.facts = rounds.exchange.read("partition", [number], 0, PARTITION).combine_chunks()
        self.first = rounds.starts[number]
        self.nodes = np.arange(self.first, rounds.starts[number + 1])

    def __getitem__(self, name: str) -> pa.Array:
        if name in ("final_doi", "preprint"):
            return pa.array(getattr(self, name))
        return pa.concat_arrays([pa.array([], PARTITION.field(name).type), *self.facts[name].chunks])

    @cached_property
    def has_preprint_doi(self) -> np.ndarray:
        """Whether each record has the DOI of a preprint (bool). The types of the DOI's records decide; if unknown, its prefix."""
        is_preprint = np.array(find_preprints(pc.fill_null(self["doi"], "")))
        rows = self._rounds.receive("doi_forms", self._number, FORM)
        is_preprint[rows["node"].to_numpy() - self.first] = rows["form"].to_numpy() == PREPRINT
        return is_preprint

    @cached_property
    def preprint(self) -> np.ndarray:
        """Whether each record describes a preprint (bool)."""
        is_in_archive = np.asarray(self["arxiv_id"].is_valid()) & ~np.asarray(self["publisher"])
        preprint: np.ndarray = self.has_preprint_doi | is_in_archive | (self["form"].to_numpy() == PREPRINT)
        return preprint

    @cached_property
    def doi(self) -> pa.Array:
        """DOIs that no declared DOI overrides."""
        overruled = np.zeros(len(self.nodes), bool)
        rows = self._rounds.receive("overruled", self._number, NODE)
        overruled[rows["node"].to_numpy() - self.first] = True
        return pc.if_else(pa.array(overruled & ~self.has_preprint_doi), pa.scalar(None, pa.string()), self["doi"])

    @cached_property
    def final_doi(self) -> pa.Array:
        """DOIs of published papers."""
        return pc.if_else(pa.array(self.has_preprint_doi), pa.scalar(None, pa.string()), self.doi)

    @cached_property
    def titled(self) -> np.ndarray:
        """Row numbers of the records with a title."""
        return np.flatnonzero(np.asarray(pc.fill_null(pc.not_equal(self["normalized"], ""), False)))


def sample(rounds: Rounds, task: int) -> dict[str, object]:
    """Return the number of records in a part, and a sample of their ids."""
    with rounds.exchange.lake_file(rounds.records[task]) as file:
        ids = pq.ParquetFile(file).read(["record_id"])["record_id"]
    sampled = np.linspace(0, max(len(ids) - 1, 0), min(SAMPLED, len(ids))).astype(np.int64)
    return {"rows": len(ids), "ids": ids.take(pa.array(sampled)).to_pylist()}


def send_home(rounds: Rounds, task: int) -> None:
    """Read the facts of the records in a part, and send them to their partitions."""
    tables = []
    with rounds.exchange.lake_file(rounds.records[task]) as file:
        for batch in pq.ParquetFile(file).iter_batches(columns=list(COLUMNS)):
            tables.append(read_facts(batch))
    table = pa.concat_tables([FACTS.empty_table(), *tables])
    rows = len(table)
    table = table.append_column("part", pa.array(np.full(rows, task, np.int32)))
    table = table.append_column("row", pa.array(np.arange(rows, dtype=np.int32))).sort_by("record_id").combine_chunks()
    ids = table["record_id"]
    ends = [bisect_left(range(rows), begin, key=lambda place: ids[place].as_py()) for begin in rounds.begins]
    partition = np.searchsorted(np.array(ends, np.int64), np.arange(rows), side="right")
    rounds.send("facts", task, table, partition)


def settle(rounds: Rounds, task: int) -> dict[str, int]:
    """Sort the records of a partition by id; return their number.

    Raises:
        ValueError: a record_id occurs twice.
    """
    rows = rounds.exchange.read("facts", range(len(rounds.records)), task, PARTITION).sort_by("record_id")
    ids = rows["record_id"].combine_chunks()
    if len(ids) > 1 and pc.any(same := pc.equal(ids[1:], ids[:-1])).as_py():
        raise ValueError(f"record_id {ids[1:].filter(same)[0].as_py()!r} occurs twice")
    rounds.exchange.write("partition", task, rows, np.zeros(len(rows), np.int64), 1)
    return {"rows": len(rows)}
