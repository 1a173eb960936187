"""Start the child process that reads a hostile archive, and read its frames."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from s2orc_parse import sandbox
from s2orc_parse.archives.reading import LAUNCH, MAX_NAME

MEMORY_BYTES = 1 << 30
"""address space of the child: an archive of 256 MB, its unpacked content, and the interpreter"""
INACTIVITY_SECONDS = 60.0
"""maximum time in which the child neither reads nor writes bytes"""
_MAX_SECONDS = 7 * 86_400
_MAX_HEADER_BYTES = 16 * MAX_NAME
_CHUNK = 1 << 20


class ArchiveReaderError(ValueError):
    """The child was inactive for too long, or wrote something other than frames."""


def child_command(mode: str, *limits: int) -> list[str]:
    """Return the command line of the child."""
    interpreter = os.path.realpath(sys.executable)
    return [interpreter, "-I", "-S", "-c", LAUNCH, str(Path(__file__).parent), mode, *map(str, limits)]


def child_policy() -> sandbox.Policy:
    """Return the sandbox policy of the child: it may read Python's modules."""
    return sandbox.Policy(read=sandbox.interpreter_folders(), limits={"AS": MEMORY_BYTES, "CORE": 0})


def parse_frames(data: bytes, max_content: int) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the frames of a child that has ended. Raises ArchiveReaderError for any other output."""
    at = 0
    while at < len(data):
        frame = _parse_frame(data, at, max_content)
        if frame is None:
            raise ArchiveReaderError("the output of the child that reads archives is incomplete")
        head, content, at = frame
        yield head, content


def _parse_frame(data: bytes | bytearray, at: int, max_content: int) -> tuple[dict[str, Any], bytes, int] | None:
    """Return the frame that begins at a position and its end, or None if the frame is incomplete."""
    line = data.find(b"\n", at, at + _MAX_HEADER_BYTES)
    if line < 0:
        if len(data) - at >= _MAX_HEADER_BYTES:
            raise ArchiveReaderError("the child that reads archives wrote no valid frame")
        return None
    try:
        head = orjson.loads(data[at:line])
        size = head["bytes"]
        fits = isinstance(size, int) and 0 <= size <= max_content
    except (orjson.JSONDecodeError, KeyError, TypeError):
        fits = False
    if not fits:
        raise ArchiveReaderError("the child that reads archives wrote no valid frame")
    end = line + 1 + size
    return (head, bytes(data[line + 1 : end]), end) if len(data) >= end else None


def stream_frames(stream: IO[bytes], max_content: int) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Send an uncompressed tar to a child and yield its frames as they arrive.

    Raises ArchiveReaderError if the child is inactive for too long or writes no frames, and errors of `stream` at the end.
    """
    process = sandbox.start(
        child_command("stream", max_content),
        child_policy(),
        seconds=_MAX_SECONDS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    stream_error: Exception | None = None
    try:
        os.set_blocking(process.stdin.fileno(), False)
        pending, received, is_open = memoryview(b""), bytearray(), True
        while True:
            if is_open and not pending:
                try:
                    pending = memoryview(stream.read(_CHUNK))
                except Exception as error:  # yield the preceding frames before the exception
                    stream_error = error
                if not pending:
                    is_open = False
                    process.stdin.close()
            ready, free, _ = select.select([process.stdout], [process.stdin] if is_open else [], [], INACTIVITY_SECONDS)
            if not ready and not free:
                raise ArchiveReaderError(f"the child that reads archives was inactive for {INACTIVITY_SECONDS:g} s")
            if free:
                try:
                    pending = pending[os.write(process.stdin.fileno(), pending) :]
                except BrokenPipeError:  # the child needs no more input
                    pending, is_open = memoryview(b""), False
            if ready:
                piece = os.read(process.stdout.fileno(), _CHUNK)
                received += piece
                at = 0
                while at < len(received) and (frame := _parse_frame(received, at, max_content)) is not None:
                    yield frame[0], frame[1]
                    at = frame[2]
                del received[:at]
                if not piece:
                    break
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        for end in (process.stdin, process.stdout):
            if not end.closed:
                end.close()
    if stream_error is not None:
        raise stream_error
