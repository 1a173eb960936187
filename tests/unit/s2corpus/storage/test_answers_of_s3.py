"""An answer of S3 that was cut, replaced or lost on its way is named as that, and never taken for an object.

The server stores objects; each test damages some of its answers.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.corpora.actions import ACTIONS, perform
from s2corpus.corpora.takedown import SUPPRESSED
from s2corpus.deliveries.ready import hash_stream
from s2corpus.errors import LostRace, TransientError, UserError
from s2corpus.pipeline.acceptance import accept, read_acceptances
from s2corpus.pipeline.checks import list_all_checks
from s2corpus.snapshot import pointer
from s2corpus.storage.duck import create_view, duckdb_connection
from s2corpus.storage.error_kinds import convert_errors
from s2corpus.storage.lake import ABSENT, Conflict, Lake, open_lake
from s2corpus.storage.objects import DamagedPart
from s2corpus.storage.parts import TableRef
from s2corpus.tables.schema import TABLES
from s2corpus_reader.bounded import copy_file, read_bytes
from tests.s3_store import (
    HTML,
    PAGE,
    Answer,
    Fault,
    Handler,
    Request,
    Store,
    compress,
    compress_body,
    cut,
    lose,
    pad,
    replace_all,
    replace_body,
    reset,
)  # fmt: skip


@pytest.fixture
def lake(store: Store) -> Lake:
    return open_lake("s3://corpus")


DAMAGES = [cut, reset, replace_all, replace_body, pad, compress, compress_body]


def read_in_pieces(lake: Lake, key: str) -> bytes:
    with lake.open(key) as stream:
        return b"".join(iter(lambda: stream.read(7), b""))


def download(lake: Lake, key: str, path: Path) -> bytes:
    lake.download(key, path)
    return path.read_bytes()


READERS: dict[str, Callable[[Lake, str, Path], Any]] = {
    "get": lambda lake, key, folder: lake.get(key)[0],
    "download": lambda lake, key, folder: download(lake, key, folder / "copy"),
    "open": lambda lake, key, folder: read_in_pieces(lake, key),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("reader", READERS)
def test_damaged_answer_is_no_object(store: Store, lake: Lake, reader: str, damage: Fault, tmp_path: Path) -> None:
    """Complete reads repeat a request after a damaged answer. A stream cannot, because its reader has used its beginning."""
    store.objects["a/b"] = content = orjson.dumps({"snapshot": None, "words": ["word"] * 100})
    read = READERS[reader]
    store.spoil(damage, "a/b", 1)
    if reader == "open" and damage not in (replace_all, compress):
        with pytest.raises(TransientError, match="s3://corpus/a/b: "):
            read(lake, "a/b", tmp_path)
    assert read(lake, "a/b", tmp_path) == content
    store.spoil(damage, "a/b", 100)
    with pytest.raises(TransientError, match=r"s3://corpus/a/b: .*(cut|proxy)"):
        read(lake, "a/b", tmp_path)


@pytest.mark.parametrize("damage", DAMAGES[:6])
@pytest.mark.parametrize("rows", [10, 200_000])
def test_damaged_answer_is_never_a_part(store: Store, lake: Lake, damage: Fault, rows: int, tmp_path: Path) -> None:
    """Small parts are read completely, other parts in ranges. Both engines name the cause."""
    table = pa.table({"a": range(rows), "b": [hashlib.sha256(str(n).encode()).hexdigest() for n in range(rows)]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    store.objects["p.parquet"] = sink.getvalue().to_pybytes()

    def read_with_arrow() -> pa.Table:
        fs, root = lake.filesystem()
        return pq.read_table(f"{root}p.parquet", filesystem=fs)

    def read_with_duckdb() -> pa.Table:
        fs, root = lake.filesystem()
        with convert_errors(), duckdb_connection(memory_mb=200, scratch=tmp_path) as connection:
            create_view(connection, "p", [f"{root}p.parquet"], fs)
            return connection.execute("FROM p").to_arrow_table()

    is_range = rows > 10
    for read in (read_with_arrow, read_with_duckdb):
        if not (is_range and damage is pad):  # A range has no checksum; Parquet's own may find the damage.
            store.spoil(damage, "p.parquet", 1)
            assert read().equals(table)
            store.spoil(damage, "p.parquet", 1000)
            with pytest.raises(TransientError, match=r"s3://corpus/p.parquet: .*(cut|proxy)"):
                read()
            store.fault = None


@pytest.mark.parametrize("damage", [cut, reset, pad])
@pytest.mark.parametrize("room", [-1, 0, 1])
def test_bounded_reader_names_the_cut(store: Store, lake: Lake, damage: Fault, room: int, tmp_path: Path) -> None:
    """A file is too large only if its answer is complete as far as it is read."""
    store.objects["k"] = content = bytes(range(256)) * 9
    limit = len(content) + room
    bounded: tuple[Callable[[], Any], ...] = (
        lambda: read_bytes(lake, "k", limit),
        lambda: copy_file(lake, "k", tmp_path / "k", limit),
        lambda: hash_stream(lake.open("k"), limit),
    )
    for read in bounded:
        store.spoil(damage, "k", 9)
        with pytest.raises(TransientError, match=r"s3://corpus/k: .*(cut|proxy)"):
            read()


def test_file_systems_of_two_lakes_differ(store: Store) -> None:
    first, again, second = (open_lake(f"s3://corpus/{name}") for name in "aab")
    systems = [lake.filesystem()[0] for lake in (first, first, again, second)]
    assert [systems[0] == system for system in systems] == [True, True, False, False]


@pytest.mark.parametrize("times", [0, 1, 8192, 30_000])  # Opening a file reads its end; ranges read the rest.
def test_random_access_reads_what_was_stored(store: Store, lake: Lake, times: int) -> None:
    store.objects["k"] = content = bytes(range(256)) * times
    fs, root = lake.filesystem()
    with fs.open_input_file(f"{root}k") as file:
        assert file.size() == len(content) and file.read() == content
        for begin in sorted({0, len(content) // 2, max(0, len(content) - (1 << 19) - 1), max(0, len(content) - 3)}):
            file.seek(begin)
            assert [file.read(9), file.read(1 << 21)] == [content[begin : begin + 9], content[begin + 9 :][: 1 << 21]]
    with pytest.raises(FileNotFoundError):
        fs.open_input_file(f"{root}other")


def test_readers_ask_for_no_size_before_they_open_a_part(store: Store, lake: Lake, tmp_path: Path) -> None:
    """A release on S3 has thousands of parts. Arrow and DuckDB request size, time and footer of each; opening a part supplies them."""
    written = TableRef(lake, "releases/x/aliases", TABLES["aliases"])
    for shard in range(3):
        written.write(shard, [{"alias": f"{shard:015}", "paper_id": "f" * 15}])
    written.commit(range(3))
    sent: list[tuple[str, str]] = []

    def record(request: Request) -> bool:
        sent.append((request.method, request.key))
        return False

    store.fault, store.meets = lose, record
    table = TableRef(lake, "releases/x/aliases", TABLES["aliases"])
    assert len(list(table.rows())) == 3
    assert {method for method, _ in sent} == {"GET"}
    assert sum(key.endswith("_COMMITTED.json") for _, key in sent) == 1
    sent.clear()
    with duckdb_connection(memory_mb=200, scratch=tmp_path) as connection:
        table.view(connection)
        for _ in range(2):
            assert connection.execute("SELECT count(*), min(alias) FROM aliases").fetchone() == (3, "0" * 15)
    assert {method for method, _ in sent} == {"GET"} and len(set(sent)) == 3


@pytest.mark.parametrize(("size", "found"), [(4, "found 3"), (None, "the file is missing")])
def test_part_of_another_size_is_damaged(store: Store, lake: Lake, size: int | None, found: str) -> None:
    """One request opens a part; its size is compared with the committed size."""
    store.objects["t/clusters/part"] = b"123"
    key = "t/clusters/part" if size else "t/clusters/lost"
    fs, root = lake.filesystem({key: size or 3})
    with pytest.raises(
        DamagedPart, match=f"{key}: committed with .* bytes, {found}: run the stage that writes clusters"
    ):
        fs.open_input_file(root + key)


@pytest.mark.parametrize("damage", [cut, reset, replace_all, compress])
def test_damaged_listing_is_never_an_empty_one(store: Store, lake: Lake, damage: Fault) -> None:
    store.objects |= {"drops/a/_READY": b"{}", "drops/a/1.pdf": b"1"}
    store.spoil(damage, "", 1)
    assert [entry.key for entry in lake.list("")] == ["drops/a/1.pdf", "drops/a/_READY"]
    store.spoil(damage, "", 100)
    with pytest.raises(TransientError, match="s3://corpus"):
        list(lake.list(""))


@pytest.mark.parametrize("status", [302, 400, 401, 403, 407, 451])
def test_error_page_of_a_proxy_is_no_error_of_s3(store: Store, lake: Lake, status: int) -> None:
    """S3 refuses with a code in XML. The page of a proxy refuses nothing in the lake."""
    page = Answer(status, HTML, {"Content-Type": "text/html"})
    acts: dict[str, Callable[[], Any]] = {
        "GET": lambda: lake.get("k"), "PUT": lambda: lake.put("k", b"1"), "HEAD": lambda: lake.size("k"),
        "LIST": lambda: list(lake.list("")), "DELETE": partial(lake.delete, "k"),
    }  # fmt: skip
    for method, act in acts.items():
        key, sent = ("", "GET") if method == "LIST" else ("k", method)
        store.objects["k"] = b"1"
        store.spoil(page, key, 1, sent)
        assert act() or store.objects == {}, method
        store.fault, store.meets = page, lambda request: request.key == key  # noqa: B023  # called within the loop
        with pytest.raises(TransientError, match=r"s3://corpus/.*: the answer is cut or not from S3"):
            act()
        store.fault = None


@pytest.mark.parametrize(
    "content", ["<Contents><Key>a</Key></Contents>", "<Contents><Size>1</Size></Contents>", "<Contents/>"]
)
@pytest.mark.parametrize("more", ["true", "false"])
def test_incomplete_listing_is_not_used(store: Store, lake: Lake, content: str, more: str) -> None:
    body = f"<ListBucketResult><IsTruncated>{more}</IsTruncated>{content}</ListBucketResult>"
    store.spoil(Answer(200, body.encode()), "", 99)
    with pytest.raises(TransientError, match="s3://corpus/: a listing without keys, sizes or its next page"):
        list(lake.list(""))


@pytest.mark.parametrize("damage", [lose, replace_all])
def test_write_with_lost_answer_succeeds(store: Store, lake: Lake, damage: Fault) -> None:
    store.spoil(damage, "k", 1, "PUT")
    etag = lake.put("k", b"1", expect=ABSENT)
    store.spoil(damage, "k", 1, "PUT")
    assert lake.put("k", b"2", expect=etag) == lake.etag("k") != etag
    store.spoil(damage, "k", 1, "PUT")
    with pytest.raises(Conflict):
        lake.put("k", b"3", expect=etag)
    store.spoil(damage, "k", 1, "DELETE")
    lake.delete("k")
    assert not store.objects


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("damage", [cut, reset, lose, replace_all, PAGE, Answer.error(503, "SlowDown")])
def test_upload_in_parts_survives_each_damaged_answer(
    store: Store, lake: Lake, damage: Fault, number: int, tmp_path: Path
) -> None:
    """boto3 sends one request to begin, one for each of two parts, and one to join them."""
    content = hashlib.sha256(b"seed").digest() * (9 << 15)
    (tmp_path / "large").write_bytes(content)
    count = 0

    def meets(request: Request) -> bool:
        nonlocal count
        count += request.method in ("POST", "PUT")
        return count == number + 1 and request.method in ("POST", "PUT")

    store.fault, store.meets = damage, meets
    lake.upload("large", tmp_path / "large")
    assert count >= 4 and store.objects == {"large": content}


def test_refused_upload_in_parts_is_no_passing_fault(store: Store, lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(9 << 20))
    store.spoil(Answer.error(403, "AccessDenied"), "large", 9, "POST")
    with pytest.raises(UserError, match=r"s3://corpus/large: access refused \(AccessDenied"):
        lake.upload("large", tmp_path / "large")


def complete_snapshot(store: Store, day: str) -> str:
    snapshot = f"test-2026{day}-01234567"
    store.objects[f"snapshots/{snapshot}/manifest.json"] = orjson.dumps({"files": []})
    return snapshot


def test_decisions_with_lost_answers_succeed(store: Store, lake: Lake) -> None:
    """Publish, yank, restore and accept compare a conflicting object with their own."""
    old, new = complete_snapshot(store, "0101"), complete_snapshot(store, "0201")
    latest = "snapshots/test/latest.json"
    pointer.publish(lake, old)
    store.spoil(lose, latest, 1, "PUT")
    assert pointer.publish(lake, new).snapshot == new
    store.spoil(lose, latest, 1, "PUT")
    assert pointer.yank(lake, new, "its texts are wrong").snapshot == old
    store.spoil(lose, f"snapshots/test/yanked/{new}", 9, "DELETE")
    with pytest.raises(TransientError):  # all answers are lost
        pointer.restore(lake, new, "they were right")
    store.fault = None
    assert pointer.restore(lake, new, "they were right").snapshot == new
    with pytest.raises(UserError, match="is not yanked"):
        pointer.restore(lake, new, "another reason")
    key, checks = "releases/r/_accepted.json", list_all_checks()
    name = next(f"{check.stage}.{check.name}" for check in checks if check.overridable)
    store.spoil(lose, key, 1, "PUT")
    assert accept(lake, "r", {name: "it is expected"}, "me", checks) == [name]
    assert read_acceptances(lake, "r")[name].by == "me"


def test_takedown_with_lost_answer_succeeds(store: Store, lake: Lake) -> None:
    takedown, values = ACTIONS["takedown"], {"paper": "10.1000/a", "reason": "its author asked for it"}
    for lines in (1, 2):
        store.spoil(lose, SUPPRESSED, 1, "PUT")
        perform(lake, takedown, values, takedown.plan(lake, values).token, "me")
        assert store.objects[SUPPRESSED].count(b"10.1000/") == lines
        values = values | {"paper": "10.1000/b"}


def test_interrupted_action_of_the_page_is_repeated(store: Store, lake: Lake) -> None:
    """The pointer moves last. A second confirmation continues, although the snapshot is already marked as withdrawn or restored."""
    old, new = complete_snapshot(store, "0101"), complete_snapshot(store, "0201")
    for snapshot in (old, new):
        pointer.publish(lake, snapshot)
    for name, latest in (("yank", old), ("restore", new)):
        action, values = ACTIONS[name], {"snapshot": new, "reason": "its texts are checked"}
        store.spoil(Answer.error(503, "SlowDown"), "snapshots/test/latest.json", 99, "PUT")
        with pytest.raises(TransientError, match="SlowDown"):
            perform(lake, action, values, action.plan(lake, values).token, "me")
        store.fault = None
        perform(lake, action, values, action.plan(lake, values).token, "me")
        assert pointer.read_latest(lake, "test").snapshot == latest


def test_another_publisher_is_named(store: Store, lake: Lake) -> None:
    """A conflict with a different object is a lost race."""
    first, second = complete_snapshot(store, "0101"), complete_snapshot(store, "0201")

    def publish_first(handler: Handler, answer: Answer) -> Answer:
        store.objects["snapshots/test/latest.json"] = b'{"snapshot": null}'
        return Answer.error(412, "PreconditionFailed")

    pointer.publish(lake, first)
    store.spoil(publish_first, "snapshots/test/latest.json", 1, "PUT")
    with pytest.raises(LostRace, match="another publisher was first"):
        pointer.publish(lake, second)
