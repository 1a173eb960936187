"""Runs a converter: no shell, no network it would use, none of our environment, and limits on time, memory and output."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
from pathlib import Path

from s2corpus.latex.outcome import BadSource, Outcome
from s2corpus.storage.transient import refuse_full

MAX_OUTPUT = 128 << 20
_OUT_OF_HEAP = 251  # of programs by GHC


def run(
    command: list[str], given: bytes, *, seconds: float, cwd: Path | None = None, memory: int | None = None
) -> tuple[int, bytes, str]:
    """Exit status, standard output and the end of standard error of a program that reads `given`.

    `memory` limits its address space (bytes), for programs that do not limit themselves.

    Raises:
        BadSource: `timeout`, `out_of_memory` or `too_large` (its output). OSError: the disk is full.
    """
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd or tempfile.gettempdir(),
            env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "HOME": "/nonexistent"},
            start_new_session=True,
        )
        try:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (MAX_OUTPUT, MAX_OUTPUT))
                resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
                if memory is not None:
                    resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, memory))
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise BadSource(Outcome.TIMEOUT, f"more than {seconds:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if status:
            refuse_full(Path(tempfile.gettempdir()))
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - (1 << 20)))
        said = stderr.read().decode("utf-8", "replace")
        if status == _OUT_OF_HEAP or "heap exhausted" in said.lower() or "out of memory" in said.lower():
            raise BadSource(Outcome.OUT_OF_MEMORY)
        if status == -signal.SIGXFSZ or stdout.seek(0, os.SEEK_END) >= MAX_OUTPUT:
            raise BadSource(Outcome.TOO_LARGE, f"the converter wrote more than {MAX_OUTPUT} bytes")
        stdout.seek(0)
        return status, stdout.read(), said
