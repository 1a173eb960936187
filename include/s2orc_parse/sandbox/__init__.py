"""The sandbox of programs that read hostile files: LaTeXML, pandoc, pdfalto, and our own processes around PDFium.

No network, no file but its own, nothing of our environment, limits on time, memory, output and processes; without privileges
(docs/sandbox.md). Where the kernel has no Landlock, limits, seccomp and the empty environment remain.
"""

from __future__ import annotations

import contextlib
import logging
import marshal
import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import IO

from s2orc_parse.sandbox import confine

log = logging.getLogger(__name__)
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Environment in which numpy and Arrow start no threads, which a process that enters a sandbox must not have"""
_CONFINED = False
"""Whether this process is in a sandbox: what it starts is in the same one."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a program may do."""

    own: str | None = None
    """the folder it works in and may read"""
    make: bool = True
    """whether it may make, change and remove files and folders in it"""
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    """files that are there"""
    execute: tuple[str, ...] = ()
    """programs (or folders of them) that it may become or start"""
    processes: int = 0
    """how many it may start: together with the user's others where it has no user of its own"""
    limits: Mapping[str, int] = field(default_factory=dict)
    """names of RLIMIT_… without it → seconds, bytes or a number"""


@cache
def missing() -> str | None:
    """What this machine lacks for a sandbox, as the start of a sentence; None if it has all."""
    if not confine.landlock_version():
        return "this kernel has no Landlock (Linux 5.13 or later, enabled at boot)"
    if not confine.has_seccomp():
        return "this kernel does not filter system calls (seccomp, x86-64 or ARM64)"
    return None


class Program(subprocess.Popen[bytes]):
    """A program that `start` started."""

    ended: int | None = None
    """from a process that is in a sandbox: a pipe that closes as the program ends; `wait` closes it here"""


def start(
    command: list[str],
    policy: Policy,
    *,
    seconds: float,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
    stderr: IO[bytes] | int = subprocess.DEVNULL,
) -> Program:
    """Start a program in its sandbox, in its own folder and session, with nothing of this process's environment.

    It ends with status `confine.NOT_CONFINED` if it could not be confined, and by SIGALRM after `seconds`. From a process that is in a
    sandbox itself the program is started directly: it has the same, and cannot be killed by that process.

    Raises:
        FileNotFoundError: there is no such program.
    """
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(command[0])
    own = policy.own or "/"
    environ = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": own, "TMPDIR": own}
    full = replace(policy, execute=(program, *policy.execute))
    line = [program, *command[1:]]
    if not _CONFINED:
        if (lacking := missing()) is not None:
            _warn(lacking)
        told = marshal.dumps(_fields(full)).hex()
        line = [sys.executable, "-I", "-S", "-c", confine.LAUNCH, str(Path(__file__).parent), str(seconds), told, *line]
    pipe = os.pipe() if _CONFINED else ()
    try:
        process = Program(
            line,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=own,
            env=environ,
            start_new_session=not _CONFINED,  # who ends that process ends its group
            preexec_fn=(lambda: _under(policy.limits, seconds)) if _CONFINED else None,
            pass_fds=pipe[1:],
        )
    except BaseException:
        for end in pipe:
            os.close(end)
        raise
    if pipe:
        os.close(pipe[1])
        process.ended = pipe[0]
    return process


def enter(policy: Policy) -> None:
    """Confine this process itself, and what it starts. Call it before anything hostile is read and while there is one thread.

    Raises:
        OSError: the kernel refused.
    """
    global _CONFINED
    if (lacking := missing()) is not None:
        _warn(lacking)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise OSError("a process with threads cannot be confined: they would stay outside")
    confine.confine(_fields(policy))
    _CONFINED = True


def wait(process: Program, seconds: float) -> int | None:
    """The exit status of a program; None if it took longer and was ended."""
    until = time.monotonic() + seconds + _CONFINED
    try:
        with contextlib.suppress(OSError):  # no old kernel has it
            ended = os.pidfd_open(process.pid) if process.ended is None else process.ended
            try:
                poll = select.poll()
                poll.register(ended)
                poll.poll((seconds + _CONFINED) * 1000)  # `process.wait` looks every 50 ms
            finally:
                os.close(ended)
        status = process.wait(max(until - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        status = -signal.SIGALRM
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    return None if status == -signal.SIGALRM else status


def interpreter() -> tuple[str, ...]:
    """Return the folders from which a Python process of this installation imports: the standard library, site-packages, and the folder
    that contains this package and the others of the project."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= {path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")}
    paths |= {f"{prefix}/lib" for prefix in (sys.prefix, sys.base_prefix)}
    return (*sorted(os.path.realpath(path) for path in paths), str(Path(__file__).resolve().parents[2]))


def beside(program: str) -> tuple[str, ...]:
    """A program's own data: `lib` and `share` beside the folder it is in."""
    prefix = Path(os.path.realpath(program)).parents[1]
    return str(prefix / "lib"), str(prefix / "share")


def _fields(policy: Policy) -> dict[str, object]:
    return {**asdict(policy), "limits": dict(policy.limits)}


@cache
def _warn(lacking: str) -> None:
    log.warning("%s: what reads hostile files is not kept from other files here", lacking)


def _under(limits: Mapping[str, int], seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    confine.limit(dict(limits))
    confine.die_with_parent()
