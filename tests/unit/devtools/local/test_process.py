"""A local process is identified by pid, start time and boot, so that a process that reuses a pid is never touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devtools.local import process
from devtools.local.process import Process, StopStep

QUICK = (StopStep(signal.SIGTERM, 0.3), StopStep(signal.SIGKILL, 5.0))
Start = Callable[[str], Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts Python code as a service, waits until it has run, and returns the process."""
    children: list[subprocess.Popen[bytes]] = []

    def run(code: str) -> Process:
        ready = tmp_path / f"ready{len(children)}"
        code = f"import os, signal, time, pathlib\n{code}\npathlib.Path({str(ready)!r}).touch()\ntime.sleep(60)"
        child = process.start([sys.executable, "-c", code], folder=tmp_path, log=tmp_path / "log", environ=os.environ)
        children.append(child)
        while not ready.exists():
            assert child.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.01)
        found = process.identify(child.pid)
        assert found is not None
        return found

    yield run
    for child in children:
        child.kill()
        child.wait()


@pytest.mark.parametrize("other", [{"start": 1}, {"boot": "another boot"}])
def test_recycled_pid_is_not_alive_and_gets_no_signal(start: Start, other: dict[str, Any]) -> None:
    there = start("")
    recorded = replace(there, **other)
    assert not process.alive(recorded)
    process.send(recorded, signal.SIGKILL)
    time.sleep(0.1)
    assert process.alive(there)


def test_service_is_found_by_its_leader_or_by_folder_and_program(start: Start, tmp_path: Path) -> None:
    there, elsewhere = start(""), tmp_path / "elsewhere"
    assert process.members(there, elsewhere) == [there]
    assert process.members(replace(there, start=there.start - 1), elsewhere) == [], "the pid of the leader is recycled"
    assert process.members(replace(there, boot="another boot"), elsewhere) == []
    assert process.members(None, tmp_path, [Path(sys.executable).resolve().name]) == [there]
    assert process.members(None, tmp_path, ["another program"]) == []


def test_killed_leader_is_dead_and_its_children_are_stopped(start: Start, tmp_path: Path) -> None:
    """Check also a dead process whose exit status was not read, and children that ignore SIGTERM in another process group."""
    leader = start(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nif os.fork() == 0:\n    os.setpgid(0, 0)\nos.chdir('/')"
    )
    assert len(process.members(leader, tmp_path)) == 2
    process.send(leader, signal.SIGKILL)
    os.waitid(os.P_PID, leader.pid, os.WEXITED | os.WNOWAIT)
    assert not process.alive(leader) and process.identify(leader.pid) is None
    (child,) = process.members(leader, tmp_path)
    assert process.stop(lambda: process.members(leader, tmp_path), QUICK[:1]) == [child], "it ignores SIGTERM"
    assert process.stop(lambda: process.members(leader, tmp_path), QUICK) == []
    assert not process.alive(child)
