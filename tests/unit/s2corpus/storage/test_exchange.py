"""Each row that a task writes for the next round arrives in its bucket, for any batch size."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from s2corpus.storage import exchange
from s2corpus.storage.exchange import Exchange, RowsRemoved, spread
from s2corpus.storage.lake import Lake

SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string())])
BUCKETS = 7


def rows(begin: int, end: int) -> tuple[pa.Table, np.ndarray]:
    numbers = np.arange(begin, end)
    return pa.table([numbers, pa.array([f"row {n}" for n in numbers])], schema=SCHEMA), numbers % BUCKETS


@pytest.mark.parametrize("spill", [1, 300, 1 << 20])
def test_rows_of_a_bucket_are_in_written_order(
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


def test_tasks_without_rows_leave_empty_buckets(lake: Lake, tmp_path: Path) -> None:
    between = pickle.loads(pickle.dumps(Exchange(lake.root, "between")))
    expected: list[list[int]] = []
    for task in range(20):  # More files than are read in parallel.
        numbers = range(70 * task, 70 * task + 70) if task % 2 else range(0)
        with between.writer("round", task, BUCKETS, SCHEMA, tmp_path) as writer:
            if numbers:
                writer.add(*rows(numbers.start, numbers.stop))
        expected.append([n for n in numbers if n % BUCKETS in (3, 4)])
    assert between.read("round", [0], 3, SCHEMA) == SCHEMA.empty_table()
    read = [piece["number"].to_pylist() for piece in between.read_by_file("round", range(20), 3, SCHEMA, 5)]
    assert list(map(sorted, read)) == expected


def test_counts_and_arrays_of_shards(lake: Lake) -> None:
    between = Exchange(lake.root, "between")
    for task, counts in ((0, {"a": 1}), (2, [5])):
        between.put_counts("round", task, counts)
    between.put_array("round", 1, np.array([[3, 4]], np.int32))
    assert between.counts("round", 4) == [{"a": 1}, None, [5], None]
    assert between.array("round", 1).tolist() == [3, 4]
    with pytest.raises(RowsRemoved, match="between/round is incomplete"):
        between.all_counts("round", 3)
    between.put_counts("round", 1, 0)
    assert between.all_counts("round", 3) == [{"a": 1}, 0, [5]]


def test_removed_rows_of_a_finished_stage_give_one_sentence(lake: Lake, tmp_path: Path) -> None:
    between = Exchange(lake.root, "between")
    with between.writer("round", 0, BUCKETS, SCHEMA, tmp_path) as writer:
        writer.add(*rows(0, 100))
    lake.put("betweens/other", b"")
    between.remove()
    assert [entry.key for entry in lake.list("")] == ["betweens/other"]
    with pytest.raises(RowsRemoved, match=r"between/round is incomplete: .* clear all of its tasks"):
        between.read("round", [0], 3, SCHEMA)


def test_few_shards_write_for_all_shards() -> None:
    assert [list(spread(*given)) for given in ((256, 256), (257, 256), (5, 2))] == [
        [*range(256)],
        [*range(0, 257, 2)],
        [0, 3],
    ]
