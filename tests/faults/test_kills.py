"""docs/faults.md: a killed process (kill -9) takes its children with it, and the next one completes its work with equal bytes."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import psutil
import pytest

from devtools.local import Endpoints
from devtools.sample.truth import Truth
from s2corpus.pipeline import publication, runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import pointer
from s2corpus.snapshot.reader import open_snapshot
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.export import ExportStage
from s2corpus.stages.extract import ExtractStage
from s2corpus.stages.select import SelectStage
from s2corpus.stages.split import SplitStage
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.tables.parses import STORED_TEI
from tests import children
from tests.releases import AS_OF, PUBLISHED, ROOT, run_in, snapshot_bytes, spec
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.extractors import test_extract_stage as extraction
from tests.unit.s2corpus.snapshot import release
from tests.waiting import until

SMALL = {"pdfs_per_shard": 2, "papers_per_shard": 2}
FORKS = """
import time
from s2orc_parse.cores import map_in_order
def work(n):
    print("began", n, flush=True)
    time.sleep(600 if n else 0)
list(map_in_order(work, range(5), cores=2, inline=1))
"""
WORKER = """
from datetime import UTC, datetime
from pathlib import Path
from s2corpus.spec import ReleaseSpec
from s2corpus.stages import extract
from s2corpus.pipeline.run import Run
extract.PART_SECONDS = 0.5
run = Run.open(ReleaseSpec(name="test"), datetime(2026, 1, 1, tzinfo=UTC), scratch=Path("/tmp"))
extract.ExtractStage().work(run, run.read_plan("extract")[0])
"""
BUILD = [sys.executable, "-m", "s2corpus", "build", "include/releases/sample.yaml", "--as-of", f"{AS_OF:%Y-%m-%d}"]
KILLED = ReleaseSpec.model_validate({"name": "killed", "export": {"files": 4}})
KILLS = 20


@pytest.fixture
def scratch() -> Iterator[str]:
    """Yield a folder with a short path: the socket paths of multiprocessing have at most 108 characters."""
    with tempfile.TemporaryDirectory(prefix="killed-", dir="/tmp") as folder:
        yield folder


@pytest.mark.parametrize("program", ["build", "forks"])
def test_killed_program_leaves_no_process(program: str, tiny: tuple[Path, Truth], tmp_path: Path, scratch: str) -> None:
    """Check a build, and a command with forks. The children are recognized by a marker in their environment."""
    marker, output = uuid.uuid4().hex, tmp_path / "output"
    environ = {name: value for name, value in os.environ.items() if name != "GROBID_URL"}
    environ |= {"S2CORPUS_MARKER": marker, "S2CORPUS_SCRATCH": scratch}
    build = [*BUILD, "--lake", str(tmp_path / "lake"), "--from", str(tiny[0]), "--workers", "2"]
    command = [sys.executable, "-c", FORKS] if program == "forks" else build
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=file, stderr=file)

    def children_of() -> list[psutil.Process]:
        assert process.poll() is None, output.read_text()
        found: list[psutil.Process] = psutil.Process(process.pid).children(recursive=True)
        return found

    def has_started() -> bool:
        # The build has two workers, the extractor's server with two workers, and helpers that start and monitor workers.
        return len(children_of()) >= 7 or output.read_text().count("began") >= 3

    def remaining() -> list[psutil.Process]:
        found = []
        for each in psutil.process_iter():
            with suppress(psutil.Error):
                if each.status() != psutil.STATUS_ZOMBIE and each.environ().get("S2CORPUS_MARKER") == marker:
                    found.append(each)
        return found

    try:
        until(has_started, output.read_text)
        started = children_of()
    finally:
        process.kill()
        process.wait()
    psutil.wait_procs(started, timeout=30.0)
    left = remaining()
    for child in left:
        child.kill()
    assert left == []


@pytest.mark.long
def test_build_killed_after_stages_resumes_with_same_bytes(
    tiny: tuple[Path, Truth], extracting: None, reference: dict[str, str], tmp_path: Path
) -> None:
    done = tmp_path / "lake/releases" / PUBLISHED / "_metrics"
    for stage in ("postprocess", "clean", None):
        command = [*BUILD, "--lake", str(tmp_path / "lake"), "--from", str(tiny[0]), "--workers", "2"]
        with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
            if stage:
                until((done / f"{stage}.json").exists, f"{stage} does not end", pause=0.01)
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == (-signal.SIGKILL if stage else 0), stage
    assert snapshot_bytes(run_in(tmp_path, spec())) == reference


def work_in_a_child(folder: Path, stage: str, shards: list[int], ready: Path) -> None:
    run = run_in(folder, spec(**SMALL))
    ready.touch()
    runner.work(run, stage, shards)


@pytest.mark.slow
def test_other_shards_after_kills_give_same_bytes(
    tiny: tuple[Path, Truth], extracting: None, reference: dict[str, str], tmp_path: Path
) -> None:
    """Build with other shards. In each stage, kill a process and repeat its work backwards, twice with two processes."""
    run = sealed.seal(run_in(tmp_path, spec(**SMALL), tiny[0]))
    for name in STAGE_NAMES:
        shards, ready = runner.plan(run, name), tmp_path / f"{name}.ready"
        child = children.start(work_in_a_child, tmp_path, name, shards, ready)
        until(ready.exists, "the child does not start", pause=0.01)
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
    publication.publish(run)
    assert {"manifest.json", "README.md", "croissant.json", "v2/s2ag/valid/03.jsonl.gz"} <= set(reference)
    assert snapshot_bytes(run) == reference


@pytest.fixture
def lake(services: Endpoints, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Return a separate lake for this test in the bucket of the local services."""
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("S2CORPUS_LAKE", f"{os.environ['S2CORPUS_LAKE']}/{request.node.name}")
    return open_lake(os.environ["S2CORPUS_LAKE"])


