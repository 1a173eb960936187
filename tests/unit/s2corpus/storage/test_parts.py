"""The commit protocol handles uncommitted, retried and damaged parts.

An uncommitted table does not exist, a retry changes only its own part, and a damaged part is rejected.
"""

from __future__ import annotations

import hashlib
import random
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.errors import LostRace, TransientError
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.content_store import ContentStore
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import ABSENT, Lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.part import count, counting, format_counts
from s2corpus.storage.parts import DamagedPart, NotCommitted, TableRef
from s2corpus.tables.columns import ENTRY_AUTHORS
from s2corpus.tables.papers import CLUSTERS
from s2corpus.tables.parses import STORED_PARSES
from s2corpus.tables.schema import TABLES, Column, Table
from s2corpus.tables.texts import DOCUMENTS

PEOPLE = Table[dict[str, Any]](
    "people", "people", ("text",), (Column("text", pa.string(), "a text"), Column("people", ENTRY_AUTHORS, "authors"))
)
TEXTS = Table[dict[str, Any]]("texts", "texts", ("text",), (Column("text", pa.string(), "a text"),))


def ref(lake: Lake) -> TableRef:
    return TableRef(lake, "releases/x/clusters", CLUSTERS)


def row(n: int) -> dict[str, str]:
    return {"record_id": f"dblp:{n}", "paper_id": f"{n:015x}"}


def test_reader_uses_only_committed_parts(lake: Lake) -> None:
    table = ref(lake)
    table.write(0, [row(0)])
    with pytest.raises(NotCommitted, match="clusters is not committed"):
        table.read()
    with pytest.raises(TransientError, match=r"part 1 was never written \(2 shards\)"):
        table.commit([0, 1])
    for shard in (1, 2):
        table.write(shard, [row(shard)])
    table.commit([0, 1])
    assert table.read(["record_id", "paper_id"]).to_pylist() == [row(0), row(1)]
    assert table.read(shard=1)["record_id"].to_pylist() == ["dblp:1"]
    table.write(0, [])
    assert table.read()["record_id"].to_pylist() == ["dblp:0", "dblp:1"], "the commit has not changed"
    assert table.commit([0]).rows == table.read().num_rows == len(list(table.batches())) == 0


def test_task_sees_one_commit_despite_later_commits(lake: Lake, tmp_path: Path) -> None:
    task, other = (Run(ReleaseSpec(name="x"), datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path) for _ in range(2))
    with pytest.raises(NotCommitted):
        task.table(CLUSTERS).committed()
    for n in (1, 2):
        other.table(CLUSTERS).write(0, [row(n)])
        other.table(CLUSTERS).commit([0])
        assert task.table(CLUSTERS).read()["record_id"].to_pylist() == ["dblp:1"]
    assert other.table(CLUSTERS).read()["record_id"].to_pylist() == ["dblp:2"]


def test_same_rows_give_the_same_commit(lake: Lake) -> None:
    table, rows = ref(lake), [row(1), row(2)]
    commits = []
    for form in (rows, iter([pa.RecordBatch.from_pylist(rows, schema=CLUSTERS.schema)])):
        table.write(0, form)
        commits.append(table.commit([0], {"paper_shards": 1}))
    assert commits[0] == commits[1] == table.committed()


def test_conflicting_commit_of_other_content_is_lost_race(tmp_path: Path) -> None:
    class Stale(LocalLake):
        """A lake in which another run always commits between the read and the write of the commit."""

        def etag(self, key: str) -> str:
            return ABSENT if sys._getframe(1).f_code.co_name == "commit" else super().etag(key)

    ref(LocalLake(tmp_path)).write(0, [row(1)])
    first = ref(LocalLake(tmp_path)).commit([0])
    assert ref(Stale(tmp_path)).commit([0]) == first, "the same content"
    ref(LocalLake(tmp_path)).write(0, [row(2)])
    with pytest.raises(LostRace, match=r"_COMMITTED\.json: another run has committed different content"):
        ref(Stale(tmp_path)).commit([0])


def test_part_is_named_by_its_content(lake: Lake) -> None:
    table = ref(lake)
    batches = [pa.RecordBatch.from_pylist([row(n), row(n + 1)], schema=CLUSTERS.schema) for n in (1, 3)]
    forms: list[Any] = [[row(n) for n in (1, 2, 3, 4)], iter(batches), pa.Table.from_batches(batches)]
    for shard, rows in enumerate(forms):
        part = table.write(shard, rows)
        data = lake.get(f"{table.prefix}/{part.name}")[0]
        assert (part.rows, part.bytes, part.sha256) == (4, len(data), hashlib.sha256(data).hexdigest())
        assert part.name == f"part-{shard:05}-{part.sha256[:12]}.parquet"
        assert table.read_shard(shard)["record_id"].to_pylist() == [f"dblp:{n}" for n in (1, 2, 3, 4)]
    part = table.write(3, batches[0])
    assert not table.is_complete(), "not committed"
    commit = table.commit([3, 0])
    assert (commit.rows, table.is_complete(), table.read(shard=3).num_rows) == (6, True, 2)
    assert table.keys(3) == [f"{table.prefix}/{part.name}"]
    assert [part.name[:10] for part in commit.parts] == ["part-00000", "part-00003"]
    lake.delete(table.keys(3)[0])
    with pytest.raises(DamagedPart, match="the file is missing: run the stage"):
        table.read_shard(3)


