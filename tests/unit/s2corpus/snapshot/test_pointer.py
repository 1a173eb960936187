"""SPEC §10.12: the pointer always names a complete snapshot, only one publisher at a time moves it, and a yank moves it back."""

import hashlib
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
import pytest

from s2corpus.cli import corpus
from s2corpus.errors import LostRace, UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.snapshot import markers, pointer, pruning
from s2corpus.snapshot.reader import open_snapshot
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake

JANUARY, FEBRUARY, MARCH = (f"spec-2023{month}01-0000000{i}" for i, month in enumerate(("01", "02", "03")))
REASON = "half of it was missing"


def write(lake: Lake, *snapshots: str) -> None:
    """Write snapshots with one file each."""
    for snapshot in snapshots:
        lake.put(f"snapshots/{snapshot}/file", snapshot.encode())
        manifest = {"files": [{"path": "file", "bytes": len(snapshot)}]}
        lake.put(f"snapshots/{snapshot}/manifest.json", json.dumps(manifest).encode())


def publish(lake: Lake, *snapshots: str) -> None:
    write(lake, *snapshots)
    for snapshot in snapshots:
        pointer.publish(lake, snapshot)


def read_mark(lake: Lake, mark: str) -> Any:
    return json.loads(lake.get(f"snapshots/spec/{mark}")[0])


def test_marks_record_time_checksum_and_approval(lake: Lake) -> None:
    write(lake, JANUARY, FEBRUARY)
    assert not pointer.was_published(lake, JANUARY) and pointer.read_latest(lake, "spec").snapshot is None
    found = pointer.publish(lake, JANUARY, {"by": "Ada"})
    mark = read_mark(lake, f"published/{JANUARY}")
    sha256 = hashlib.sha256(lake.get(f"snapshots/{JANUARY}/manifest.json")[0]).hexdigest()
    assert (mark["approved"], mark["manifest_sha256"], found.manifest_sha256) == ({"by": "Ada"}, sha256, sha256)
    assert pointer.publish(lake, JANUARY) == found == pointer.read_latest(lake, "spec")
    assert read_mark(lake, f"published/{JANUARY}") == mark and len(mark["at"]) == 25
    pointer.publish(lake, FEBRUARY)
    assert "approved" not in read_mark(lake, f"published/{FEBRUARY}")
    lake.delete(f"snapshots/spec/published/{FEBRUARY}")
    assert pointer.was_published(lake, FEBRUARY) and not markers.has_publication_marker(lake, FEBRUARY)


@pytest.mark.parametrize(
    ("first", "second", "latest"),
    [
        (FEBRUARY, JANUARY, FEBRUARY),  # a backfill
        ("spec-20230101-00000001", "spec-20230101-00000002", "spec-20230101-00000002"),  # a rebuild of the same day
        ("spec-20230101T120000-00000001", "spec-20230101-00000002", "spec-20230101T120000-00000001"),
    ],
)
def test_snapshot_of_the_latest_time_is_the_latest(lake: Lake, first: str, second: str, latest: str) -> None:
    publish(lake, first, second)
    assert pointer.read_latest(lake, "spec").snapshot == latest
    assert set(markers.list_published(lake, "spec")) == {first, second}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lake, folder: lake.delete(f"{folder}/manifest.json"), "the snapshot is incomplete"),
        (lambda lake, folder: lake.delete(f"{folder}/file"), "bytes, but the file does not exist"),
        (lambda lake, folder: lake.put(f"{folder}/file", b"half"), "but the file has 4"),
    ],
)
def test_pointer_never_names_an_incomplete_snapshot(lake: Lake, damage: Any, message: str) -> None:
    write(lake, JANUARY)
    damage(lake, f"snapshots/{JANUARY}")
    with pytest.raises(UserError, match=message):
        pointer.publish(lake, JANUARY)
    assert pointer.read_latest(lake, "spec").snapshot is None


