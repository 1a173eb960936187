"""The sandbox for programs that read hostile files: pandoc, pdfalto, and our own processes that use PDFium.

A sandboxed program has no network, no other files, an empty environment, no privileges, and limits on time, memory,
output and processes (docs/security.md#sandbox). If the kernel lacks Landlock, the limits, seccomp and the empty environment
still apply.
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
"""environment in which numpy and Arrow start no threads: a process must have one thread to enter a sandbox"""
_CONFINED = False
"""whether this process is in a sandbox, which its child processes then share"""


@dataclass(frozen=True, slots=True)
class Policy:
    """The permissions of a sandboxed program."""

    own: str | None = None
    """the working folder, in which the program may read, create, change and remove files and folders"""
    read: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    """programs, or folders of programs, that the program may execute"""
    processes: int = 0
    """number of child processes; without a separate user, the limit includes the user's other processes"""
    limits: Mapping[str, int] = field(default_factory=dict)
    """names of RLIMIT_… without the prefix → seconds, bytes or a number"""


@cache
def find_missing_feature() -> str | None:
    """Return the missing sandbox feature of this machine as a clause, or None if all features are available."""
    if not confine.landlock_version():
        return "this kernel has no Landlock (Linux 5.13 or later, enabled at boot)"
    if not confine.has_seccomp():
        return "this kernel does not filter system calls (seccomp, x86-64 or ARM64)"
    return None


class Program(subprocess.Popen[bytes]):
    """A program started by `start`."""

    ended: int | None = None
    """in a sandbox, the read end of a pipe that closes when the program ends; `wait` closes it"""


def start(
    command: list[str],
    policy: Policy,
    *,
    seconds: float,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
    stderr: IO[bytes] | int = subprocess.DEVNULL,
) -> Program:
    """Start a program in its sandbox, with its own folder and session and an empty environment.

    The status is `confine.NOT_CONFINED` if the program could not be confined. SIGALRM ends the program after `seconds`.
    If this process is in a sandbox, the program shares it, and this process cannot kill the program. Raises
    FileNotFoundError if the program does not exist.
    """
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(command[0])
    own = policy.own or "/"
    environ = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": own, "TMPDIR": own}
    full = replace(policy, execute=(program, *policy.execute))
    line = [program, *command[1:]]
    if not _CONFINED:
        if (missing_feature := find_missing_feature()) is not None:
            _warn(missing_feature)
        policy_hex = marshal.dumps(_as_dict(full)).hex()
        launch = [sys.executable, "-I", "-S", "-c", confine.LAUNCH, str(Path(__file__).parent)]
        line = [*launch, str(seconds), policy_hex, *line]
    pipe = os.pipe() if _CONFINED else ()
    try:
        process = Program(
            line,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=own,
            env=environ,
            start_new_session=not _CONFINED,  # in a sandbox, ending the process ends its group
            preexec_fn=(lambda: _apply_limits(policy.limits, seconds)) if _CONFINED else None,
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
    """Confine this process and its children; call it with one thread, before reading hostile data. Raises OSError if the kernel refuses."""
    global _CONFINED
    if (missing_feature := find_missing_feature()) is not None:
        _warn(missing_feature)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise OSError("a process with several threads cannot be confined: the other threads would remain unconfined")
    confine.confine(_as_dict(policy))
    _CONFINED = True


def wait(process: Program, seconds: float) -> int | None:
    """Return the exit status of a program; end the program and return None if it takes longer than `seconds`."""
    if _CONFINED:  # the program's own alarm ends it first
        seconds += 1
    deadline = time.monotonic() + seconds
    try:
        with contextlib.suppress(OSError):  # old kernels lack pidfd_open
            ended = os.pidfd_open(process.pid) if process.ended is None else process.ended
            try:
                poll = select.poll()
                poll.register(ended)
                poll.poll(seconds * 1000)  # `process.wait` polls every 50 ms
            finally:
                os.close(ended)
        status = process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        status = -signal.SIGALRM
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    return None if status == -signal.SIGALRM else status


def interpreter_folders() -> tuple[str, ...]:
    """Return the folders from which this Python imports modules: standard library, site-packages, and the project's packages."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= {path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")}
    paths |= {f"{prefix}/lib" for prefix in (sys.prefix, sys.base_prefix)}
    return (*sorted(os.path.realpath(path) for path in paths), str(Path(__file__).resolve().parents[2]))


def data_folders(program: str) -> tuple[str, ...]:
    """Return the data folders of a program: `lib` and `share` next to its own folder."""
    prefix = Path(os.path.realpath(program)).parents[1]
    return str(prefix / "lib"), str(prefix / "share")


def _as_dict(policy: Policy) -> dict[str, object]:
    return {**asdict(policy), "limits": dict(policy.limits)}


@cache
def _warn(missing_feature: str) -> None:
    log.warning("%s: sandbox incomplete: parsers of hostile files can read other files", missing_feature)


def _apply_limits(limits: Mapping[str, int], seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    confine.limit(dict(limits))
    confine.die_with_parent()