def test_sql_view_of_a_table_has_its_rows(lake: Lake, tmp_path: Path) -> None:
    table = ref(lake)
    for shard in range(3):
        table.write(shard, [row(shard)] if shard else [])
    table.commit(range(3))
    for some, ids in ((slice(1, 2), ["dblp:1"]), (slice(None), ["dblp:1", "dblp:2"])):
        with duckdb_connection(memory_mb=64, scratch=tmp_path) as connection:
            table.view(connection, some)
            assert connection.execute("FROM clusters").to_arrow_table()["record_id"].to_pylist() == ids


def test_counted_columns_are_counted_while_writing(lake: Lake) -> None:
    table = TableRef(lake, "releases/x/documents", DOCUMENTS)
    said = [("s2orc", "kept", "en"), ("s2orc", "kept", None), ("s2ag", "short", None), ("s2orc", "kept", "en")]
    rows = [dict(zip(("set", "outcome", "language"), one, strict=True), paper_id=str(n)) for n, one in enumerate(said)]
    for shard, some in enumerate((rows[:3], rows[3:], [])):
        table.write(shard, some)
    table.commit(range(3))
    assert table.counts("set", "outcome") == {("s2orc", "kept"): 3, ("s2ag", "short"): 1}
    assert table.counts("set", "language") == {("s2orc", "en"): 2, ("s2orc", None): 1, ("s2ag", None): 1}
    commit = orjson.loads(lake.get(key := "releases/x/documents/_COMMITTED.json")[0])
    del commit["parts"][0]["counts"]
    lake.put(key, orjson.dumps(commit))
    with pytest.raises(NotCommitted, match="run its stage again"):
        TableRef(lake, "releases/x/documents", DOCUMENTS).counts("set", "outcome")


def test_reading_needs_memory_for_few_row_groups(lake: Lake, tmp_path: Path) -> None:
    table = TableRef(lake, "texts", TEXTS)
    rng = random.Random(0)
    table.write(0, [{"text": rng.randbytes(1 << 20).hex()} for _ in range(64)])
    table.commit([0])
    assert table.committed().parts[0].bytes > 60 << 20
    pool = pa.proxy_memory_pool(before := pa.default_memory_pool())
    pa.set_memory_pool(pool)
    try:
        assert sum(1 for _ in table.rows(["text"], at_once=1)) == 64
        assert pool.max_memory() < 32 << 20
        with duckdb_connection(memory_mb=64, scratch=tmp_path) as connection:
            table.view(connection)
            assert connection.execute("SELECT sum(length(text)) FROM texts").fetchall() == [(64 << 21,)]
        assert pool.max_memory() < 32 << 20
    finally:
        pa.set_memory_pool(before)


def test_only_named_leaves_of_nested_columns_are_read(lake: Lake) -> None:
    table = TableRef(lake, "releases/x/people", PEOPLE)
    ada = {"first": "Ada", "middle": ["K."], "last": "Lovelace", "suffix": ""}
    people: list[Any] = [[ada], [], None]
    table.write(3, [{"text": "a", "people": some} for some in people])
    table.commit([3])
    found = table.read_leaves(["text", "people.list.element.last"], shard=3)
    assert found.to_pylist() == [{"text": "a", "people": some} for some in ([{"last": "Lovelace"}], [], None)]
    with pytest.raises(KeyError, match=r"'people.list.element.lst' is not a leaf of .*people.list.element.last"):
        table.read_leaves(["text", "people.list.element.lst"], shard=3)


def test_useless_dictionary_is_not_written(lake: Lake, tmp_path: Path) -> None:
    kinds = Column("kind", pa.string(), "a kind")
    table = TableRef(
        lake, "releases/x/kinds", Table("kinds", "kinds", ("text",), (*TEXTS.columns, kinds), plain=("text",))
    )
    part = table.write(0, [{"text": f"text {n}", "kind": "a"} for n in range(9)])
    lake.download(f"releases/x/kinds/{part.name}", tmp_path / "part")
    group = pq.ParquetFile(tmp_path / "part").metadata.row_group(0)
    assert [group.column(i).has_dictionary_page for i in range(2)] == [False, True]


def test_truncated_part_is_refused(lake: Lake, tmp_path: Path) -> None:
    table = ref(lake)
    table.write(0, [row(n) for n in range(100)])
    table.commit([0])
    (part,) = (tmp_path / "lake/releases/x/clusters").glob("part-00000-*.parquet")
    part.write_bytes(part.read_bytes()[:-7])
    assert not table.is_complete()
    with pytest.raises(DamagedPart, match="run the stage that writes clusters again"):
        table.read()
    table.write(0, [row(n) for n in range(100)])
    assert table.is_complete() and table.read().num_rows == 100


