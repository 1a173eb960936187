"""Processes are identified by pid, start time and boot, so a process that reuses a pid is never touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from devtools.local import process
from devtools.local.process import Process, StopStep

QUICK = (StopStep(signal.SIGTERM, 0.3), StopStep(signal.SIGKILL, 5.0))
PYTHON = (Path(sys.executable).resolve().name,)
Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    children: list[subprocess.Popen[bytes]] = []

    def run(code: str) -> subprocess.Popen[bytes]:
        """Start a Python program as a service, and wait for its ready message."""
        ready = tmp_path / f"ready{len(children)}"
        code = f"import os, signal, time, pathlib\n{code}\npathlib.Path({str(ready)!r}).touch()\ntime.sleep(60)"
        child = process.start([sys.executable, "-c", code], folder=tmp_path, log=tmp_path / "log", environ=os.environ)
        children.append(child)
        while not ready.exists():
            assert child.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.01)
        return child

    yield run
    for child in children:
        process.stop(partial(process.members, known(child), tmp_path, PYTHON), QUICK)
        child.wait()


def known(child: subprocess.Popen[bytes]) -> Process | None:
    return process.identify(child.pid)


def test_zombie_is_not_alive(start: Start) -> None:
    child = start("")
    there = known(child)
    assert there
    assert process.alive(there)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # The process is dead, and its exit status is not yet read.
    assert not process.alive(there)
    assert known(child) is None


@pytest.mark.parametrize("other", [{"start": 1}, {"boot": "another boot"}])
def test_recycled_pid_is_never_signaled(start: Start, other: dict[str, Any]) -> None:
    child = start("")
    there = known(child)
    assert there
    recorded = replace(there, **other)
    assert not process.alive(recorded)
    process.send(recorded, signal.SIGKILL)
    time.sleep(0.1)
    assert process.alive(there)


def test_recycled_leader_has_no_members(start: Start, tmp_path: Path) -> None:
    there = known(start(""))
    assert there
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert process.members(there, elsewhere) == [there]
    assert process.members(replace(there, start=there.start - 1), elsewhere) == []


def test_process_that_ignores_sigterm_is_killed_with_children(start: Start, tmp_path: Path) -> None:
    child = start(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nif os.fork() == 0:\n    os.setpgid(0, 0)\n    time.sleep(60)"
    )
    leader = known(child)
    found = process.members(leader, tmp_path, PYTHON)
    assert len(found) == 2
    assert process.stop(lambda: process.members(leader, tmp_path, PYTHON), QUICK) == []
    assert not any(process.alive(member) for member in found)


def test_children_of_a_killed_leader_are_found(start: Start, tmp_path: Path) -> None:
    child = start("os.fork()\nos.chdir('/')")
    leader = known(child)
    child.kill()
    child.wait()
    left = process.members(leader, tmp_path)
    assert len(left) == 1
    assert process.stop(lambda: process.members(leader, tmp_path), QUICK) == []


def test_unrecorded_process_is_recognized_by_folder_and_program(start: Start, tmp_path: Path) -> None:
    there = known(start("os.setpgid(0, 0) if os.getpid() != os.getpgid(0) else None"))
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as shell:
        assert process.members(None, tmp_path, PYTHON) == [there]
        shell.kill()


def test_listening_sockets_are_listed_with_their_process(start: Start, tmp_path: Path) -> None:
    ports = tmp_path / "ports"
    child = start(
        "import socket\na, b = socket.create_server(('127.0.0.1', 0)), socket.create_server(('', 0))\n"
        f"pathlib.Path({str(ports)!r}).write_text(f'{{a.getsockname()[1]}} {{b.getsockname()[1]}}')"
    )
    ours, everybodys = map(int, ports.read_text().split())
    mine = {(found.address, found.port) for found in process.listeners() if found.pid == child.pid}
    assert mine == {("127.0.0.1", ours), ("0.0.0.0", everybodys)}
