"""Results keyed by the content of files: a reader opens few parts, and no row is lost when parts are merged."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from s2corpus.storage import content_store
from s2corpus.storage.content_store import ContentStore
from s2corpus.storage.lake import Lake, ListedObject, open_lake
from s2corpus.storage.objects import DamagedPart
from s2corpus.tables.parses import STORED_PARSES


def make_row(sha: str) -> dict[str, object]:
    return {"file_sha1": sha, "kind": "pdf", "outcome": "ok", "bytes": 40, "parse": sha.encode()}


def test_content_store_opens_only_parts_of_its_range(lake: Lake) -> None:
    """The first 12 digits of the first and last key are in the name of a part."""
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    low, high = "a" * 40, "c" * 40
    part = store.append([make_row(high), make_row(low)])
    assert part.startswith(f"parses/1/{'a' * 12}-{'c' * 12}-")
    assert [r["parse"] for r in store.fetch(part, [high], ["parse"])] == [high.encode()]
    for first, last, found in (("0" * 40, low, [low]), ("b" * 40, "b" * 40, []), (high, "f" * 40, [high])):
        assert list(store.known(first, last, ["outcome"])) == found
    again = store.append([make_row(low) | {"outcome": "other"}, make_row("e" * 40)])
    assert store.known(low, low, ["outcome"])[low][1] == min(part, again), "the first name decides"


def test_row_group_of_a_part_has_at_most_4_mb(lake: Lake) -> None:
    """A reader of one row reads its row group."""
    rows = [make_row(hashlib.sha1(bytes([n])).hexdigest()) | {"parse": os.urandom(200_000)} for n in range(50)]
    part = ContentStore(lake, "parses/1", STORED_PARSES).append(rows)
    metadata = pq.read_metadata(lake.uri(part))
    assert metadata.num_row_groups == 3
    assert max(metadata.row_group(n).total_byte_size for n in range(3)) < 4.1 * (1 << 20)


def test_keys_of_a_damaged_content_part_are_forgotten(lake: Lake, tmp_path: Path) -> None:
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    part, other = (store.append([make_row(digit * 40)]) for digit in "12")
    file = tmp_path / "lake" / part
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert list(store.known("0" * 40, "f" * 40, ["outcome"])) == ["2" * 40]
    with pytest.raises(DamagedPart, match="is missing"):
        list(store.fetch(part, ["1" * 40], ["parse"]))
    assert store.append([make_row("1" * 40)]) == part != other
    assert len(store.known("0" * 40, "f" * 40, ["outcome"])) == 2


def test_merge_keeps_every_row_and_bounds_the_number_of_parts(lake: Lake) -> None:
    """Twelve releases store a few rows each; readers have the names of former parts."""
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    keys = [hashlib.sha1(bytes([n])).hexdigest() for n in range(48)]
    first, last = min(keys), max(keys)
    outside = store.append([make_row("0" * 40), make_row("f" * 40)])
    stored: dict[str, str] = {}
    for month in range(12):
        new = keys[4 * month : 4 * month + 4]
        stored |= dict.fromkeys(new, store.append([make_row(key) for key in new]))
        store.merge(first, last)
        parts = [entry.key for entry in lake.list("parses/1/")]
        assert outside in parts and len(parts) == 2
        assert sorted(store.known(first, last, ["outcome"])) == sorted(stored)
    for key, part in stored.items():
        assert [row["parse"] for row in store.fetch(part, [key], ["parse"])] == [key.encode()]
    with pytest.raises(DamagedPart, match="is missing"):
        list(store.fetch(stored[first], [first, "e" * 40], ["parse"]))


def test_merge_decides_as_readers_do_if_parts_have_the_same_key(lake: Lake) -> None:
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    key, other = "5" * 40, "6" * 40
    names = [
        store.append([make_row(key) | {"outcome": outcome}, make_row(end)])
        for outcome, end in (("a", other), ("b", "7" * 40))
    ]
    before = store.known(key, key, ["outcome"])[key]
    assert before[1] == min(names)
    store.merge(key, "7" * 40)
    assert store.known(key, key, ["outcome"])[key][0] == before[0]
    assert list(store.known(key, "7" * 40, [])) == [key, other, "7" * 40]


def test_merge_leaves_large_damaged_and_later_parts(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    large = store.append([make_row("1" * 40) | {"parse": os.urandom(1 << 16)}])
    damaged, small = (store.append([make_row(digit * 40)]) for digit in "23")
    (tmp_path / "lake" / damaged).write_bytes(b"PAR1")
    monkeypatch.setattr(content_store, "_SMALL_BYTES", 1 << 16)
    store.merge("0" * 40, "f" * 40)
    assert {entry.key for entry in lake.list("parses/1/")} == {large, damaged, small}
    monkeypatch.setattr(content_store, "_MERGED_BYTES", 1)
    store.append([make_row("4" * 40)])
    store.merge("0" * 40, "f" * 40)
    assert len(list(lake.list("parses/1/"))) == 4, "rows beyond the limit of memory stay apart"


def test_reader_finds_rows_that_another_task_merges_meanwhile(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    for digit in "123":
        store.append([make_row(digit * 40)])
    listed, merges = list(lake.list("parses/1/")), iter([True])

    def list_then_merge(prefix: str) -> Iterator[ListedObject]:
        if next(merges, False):
            ContentStore(open_lake(lake.root), "parses/1", STORED_PARSES).merge("0" * 40, "f" * 40)
            return iter(listed)
        return open_lake(lake.root).list(prefix)

    monkeypatch.setattr(lake, "list", list_then_merge)
    assert list(store.known("0" * 40, "f" * 40, ["outcome"])) == [digit * 40 for digit in "123"]
