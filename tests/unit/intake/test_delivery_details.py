"""Deliveries report counts in words, and a watch examines all folders by turns.

Records of another source are rejected.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from devtools.own_papers import deliver_own
from s2corpus import sources
from s2corpus.deliveries import registration
from s2corpus.deliveries.files import ChangedInput, copy_file, lake_key, open_file, read_file
from s2corpus.deliveries.ready import Delivery, ListedFile, Ready, Refusal, Refused, read_ready
from s2corpus.deliveries.registration import Registered
from s2corpus.deliveries.status import (
    MAX_NEW_PER_POLL,
    Arrival,
    ArrivalState,
    ArrivalStatus,
    Watch,
    announce,
    hash_ready_file,
    iterate_statuses,
    list_open,
    put_row,
    read_status,
    read_statuses,
)
from s2corpus.storage.local_lake import LocalLake


@pytest.mark.parametrize(
    ("row", "is_open", "outcome", "text"),
    [
        (ArrivalStatus("drops/a/", "0", ArrivalState.ANNOUNCED), True, "announced", "drops/a: announced"),
        (ArrivalStatus("drops/a\n/", "0", ArrivalState.PROCESSED, detail="d"), False, "worked", "drops/a\\n: worked (d)"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.REGISTERED, rows=3), True, "registered", "drops/a: registered (3 records)"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.REFUSED, Refusal.CHANGED), False, "refused:changed", "drops/a: refused:changed"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.FAILED, tries=2, dropped=1), True, "failed", "drops/a: failed (1 unreadable records)"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.FAILED, tries=3), False, "failed", "drops/a: failed"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.UNFINISHED, tries=2), True, "unfinished", "drops/a: unfinished"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.UNFINISHED, tries=3), False, "unfinished", "drops/a: unfinished"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.PROCESSED, rows=3, warnings=["x"]), False, "worked",
         "drops/a: worked (3 records, 1 warning) (x)"),
        (ArrivalStatus("drops/a/", "0", ArrivalState.PROCESSED, warnings=list("abcdef"), outcomes={"ok": 2, "broken": 0}), False, "worked",
         "drops/a: worked (6 warnings, 2 ok) (a; b; c; d; e)"),
    ],
)  # fmt: skip
def test_status_row_is_one_line(row: ArrivalStatus, is_open: bool, outcome: str, text: str) -> None:
    assert (row.is_open, row.outcome, str(row)) == (is_open, outcome, text)


def test_row_is_stored_once_by_folder(tmp_path: Path) -> None:
    lake = LocalLake(tmp_path)
    first = Arrival("sources/dblp/1/", "0")
    assert first.identity == ("delivery", "dblp", "1") and Arrival("drops/1/", "0").identity == ("drop", "", "1")
    put_row(lake, ArrivalStatus("sources/dblp/10/", "0", ArrivalState.PROCESSED))
    announce(lake, first)
    put_row(
        lake,
        row := ArrivalStatus(
            first.folder, "0", ArrivalState.REFUSED, Refusal.CHANGED, "a.pdf", outcomes={"ok": 1}, warnings=["w"]
        ),
    )
    announce(lake, first)
    assert read_status(lake, first) == row and read_status(lake, Arrival(first.folder, "1")) is None
    put_row(lake, ArrivalStatus(first.folder, "1", ArrivalState.ANNOUNCED))
    assert read_status(lake, first) is None
    assert [entry.key for entry in lake.list("arrivals/")] == [
        "arrivals/closed/sources/dblp/10/0.json", "arrivals/open/sources/dblp/1/1.json",
    ]  # fmt: skip
    assert list_open(lake) == [Arrival(first.folder, "1")]
    lake.put("arrivals/closed/sources/dblp/1/1.json", lake.get("arrivals/open/sources/dblp/1/1.json")[0])
    assert list_open(lake) == [], "a killed writer left both rows"
    assert [row.mark for row in read_statuses(lake, [first, Arrival(first.folder, "1")])] == ["1"]


def test_last_rows_are_listed(tmp_path: Path) -> None:
    lake = LocalLake(tmp_path)
    for name in "cab":
        lake.put(f"drops/{name}/_READY", name.encode())
    assert [row.name for row in iterate_statuses(lake)] == ["drops/a", "drops/b", "drops/c"]
    assert [row.name for row in iterate_statuses(lake, 2)] == ["drops/b", "drops/c"]
    assert [row.mark for row in iterate_statuses(lake, 1)] == [hash_ready_file(lake, "drops/c/")]
    assert len(str(hash_ready_file(lake, "drops/c/"))) == 16 and hash_ready_file(lake, "drops/d/") is None


def test_delay_of_repeated_events_ends_at_one_hour(tmp_path: Path) -> None:
    lake = LocalLake(tmp_path)
    announce(lake, arrival := Arrival("drops/a/", "0"))
    watch, now, delays = Watch(lake), 0.0, []
    assert watch.list_unprocessed_events(now) == []
    for _ in range(8):
        before = now
        while watch.list_unprocessed_events(now) != [arrival]:
            now += 60
        delays.append(now - before)
        now += 0
    assert delays == [60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_rows_of_new_watches_are_not_overwritten(tmp_path: Path) -> None:
    class Slow(LocalLake):
        """A lake in which another process announces the arrival first."""

        def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
            LocalLake(tmp_path).put(key, b"another")
            return super().put(key, data, expect=expect)

    announce(Slow(tmp_path), Arrival("drops/a/", "0"))
    assert LocalLake(tmp_path).get("arrivals/open/drops/a/0.json")[0] == b"another"


def test_watch_examines_all_folders_by_turns(tmp_path: Path) -> None:
    watch = Watch(LocalLake(tmp_path))
    folders = [str(number) for number in range(2 * MAX_NEW_PER_POLL + 1)]
    for start in (0, MAX_NEW_PER_POLL, 2 * MAX_NEW_PER_POLL, MAX_NEW_PER_POLL - 1, 2 * MAX_NEW_PER_POLL - 1):
        assert (
            watch._next_items("new", folders, MAX_NEW_PER_POLL)
            == (folders[start:] + folders[:start])[:MAX_NEW_PER_POLL]
        )
    assert watch._next_items("new", folders[:MAX_NEW_PER_POLL], MAX_NEW_PER_POLL) == folders[:MAX_NEW_PER_POLL]


def record(**others: Any) -> bytes:
    value = {
        "DOI": "10.1234/5",
        "title": ["A title of some words"],
        "author": [{"given": "Ann", "family": "Lee"}],
        "type": "journal-article",
    }
    return orjson.dumps(value | others) + b"\n"


def owned(path: Path, source: str) -> list[sources.Entry]:
    delivery = Delivery("delivery", source, "one", "2023-01-01T00:00:00Z", "full", "0", 1)
    return list(registration._check_owner(sources.read("crossref", path), delivery, "records"))


def test_records_of_another_source_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(record())
    (found,) = owned(path, "crossref")
    assert isinstance(found, sources.Record) and found.record_id == "crossref:10.1234/5"
    with pytest.raises(Refused, match="is not of the source pubmed") as refused:
        owned(path, "pubmed")
    assert refused.value.refusal is Refusal.BAD_RECORDS


def test_dropped_entries_have_no_source(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'{"title": []}\n')
    assert [type(entry) for entry in owned(path, "pubmed")] == [sources.Dropped]


@pytest.mark.parametrize(
    ("there", "says"),
    [(0, None), (-1, "3145727 found"), (1, "more found"), (1 << 20, "more found"), (-(2 << 20), "1048576 found")],
)
def test_files_of_several_blocks_have_listed_size(tmp_path: Path, there: int, says: str | None) -> None:
    content = b"x" * (3 << 20)
    lake = LocalLake(tmp_path)
    lake.put("drops/one/a.pdf", b"x" * (len(content) + there))
    delivery = Delivery("drop", "", "one", "2023-01-01T00:00:00Z", "delta", "0", 1)
    listed = ListedFile(name="a.pdf", bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    if says is None:
        assert registration._verify_file(lake, delivery, listed) == hashlib.sha1(content).hexdigest()
        return
    with pytest.raises(Refused, match=f"3145728 bytes listed, {says}"):
        registration._verify_file(lake, delivery, listed)


def test_repeated_names_are_refused_and_named(tmp_path: Path) -> None:
    """The refusal names the first three repeated names, and no name that is listed once."""
    delivery = Delivery("drop", "", "one", "2023-01-01T00:00:00Z", "delta", "0", 1)
    listed = [ListedFile(name=name, bytes=0, sha256="0" * 64) for name in "abbcdddeeff"]
    ready = Ready.model_validate({"ready_at": "2023-01-01T00:00:00Z", "files": listed})
    with pytest.raises(Refused, match=r"listed twice: \['b', 'd', 'e'\]") as refused:
        registration._check_listing(LocalLake(tmp_path), delivery, ready)
    assert refused.value.refusal is Refusal.BAD_NAME


def test_own_drop_has_records_of_its_folder(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.pdf").write_bytes(b"%PDF")
    lake = LocalLake(tmp_path / "lake")
    _, without = deliver_own(lake, papers)
    assert {entry.key for entry in lake.list(f"drops/{without}/")} == {
        f"drops/{without}/{name}" for name in ("_READY", "a.pdf")
    }
    (papers / "records.jsonl").write_bytes(b'{"name": "a.pdf", "open_access": true}\n')
    _, declared = deliver_own(lake, papers)
    assert declared != without
    assert lake.get(f"drops/{declared}/records.jsonl")[0] == (papers / "records.jsonl").read_bytes()


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 3 << 20])
def test_file_is_compared_with_its_registration_at_the_end(tmp_path: Path, size: int) -> None:
    lake, content = LocalLake(tmp_path), bytes(size)
    place = {"drop": "d", "name": "a.pdf"}
    assert lake_key(place) == lake_key({"folder": "drops/d/", "name": "a.pdf"}) == "drops/d/a.pdf"
    lake.put("drops/d/a.pdf", content)
    sha1 = hashlib.sha1(content).hexdigest()
    assert read_file(lake, place, sha1) == content
    copy_file(lake, place, sha1, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == content
    with open_file(lake, place, sha1) as file:
        assert file.read(2) + file.read(0 if size else 1) == content[:2], "no more is read yet"
    for act in (
        lambda: read_file(lake, place, "0" * 40),
        lambda: copy_file(lake, place, "0" * 40, tmp_path / "copy"),
    ):
        with pytest.raises(ChangedInput, match=r"drops/d/a\.pdf: changed since its drop was registered"):
            act()


def register(lake: LocalLake, kind: Any, source: str, files: dict[str, bytes], **others: Any) -> Registered:
    """Write a drop or delivery `1` and register it."""
    folder = "drops/1/" if kind == "drop" else f"sources/{source}/1/"
    listed = [{"name": n, "bytes": len(d), "sha256": hashlib.sha256(d).hexdigest()} for n, d in files.items()]
    for name, data in files.items():
        lake.put(f"{folder}{name}", data)
    lake.put(f"{folder}_READY", orjson.dumps({"ready_at": "2023-01-01T00:00:00Z", "files": listed} | others))
    delivery = read_ready(lake, kind, source, "1")
    assert delivery is not None
    return registration.register(lake, delivery)


def rows_in(lake: LocalLake, kind: Any, source: str, name: Any) -> list[dict[str, Any]]:
    delivery = read_ready(lake, kind, source, "1")
    assert delivery is not None
    found: list[dict[str, Any]] = registration.registered_table(lake, delivery, name).read().to_pylist()
    return found


def test_registration_is_stored_until_it_is_forgotten(tmp_path: Path) -> None:
    lake = LocalLake(tmp_path)
    files = {
        "a.pdf": b"A",
        "b.PDF": b"B",
        "c.txt": b"C",
        "d.tex": b"D",
        "records.jsonl": b'{"name": "a.pdf", "x": 1}\n{\n',
    }
    first = register(lake, "drop", "", files)
    assert (first.rows, first.dropped, first.pdfs, len(first.warnings)) == (0, 1, 2, 2)
    kinds = {row["name"]: row["kind"] for row in rows_in(lake, "drop", "", "files")}
    assert kinds == {"a.pdf": "pdf", "b.PDF": "pdf", "c.txt": "other", "d.tex": "latex"}
    delivery = read_ready(lake, "drop", "", "1")
    assert delivery is not None
    lake.put("drops/1/a.pdf", b"X")
    assert registration.register(lake, delivery) == first
    registration.forget(lake, delivery)
    with pytest.raises(Refused, match="its SHA-256 is not the listed one"):
        registration.register(lake, delivery)
    lake.put("drops/1/a.pdf", b"A")
    registration.register(lake, delivery)
    lake.delete(f"{delivery.registered}/files/_COMMITTED.json")
    lake.put("drops/1/a.pdf", b"X")
    with pytest.raises(Refused, match="its SHA-256 is not the listed one"):
        registration.register(lake, delivery)


def test_later_file_of_a_delivery_has_later_positions(tmp_path: Path) -> None:
    """Positions order the lines of a delivery: the last line on a record wins."""
    lake = LocalLake(tmp_path)
    lines = [orjson.dumps({"record_id": f"mylab:{n}", "title": "T"}) for n in range(60)]
    deleted = b'{"record_id": "mylab:59", "deleted": true}'
    register(lake, "delivery", "mylab", {"a/records.jsonl": b"\n".join(lines), "b/records.jsonl": deleted})
    rows = sorted(rows_in(lake, "delivery", "mylab", "records"), key=lambda row: row["position"])
    assert [row["record_id"] for row in rows] == [f"mylab:{n}" for n in (*range(60), 59)]
    assert [row["deleted"] for row in rows] == [False] * 60 + [True]
    assert {row["position"] for row in rows[:60]} == set(range(60))
    tombstone = {name: value for name, value in rows[-1].items() if value is not None}
    assert tombstone == {
        "record_id": "mylab:59", "source": "mylab", "kind": "archive", "delivery": "1", "ready_at": "2023-01-01T00:00:00.000000Z",
        "deleted": True, "position": rows[-1]["position"],
    }  # fmt: skip


ARTICLE = (
    b"<article><front><article-meta><article-id pub-id-type='doi'>10.1234/5</article-id><title-group><article-title>A title"
    b"</article-title></title-group></article-meta></front><body><p>Text.</p></body></article>"
)


@pytest.mark.parametrize(
    ("kind", "source", "name", "content", "expected"),
    [
        ("drop", "", "a.xml", ARTICLE, ("jats", "jats:{sha1}", 1)),
        ("drop", "", "a.NXML", ARTICLE, ("jats", "jats:{sha1}", 1)),
        ("drop", "", "a.txt", ARTICLE, ("other", None, 0)),
        ("drop", "", "a.xml", b"<x/>", ("other", None, 0)),
        ("drop", "", "a.xml", b"<articles>" + ARTICLE * 2 + b"</articles>", ("jats", None, 0)),
        ("delivery", "jats", "a.xml", ARTICLE, ("jats", "jats:10.1234/5", 1)),
        ("delivery", "crossref", "a.json", b'{"DOI": "10.1234/5", "title": ["A title"]}', None),
    ],
)
def test_full_texts_of_publishers_are_files(
    tmp_path: Path, kind: Any, source: str, name: str, content: bytes, expected: tuple[str, str | None, int] | None
) -> None:
    lake = LocalLake(tmp_path)
    found = register(lake, kind, source, {name: content})
    rows = rows_in(lake, kind, source, "files")
    if expected is None:
        assert rows == [] and found.rows == 1
        return
    of, record_id, records = expected
    sha1 = hashlib.sha1(content).hexdigest()
    ((row),) = rows
    assert (row["kind"], row["sha1"], row["bytes"]) == (of, sha1, len(content))
    assert row["record_id"] == (record_id and record_id.format(sha1=sha1)) or kind == "delivery"
    assert found.rows == records and found.pdfs == 0
    assert [r["record_id"] for r in rows_in(lake, kind, source, "records")] == [row["record_id"]] * records


@pytest.mark.parametrize("name", ["/a", "a/../b", "..", "a\\b", "a\x1bb", "_READY", "a\nb"])
def test_names_of_files_outside_their_folder_are_refused(tmp_path: Path, name: str) -> None:
    lake = LocalLake(tmp_path)
    lake.put("drops/1/_READY", orjson.dumps({"ready_at": "2023-01-01T00:00:00Z", "files": [
        {"name": name, "bytes": 0, "sha256": "0" * 64}]}))  # fmt: skip
    delivery = read_ready(lake, "drop", "", "1")
    assert delivery is not None
    with pytest.raises(Refused, match="is not a file name of a drop") as refused:
        registration.register(lake, delivery)
    assert refused.value.refusal is Refusal.BAD_NAME


def test_first_three_missing_and_unlisted_files_are_named(tmp_path: Path) -> None:
    lake = LocalLake(tmp_path)
    empty = dict.fromkeys("abcd", b"")
    register(lake, "drop", "", {"x": b"", **empty})
    for name in empty:
        lake.delete(f"drops/1/{name}")
    delivery = read_ready(lake, "drop", "", "1")
    assert delivery is not None
    registration.forget(lake, delivery)
    with pytest.raises(Refused, match=r"4 listed but missing: \['a', 'b', 'c'\]") as refused:
        registration.register(lake, delivery)
    assert refused.value.refusal is Refusal.INCOMPLETE
    for name in ("a", "b", "c", "d", "x1", "x2", "x3", "x4"):
        lake.put(f"drops/1/{name}", b"")
    with pytest.raises(Refused, match=r"4 present but not listed: \['x1', 'x2', 'x3'\]") as refused:
        registration.register(lake, delivery)
    assert refused.value.refusal is Refusal.UNLISTED


@pytest.mark.parametrize(
    ("source", "extracted"), [("declared", False), ("grobid", False), ("s2corpus-layout", False), ("mine", True)]
)
def test_sources_of_our_own_records_are_reserved(tmp_path: Path, source: str, extracted: bool) -> None:
    lake = LocalLake(tmp_path)
    if extracted:
        lake.put("stored_tei/mine/x", b"")
    with pytest.raises(Refused, match=f"{source} is reserved") as refused:
        register(lake, "delivery", source, {"records.jsonl": b""})
    assert refused.value.refusal is Refusal.UNKNOWN_SOURCE
    register(lake, "delivery", "mine2", {"sub/records.jsonl": b""})