def test_yank_moves_the_pointer_back_and_restore_undoes_it(lake: Lake) -> None:
    publish(lake, JANUARY, FEBRUARY)
    assert pointer.yank(lake, JANUARY, "a wrong license").snapshot == FEBRUARY, "the pointer names a later snapshot"
    assert pointer.restore(lake, JANUARY, "the license was right").snapshot == FEBRUARY
    for _ in range(2):
        assert pointer.yank(lake, FEBRUARY, f" {REASON} ").snapshot == JANUARY
        assert markers.list_published(lake, "spec") == [JANUARY]
        assert read_mark(lake, f"yanked/{FEBRUARY}")["reason"] == REASON
        with pytest.raises(UserError, match="was yanked"):
            pointer.publish(lake, FEBRUARY)
        assert pointer.restore(lake, FEBRUARY, "it was all there after all").snapshot == FEBRUARY
    record = read_mark(lake, f"restored/{FEBRUARY}")
    assert [(one["reason"], one["yanked"]["reason"]) for one in record] == [("it was all there after all", REASON)] * 2
    pointer.yank(lake, FEBRUARY, REASON)
    assert pointer.yank(lake, JANUARY, "so was this one").snapshot is None
    pointer.check_pointer(lake, ReleaseId("spec-20230301"))
    with pytest.raises(UserError, match="all its snapshots were yanked"):
        open_snapshot("spec", lake.root)


def test_folder_without_snapshot_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("S2CORPUS_LAKE", raising=False)
    (tmp_path / "papers").mkdir()
    (tmp_path / "lake/snapshots").mkdir(parents=True)
    with pytest.raises(
        UserError, match=r"^the folder papers has no manifest\.json .* of a spec\. To open the corpus papers "
    ):
        open_snapshot("papers")
    with pytest.raises(UserError, match=r"a lake has its snapshots in snapshots/<spec>"):
        open_snapshot("lake")
    with pytest.raises(UserError, match=r"^no lake given"):
        open_snapshot("absent")


@pytest.mark.parametrize(
    ("act", "snapshot", "reason", "message"),
    [
        (pointer.yank, FEBRUARY, REASON, rf"{FEBRUARY} was never published; published snapshots: {JANUARY}$"),
        (pointer.yank, JANUARY, " 123456789 ", "write why, in at least 10 characters"),
        (pointer.yank, "no-id", REASON, "not a snapshot id"),
        (pointer.restore, JANUARY, "123456789", "is not a reason"),
        (pointer.restore, JANUARY, REASON, f"{JANUARY} is not yanked; yanked snapshots: none"),
    ],
)
def test_yank_and_restore_need_a_fitting_snapshot_and_a_reason(
    lake: Lake, act: Callable[[Lake, str, str], object], snapshot: str, reason: str, message: str
) -> None:
    publish(lake, JANUARY)
    with pytest.raises(UserError, match=message):
        act(lake, snapshot, reason)
    assert pointer.yank(lake, JANUARY, "1234567890").snapshot is None, "ten characters are a reason"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda lake: pruning.prune(lake, JANUARY), "was pruned: its files were deleted"),
        (lambda lake: lake.put(f"snapshots/{JANUARY}/manifest.json", b'{"files": []}'), "not restored"),
        (lambda lake: lake.put(f"snapshots/spec/published/{JANUARY}", b"[]"), "is damaged"),
        (lambda lake: lake.put(f"snapshots/spec/yanked/{JANUARY}", b" " * 70_000), "is damaged"),
    ],
)
def test_changed_snapshot_or_damaged_mark_is_not_restored(lake: Lake, damage: Any, says: str) -> None:
    publish(lake, JANUARY)
    pointer.yank(lake, JANUARY, REASON)
    damage(lake)
    with pytest.raises(UserError, match=says):
        pointer.restore(lake, JANUARY, "it was all there after all")


