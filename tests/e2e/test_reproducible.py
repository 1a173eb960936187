"""The same inputs give the same bytes, however the work is divided, ordered, spread over processes, or interrupted by a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from devtools.sample.truth import Truth
from s2corpus.pipeline import runner
from s2corpus.pipeline.stages import STAGE_NAMES
from tests import children
from tests.releases import AS_OF, ROOT, run_in, snapshot_bytes, spec

pytestmark = pytest.mark.slow
SMALL = {"pdfs_per_shard": 2, "papers_per_shard": 2}


@pytest.mark.long
def test_build_killed_at_many_moments_gives_same_bytes(
    tiny: tuple[Path, Truth], extracting: None, reference: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "s2corpus", "build", str(ROOT / "include/releases/sample.yaml")]
    command += ["--as-of", f"{AS_OF:%Y-%m-%d}", "--lake", f"{tmp_path}/lake", "--from", f"{tiny[0]}", "--workers", "2"]
    kills = 0
    for moment in (2.0, 4.0, 6.0, 8.0, 11.0, 14.0, 18.0, 600.0):
        with subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                output, _ = process.communicate(timeout=moment)
                assert process.returncode == 0, output.decode()
                assert f"read {tmp_path}/lake/snapshots/sample-20230201-" in output.decode(), (
                    "of this lake, not another"
                )
                break
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
    assert kills, "it was never killed: the first moment is too late"
    assert snapshot_bytes(run_in(tmp_path, spec())) == reference


def work_in_a_child(folder: Path, stage: str, shards: list[int], ready: Path) -> None:
    run = run_in(folder, spec(**SMALL))
    ready.touch()
    runner.work(run, stage, shards)


def test_other_shards_after_kills_give_same_bytes(
    tiny: tuple[Path, Truth], extracting: None, reference: dict[str, str], tmp_path: Path
) -> None:
    """Build with other shards. In each stage, kill a process and repeat its work backwards, twice with two processes."""
    run = run_in(tmp_path, spec(**SMALL), tiny[0])
    for name in STAGE_NAMES:
        shards = runner.plan(run, name)
        ready = tmp_path / f"{name}.ready"
        child = children.start(work_in_a_child, tmp_path, name, shards, ready)
        while not ready.exists():
            assert child.is_alive()
            time.sleep(0.01)
        time.sleep(0.1)
        with suppress(ProcessLookupError):  # the child may have ended
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.join()
        if name in ("select", "postprocess"):
            runner.run_rounds(run, name, workers=2)
        else:
            runner.work(run, name, shards[::-1])
            runner.run_rounds(run, name, first=1)
        runner.finish(run, name)
        runner.check(run, name)
    runner.publish(run)
    assert {"manifest.json", "README.md", "croissant.json", "v2/s2ag/valid/03.jsonl.gz"} <= set(reference)
    assert snapshot_bytes(run) == reference
