"""Identify processes by pid, start time and boot, so that a recycled pid is never mistaken for one of ours.

Linux only: start times are read from `/proc`, because psutil converts them to the times of an adjustable clock.

A service consists of the *session* that its first process leads, and all its processes that work in the service's
folder. Airflow puts every task in a separate process group but not in another session. PostgreSQL's children lead
separate sessions.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """One process of this machine. `start` is in clock ticks since `boot`."""

    pid: int
    start: int
    boot: str


def boot_id() -> str:
    """Return the id of this boot of the machine. Pids and start times are valid only within one boot."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int) -> tuple[str, int, int] | None:
    """Return (state, session, start time) of a live process; None for a zombie or no process."""
    try:
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    state, session, start = fields[0], int(fields[3]), int(fields[19])
    return None if state in "ZX" else (state, session, start)


def identify(pid: int) -> Process | None:
    """Return the live process that has this pid, or None."""
    stat = _stat(pid)
    return Process(pid, stat[2], boot_id()) if stat else None


def alive(process: Process) -> bool:
    """Return whether exactly this process still runs (not another process with the same pid)."""
    stat = _stat(process.pid)
    return stat is not None and stat[2] == process.start and boot_id() == process.boot


def members(leader: Process | None, folder: Path, programs: Iterable[str] = ()) -> list[Process]:
    """Return the live processes of one service, by pid.

    They are the session that `leader` led, and the processes of `programs` (names of executables) with `folder` as
    their working folder. The session also counts after the leader's death: the kernel does not reuse the pid while the
    session lives. The second group covers lost records and children that lead separate sessions.
    """
    boot, names, home = boot_id(), set(programs), folder.resolve()
    # The second name applies if a user removed the folder while its service was running
    homes = {home, Path(f"{home} (deleted)")}
    leader = leader if leader and leader.boot == boot else None
    found = []
    for pid in psutil.pids():
        stat = _stat(pid)
        if stat is None or pid == os.getpid():
            continue
        ours = False
        if leader and stat[1] == leader.pid and stat[2] >= leader.start:
            # If another process has the leader's pid, the session ended: the kernel has reused its number.
            now = _stat(leader.pid)
            ours = now is None or now[2] == leader.start
        if not ours:
            try:
                process = psutil.Process(pid)
                ours = Path(process.cwd()) in homes and Path(process.exe()).name.split(" ")[0] in names
            except psutil.Error:
                continue
        if ours:
            found.append(Process(pid, stat[2], boot))
    return found


def start(command: list[str], *, folder: Path, log: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a service in a separate session, in `folder`; append its output to `log`, which only its owner can read."""
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600), "ab") as out:
        return subprocess.Popen(
            command, cwd=folder, env=dict(environ), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True, umask=0o077,
        )  # fmt: skip


def send(process: Process, number: int) -> None:
    """Signal exactly this process, through a pidfd, so that no other process with a reused pid gets the signal."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        if alive(process):
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


@dataclass(frozen=True)
class StopStep:
    """One step of stopping a service: a signal, to all processes or only the first, and a wait in seconds."""

    signal: int
    seconds: float
    leaders_only: bool = False


def stop(
    find: Callable[[], list[Process]], steps: Iterable[StopStep], leaders: Container[Process] = ()
) -> list[Process]:
    """Signal the processes that `find` returns, step by step, until it returns none.

    A step for leaders is skipped if no leader lives. Return the remaining processes: an empty list unless the kernel
    itself blocks a process.
    """
    left = find()
    for step in steps:
        addressed = [process for process in left if process in leaders or not step.leaders_only]
        for process in addressed:
            send(process, step.signal)
        deadline = time.monotonic() + (step.seconds if addressed else 0.0)
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = [process for process in left if alive(process)] or find()
    return left
