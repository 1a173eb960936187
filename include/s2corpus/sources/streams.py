"""Read untrusted files of any size: decompression, lines and the files of a tar archive, one at a time."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from s2corpus.sources.record import Dropped, RejectReason
from s2orc_parse.archives.child import stream_frames
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES

T = TypeVar("T")
_CHUNK = 1 << 20
BROKEN_STREAM = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
"""errors that a damaged or truncated file raises"""


def _open_zstd(raw: Any) -> Any:
    import pyarrow as pa  # slow; only zstd needs it

    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")


_DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
"""first bytes of a compressed file → its decompressor"""


@contextmanager
def open_stream(file: str | Path | IO[bytes]) -> Iterator[IO[bytes]]:
    """Open the uncompressed content of a path or binary stream; detect gzip, bzip2, xz and zstd by their first bytes."""
    raw = Path(file).open("rb") if isinstance(file, str | Path) else file  # noqa: SIM115 (closed below)
    try:
        peeked = Peekable(raw)
        start = peeked.peek(6)
        found = next((open_ for magic, open_ in _DECOMPRESSORS.items() if start.startswith(magic)), None)
        yield cast(IO[bytes], Peekable(found(peeked)) if found else peeked)
    finally:
        if raw is not file:
            raw.close()


def stop_at_damage(items: Iterator[T]) -> Iterator[T | Dropped]:
    """Yield items until the stream fails, then one `Dropped(UNREADABLE_REST)`."""
    try:
        yield from items
    except BROKEN_STREAM as error:
        yield Dropped(RejectReason.UNREADABLE_REST, "end", f"{type(error).__name__}: {error}"[:300])


class Peekable:
    """A forward-only binary stream whose first bytes can be read ahead. It returns all bytes before a damage, then raises the error."""

    closed = False

    def __init__(self, raw: IO[bytes]) -> None:
        self._read_some: Callable[[int], bytes] = getattr(raw, "read1", raw.read)  # read1 decompresses one block
        self._head = b""
        self._at = 0
        """offset of the next byte in `_head`, so that a read does not copy the rest"""
        self._error: Exception | None = None

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without consuming them: fewer at the end, or before an error that the next read raises."""
        left = size - (len(self._head) - self._at)
        if left > 0:
            pieces = [self._head[self._at :]] if self._head else []
            try:
                while left > 0 and self._error is None and (more := self._read_some(min(left, _CHUNK))):
                    pieces.append(more)
                    left -= len(more)
            except BROKEN_STREAM as error:
                self._error = error
            self._head, self._at = pieces[0] if len(pieces) == 1 else b"".join(pieces), 0
        return self._head[self._at : self._at + size]

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size`; empty only at the end."""
        found = self.peek(1 << 62 if size is None or size < 0 else size)
        self._at += len(found)
        if self._at == len(self._head):
            self._head, self._at = b"", 0
        if not found and self._error is not None:
            raise self._error
        return found

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