def test_one_concurrent_publisher_wins_and_others_report_it(lake: Lake) -> None:
    snapshots = [f"spec-2023010{i}-0000000{i}" for i in range(1, 9)]
    write(lake, *snapshots)
    start = threading.Barrier(len(snapshots))

    def contend(snapshot: str) -> str | None:
        start.wait()
        try:
            pointer.publish(lake, snapshot)
        except LostRace as lost:
            assert "another publisher was first" in str(lost)
            return None
        return snapshot

    with ThreadPoolExecutor(len(snapshots)) as pool:
        winners = {snapshot for snapshot in pool.map(contend, snapshots) if snapshot}
    assert pointer.read_latest(lake, "spec").snapshot in winners
    assert set(markers.list_published(lake, "spec")) == winners


def test_prune_keeps_the_newest_and_deletes_yanked_snapshots(lake: Lake) -> None:
    publish(lake, JANUARY, FEBRUARY, MARCH)
    assert pruning.list_prunable(lake, "spec", 2) == [JANUARY]
    assert pruning.list_prunable(lake, "spec", 1) == [JANUARY, FEBRUARY]
    assert pruning.prune(lake, JANUARY) == 2
    assert not list(lake.list(f"snapshots/{JANUARY}/"))
    with pytest.raises(UserError, match=r"latest\.json points to"):
        pruning.prune(lake, MARCH)
    assert markers.list_published(lake, "spec") == [FEBRUARY, MARCH]
    pointer.yank(lake, MARCH, "a wrong license")
    assert pruning.list_prunable(lake, "spec", 5) == [MARCH]
    with pytest.raises(UserError, match=r"no snapshot of other was ever published; specs with snapshots: spec$"):
        pruning.list_prunable(lake, "other", 1)


def test_each_move_has_the_next_sequence_number(lake: Lake) -> None:
    """SPEC §10.18: consumers order and recognize moves by it. Other publications leave it unchanged."""

    def read_sequence() -> int:
        value: int = json.loads(lake.get("snapshots/spec/latest.json")[0])["sequence"]
        return value

    publish(lake, FEBRUARY)
    assert read_sequence() == 1
    publish(lake, JANUARY, FEBRUARY, JANUARY)
    assert read_sequence() == 1, "an earlier release and a repetition move nothing"
    publish(lake, MARCH)
    pointer.yank(lake, MARCH, REASON)
    assert read_sequence() == 3
    pointer.restore(lake, MARCH, REASON)
    assert read_sequence() == 4
    lake.delete("snapshots/spec/latest.json")
    assert pointer.move_to_newest(lake, "spec").sequence == read_sequence() > 4, "a lost pointer reuses no number"


def test_pointer_of_an_older_version_has_no_sequence_number(lake: Lake) -> None:
    write(lake, JANUARY, FEBRUARY)
    lake.put("snapshots/spec/latest.json", pointing())
    assert pointer.read_latest(lake, "spec").sequence == 0
    assert pointer.publish(lake, FEBRUARY).sequence == 1


