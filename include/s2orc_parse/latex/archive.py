"""Unpack an arXiv source (tar.gz, one gzipped file, tar, or plain TeX) in memory; no file is written.

A sandboxed child process with limits on time and memory reads the archive. An archive that blocks or exhausts its
reader gets a separate outcome. An archive with a link, a device or a name outside its folder is rejected.
"""

from __future__ import annotations

import signal

from s2orc_parse.archives import child
from s2orc_parse.latex.process import run
from s2orc_parse.outcomes import BadSource, LatexOutcome

MAX_PACKED = 128 << 20
MAX_UNPACKED = 256 << 20
"""maximum size of the unpacked archive in bytes"""
MAX_FILES = 5_000
MAX_TEXT = 16 << 20
"""maximum size of all files that may contain text; larger content is data"""
SECONDS = 60.0


def unpack(data: bytes, seconds: float = SECONDS) -> dict[str, bytes]:
    """Return the text files of a source archive by name. Figures and other data are counted but not stored.

    Raises:
        BadSource: with the outcome. The limits on bytes, files, time and memory apply to any input.
    """
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
