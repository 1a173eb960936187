"""The pointer: only ever at a whole snapshot, moved by one publisher at a time, moved back by a yank."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from click.testing import CliRunner

from s2corpus.commands import prune
from s2corpus.errors import UserError
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake

JANUARY, FEBRUARY, MARCH = (f"spec-2023{month}01-0000000{i}" for i, month in enumerate(("01", "02", "03")))


def whole(lake: Lake, *snapshots: str) -> None:
    """Snapshots of one file each."""
    for snapshot in snapshots:
        lake.put(f"snapshots/{snapshot}/file", snapshot.encode())
        manifest = {"files": [{"path": "file", "bytes": len(snapshot)}]}
        lake.put(f"snapshots/{snapshot}/manifest.json", json.dumps(manifest).encode())


def test_nothing_is_published_at_first(lake: Lake) -> None:
    assert pointer.latest(lake, "spec").snapshot is None
    assert pointer.published(lake, "spec") == []


def test_publishing_moves_the_pointer_and_doing_it_twice_changes_nothing(lake: Lake) -> None:
    whole(lake, JANUARY)
    first = pointer.publish(lake, JANUARY)
    mark = lake.get(f"snapshots/spec/published/{JANUARY}")
    assert pointer.publish(lake, JANUARY) == first == pointer.latest(lake, "spec")
    assert lake.get(f"snapshots/spec/published/{JANUARY}") == mark


def test_a_later_instant_stays_the_latest(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, FEBRUARY)
    pointer.publish(lake, JANUARY)  # a backfill
    assert pointer.latest(lake, "spec").snapshot == FEBRUARY
    assert pointer.published(lake, "spec") == [JANUARY, FEBRUARY]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("manifest.json", "no manifest: the snapshot is not whole"),
        ("file", "in the manifest, no such file"),
    ],
)
def test_a_half_written_snapshot_is_never_pointed_at(lake: Lake, damage: str, message: str) -> None:
    whole(lake, JANUARY)
    lake.delete(f"snapshots/{JANUARY}/{damage}")
    with pytest.raises(UserError, match=message):
        pointer.publish(lake, JANUARY)
    assert pointer.latest(lake, "spec").snapshot is None


def test_a_truncated_file_is_noticed(lake: Lake) -> None:
    whole(lake, JANUARY)
    lake.put(f"snapshots/{JANUARY}/file", b"half")
    with pytest.raises(UserError, match="4 found"):
        pointer.publish(lake, JANUARY)


def test_a_yank_moves_the_pointer_back_and_is_recorded(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    pointer.publish(lake, FEBRUARY)
    assert pointer.yank(lake, FEBRUARY, "half of it was missing").snapshot == JANUARY
    assert pointer.published(lake, "spec") == [JANUARY]
    mark: dict[str, Any] = json.loads(lake.get(f"snapshots/spec/yanked/{FEBRUARY}")[0])
    assert mark["reason"] == "half of it was missing"
    with pytest.raises(UserError, match="was yanked"):
        pointer.publish(lake, FEBRUARY)
    assert pointer.yank(lake, JANUARY, "so was this one").snapshot is None


def test_yanking_an_older_one_leaves_the_pointer(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    pointer.publish(lake, FEBRUARY)
    assert pointer.yank(lake, JANUARY, "wrong licence").snapshot == FEBRUARY


@pytest.mark.parametrize(
    ("snapshot", "reason"), [(FEBRUARY, "never published"), (JANUARY, " "), (JANUARY, "too short"), ("no-id", "x")]
)
def test_a_yank_needs_a_published_snapshot_and_a_reason(lake: Lake, snapshot: str, reason: str) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    with pytest.raises(UserError, match=r"never published|is not a reason|not a snapshot id"):
        pointer.yank(lake, snapshot, reason)


def test_of_two_publishers_at_once_one_wins_and_the_other_says_so(lake: Lake) -> None:
    snapshots = [f"spec-2023010{i}-0000000{i}" for i in range(1, 9)]
    whole(lake, *snapshots)
    start = threading.Barrier(len(snapshots))
    said: dict[str, str] = {}

    def publish(snapshot: str) -> None:
        start.wait()
        try:
            pointer.publish(lake, snapshot)
        except pointer.LostRace as lost:
            said[snapshot] = str(lost)

    threads = [threading.Thread(target=publish, args=(snapshot,)) for snapshot in snapshots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winner = pointer.latest(lake, "spec").snapshot
    assert winner in set(snapshots) - set(said)
    assert all("another publisher was first" in words for words in said.values())
    assert set(pointer.published(lake, "spec")) == set(snapshots) - set(said)


def test_pruning_keeps_the_newest_and_what_is_pointed_at(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY, MARCH)
    for snapshot in (JANUARY, FEBRUARY, MARCH):
        pointer.publish(lake, snapshot)
    assert pointer.prunable(lake, "spec", 2) == [JANUARY]
    assert pointer.prunable(lake, "spec", 1) == [JANUARY, FEBRUARY]
    assert pointer.prune(lake, JANUARY) == 2
    assert pointer.prunable(lake, "spec", 2) == []
    assert not list(lake.list(f"snapshots/{JANUARY}/"))
    with pytest.raises(UserError, match=r"latest\.json points at"):
        pointer.prune(lake, MARCH)
    assert pointer.published(lake, "spec") == [FEBRUARY, MARCH]


def test_a_yanked_snapshot_is_pruned(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    pointer.publish(lake, JANUARY)
    pointer.publish(lake, FEBRUARY)
    pointer.yank(lake, FEBRUARY, "a wrong licence")
    assert pointer.prunable(lake, "spec", 5) == [FEBRUARY]


def test_a_yank_is_undone_and_both_are_recorded(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY)
    for snapshot in (JANUARY, FEBRUARY):
        pointer.publish(lake, snapshot)
    for _ in range(2):
        pointer.yank(lake, FEBRUARY, "half of it was missing")
        assert pointer.restore(lake, FEBRUARY, "it was all there after all").snapshot == FEBRUARY
    assert pointer.published(lake, "spec") == [JANUARY, FEBRUARY]
    record = json.loads(lake.get(f"snapshots/spec/restored/{FEBRUARY}")[0])
    assert [(one["reason"], one["yanked"]["reason"]) for one in record] == [
        ("it was all there after all", "half of it was missing")
    ] * 2


def test_restoring_an_older_one_leaves_the_pointer(lake: Lake) -> None:
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
        (lambda lake: pointer.prune(lake, JANUARY), "a good reason", "no manifest"),
        (
            lambda lake: lake.put(f"snapshots/{JANUARY}/manifest.json", b'{"files": []}'),
            "a good reason",
            "not restored",
        ),
    ],
)
def test_what_cannot_be_restored_is_said(lake: Lake, damage: Any, reason: str, says: str) -> None:
    whole(lake, JANUARY)
    pointer.publish(lake, JANUARY)
    pointer.yank(lake, JANUARY, "a wrong licence")
    damage(lake)
    with pytest.raises(UserError, match=says):
        pointer.restore(lake, JANUARY, reason)


def test_a_dry_run_says_what_would_stay_after(lake: Lake) -> None:
    whole(lake, JANUARY, FEBRUARY, MARCH)
    for snapshot in (JANUARY, FEBRUARY, MARCH):
        pointer.publish(lake, snapshot)
    said = CliRunner().invoke(prune.command, ["spec", "--keep", "1", "--lake", lake.root]).output
    assert f"1 published snapshots of spec would stay: {MARCH}" in said
