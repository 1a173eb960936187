"""Read untrusted files of any size: decompression, lines and the files of a tar archive, one at a time."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from s2corpus.sources.record import Dropped, RejectReason
from s2orc_parse.archives.child import stream_frames
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES

T = TypeVar("T")
_CHUNK = 1 << 20
BROKEN_STREAM = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
"""errors that a damaged or truncated file raises"""


@contextmanager
def open_stream(file: str | Path | IO[bytes]) -> Iterator[IO[bytes]]:
    """Open the uncompressed content of a path or binary stream; detect gzip, bzip2, xz and zstd by their first bytes."""
    raw = Path(file).open("rb") if isinstance(file, str | Path) else file  # noqa: SIM115 (closed below)
    try:
        peeked = Peekable(raw)
        magic = peeked.peek(6)
        if magic.startswith(b"\x1f\x8b"):
            yield cast(IO[bytes], _DeferredErrors(gzip.GzipFile(fileobj=cast(Any, peeked))))
        elif magic.startswith(b"BZh"):
            yield cast(IO[bytes], _DeferredErrors(bz2.BZ2File(cast(Any, peeked))))
        elif magic.startswith(b"\xfd7zXZ\x00"):
            yield cast(IO[bytes], _DeferredErrors(lzma.LZMAFile(cast(Any, peeked))))  # noqa: SIM115 (the caller owns the file)
        elif magic.startswith(b"\x28\xb5\x2f\xfd"):
            import pyarrow as pa  # slow; only zstd needs it

            yield cast(IO[bytes], pa.CompressedInputStream(pa.PythonFile(peeked, "r"), "zstd"))
        else:
            yield cast(IO[bytes], peeked)
    finally:
        if raw is not file:
            raw.close()


def stop_at_damage(items: Iterator[T]) -> Iterator[T | Dropped]:
    """Yield items until the stream fails, then one `Dropped(UNREADABLE_REST)`."""
    try:
        yield from items
    except BROKEN_STREAM as error:
        yield Dropped(RejectReason.UNREADABLE_REST, "end", f"{type(error).__name__}: {error}"[:300])


class _DeferredErrors:
    """A decompressing stream that returns all bytes before the damage first, and raises the error at the next read."""

    def __init__(self, raw: gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile) -> None:
        self._raw = raw
        self._stopped: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` of the next bytes, or all for a negative size."""
        if self._stopped is not None:
            raise self._stopped
        pieces, left = [], size if size is not None and size >= 0 else 1 << 62
        try:
            while left > 0 and (piece := self._raw.read1(min(left, 1 << 16))):
                pieces.append(piece)
                left -= len(piece)
        except BROKEN_STREAM as error:
            if not pieces:
                raise
            self._stopped = error
        return b"".join(pieces)


class Peekable:
    """A forward-only binary stream whose first bytes can be read ahead."""

    closed = False

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._head = b""
        self._at = 0
        """offset of the next byte in `_head`, so that a read does not copy the rest"""

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without consuming them: fewer at the end, or before an error that the next read raises."""
        if len(self._head) - self._at >= size:
            return self._head[self._at : self._at + size]
        pieces, left = [self._head[self._at :]], size - (len(self._head) - self._at)
        with suppress(*BROKEN_STREAM):
            while left > 0 and (more := self._raw.read(left)):
                pieces.append(more)
                left -= len(more)
        self._head, self._at = b"".join(pieces), 0
        return self._head[:size]

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size`; empty only at the end."""
        if self._at >= len(self._head):
            self._head, self._at = b"", 0
            return self._raw.read(size)
        if size is None or size < 0:
            head, self._head, self._at = self._head[self._at :], b"", 0
            return head + self._raw.read()
        head = self.peek(size)
        self._at += len(head)
        return head

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""


def skip_bom(stream: IO[bytes]) -> IO[bytes]:
    """Return the stream without the byte order mark that some programs write before UTF-8."""
    head = Peekable(stream)
    if head.peek(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8:
        head.read(len(codecs.BOM_UTF8))
    return cast(IO[bytes], head)


def read_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield line numbers (from 1) and lines without their end; None replaces a line over `MAX_ENTRY_BYTES`."""
    number, size = 0, 0
    pieces: list[bytes] = []  # of the current line
    stream = skip_bom(stream)
    while chunk := stream.read(_CHUNK):
        parts = chunk.split(b"\n")
        for place, part in enumerate(parts, 1):
            size += len(part)
            if size <= MAX_ENTRY_BYTES:
                pieces.append(part)
            else:
                pieces.clear()
            if place < len(parts):
                number += 1
                yield number, None if size > MAX_ENTRY_BYTES else b"".join(pieces)
                pieces.clear()
                size = 0
    if size:
        yield number + 1, None if size > MAX_ENTRY_BYTES else b"".join(pieces)


def is_tar(stream: Peekable) -> bool:
    """Return whether the stream is a tar archive."""
    return stream.peek(512)[257:262] == b"ustar"


def read_documents(stream: IO[bytes]) -> Iterator[tuple[str, bytes] | Dropped]:
    """Yield (name, content) of every regular file of a tar stream, or the stream itself as one document.

    A child process reads the tar (`archives.child`). A tar that hangs the child gives `Dropped(UNREADABLE_REST)`.
    """
    head = Peekable(stream)
    if not is_tar(head):
        content = head.read(MAX_ENTRY_BYTES + 1)
        while len(content) <= MAX_ENTRY_BYTES and (more := head.read(MAX_ENTRY_BYTES + 1 - len(content))):
            content += more
        yield Dropped(RejectReason.TOO_LARGE, "document") if len(content) > MAX_ENTRY_BYTES else ("document", content)
        return
    has_ended = False
    for frame, content in stream_frames(cast(IO[bytes], head), MAX_ENTRY_BYTES):
        if "outcome" in frame:
            yield Dropped(RejectReason.UNREADABLE_REST, "end", str(frame.get("detail"))[:300])
        elif "too_large" in frame:
            yield Dropped(RejectReason.TOO_LARGE, str(frame["too_large"]))
        elif "name" in frame:
            yield str(frame["name"]), content
        has_ended |= "outcome" in frame or "end" in frame
    if not has_ended:
        yield Dropped(RejectReason.UNREADABLE_REST, "end", "the process that reads the archive crashed")
