"""The pointer always names a complete snapshot, only one publisher at a time moves it, and a yank moves it back."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from s2corpus.commands import build, prune
from s2corpus.errors import LostRace, UserError
from s2corpus.snapshot import pointer
from s2corpus.snapshot.reader import open_snapshot, published_manifests
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake

JANUARY, FEBRUARY, MARCH = (f"spec-2023{month}01-0000000{i}" for i, month in enumerate(("01", "02", "03")))


def whole(lake: Lake, *snapshots: str) -> None:
    """Write snapshots with one file each."""
    for snapshot in snapshots:
        lake.put(f"snapshots/{snapshot}/file", snapshot.encode())
        manifest = {"files": [{"path": "file", "bytes": len(snapshot)}]}
        lake.put(f"snapshots/{snapshot}/manifest.json", json.dumps(manifest).encode())


def test_nothing_is_published_at_first(lake: Lake) -> None:
    assert pointer.read_latest(lake, "spec").snapshot is None
    assert pointer.list_published(lake, "spec") == []


def test_publishing_moves_the_pointer_and_is_idempotent(lake: Lake) -> None:
    whole(lake, JANUARY)
    first = pointer.publish(lake, JANUARY)
    mark = lake.get(f"snapshots/spec/published/{JANUARY}")
    assert pointer.publish(lake, JANUARY) == first == pointer.read_latest(lake, "spec")
    assert lake.get(f"snapshots/spec/published/{JANUARY}") == mark


def test_marks_record_time_checksum_and_approval(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    assert not pointer.was_published(lake, JANUARY)
    found = pointer.publish(lake, JANUARY, {"by": "Ada"})
    pointer.publish(lake, FEBRUARY)
    mark = json.loads(lake.get(f"snapshots/spec/published/{JANUARY}")[0])
    sha256 = hashlib.sha256(lake.get(f"snapshots/{JANUARY}/manifest.json")[0]).hexdigest()
    assert (mark["approved"], mark["manifest_sha256"], found.manifest_sha256) == ({"by": "Ada"}, sha256, sha256)
    assert len(mark["at"]) == 25 and "approved" not in json.loads(lake.get(f"snapshots/spec/published/{FEBRUARY}")[0])
    assert pointer.was_published(lake, JANUARY) and not pointer.was_published(lake, MARCH)
    lake.delete(f"snapshots/spec/published/{FEBRUARY}")
    assert pointer.was_published(lake, FEBRUARY) and not pointer.has_publication_marker(lake, FEBRUARY)
    with pytest.raises(UserError, match=r"no snapshot of other was ever published; specs with snapshots: spec$"):
        pointer.list_prunable(lake, "other", 1)
    with pytest.raises(UserError, match=rf"{MARCH} was never published; published snapshots: {JANUARY}$"):
        pointer.yank(lake, MARCH, "a good reason")
    with pytest.raises(UserError, match=f"{JANUARY} is not yanked; yanked snapshots: none"):
        pointer.restore(lake, JANUARY, "a good reason")


@pytest.mark.parametrize(("reason", "is_long"), [("123456789", False), (" 123456789 ", False), ("1234567890", True)])
def test_reason_has_ten_characters(lake: Lake, reason: str, is_long: bool) -> None:
    whole(lake, JANUARY)
    pointer.publish(lake, JANUARY)
    if is_long:
        assert pointer.yank(lake, JANUARY, reason).snapshot is None
    else:
        with pytest.raises(UserError, match="write why, in at least 10 characters"):
            pointer.yank(lake, JANUARY, reason)


def test_later_release_remains_the_latest(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, FEBRUARY)
    pointer.publish(lake, JANUARY)  # A backfill.
    assert pointer.read_latest(lake, "spec").snapshot == FEBRUARY
    assert pointer.list_published(lake, "spec") == [JANUARY, FEBRUARY]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("manifest.json", "the snapshot is incomplete"),
        ("file", "bytes, but the file does not exist"),
    ],
)
def test_pointer_never_names_an_incomplete_snapshot(lake: Lake, damage: str, message: str) -> None:
    whole(lake, JANUARY)
    lake.delete(f"snapshots/{JANUARY}/{damage}")
    with pytest.raises(UserError, match=message):
        pointer.publish(lake, JANUARY)
    assert pointer.read_latest(lake, "spec").snapshot is None


def test_truncated_file_prevents_publishing(lake: Lake) -> None:
    whole(lake, JANUARY)
    lake.put(f"snapshots/{JANUARY}/file", b"half")
    with pytest.raises(UserError, match="but the file has 4"):
        pointer.publish(lake, JANUARY)


def test_yank_moves_the_pointer_back_and_is_recorded(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    pointer.publish(lake, FEBRUARY)
    assert pointer.yank(lake, FEBRUARY, "half of it was missing").snapshot == JANUARY
    assert pointer.list_published(lake, "spec") == [JANUARY]
    mark: dict[str, Any] = json.loads(lake.get(f"snapshots/spec/yanked/{FEBRUARY}")[0])
    assert mark["reason"] == "half of it was missing"
    with pytest.raises(UserError, match="was yanked"):
        pointer.publish(lake, FEBRUARY)
    assert pointer.yank(lake, JANUARY, "so was this one").snapshot is None


def test_yank_of_older_snapshot_does_not_move_pointer(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    pointer.publish(lake, FEBRUARY)
    assert pointer.yank(lake, JANUARY, "wrong licence").snapshot == FEBRUARY


@pytest.mark.parametrize(
    ("snapshot", "reason"), [(FEBRUARY, "never published"), (JANUARY, " "), (JANUARY, "too short"), ("no-id", "x")]
)
def test_yank_needs_a_published_snapshot_and_a_reason(lake: Lake, snapshot: str, reason: str) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    with pytest.raises(UserError, match=r"never published|is not a reason|not a snapshot id"):
        pointer.yank(lake, snapshot, reason)


def test_one_concurrent_publisher_wins_and_others_report_it(lake: Lake) -> None:
    snapshots = [f"spec-2023010{i}-0000000{i}" for i in range(1, 9)]
    whole(lake, *snapshots)
    start = threading.Barrier(len(snapshots))
    said: dict[str, str] = {}

    def publish(snapshot: str) -> None:
        start.wait()
        try:
            pointer.publish(lake, snapshot)
        except LostRace as lost:
            said[snapshot] = str(lost)

    threads = [threading.Thread(target=publish, args=(snapshot,)) for snapshot in snapshots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winner = pointer.read_latest(lake, "spec").snapshot
    assert winner in set(snapshots) - set(said)
    assert all("another publisher was first" in words for words in said.values())
    assert set(pointer.list_published(lake, "spec")) == set(snapshots) - set(said)


def test_prune_does_not_remove_newest_and_current_snapshots(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY, MARCH)
    for snapshot in (JANUARY, FEBRUARY, MARCH):
        pointer.publish(lake, snapshot)
    assert pointer.list_prunable(lake, "spec", 2) == [JANUARY]
    assert pointer.list_prunable(lake, "spec", 1) == [JANUARY, FEBRUARY]
    assert pointer.prune(lake, JANUARY) == 2
    assert pointer.list_prunable(lake, "spec", 2) == []
    assert not list(lake.list(f"snapshots/{JANUARY}/"))
    with pytest.raises(UserError, match=r"latest\.json points to"):
        pointer.prune(lake, MARCH)
    assert pointer.list_published(lake, "spec") == [FEBRUARY, MARCH]


def test_yanked_snapshot_is_pruned(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    pointer.publish(lake, FEBRUARY)
    pointer.yank(lake, FEBRUARY, "a wrong licence")
    assert pointer.list_prunable(lake, "spec", 5) == [FEBRUARY]


def test_restore_undoes_a_yank_and_both_are_recorded(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    for snapshot in (JANUARY, FEBRUARY):
        pointer.publish(lake, snapshot)
    for _ in range(2):
        pointer.yank(lake, FEBRUARY, "half of it was missing")
        assert pointer.restore(lake, FEBRUARY, "it was all there after all").snapshot == FEBRUARY
    assert pointer.list_published(lake, "spec") == [JANUARY, FEBRUARY]
    record = json.loads(lake.get(f"snapshots/spec/restored/{FEBRUARY}")[0])
    assert [(one["reason"], one["yanked"]["reason"]) for one in record] == [
        ("it was all there after all", "half of it was missing")
    ] * 2


def test_restore_of_older_snapshot_does_not_move_pointer(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    for snapshot in (JANUARY, FEBRUARY):
        pointer.publish(lake, snapshot)
    pointer.yank(lake, JANUARY, "a wrong licence")
    assert pointer.restore(lake, JANUARY, "the licence was right").snapshot == FEBRUARY


@pytest.mark.parametrize(
    ("damage", "reason", "says"),
    [
        (lambda lake: None, "short", "is not a reason"),
        (lambda lake: lake.delete(f"snapshots/spec/yanked/{JANUARY}"), "a good reason", "is not yanked"),
        (lambda lake: pointer.prune(lake, JANUARY), "a good reason", "is incomplete"),
        (
            lambda lake: lake.put(f"snapshots/{JANUARY}/manifest.json", b'{"files": []}'),
            "a good reason",
            "not restored",
        ),
    ],
)
def test_impossible_restore_is_explained(lake: Lake, damage: Any, reason: str, says: str) -> None:
    whole(lake, JANUARY)
    pointer.publish(lake, JANUARY)
    pointer.yank(lake, JANUARY, "a wrong licence")
    damage(lake)
    with pytest.raises(UserError, match=says):
        pointer.restore(lake, JANUARY, reason)


def test_dry_run_lists_the_remaining_snapshots(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY, MARCH)
    for snapshot in (JANUARY, FEBRUARY, MARCH):
        pointer.publish(lake, snapshot)
    said = CliRunner().invoke(prune.command, ["spec", "--keep", "1", "--lake", lake.root]).output
    assert f"1 published snapshots of spec would remain: {MARCH}" in said


def test_rebuild_of_same_day_moves_pointer(lake: Lake) -> None:
    first, second = "spec-20230101-00000001", "spec-20230101-00000002"
    whole(lake, first, second)
    pointer.publish(lake, first)
    assert pointer.publish(lake, second).snapshot == second
    assert pointer.read_latest(lake, "spec").snapshot == second


def test_later_time_of_same_day_stays_latest(lake: Lake) -> None:
    noon, midnight = "spec-20230101T120000-00000001", "spec-20230101-00000002"
    whole(lake, noon, midnight)
    pointer.publish(lake, noon)
    assert pointer.publish(lake, midnight).snapshot == noon


def pointing(**others: Any) -> bytes:
    value = {"snapshot": JANUARY, "manifest": f"snapshots/{JANUARY}/manifest.json", "manifest_sha256": "0" * 64}
    return json.dumps({name: given for name, given in (value | others).items() if given != "left out"}).encode()


DAMAGED = {
    "empty": b"",
    "no JSON": b"{",
    "not UTF-8": b"\xff\xfe",
    "a list": b"[]",
    "a text": b'"spec-20230101-00000000"',
    "null": b"null",
    "deep": b"[" * 60_000,
    "no snapshot": pointing(snapshot="left out"),
    "a number": pointing(snapshot=5),
    "a path outside": pointing(snapshot="../../x"),
    "a path": pointing(snapshot=f"./{JANUARY}"),
    "an address": pointing(snapshot="s3://other/snapshots/x"),
    "a day that does not exist": pointing(snapshot="spec-20230230-00000000"),
    "a line end after the id": pointing(snapshot=f"{JANUARY}\n"),
    "an id of another spec": pointing(snapshot="other-20230101-00000000"),
    "no manifest": pointing(manifest="left out"),
    "another manifest": pointing(manifest="snapshots/x/manifest.json"),
    "no checksum": pointing(manifest_sha256="left out"),
    "another checksum": pointing(manifest_sha256="../x"),
    "huge": b" " * 70_000 + pointing(),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_pointer_gives_one_sentence(lake: Lake, damage: str) -> None:
    whole(lake, JANUARY, FEBRUARY)
    lake.put("snapshots/spec/latest.json", DAMAGED[damage])
    acts: list[Callable[[], object]] = [
        lambda: pointer.read_latest(lake, "spec"),
        lambda: pointer.check_pointer(lake, "spec"),
        lambda: pointer.publish(lake, FEBRUARY),
        lambda: open_snapshot("spec", lake.root),
        lambda: open_snapshot(f"{lake.root}/snapshots/spec"),
    ]
    for act in acts:
        with pytest.raises(UserError, match=r"latest\.json is damaged") as refused:
            act()
        assert "\n" not in str(refused.value)
    assert lake.get("snapshots/spec/latest.json")[0] == DAMAGED[damage]


def test_pointer_to_missing_snapshot_is_refused(lake: Lake) -> None:
    lake.put("snapshots/spec/latest.json", pointing())
    with pytest.raises(UserError, match=rf"names {JANUARY}, which has no manifest"):
        pointer.check_pointer(lake, "spec")
    with pytest.raises(UserError, match=rf"names {JANUARY}, but .* has no manifest"):
        open_snapshot("spec", lake.root)
    whole(lake, JANUARY)
    pointer.check_pointer(lake, "spec")
    assert open_snapshot("spec", lake.root).root == f"{lake.root}/snapshots/{JANUARY}"


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"null", b"5", b'{"files": 5}', b'{"files": [5]}', b'{"files": [{}]}']
)
def test_pointer_never_names_a_damaged_manifest(lake: Lake, damage: bytes) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    pointer.publish(lake, FEBRUARY)
    lake.put(f"snapshots/{JANUARY}/manifest.json", damage)
    for act in (
        partial(pointer.publish, lake, JANUARY),
        partial(pointer.yank, lake, FEBRUARY, "half of it was missing"),
    ):
        with pytest.raises(UserError, match=r"manifest\.json is damaged"):
            act()
    assert pointer.read_latest(lake, "spec").snapshot == FEBRUARY
    assert pointer.list_published(lake, "spec") == [JANUARY, FEBRUARY], "nothing is yanked halfway"


@pytest.mark.parametrize("mark", ["published", "yanked"])
@pytest.mark.parametrize("damage", [b"", b"[]", b" " * 70_000])
def test_damaged_marker_gives_one_sentence(lake: Lake, mark: str, damage: bytes) -> None:
    whole(lake, JANUARY)
    pointer.publish(lake, JANUARY)
    pointer.yank(lake, JANUARY, "half of it was missing")
    lake.put(f"snapshots/spec/{mark}/{JANUARY}", damage)
    with pytest.raises(UserError, match="is damaged"):
        pointer.restore(lake, JANUARY, "it was all there after all")


def test_pointer_without_snapshot_is_valid(lake: Lake) -> None:
    lake.put("snapshots/spec/latest.json", json.dumps({"snapshot": None}).encode())
    pointer.check_pointer(lake, "spec")
    with pytest.raises(UserError, match="all its snapshots were yanked"):
        open_snapshot("spec", lake.root)


@pytest.mark.parametrize("kind", ["a FIFO", "a folder", "a link outside"])
def test_pointer_must_be_a_regular_file(tmp_path: Path, kind: str) -> None:
    lake = LocalLake(tmp_path / "lake")
    whole(lake, JANUARY)
    path = tmp_path / "lake/snapshots/spec/latest.json"
    path.parent.mkdir()
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    else:
        (tmp_path / "outside").write_bytes(pointing())
        path.symlink_to(tmp_path / "outside")
    with pytest.raises(UserError, match="leads out of" if kind == "a link outside" else "not a regular file"):
        open_snapshot("spec", lake.root)
    found = published_manifests(LocalLake(tmp_path / "lake/snapshots" / JANUARY))
    assert found == ({"0" * 64} if kind == "a link outside" else {"latest.json cannot be read"})


def test_build_checks_pointer_before_delivering(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text("name: spec\n")
    (tmp_path / "tree/drops/one").mkdir(parents=True)
    (tmp_path / "lake/snapshots/spec").mkdir(parents=True)
    (tmp_path / "lake/snapshots/spec/latest.json").write_bytes(pointing(snapshot="../../x"))
    words = ["spec.yaml", "--as-of", "2023-02-01", "--lake", "lake", "--from", "tree"]
    given = [str(tmp_path / word) if (tmp_path / word).exists() else word for word in words]
    result = CliRunner().invoke(build.command, given)
    assert isinstance(result.exception, UserError) and "latest.json is damaged" in str(result.exception)
    assert result.output == "" and not (tmp_path / "lake/drops").exists()
