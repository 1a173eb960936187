"""Numbers and offsets support more records than 32 bits can count, or the error is one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from s2corpus.clustering import identity
from s2corpus.errors import UserError
from s2corpus.rules import ClusterRules
from s2corpus.stages.cluster import many, rounds_papers
from s2corpus.stages.cluster.many import point_to_roots, unite
from s2corpus.stages.cluster.rounds import EDGE, LABELS, NODE, Rounds
from s2corpus.storage.exchange import Exchange
from tests.unit.s2corpus.clustering.samples import cluster_all, partition, record


def test_ages_are_ordered_beyond_32_bits() -> None:
    times = pa.array([f"2023-01-{day:02d}" for day in range(1, 29)] * 80_000)
    ages = identity._ages(times)
    assert ages.dtype == np.int64 and ages.max() > 1 << 25 and len(np.unique(ages)) == len(ages)


def test_nodes_of_rounds_are_64_bits_wide(tmp_path: Path) -> None:
    far = 1 << 33
    assert {EDGE.field(name).type for name in ("left", "right")} == {pa.int64()}
    assert {field.type for field in [*LABELS, *NODE]} == {pa.int64()}
    rounds = Rounds(Exchange(str(tmp_path), "r"), "", (), 3, ClusterRules(), None, starts=(0, far, 2 * far, 3 * far))
    assert rounds.find_homes(np.array([far - 1, far, 3 * far - 1])).tolist() == [0, 1, 2]
    parent = np.arange(4)
    unite(parent, np.array([2], np.int64), np.array([3], np.int64))
    assert parent.dtype == np.int64


def test_clusters_are_connected_components_of_chains_stars_and_pairs() -> None:
    """The edges of the longest chain are given from its end to its beginning."""
    edges = [(n, n + 1) for n in range(19, -1, -1)] + [(50, n) for n in range(51, 99)] + [(31, 30), (33, 32), (32, 33)]
    parent = np.arange(100)
    unite(parent, *(np.array(side, np.int64) for side in zip(*edges, strict=True)))
    point_to_roots(parent)
    expected = dict.fromkeys(range(21), 0) | dict.fromkeys(range(50, 99), 50) | {31: 30, 33: 32}
    assert parent.tolist() == [expected.get(node, node) for node in range(100)]


def test_too_many_records_for_memory_give_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "_BYTES_PER_NODE", 1 << 30)
    records = [record(f"a:{number}") for number in range(3)]
    assert len(partition(cluster_all(*records[:2]))) == 1
    message = (
        "3 records to cluster, but one process numbers at most 2 in resources.memory_mb = 2048: give it 3072 or more"
    )
    with pytest.raises(UserError, match=message):
        cluster_all(*records)


def test_error_on_equal_paper_ids_names_their_records(tmp_path: Path) -> None:
    """Two hashes of 60 bits are equal in one of 360 releases of 80 million papers."""
    ids = ["a:1", "a:2", "b:1"]
    given = {"record_id": ids, "paper_id": [identity.new_paper_id("b:1")] * 3, "label": [7, 7, 9]}
    schema = rounds_papers._MEMBERS
    columns = [pa.array(given.get(field.name, [None] * 3), field.type) for field in schema]
    exchange = Exchange(str(tmp_path), "r")
    exchange.write("members", 0, pa.table(columns, schema=schema), np.zeros(3, np.int64), 1)
    found = rounds_papers.write_members(Rounds(exchange, "", ("records",), 1, ClusterRules(), None), 0)
    assert found == {"twice": ["a:1", "b:1", identity.new_paper_id("b:1")]}
