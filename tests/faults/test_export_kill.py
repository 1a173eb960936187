"""The export is killed at random moments and run again.

The result is one snapshot with the same checksums, and the pointer always names a complete snapshot.
"""

from __future__ import annotations

import os
import random
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from devtools.local import Endpoints
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import pointer
from s2corpus.snapshot.pointer import publish
from s2corpus.snapshot.reader import open_snapshot
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.export import ExportStage
from s2corpus.stages.split import SplitStage
from s2corpus.storage.lake import Lake, open_lake
from tests import children
from tests.unit.s2corpus.snapshot.release import AS_OF, lay_out, papers, through, work

SPEC = ReleaseSpec.model_validate({"name": "killed", "export": {"files": 4}})
KILLS = 20
LATER = AS_OF + timedelta(days=31)


def export_and_publish(run: Run) -> None:
    work(run, ExportStage())
    ExportStage().finish(run)
    publish(run.lake, run.snapshot_id)


def etags(lake: Lake, snapshot: str) -> dict[str, str]:
    return {entry.key: lake.etag(entry.key) for entry in lake.list(f"snapshots/{snapshot}/")}


def cleaned(lake: Lake, scratch: Path, count: int) -> Run:
    """Build a release up to its splits."""
    return through(lay_out(lake, scratch, SPEC, papers(count), buckets=4), CleanStage(), SplitStage())


def moved(run: Run) -> Run:
    """Copy the same tables to another release, a month later."""
    later = Run(run.spec, LATER, run.lake, run.scratch)
    for entry in list(run.lake.list(f"releases/{run.release_id}/")):
        if "/_export/" not in entry.key:
            run.lake.put(entry.key.replace(run.release_id, later.release_id), run.lake.get(entry.key)[0])
    return later


def export_in_a_child(lake: str, scratch: Path) -> None:
    export_and_publish(Run(SPEC, LATER, open_lake(lake), scratch))


class Reader(threading.Thread):
    """Continuously reads the snapshot that `latest.json` names."""

    def __init__(self, lake: str) -> None:
        super().__init__(daemon=True)
        self._lake = lake
        self.stopped = threading.Event()
        self.verified: list[str] = []
        self.faults: list[str] = []

    def run(self) -> None:
        """Read the pointer repeatedly until stopped; verify each new snapshot and repeat the verification now and then."""
        lake = open_lake(self._lake)
        while not self.stopped.is_set():
            snapshot = pointer.read_latest(lake, SPEC.name).snapshot
            assert snapshot is not None
            if snapshot not in self.verified[-1:] or len(self.verified) % 5 == 0:
                self.faults += [str(fault) for fault in verify(open_snapshot(f"{self._lake}/snapshots/{snapshot}"))]
            self.verified.append(snapshot)
            time.sleep(0.05)


@pytest.mark.long
@pytest.mark.services
def test_export_killed_at_any_moment_is_completed_by_the_next(
    services: Endpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)
    uri = f"{os.environ['S2CORPUS_LAKE']}/killed"
    lake = open_lake(uri)
    first = cleaned(lake, tmp_path, 3 * KILLS)
    export_and_publish(first)
    later = moved(first)

    start = time.monotonic()
    whole = Run(SPEC, LATER, open_lake(f"{os.environ['S2CORPUS_LAKE']}/whole"), tmp_path)
    for entry in list(lake.list(f"releases/{later.release_id}/")):
        whole.lake.put(entry.key, lake.get(entry.key)[0])
    export_and_publish(whole)
    expected = etags(whole.lake, whole.snapshot_id)
    takes = time.monotonic() - start

    reader = Reader(uri)
    reader.start()
    rng = random.Random(KILLS)
    died = 0
    for _ in range(KILLS):
        child = children.start(export_in_a_child, uri, tmp_path)
        child.join(rng.uniform(0, takes))
        if child.is_alive():
            child.kill()
            child.join()
            died += 1
    export_and_publish(later)
    until = time.monotonic() + 60
    while reader.verified[-1:] != [later.snapshot_id] and time.monotonic() < until:
        time.sleep(0.1)
    reader.stopped.set()
    reader.join(30)

    assert died >= KILLS // 4
    assert reader.faults == []
    assert reader.verified[0] == first.snapshot_id
    assert reader.verified[-1] == later.snapshot_id
    assert etags(lake, later.snapshot_id) == expected
    assert {entry.key.split("/")[1] for entry in lake.list("snapshots/")} == {
        "killed",
        first.snapshot_id,
        later.snapshot_id,
    }
    assert list(verify(open_snapshot(f"{uri}/snapshots/killed"))) == []
