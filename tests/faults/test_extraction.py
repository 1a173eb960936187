"""Extraction on real S3 survives a killed worker and a stopped server in the middle of a shard."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from devtools.local import Endpoints
from s2corpus.pipeline.run import Run
from s2corpus.stages.extract import ExtractStage
from s2corpus.stages.select import SelectStage
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.tables.parses import STORED_TEI
from tests.releases import ROOT
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.extractors.test_extract_stage import Intake, outcomes, papers, selected, work

pytestmark = pytest.mark.services
WORKER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from s2corpus.spec import ReleaseSpec
from s2corpus.stages import extract
from s2corpus.pipeline.run import Run
extract.PART_SECONDS = 0.5
run = Run.open(ReleaseSpec(name="test"), datetime(2026, 1, 1, tzinfo=UTC), scratch=Path("/tmp"))
extract.ExtractStage().work(run, run.read_plan("extract")[0])
"""


@pytest.fixture
def s3(services: Endpoints, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Return a separate lake for this test in the bucket of the local services."""
    for name, value in services.environ().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("S2CORPUS_LAKE", f"{os.environ['S2CORPUS_LAKE']}/{request.node.name}")
    return open_lake(os.environ["S2CORPUS_LAKE"])


def stored(run: Run) -> set[str]:
    """Return the PDFs with extractions in the content store."""
    return set(run.store(STORED_TEI, "grobid", "0.8.2", "2531976d7b1d5c70").known("0" * 40, "f" * 40, ["file_sha1"]))


def test_killed_worker_loses_only_its_last_part(s3: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    pdfs = papers(60)
    run = Intake(s3, pdfs, shards=1).run()
    work(SelectStage(), run)
    with StandIn(latency=0.1) as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "include"))
        run.put_plan("extract", ExtractStage().plan(run))
        worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT)
        while len(server.answered) < 30 or not stored(run):
            assert worker.poll() is None
            time.sleep(0.05)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        kept, sent = stored(run), set(server.uploads)
        assert 0 < len(kept) < 60
        server.uploads.clear()
        subprocess.run([sys.executable, "-c", WORKER], cwd=ROOT, check=True)
        ExtractStage().finish(run)
        assert not kept & set(server.uploads)
        assert kept | set(server.uploads) == set(pdfs)
        assert len(sent - kept) <= 20  # This is the work of half a second.
    assert outcomes(run) == dict.fromkeys(pdfs, "ok")


def test_stopped_server_fails_the_shard_and_retry_continues(s3: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    pdfs = papers(30)
    run = selected(Intake(s3, pdfs, shards=1).run())
    with StandIn(latency=0.05) as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "include"))
        run.put_plan("extract", ExtractStage().plan(run))
        impatient = WORKER.replace(
            "extract.ExtractStage()", "extract.ExtractStage(Limits(outage=0.5, health_wait=(0.1, 0.2)))"
        )
        command = [sys.executable, "-c", f"from s2corpus.extractors import Limits\n{impatient}"]
        worker = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
        while len(server.answered) < 5:
            assert worker.poll() is None
            time.sleep(0.01)
        server.stop()
        _, said = worker.communicate(timeout=60)
        assert b"TooManyFailures: shard 0: 7 of 30 PDFs were given up ({'gave_up:connection': 7})" in said
        kept = stored(run)
        assert 5 <= len(kept) < 30
        server.start()
        server.uploads.clear()
        subprocess.run([sys.executable, "-c", WORKER], cwd=ROOT, check=True)
        assert set(server.uploads) == set(pdfs) - kept
