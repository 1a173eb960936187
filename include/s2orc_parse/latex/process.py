"""Run programs in their sandbox, and unpack a source archive with one."""

from __future__ import annotations

import dataclasses
import math
import os
import signal
import tempfile
from pathlib import Path

from s2orc_parse import sandbox
from s2orc_parse.archives import child
from s2orc_parse.outcomes import BadSource, LatexOutcome
from s2orc_parse.outputs import check_free_space
from s2orc_parse.sandbox.confine import NOT_CONFINED

MAX_OUTPUT = 128 << 20
_OUT_OF_HEAP = 251  # exit status of programs compiled by GHC
_NOTHING = sandbox.Policy()


def run(
    command: list[str], given: bytes, *, seconds: float, policy: sandbox.Policy = _NOTHING
) -> tuple[int, bytes, str]:
    """Run a program that reads `given`; return its exit status, standard output and the end of standard error.

    Raises `BadSource` (timeout, out of memory, too large output), or OSError for a full disk or a program without start.
    """
    limits = {"CPU": math.ceil(seconds) + 1, "FSIZE": MAX_OUTPUT, "CORE": 0, **policy.limits}
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        process = sandbox.start(
            command,
            dataclasses.replace(policy, limits=limits),
            seconds=seconds,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
        status = sandbox.wait(process, seconds)
        if status is None:
            raise BadSource(LatexOutcome.TIMEOUT, f"more than {seconds:g} s")
        if status:
            check_free_space(Path(tempfile.gettempdir()))
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - (1 << 20)))
        messages = stderr.read().decode("utf-8", "replace")
        if status == NOT_CONFINED:
            raise OSError(f"{command[0]}: {messages.strip()}")
        if status == -signal.SIGXCPU:
            raise BadSource(LatexOutcome.TIMEOUT, f"more than {limits['CPU']} s of the processor")
        if status == _OUT_OF_HEAP or "heap exhausted" in messages.lower() or "out of memory" in messages.lower():
            raise BadSource(LatexOutcome.OUT_OF_MEMORY)
        if status == -signal.SIGXFSZ or stdout.seek(0, os.SEEK_END) >= MAX_OUTPUT:
            raise BadSource(LatexOutcome.TOO_LARGE, f"the converter wrote more than {MAX_OUTPUT} bytes")
        stdout.seek(0)
        return status, stdout.read(), messages


MAX_PACKED = 128 << 20
MAX_UNPACKED = 256 << 20
"""maximum size of the unpacked archive in bytes"""
MAX_FILES = 5_000
MAX_TEXT = 16 << 20
"""maximum size of all files that may contain text; larger content is data"""
SECONDS = 60.0


def unpack(data: bytes, seconds: float = SECONDS) -> dict[str, bytes]:
    """Return the text files of a source archive by name, within the limits. Figures and other data are only counted. Raises `BadSource`."""
    if len(data) > MAX_PACKED:
        raise BadSource(LatexOutcome.TOO_LARGE, f"{len(data)} bytes; at most {MAX_PACKED} are read")
    command = child.child_command("source", MAX_UNPACKED, MAX_FILES, MAX_TEXT)
    status, out, _ = run(command, data, seconds=seconds, policy=child.child_policy())
    if status == -signal.SIGKILL:  # the kernel ran out of memory
        raise BadSource(LatexOutcome.OUT_OF_MEMORY)
    files: dict[str, bytes] = {}
    try:
        for head, content in child.parse_frames(out, MAX_TEXT):
            if "outcome" in head:
                raise BadSource(LatexOutcome(head["outcome"]), str(head["detail"]))
            if "end" in head:
                return files
            files[str(head["name"])] = content
    except ValueError as error:
        raise BadSource(LatexOutcome.DAMAGED, str(error)) from None
    raise BadSource(LatexOutcome.DAMAGED, f"the process that read the archive ended with status {status}")