@pytest.mark.parametrize("name", ["part-00000.json", "_COMMITTED.json"])
def test_truncated_description_of_parts_is_refused(lake: Lake, tmp_path: Path, name: str) -> None:
    table = ref(lake)
    table.write(0, [row(1)])
    table.commit([0])
    file = tmp_path / "lake/releases/x/clusters" / name
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(DamagedPart, match=f"{name}: .*run the stage that writes clusters again"):
        table.commit([0]) if name.startswith("part") else table.read()


def test_rows_and_parts_of_another_schema_are_refused(lake: Lake) -> None:
    with pytest.raises(pa.ArrowInvalid, match="paper_id"):
        ref(lake).write(0, [{"record_id": "a:1", "paper_id": None}])
    TableRef(lake, "t", TABLES["aliases"]).write(0, [])
    TableRef(lake, "t", TABLES["aliases"]).commit([0])
    with pytest.raises(NotCommitted, match="another schema"):
        TableRef(lake, "t", CLUSTERS).read()


def make_row(sha: str) -> dict[str, object]:
    return {"file_sha1": sha, "kind": "pdf", "outcome": "ok", "bytes": 40, "parse": sha.encode()}


def test_content_store_opens_only_parts_of_its_range(lake: Lake) -> None:
    """The first 12 digits of the first and last key are in the name of a part. Damaged parts outside the range remain."""
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    low, high = "a" * 40, "c" * 40
    part = store.append([make_row(high), make_row(low)])
    digest = hashlib.sha256((low + high).encode()).hexdigest()
    assert part == f"parses/1/{'a' * 12}-{'c' * 12}-{digest[:12]}.parquet"
    assert [r["parse"] for r in store.fetch(part, [high], ["parse"])] == [high.encode()]
    for first, last, found in (
        ("0" * 40, "a" * 12 + "0" * 28, []), ("0" * 40, low, [low]), (low, high, [low, high]), ("b" * 40, "b" * 40, []),
        (high, "f" * 40, [high]), ("c" * 12 + "d" * 28, "f" * 40, []),
    ):  # fmt: skip
        assert list(store.known(first, last, ["outcome"])) == found
    again = store.append([make_row(low) | {"outcome": "other"}, make_row("e" * 40)])
    assert store.known(low, low, ["outcome"])[low][1] == min(part, again), "the first name decides"
    lake.put(part, b"damaged")
    for first, last in (("0" * 40, "9" * 40), ("a" * 11 + "9" * 29, "a" * 11 + "9" * 29), ("d" * 40, "f" * 40)):
        store.known(first, last, ["outcome"])
        assert lake.size(part) is not None
    store.known("c" * 12 + "f" * 28, "f" * 40, ["outcome"])
    assert lake.size(part) is None, "its name does not exclude the range"


def test_content_store_reads_the_former_key_name(lake: Lake, tmp_path: Path) -> None:
    store: ContentStore[Any] = ContentStore(lake, "parses/1", STORED_PARSES)
    part = store.append([make_row(digit * 40) for digit in "123"])
    file = tmp_path / "lake" / part
    table = pq.read_table(file)
    pq.write_table(table.rename_columns(["pdf_sha1", *table.column_names[1:]]), file)
    other = store.append([make_row("2" * 40), make_row("4" * 40)])
    found = store.known("2" * 40, "4" * 40, ["outcome"])
    assert {key: (row, key == "4" * 40 and file == other) for key, (row, file) in found.items()} == {
        digit * 40: ({"file_sha1": digit * 40, "outcome": "ok"}, digit == "4") for digit in "234"
    }
    rows = list(store.fetch(part, ["2" * 40], ["file_sha1", "parse"]))
    assert rows == [{"file_sha1": "2" * 40, "parse": b"2" * 40}]


def test_keys_of_a_damaged_content_part_are_forgotten(lake: Lake, tmp_path: Path) -> None:
    store = ContentStore(lake, "parses/1", STORED_PARSES)
    part, other = (store.append([make_row(digit * 40)]) for digit in "12")
    file = tmp_path / "lake" / part
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(DamagedPart, match="run the stage that writes stored_parses again"):
        list(store.fetch(part, ["1" * 40], ["parse"]))
    assert list(store.known("0" * 40, "f" * 40, ["outcome"])) == ["2" * 40]
    with pytest.raises(DamagedPart, match="is missing"):
        list(store.fetch(part, ["1" * 40], ["parse"]))
    assert store.append([make_row("1" * 40)]) == part != other
    assert len(store.known("0" * 40, "f" * 40, ["outcome"])) == 2


def test_rows_and_files_are_counted_within_a_task() -> None:
    count("links", 1)  # Outside of a task, nothing is counted.
    with counting() as outer:
        assert format_counts(outer) == "no rows"
        for name, n in (("links", 1240), ("files", 0), ("contexts", 60)):
            count(name, n)
        with counting() as inner:
            count("links", 5)
    count("links", 1)
    assert (format_counts(outer), format_counts(inner)) == ("60 contexts, 1,240 links", "5 links")
