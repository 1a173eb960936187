"""Each row that a task writes for the next round arrives in its bucket, for any batch size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from s2corpus.errors import UserError
from s2corpus.storage import exchange
from s2corpus.storage.exchange import Exchange, spread
from s2corpus.storage.lake import Lake

SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string())])
BUCKETS = 7


def rows(begin: int, end: int) -> tuple[pa.Table, np.ndarray]:
    numbers = np.arange(begin, end)
    return pa.table([numbers, pa.array([f"row {n}" for n in numbers])], schema=SCHEMA), numbers % BUCKETS


@pytest.mark.parametrize("spill", [1, 300, 1 << 20])
def test_rows_of_a_bucket_come_in_the_order_in_which_they_were_written(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spill: int
) -> None:
    monkeypatch.setattr(exchange, "_SPILL_BYTES", spill)
    between = Exchange(lake.root, "between")
    for task in range(2):
        with between.writer("round", task, BUCKETS, SCHEMA, tmp_path) as writer:
            for begin in range(0, 100, 9):
                writer.add(*rows(1000 * task + begin, 1000 * task + min(begin + 9, 100)))
    every = [*range(100), *range(1000, 1100)]
    for bucket in range(BUCKETS):
        found = between.read("round", range(2), bucket, SCHEMA)["number"].to_pylist()
        assert found == [number for number in every if number % BUCKETS == bucket]
    some = between.read("round", range(2), 2, SCHEMA, 5)["number"].to_pylist()
    assert sorted(some) == [number for number in every if 2 <= number % BUCKETS < 5]
    assert not list(tmp_path.glob("s2corpus-exchange-*"))


def test_a_task_without_rows_leaves_empty_buckets(lake: Lake, tmp_path: Path) -> None:
    between = Exchange(lake.root, "between")
    with between.writer("round", 0, BUCKETS, SCHEMA, tmp_path):
        pass
    assert between.read("round", [0], 3, SCHEMA) == SCHEMA.empty_table()


def test_what_a_finished_stage_removed_is_one_sentence(lake: Lake, tmp_path: Path) -> None:
    between = Exchange(lake.root, "between")
    with between.writer("round", 0, BUCKETS, SCHEMA, tmp_path) as writer:
        writer.add(*rows(0, 100))
    between.remove()
    with pytest.raises(
        UserError, match=r"between/round is incomplete: .* clear all of its tasks and the downstream tasks"
    ):
        between.read("round", [0], 3, SCHEMA)


@pytest.mark.parametrize(("shards", "most"), [(1, 256), (3, 256), (256, 256), (257, 256), (4000, 256), (8000, 512)])
def test_few_shards_write_for_all(shards: int, most: int) -> None:
    chosen = spread(shards, most)
    assert len(chosen) <= most
    taken = [shard for first in chosen for shard in range(first, min(first + chosen.step, shards))]
    assert taken == list(range(shards))
