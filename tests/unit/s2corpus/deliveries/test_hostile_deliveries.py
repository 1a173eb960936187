"""Each malicious delivery has its outcome, and a good delivery next to it is accepted (SPEC §0)."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from s2corpus.deliveries.ready import Refused, read_ready
from s2corpus.drops import processing
from s2corpus.drops.standing import iterate_drop_statuses
from s2corpus.errors import TransientError
from s2corpus.pipeline.run import Run
from s2corpus.sources import dblp
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import DELIVERIES, PDFS, DeliveryRow
from tests.unit.s2corpus.deliveries.samples import WHEN, intake

PDF = b"%PDF hello"
FILE = {"name": "a.pdf", "bytes": len(PDF), "sha256": hashlib.sha256(PDF).hexdigest()}


def ready(**changed: Any) -> bytes:
    return json.dumps({"ready_at": WHEN, "files": [FILE], **changed}).encode()


def list_file(**changed: Any) -> bytes:
    return ready(files=[{**FILE, **changed}])


TIMES: tuple[object, ...] = (
    "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "0999-12-31T23:59:59Z", "1000-01-01T00:00:00+10:00",
    "0000-01-01T00:00:00Z", "12023-01-01T00:00:00Z", "2023-01-01T00:00:00", 1672531200, "1672531200", True, [WHEN], None, "yesterday",
    "2023-01-01", "2023-01-01T25:00:00Z", "2023-01-01T00:00:00+99:00", "٢٠٢٣-01-01T00:00:00Z", "2" * 1_000_000,
)  # fmt: skip
UNREADABLE = (
    *(ready(ready_at=time) for time in TIMES), b'{"ready_at": 1e400, "files": []}', b'{"ready_at": "\\ud800", "files": []}',
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b'{"ready_at": "\xff", "files": []}', ready().decode().encode("utf-16"), b"",
    b'{"files": []}', ready()[:-1] + b', "ready_at": "2099-01-01T00:00:00Z"}',
    ready().replace(b'"sha256"', b'"sha256": "' + b"0" * 64 + b'", "sha256"'), ready(mode="all"), list_file(bytes=-1),
    list_file(bytes=1 << 63), ready().replace(f": {len(PDF)},".encode(), b": " + b"9" * 10_000 + b","), list_file(name=""),
    list_file(name="a" * 1025), ready(delivered_by="a" * 129), ready(delivered_by="a\0b"), ready(delivered_by="\x1b[2Ja"),
    ready(delivered_by="a\u202eb"), list_file(sha256="0" * 63), ready().replace(b"a.pdf", b"\\udcff.pdf"),
)  # fmt: skip
OTHER: dict[str, tuple[bytes, str]] = {
    "zero byte in a name": (list_file(name="a\0.pdf"), "bad_name"), "name outside": (list_file(name="../good/a.pdf"), "bad_name"),
    "a long name": (list_file(name="a" * 1024), "incomplete"), "most bytes": (list_file(bytes=(1 << 63) - 1), "changed"),
}  # fmt: skip


def put(lake: Lake, folder: str, ready_file: bytes = ready(), name: str = "a.pdf") -> None:
    lake.put(f"{folder}/{name}", PDF)
    lake.put(f"{folder}/_READY", ready_file)


def read_rows(run: Run) -> dict[str, DeliveryRow]:
    """Run intake; return the rows by delivery."""
    intake(run)
    return {row["delivery"]: row for row in run.table(DELIVERIES).read().to_pylist()}


def test_hostile_ready_files_stop_no_other_delivery(run: Run) -> None:
    for number, data in enumerate(UNREADABLE):
        put(run.lake, f"drops/{number:02}", data)
        put(run.lake, f"sources/dblp/s{number:02}", data)
    for name, (data, _) in OTHER.items():
        put(run.lake, f"drops/{name}", data)
    put(run.lake, "drops/good")
    rows = read_rows(run)
    for number, data in enumerate(UNREADABLE):
        for delivery in (f"{number:02}", f"s{number:02}"):
            row = rows.pop(delivery)
            assert (row["outcome"], bool(row["detail"])) == ("refused:unreadable", True), data[:200]
            assert len(str(row["detail"])) <= 300
    for name, (_, reason) in OTHER.items():
        assert rows.pop(name)["outcome"] == f"refused:{reason}", name
    assert {name: row["outcome"] for name, row in rows.items()} == {"good": "taken"}
    assert run.table(PDFS).read()["bytes"].to_pylist() == [len(PDF)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2023-01-01t01:00:00.5+01:00", "2023-01-01T00:00:00.500000Z"),
        ("2023-01-01 00:00:00.123456789z", "2023-01-01T00:00:00.123456Z"),
        ("9999-12-31T23:59:59+0000", "9999-12-31T23:59:59.000000Z"),
    ],
)
def test_times_with_zone_are_read_as_utc(run: Run, given: str, expected: str) -> None:
    put(run.lake, "drops/a", ready(ready_at=given, delivered_by=f" {'b' * 128} "))
    found = read_ready(run.lake, "drop", "", "a")
    assert found is not None and (found.ready_at, found.by) == (expected, "b" * 128)


def break_reader(run: Run, error: Exception, patch: pytest.MonkeyPatch) -> dict[str, DeliveryRow]:
    """Run intake on a good drop and on a delivery that makes its reader raise an error."""

    def broken(*_: object) -> None:
        raise error

    patch.setattr(dblp, "read", broken)
    put(run.lake, "sources/dblp/1", list_file(name="a.xml"), "a.xml")
    put(run.lake, "drops/good")
    return read_rows(run)


@pytest.mark.parametrize("error", [RecursionError, MemoryError, UnicodeError, AssertionError])
def test_any_error_of_a_delivery_refuses_it(run: Run, error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    message = "AWS Error IOError: what the delivery says"  # The message resembles a server error.
    rows = break_reader(run, error(message), monkeypatch)
    assert (rows["1"]["outcome"], rows["good"]["outcome"]) == ("refused:unreadable", "taken")
    assert str(rows["1"]["detail"]).startswith(error.__name__)


def test_disk_failure_is_not_a_refusal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TransientError, match="disk is full"):
        break_reader(run, OSError(28, "No space left on device"), monkeypatch)


@pytest.mark.parametrize(("listed", "metadata"), [(1 << 20, 1 << 20), (1 << 40, len(PDF))])
def test_false_size_of_metadata_enlarges_no_table(run: Run, listed: int, metadata: int) -> None:
    """A large listed size counts as far as the file is stored."""
    put(run.lake, "sources/dblp/1", list_file(name="a.xml", bytes=listed), "a.xml")
    found = read_ready(run.lake, "delivery", "dblp", "1")
    assert found is not None and found.metadata_bytes == metadata


def test_huge_ready_file_is_not_read(run: Run) -> None:
    put(run.lake, "drops/a")
    os.truncate(run.lake.uri("drops/a/_READY"), (1 << 28) + 1)
    with pytest.raises(Refused, match=r"_READY is too large: 268435457 bytes \(at most 268435456\)"):
        read_ready(run.lake, "drop", "", "a")


def test_folders_without_utf8_names_are_refused(run: Run, tmp_path: Path) -> None:
    folder = Path(run.lake.uri("drops/good")).parent
    put(run.lake, "drops/good")
    shutil.copytree(folder / "good", folder / os.fsdecode(b"\xff\xfe"))
    rows = read_rows(run)
    assert rows.pop("good")["outcome"] == "taken"
    assert [row["outcome"] for row in rows.values()] == ["refused:bad_name"]
    processing.process(run.lake, [ReleaseSpec(name="t", drops=("none",))], tmp_path)
    assert "refused:bad_name" in [one.outcome for one in iterate_drop_statuses(run.lake)]


SPECIAL: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo, "folder": Path.mkdir, "link to nothing": lambda path: path.symlink_to("nowhere"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "outcomes"), [("_READY", []), ("a.pdf", ["refused:incomplete"]), ("b.pdf", ["taken"])]
)
@pytest.mark.parametrize("kind", SPECIAL)
def test_special_files_in_a_folder_do_not_block(run: Run, name: str, outcomes: list[str], kind: str) -> None:
    put(run.lake, "drops/good")
    put(run.lake, "drops/odd")
    path = Path(run.lake.uri(f"drops/odd/{name}"))
    path.unlink(missing_ok=True)
    SPECIAL[kind](path)
    rows = read_rows(run)
    assert rows.pop("good")["outcome"] == "taken"
    assert [row["outcome"] for row in rows.values()] == outcomes
