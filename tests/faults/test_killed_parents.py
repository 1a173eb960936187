"""A killed process (kill -9) takes its children with it; otherwise they would occupy memory, ports and files of the lake."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.releases import ROOT

FORKS = """
import sys, time
from s2orc_parse.cores import map_in_order
def work(n):
    print("began", n, flush=True)
    time.sleep(600 if n else 0)
list(map_in_order(work, range(5), cores=2, inline=1))
"""


@pytest.fixture
def scratch() -> Iterator[str]:
    """Yield a folder with a short path: the socket paths of multiprocessing have at most 108 characters."""
    with tempfile.TemporaryDirectory(prefix="killed-", dir="/tmp") as folder:
        yield folder


def start(command: list[str], marker: str, folder: Path, scratch: str) -> subprocess.Popen[bytes]:
    """Start a program with a marker in the environment, so that its children can be recognized."""
    environ = {name: value for name, value in os.environ.items() if name != "GROBID_URL"}
    environ |= {"S2CORPUS_MARKER": marker, "S2CORPUS_SCRATCH": scratch}
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output)


def left(marker: str) -> list[psutil.Process]:
    """Return the processes that have the marker in their environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("S2CORPUS_MARKER") == marker:
                found.append(process)
    return found


def await_that(condition: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> bool:
    """Wait until a condition is true; return False if the time is over or the process ends first."""
    end = time.monotonic() + 300
    while not condition():
        if time.monotonic() > end or (process is not None and process.poll() is not None):
            return condition()
        time.sleep(0.2)
    return True


def kill(process: subprocess.Popen[bytes], marker: str) -> list[str]:
    """Kill a program; return the command lines of children that do not end with it."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    psutil.wait_procs(children, timeout=30.0)
    remaining = {*left(marker)}
    for child in remaining:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    return [str(child) for child in remaining]


def test_killed_build_leaves_no_process(tiny: tuple[Path, object], tmp_path: Path, scratch: str) -> None:
    marker = uuid.uuid4().hex
    command = [sys.executable, "-m", "s2corpus", "build", "include/releases/sample.yaml", "--as-of", "2023-02-01"]
    command += ["--lake", str(tmp_path / "lake"), "--from", str(tiny[0]), "--workers", "2"]
    process = start(command, marker, tmp_path, scratch)
    # The processes are the build and its two workers, the extractor's server and its two workers, and helpers that
    # start and monitor workers.
    try:
        children = psutil.Process(process.pid).children
        assert await_that(lambda: len(children(recursive=True)) >= 7, process), (tmp_path / "output").read_text()
    finally:
        remaining = kill(process, marker)
    assert remaining == []


def test_killed_command_leaves_no_fork(tmp_path: Path, scratch: str) -> None:
    marker = uuid.uuid4().hex
    process = start([sys.executable, "-c", FORKS], marker, tmp_path, scratch)
    assert await_that(lambda: (tmp_path / "output").read_text().count("began") >= 3, process)
    assert kill(process, marker) == []
