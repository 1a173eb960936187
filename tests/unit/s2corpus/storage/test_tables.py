"""Tables in parts, rows between tasks, and queries.

An uncommitted table does not exist, a retry changes only its own part, and a damaged part is rejected. Each row that a task writes for
the next round arrives in its bucket. Every DuckDB connection spills to a separate folder, so parallel processes never read each
other's pages.
"""

import errno
import hashlib
import pickle
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg2
import pyarrow as pa
import pytest
import sqlalchemy.exc

from s2corpus.errors import LostRace, TransientError, UserError
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage import exchange
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.error_kinds import convert_environment_error, convert_errors
from s2corpus.storage.exchange import Exchange, RowsRemoved
from s2corpus.storage.lake import ABSENT, Lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.objects import DamagedPart
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables.papers import CLUSTERS
from s2corpus.tables.schema import TABLES
from s2corpus.tables.texts import DOCUMENTS


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
    assert not table.is_complete(), "not committed"
    commit = table.commit([2, 0])
    assert (commit.rows, table.is_complete(), table.read(shard=2).num_rows) == (8, True, 4)
    assert [part.name[:10] for part in commit.parts] == ["part-00000", "part-00002"]
    lake.delete(table.keys(2)[0])
    with pytest.raises(DamagedPart, match="the file is missing: run the stage"):
        table.read_shard(2)


def test_sql_view_of_a_table_has_its_rows(tmp_path: Path) -> None:
    """Names of files are literal: `*` is no wildcard, and `'` ends no text."""
    table = ref(LocalLake(tmp_path / "a*'s"))
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


@pytest.mark.parametrize("name", ["part-00000-*.parquet", "part-00000.json", "_COMMITTED.json"])
def test_truncated_file_of_a_table_is_refused(lake: Lake, tmp_path: Path, name: str) -> None:
    table, rows = ref(lake), [row(n) for n in range(100)]
    table.write(0, rows)
    table.commit([0])
    (file,) = (tmp_path / "lake/releases/x/clusters").glob(name)
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(DamagedPart, match="run the stage that writes clusters again"):
        table.commit([0]) if name == "part-00000.json" else table.read()
    table.write(0, rows)
    table.commit([0])
    assert table.is_complete() and table.read().num_rows == 100


def test_rows_and_parts_of_another_schema_are_refused(lake: Lake) -> None:
    with pytest.raises(pa.ArrowInvalid, match="paper_id"):
        ref(lake).write(0, [{"record_id": "a:1", "paper_id": None}])
    TableRef(lake, "t", TABLES["aliases"]).write(0, [])
    TableRef(lake, "t", TABLES["aliases"]).commit([0])
    with pytest.raises(NotCommitted, match="with other columns"):
        TableRef(lake, "t", CLUSTERS).read()


def test_rows_of_a_sorted_table_are_read_by_ascending_paper() -> None:
    rows = [{"paper_id": "b", "n": 1}, {"paper_id": "b", "n": 2}, {"paper_id": "d", "n": 3}]
    every, first = ByPaper(iter(rows)), ByPaper(iter(rows))
    assert [[row["n"] for row in every.at(paper)] for paper in "abbcde"] == [[], [1, 2], [1, 2], [], [3], []]
    assert [first.one(paper) for paper in "abcd"] == [None, rows[0], None, rows[2]]


# -- Rows between tasks.


SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string())])
BUCKETS = 7


def number_rows(begin: int, end: int) -> tuple[pa.Table, np.ndarray]:
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
                writer.add(*number_rows(1000 * task + begin, 1000 * task + min(begin + 9, 100)))
    every = [*range(100), *range(1000, 1100)]
    for bucket in range(BUCKETS):
        found = between.read("round", range(2), bucket, SCHEMA)["number"].to_pylist()
        assert found == [number for number in every if number % BUCKETS == bucket]
    some = between.read("round", range(2), 2, SCHEMA, 5)["number"].to_pylist()
    assert sorted(some) == [number for number in every if 2 <= number % BUCKETS < 5]
    assert not list(tmp_path.glob("s2corpus-exchange-*"))


