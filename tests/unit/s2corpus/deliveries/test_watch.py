"""A watch announces every drop and delivery once, and status rows contain its outcome (docs/drops.md)."""

from pathlib import Path

import orjson
import pytest

from s2corpus.deliveries.status import (
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
from s2corpus.drops.standing import iterate_drop_statuses
from s2corpus.outcomes import Refusal
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from tests.unit.s2corpus.deliveries.samples import AS_OF, Racing, deliver, intake

PDF = {"a.pdf": b"A"}
SNAPSHOT = "t-20230201-00000000"


def folders(arrivals: list[Arrival]) -> list[str]:
    return [arrival.folder for arrival in arrivals]


def states(lake: Lake) -> dict[str, str]:
    return {row.folder: row.outcome for row in iterate_statuses(lake)}


# -- Status rows.


def test_row_is_stored_once_by_folder(lake: Lake) -> None:
    first = Arrival("sources/dblp/1/", "0")
    put_row(lake, ArrivalStatus("sources/dblp/10/", "0", ArrivalState.PROCESSED))
    announce(lake, first)
    row = ArrivalStatus(first.folder, "0", ArrivalState.REFUSED, Refusal.CHANGED, "a.pdf", warnings=["w"])
    put_row(lake, row)
    announce(lake, first)
    assert read_status(lake, first) == row and read_status(lake, Arrival(first.folder, "1")) is None
    put_row(lake, ArrivalStatus(first.folder, "1", ArrivalState.ANNOUNCED))
    assert read_status(lake, first) is None
    assert list_open(lake) == [Arrival(first.folder, "1")]
    lake.put("arrivals/closed/sources/dblp/1/1.json", lake.get("arrivals/open/sources/dblp/1/1.json")[0])
    assert list_open(lake) == [], "a killed writer left both rows"
    assert [row.mark for row in read_statuses(lake, [first, Arrival(first.folder, "1")])] == ["1"]


def test_row_of_another_watch_is_not_overwritten(tmp_path: Path) -> None:
    announce(Racing(tmp_path), Arrival("drops/a/", "0"))
    assert LocalLake(tmp_path).get("arrivals/open/drops/a/0.json")[0] == b"another"


def test_drop_state_follows_row_release_and_paused_dag(lake: Lake, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        deliver(lake, f"drops/{name}", PDF)
    lake.put("drops/d/a.pdf", b"still coming")
    deliver(lake, "drops/e", PDF, listed={"a.pdf": b"B"})
    lake.put("drops/f/_READY", b"{")
    mark = hash_ready_file(lake, "drops/c/")
    assert mark
    put_row(lake, ArrivalStatus("drops/c/", mark, ArrivalState.REFUSED, Refusal.CHANGED, "a.pdf"))
    intake(Run(ReleaseSpec(name="t", drops=("a", "e", "f")), AS_OF, lake, tmp_path))
    stopped = {s.row.name: (s.outcome, s.detail) for s in iterate_drop_statuses(lake)}  # No snapshot is published yet.
    assert stopped["drops/a"] == ("waiting", "") and stopped["drops/e"][0] == "refused:changed"
    assert stopped["drops/e"][1].endswith("(not in t-20230201)")
    pointer = {"snapshot": SNAPSHOT, "manifest": f"snapshots/{SNAPSHOT}/manifest.json", "manifest_sha256": "0" * 64}
    lake.put("snapshots/t/latest.json", orjson.dumps(pointer))
    lake.put("snapshots/u/latest.json", b"{")  # The damaged pointer of another spec hides nothing.
    stand = {s.row.name: (s.outcome, s.detail) for s in iterate_drop_statuses(lake)}
    assert stand == {
        "drops/a": ("released", f"in {SNAPSHOT}"), "drops/b": ("waiting", ""),
        "drops/c": ("refused:changed", "a.pdf"), "drops/d": ("writing", ""),
        "drops/e": ("refused:changed", f"a.pdf: its SHA-256 is not the listed one (not in {SNAPSHOT})"),
        "drops/f": ("refused:unreadable", stand["drops/f"][1]),
    }  # fmt: skip
    assert stand["drops/f"][1].startswith("_READY: ") and stand["drops/f"][1].endswith(f"(not in {SNAPSHOT})")
    paused = {s.row.name: (s.outcome, s.detail[:42]) for s in iterate_drop_statuses(lake, paused=True)}
    short = {name: (outcome, detail[:42]) for name, (outcome, detail) in stand.items()}
    assert paused == short | {"drops/b": ("paused", "ready, but the DAG pdf_drops is paused in ")}
    for name in ("e", "f"):
        deliver(lake, f"drops/{name}", PDF, "2023-01-02T00:00:00Z")
    assert [s.outcome for s in iterate_drop_statuses(lake)][-2:] == ["waiting", "waiting"], "they were delivered again"
    lake.put("snapshots/t/latest.json", orjson.dumps({"snapshot": None}))
    assert next(s.name for s in iterate_drop_statuses(lake)) == "waiting", "a withdrawn snapshot contains nothing"


# -- Watches.


def test_each_ready_file_is_announced_once(lake: Lake) -> None:
    """The rows are in the lake before the event is fired, so a run that the event starts finds them."""
    lake.put("drops/a/a.pdf", b"A")
    watch = Watch(lake)
    assert watch.poll() == [] and states(lake) == {"drops/a/": "writing"}
    deliver(lake, "drops/a", PDF)
    deliver(lake, "sources/dblp/1", {"records.jsonl": b""})
    assert states(lake) == {"drops/a/": "waiting", "sources/dblp/1/": "waiting"}
    assert folders(watch.poll()) == ["drops/a/", "sources/dblp/1/"]
    assert states(lake) == {"drops/a/": "announced", "sources/dblp/1/": "announced"}
    assert watch.poll() == []
    deliver(lake, "drops/a", PDF)
    assert watch.poll() == [], "an identical _READY is no new arrival"
    deliver(lake, "drops/a", PDF, "2023-01-02T00:00:00Z")
    assert folders(watch.poll()) == ["drops/a/"]


def test_many_folders_are_examined_in_turn(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("NEW", "KNOWN"):
        monkeypatch.setattr(f"s2corpus.deliveries.status.MAX_{kind}_PER_POLL", 2)
    watch = Watch(lake)
    for day in (1, 2):  # All five are new, then known.
        for name in "abcde":
            deliver(lake, f"drops/{name}", PDF, f"2023-01-0{day}T00:00:00Z")
        found = [folder for _ in range(3) for folder in folders(watch.poll())]
        assert sorted(found) == [f"drops/{name}/" for name in "abcde"]


def test_lost_event_is_fired_again_until_a_run_begins(lake: Lake) -> None:
    """A triggerer can be killed before Airflow stored the event. A new watch fires at once, then after at most an hour."""
    deliver(lake, "drops/a", PDF)
    (arrival,) = Watch(lake).poll()
    watch, now = Watch(lake), 1_000.0
    assert watch.poll(now) == [arrival]
    assert watch.poll(now + 59) == []
    for _ in range(8):
        now += 3600
        assert watch.poll(now) == [arrival]
    assert watch.poll(now + 3599) == []
    for state in (ArrivalState.REGISTERED, ArrivalState.PROCESSED):
        put_row(lake, ArrivalStatus(arrival.folder, arrival.mark, state))
        now += 9_999
        assert watch.poll(now) == [], "a run has begun with the arrival"


def test_folders_with_impossible_names_are_ignored(tmp_path: Path) -> None:
    class Hostile(LocalLake):
        """A lake with folder names that S3 allows and no file path can have."""

        def folders(self, prefix: str) -> list[str]:
            return ["", ".", "..", "a\0b", *super().folders(prefix)]

    lake = Hostile(tmp_path)
    deliver(lake, "drops/a\nrefused", {})
    assert folders(Watch(lake).poll()) == ["drops/a\nrefused/"]
    assert [str(row) for row in iterate_statuses(lake)] == ["drops/a\\nrefused: announced"]