def pointing(**others: Any) -> bytes:
    value = {"snapshot": JANUARY, "manifest": f"snapshots/{JANUARY}/manifest.json", "manifest_sha256": "0" * 64}
    return json.dumps(value | others).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe", b"[" * 60_000, pointing(snapshot=5), pointing(snapshot="../../x"), pointing(snapshot="other-20230101-00000000"),
        pointing(manifest="snapshots/x/manifest.json"), pointing(manifest_sha256="../x"), pointing(sequence="9"), pointing(sequence=-1),
        b" " * 70_000 + pointing(),
    ],
)  # fmt: skip
def test_damaged_pointer_gives_one_sentence(lake: Lake, tmp_path: Path, data: bytes) -> None:
    write(lake, JANUARY, FEBRUARY)
    lake.put("snapshots/spec/latest.json", data)
    (tmp_path / "spec.yaml").write_text("name: spec\n")
    LocalLake(tmp_path).put("drops/one/_READY", b"{}")
    build = [
        "build", str(tmp_path / "spec.yaml"), "--as-of", "2023-02-01", "--lake", lake.root, "--from", str(tmp_path),
    ]  # fmt: skip
    acts: list[Callable[[], object]] = [
        lambda: pointer.check_pointer(lake, ReleaseId("spec-20230301")), lambda: pointer.publish(lake, FEBRUARY),
        lambda: open_snapshot("spec", lake.root), lambda: open_snapshot(f"{lake.root}/snapshots/spec"),
        lambda: corpus.main(build, standalone_mode=False),
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(UserError, match=r"latest\.json is damaged") as refused:
            act()
        assert "\n" not in str(refused.value)
    assert lake.get("snapshots/spec/latest.json")[0] == data
    assert not list(lake.list("drops")), "nothing is delivered"


def test_pointer_to_missing_snapshot_is_refused(lake: Lake) -> None:
    lake.put("snapshots/spec/latest.json", pointing())
    with pytest.raises(
        UserError, match=rf"names {JANUARY}, which has no manifest.*run the release spec-20230101 again"
    ):
        pointer.check_pointer(lake, ReleaseId("spec-20230301"))
    pointer.check_pointer(lake, SnapshotId(JANUARY).release)
    with pytest.raises(UserError, match=rf"names {JANUARY}, but .* has no manifest"):
        open_snapshot("spec", lake.root)
    write(lake, JANUARY)
    pointer.check_pointer(lake, ReleaseId("spec-20230301"))
    assert open_snapshot("spec", lake.root).root == f"{lake.root}/snapshots/{JANUARY}"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (os.mkfifo, "not a regular file"),
        (Path.mkdir, "not a regular file"),
        (lambda path: path.symlink_to(path.parents[3] / "outside"), "leads out of"),
    ],
)
def test_pointer_must_be_a_regular_file(tmp_path: Path, make: Callable[[Path], object], says: str) -> None:
    lake, path = LocalLake(tmp_path / "lake"), tmp_path / "lake/snapshots/spec/latest.json"
    write(lake, JANUARY)
    path.parent.mkdir()
    (tmp_path / "outside").write_bytes(pointing())
    make(path)
    with pytest.raises(UserError, match=says):
        open_snapshot("spec", lake.root)


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"files": 5}', b'{"files": [{}]}'])
def test_pointer_never_names_a_damaged_manifest(lake: Lake, damage: bytes) -> None:
    publish(lake, JANUARY, FEBRUARY)
    lake.put(f"snapshots/{JANUARY}/manifest.json", damage)
    with pytest.raises(UserError, match=r"manifest\.json is damaged"):
        pointer.publish(lake, JANUARY)
    with pytest.raises(UserError, match=r"manifest\.json is damaged"):
        pointer.yank(lake, FEBRUARY, REASON)
    assert pointer.read_latest(lake, "spec").snapshot == FEBRUARY
    assert markers.list_published(lake, "spec") == [JANUARY, FEBRUARY], "nothing is yanked halfway"


def test_yank_asks_only_at_a_terminal(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC §10.13: at a terminal, `corpus yank` requires confirmation before it withdraws a snapshot."""
    publish(lake, JANUARY)
    for answer, is_terminal, words, stops in [
        ("n", True, [], True), ("y", True, [], False), ("n", True, ["--yes"], False), ("n", False, [], False),
    ]:  # fmt: skip
        stdin = io.StringIO(f"{answer}\n")
        monkeypatch.setattr(stdin, "isatty", lambda answer=is_terminal: answer)
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(click.Abort) if stops else nullcontext():
            corpus.main(["yank", JANUARY, "--reason", REASON, *words, "--lake", lake.root], standalone_mode=False)
            pointer.restore(lake, JANUARY, "it was all there")
        assert stdin.tell() == (2 if is_terminal and not words else 0), "the question is answered"