def test_tasks_without_rows_leave_empty_buckets(lake: Lake, tmp_path: Path) -> None:
    between = pickle.loads(pickle.dumps(Exchange(lake.root, "between")))
    for task, count in enumerate((0, 70, 0)):
        with between.writer("round", task, BUCKETS, SCHEMA, tmp_path) as writer:
            if count:
                writer.add(*number_rows(0, count))
    assert between.read("round", [0], 3, SCHEMA) == SCHEMA.empty_table()
    read = [sorted(piece["number"].to_pylist()) for piece in between.read_by_file("round", range(3), 3, SCHEMA, 5)]
    assert read == [[], [n for n in range(70) if n % BUCKETS in (3, 4)], []]


def test_counts_of_all_shards(lake: Lake) -> None:
    between = Exchange(lake.root, "between")
    for task, counts in ((0, {"a": 1}), (2, [5])):
        between.put_counts("round", task, counts)
    with pytest.raises(RowsRemoved, match="between/round is incomplete"):
        between.all_counts("round", 3)
    between.put_counts("round", 1, 0)
    assert between.all_counts("round", 3) == [{"a": 1}, 0, [5]]


def test_removed_rows_of_a_finished_stage_give_one_sentence(lake: Lake, tmp_path: Path) -> None:
    between = Exchange(lake.root, "between")
    with between.writer("round", 0, BUCKETS, SCHEMA, tmp_path) as writer:
        writer.add(*number_rows(0, 100))
    lake.put("betweens/other", b"")
    between.remove()
    assert [entry.key for entry in lake.list("")] == ["betweens/other"]
    with pytest.raises(RowsRemoved, match=r"between/round is incomplete: .* clear all of its tasks"):
        between.read("round", [0], 3, SCHEMA)


# -- Queries.


def test_too_little_memory_gives_a_sentence_with_advice(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match=r"^memory_mb is too small .* double it in the spec \(Out of Memory"),
        convert_errors(),
        duckdb_connection(memory_mb=64, scratch=tmp_path) as connection,
    ):
        connection.execute("SELECT list(range) FROM range(20_000_000)").fetchall()


def test_connection_has_its_limits(tmp_path: Path) -> None:
    names = ("memory_limit", "autoinstall_known_extensions", "autoload_known_extensions", "temp_directory")
    query = f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}"
    folders = []
    for _ in range(2):
        with duckdb_connection(memory_mb=64, scratch=tmp_path) as connection:
            ((*limits, folder),) = connection.execute(query).fetchall()
        assert limits == ["61.0 MiB", False, False]
        folders.append(folder)
    assert folders[0] != folders[1] and not list(tmp_path.iterdir()), "each spills to a folder that goes with it"


# -- Transient errors are retried; permanent errors are not.


@pytest.mark.parametrize(
    "error",
    [
        OSError("When reading information for key 'x': AWS Error NETWORK_CONNECTION during HeadObject operation"),
        ConnectionResetError(104, "Connection reset by peer"),
        duckdb.IOException("Could not write file: No space left on device"),
        sqlalchemy.exc.OperationalError("SELECT 1", {}, Exception("terminating connection")),
        psycopg2.OperationalError("server closed the connection"),
        sqlalchemy.exc.OperationalError("INSERT", {}, Exception("database or disk is full")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_transient_errors_are_retried(error: Exception) -> None:
    with pytest.raises(TransientError, match=r"\w"), convert_errors():
        raise error


@pytest.mark.parametrize(
    "error",
    [
        DamagedPart("committed with 5 bytes, found 3"), FileNotFoundError(2, "No such file"), pa.ArrowInvalid("column paper_id is null"),
        duckdb.Error("FileNotFoundError: [Errno 2] Failed to open local file"), ValueError("IOError: text of another library"),
        sqlalchemy.exc.IntegrityError("INSERT", {}, Exception("Key (reason)=(permission denied) exists")),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_permanent_errors_are_not_retried(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, convert_errors():
        raise error
    assert raised.value is error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError(errno.ENOSPC, "No space left", "/scratch/part"), TransientError, "^the disk is full: .*free space in the scratch folder"),
        (OSError(errno.EROFS, "Read-only"), UserError, "^the file system is read-only: .*name a folder that can be written to"),
    ],
)  # fmt: skip
def test_error_is_explained_in_words(error: Exception, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words), convert_errors():
        raise error
    found = convert_environment_error(error)
    assert type(found) is kind and re.search(words, str(found))


def test_error_of_a_file_names_the_file() -> None:
    found = convert_environment_error(PermissionError(13, "Permission denied", "/a\nb"))
    assert type(found) is UserError and str(found) == "/a\\nb: Permission denied"