@pytest.mark.services
def test_killed_extraction_loses_only_its_last_part(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    pdfs = extraction.papers(60)
    run = extraction.Intake(lake, pdfs, shards=1).run()
    extraction.work(SelectStage(), run)

    def stored() -> set[str]:
        store = run.store(STORED_TEI, "grobid", "0.8.2", "2531976d7b1d5c70")
        return set(store.known("0" * 40, "f" * 40, ["file_sha1"]))

    with StandIn(latency=0.1) as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "include"))
        run.put_plan("extract", ExtractStage().plan(run))
        worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT)
        until(lambda: len(server.answered) >= 30 and stored(), "nothing is stored", pause=0.05)
        assert worker.poll() is None
        worker.kill()
        worker.wait()
        kept, sent = stored(), set(server.uploads)
        assert 0 < len(kept) < 60
        server.uploads.clear()
        subprocess.run([sys.executable, "-c", WORKER], cwd=ROOT, check=True)
        ExtractStage().finish(run)
        assert not kept & set(server.uploads)
        assert kept | set(server.uploads) == set(pdfs)
        assert len(sent - kept) <= 20  # This is the work of half a second.
    assert extraction.outcomes(run) == dict.fromkeys(pdfs, "ok")


def export_and_publish(uri: str, as_of: datetime, scratch: Path) -> Run:
    """Export a release from its tables and publish it."""
    run = Run(KILLED, as_of, open_lake(uri), scratch)
    release.work(run, ExportStage())
    ExportStage().finish(run)
    pointer.publish(run.lake, run.snapshot_id)
    return run


@pytest.mark.long
@pytest.mark.services
def test_export_killed_at_any_moment_is_completed_by_the_next(lake: Lake, tmp_path: Path) -> None:
    """Check that the result is one snapshot with the same checksums, and that the pointer always names a complete snapshot."""
    uri, later_day = os.environ["S2CORPUS_LAKE"], release.AS_OF + timedelta(days=31)
    run = release.lay_out(lake, tmp_path, KILLED, release.papers(3 * KILLS), buckets=4)
    release.through(run, CleanStage(), SplitStage())
    first = export_and_publish(uri, release.AS_OF, tmp_path)
    # Copy the same tables to another release, a month later, here and in another lake.
    later, whole = Run(KILLED, later_day, lake, tmp_path), open_lake(f"{uri}-whole")
    for entry in list(lake.list(f"releases/{first.release_id}/")):
        if "/_export/" not in entry.key:
            for to in (lake, whole):
                to.put(entry.key.replace(first.release_id, later.release_id), lake.get(entry.key)[0])

    def etags(of: Lake) -> dict[str, str]:
        return {entry.key: of.etag(entry.key) for entry in of.list(f"snapshots/{later.snapshot_id}/")}

    start = time.monotonic()
    export_and_publish(f"{uri}-whole", later_day, tmp_path)
    expected, takes = etags(whole), time.monotonic() - start
    rng, died = random.Random(KILLS), 0
    for _ in range(KILLS):
        child = children.start(export_and_publish, uri, later_day, tmp_path)
        child.join(rng.uniform(0, takes))
        if child.is_alive():
            child.kill()
            child.join()
            died += 1
        snapshot = pointer.read_latest(lake, KILLED.name).snapshot
        assert list(verify(open_snapshot(f"{uri}/snapshots/{snapshot}"))) == []
    export_and_publish(uri, later_day, tmp_path)
    assert pointer.read_latest(lake, KILLED.name).snapshot == later.snapshot_id
    assert died >= KILLS // 4 and etags(lake) == expected
    named = {entry.key.split("/")[1] for entry in lake.list("snapshots/")}
    assert named == {"killed", first.snapshot_id, later.snapshot_id}
