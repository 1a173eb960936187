"""The same inputs give the same bytes, however the work is divided, ordered, spread over processes, or interrupted by a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from devtools.sample.truth import Truth
from tests.releases import AS_OF, ROOT, build, run_in, snapshot_bytes, spec

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reference(
    tiny: tuple[Path, Truth], extractor: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Build the tiny sample's snapshot in one piece; return its hashes."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in extractor.items():
            patch.setenv(name, value)
        run = run_in(tmp_path_factory.mktemp("reference"), spec(), tiny[0])
        build(run)
        return snapshot_bytes(run)


@pytest.fixture
def environment(extractor: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)


def test_the_snapshot_holds_what_it_should(reference: dict[str, str]) -> None:
    assert {"manifest.json", "README.md", "stats.json", "croissant.json", "funnel.csv", "index.parquet"} <= set(
        reference
    )
    assert {"v2/s2orc/train/00.jsonl.gz", "v2/s2ag/valid/03.jsonl.gz"} <= set(reference)


@pytest.mark.parametrize(
    ("resources", "backwards", "workers"),
    [
        ({}, False, 1),
        ({"pdfs_per_shard": 1, "papers_per_shard": 2}, True, 1),
        ({"pdfs_per_shard": 5, "papers_per_shard": 3}, True, 2),
    ],
    ids=["again", "small shards, backwards", "other shards, two processes"],
)
def test_the_same_release_has_the_same_bytes(
    tiny: tuple[Path, Truth],
    environment: None,
    reference: dict[str, str],
    tmp_path: Path,
    resources: dict[str, int],
    backwards: bool,
    workers: int,
) -> None:
    run = run_in(tmp_path, spec(**resources), tiny[0])
    build(run, backwards=backwards, workers=workers)
    assert snapshot_bytes(run) == reference


@pytest.mark.long
def test_a_build_killed_at_many_moments_ends_with_the_same_bytes(
    tiny: tuple[Path, Truth], environment: None, reference: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "s2corpus", "build", str(ROOT / "include/releases/sample.yaml")]
    command += [
        "--as-of",
        f"{AS_OF:%Y-%m-%d}",
        "--lake",
        str(tmp_path / "lake"),
        "--from",
        str(tiny[0]),
        "--workers",
        "2",
    ]
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


def test_a_worker_killed_in_the_middle_of_a_stage_is_done_again(
    tiny: tuple[Path, Truth], environment: None, reference: dict[str, str], tmp_path: Path
) -> None:
    from s2corpus.pipeline import runner
    from s2corpus.pipeline.stages import STAGE_NAMES

    run = run_in(tmp_path, spec(pdfs_per_shard=2, papers_per_shard=2), tiny[0])
    for name in STAGE_NAMES:
        shards = runner.plan(run, name)
        code = (
            "import sys; from datetime import datetime, UTC; from pathlib import Path\n"
            "from tests.releases import run_in, spec; from s2corpus.pipeline import runner\n"
            "run = run_in(Path(sys.argv[1]), spec(pdfs_per_shard=2, papers_per_shard=2))\n"
            "print('ready', flush=True); runner.work(run, sys.argv[2], [int(i) for i in sys.argv[3:]])"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), name, *map(str, shards)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.15)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        runner.work(run, name, shards)
        runner.run_rounds(run, name, first=1)
        runner.finish(run, name)
        runner.check(run, name)
    runner.publish(run)
    assert snapshot_bytes(run) == reference
