"""Reading files of unknown size and honesty: decompression, lines, JSON objects, XML elements, one at a time."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import orjson

from s2corpus.sources.record import Dropped, Reason
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES

T = TypeVar("T")
_CHUNK = 1 << 20
BROKEN_STREAM = (
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
)  # what a damaged file raises


@contextmanager
def open_stream(file: str | Path | IO[bytes]) -> Iterator[IO[bytes]]:
    """The uncompressed content of a path or binary stream; gzip, bzip2, xz and zstd are recognised by their first bytes."""
    raw = Path(file).open("rb") if isinstance(file, str | Path) else file  # noqa: SIM115 (closed below)
    try:
        peeked = Peekable(raw)
        magic = peeked.peek(6)
        if magic.startswith(b"\x1f\x8b"):
            yield cast(IO[bytes], _Patient(gzip.GzipFile(fileobj=cast(Any, peeked))))
        elif magic.startswith(b"BZh"):
            yield cast(IO[bytes], _Patient(bz2.BZ2File(cast(Any, peeked))))
        elif magic.startswith(b"\xfd7zXZ\x00"):
            yield cast(IO[bytes], _Patient(lzma.LZMAFile(cast(Any, peeked))))  # noqa: SIM115 (nothing of its own to close)
        elif magic.startswith(b"\x28\xb5\x2f\xfd"):
            import pyarrow as pa  # only here: it is a third of the start of `corpus parse`

            yield cast(IO[bytes], pa.CompressedInputStream(pa.PythonFile(peeked, "r"), "zstd"))
        else:
            yield cast(IO[bytes], peeked)
    finally:
        if raw is not file:
            raw.close()


def readable(items: Iterator[T]) -> Iterator[T | Dropped]:
    """What a stream gives until it breaks off; then one `Dropped(UNREADABLE_REST)`."""
    try:
        yield from items
    except BROKEN_STREAM as error:
        yield Dropped(Reason.UNREADABLE_REST, "end", f"{type(error).__name__}: {error}"[:300])


class _Patient:
    """A decompressing stream that gives all that could be decompressed before it raises what stopped it."""

    def __init__(self, raw: gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile) -> None:
        self._raw = raw
        self._stopped: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`; all of them for a negative size."""
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
    """A forward-only binary stream whose first bytes can be looked at without taking them."""

    closed = False

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._head = b""

    def peek(self, size: int) -> bytes:
        """The next `size` bytes (fewer at the end, or where the stream breaks off: reading on will say so), left in place."""
        with suppress(*BROKEN_STREAM):
            while len(self._head) < size and (more := self._raw.read(size - len(self._head))):
                self._head += more
        return self._head[:size]

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`; empty only at the end."""
        if not self._head:
            return self._raw.read(size)
        if size is None or size < 0:
            head, self._head = self._head, b""
            return head + self._raw.read()
        self.peek(size)
        head, self._head = self._head[:size], self._head[size:]
        return head

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Never: what comes may be a pipe."""
        return False

    def close(self) -> None:
        """The owner of the stream closes it."""


def without_bom(stream: IO[bytes]) -> IO[bytes]:
    """The stream without the byte order mark that some programs write before UTF-8."""
    head = Peekable(stream)
    if head.peek(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8:
        head.read(len(codecs.BOM_UTF8))
    return cast(IO[bytes], head)


def lines(stream: IO[bytes], limit: int = MAX_ENTRY_BYTES) -> Iterator[tuple[int, bytes | None]]:
    """Line numbers (from 1) and lines without their end; None for a line over `limit`, of which no more is held."""
    number, pending, skipping = 0, b"", False
    stream = without_bom(stream)
    while chunk := stream.read(_CHUNK):
        parts = (pending + chunk).split(b"\n")
        pending = parts.pop()
        for part in parts:
            number += 1
            yield number, None if skipping or len(part) > limit else part
            skipping = False
        if len(pending) > limit:
            pending, skipping = b"", True
    if pending or skipping:
        yield number + 1, None if skipping else pending


_ARRAY_OF_ITEMS = re.compile(rb'^\s*\[|"items"\s*:\s*\[')
_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|[{}]', re.DOTALL)  # a string may be cut off by the end of the buffer


def json_objects(stream: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]] | Dropped]:
    """(place, object) of every JSON object in JSONL, in an array, or in a document's "items" array.

    Objects come one by one, whatever the size of the file. A broken or overlong one is a `Dropped`.
    """
    head = Peekable(without_bom(stream))
    start = head.peek(4 << 20)
    first_line = start.split(b"\n", 1)[0]
    if (
        start.lstrip()[:1] == b"{" and not _whole_object(first_line) and _ARRAY_OF_ITEMS.search(start)
    ) or start.lstrip()[:1] == b"[":
        yield from _objects_of_array(cast(IO[bytes], head))
    elif start.lstrip()[:1] == b"{" and not _whole_object(first_line) and len(start) < 4 << 20 and _whole_object(start):
        yield "1", orjson.loads(start)  # one document on many lines
    else:
        for number, line in lines(cast(IO[bytes], head)):
            if line is None:
                yield Dropped(Reason.TOO_LARGE, f"line {number}")
            elif line.strip():
                yield _load(line, f"line {number}")


def _whole_object(text: bytes) -> bool:
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:
        return False


def _load(text: bytes, where: str) -> tuple[str, dict[str, Any]] | Dropped:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Dropped(Reason.MALFORMED, where, str(error)[:200])
    if not isinstance(value, dict):
        return Dropped(Reason.MALFORMED, where, f"a JSON object was expected, not {type(value).__name__}")
    return where, value


def _objects_of_array(stream: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]] | Dropped]:
    buffer = stream.read(_CHUNK)
    while (match := _ARRAY_OF_ITEMS.search(buffer)) is None:
        more = stream.read(_CHUNK)
        if not more or len(buffer) > MAX_ENTRY_BYTES:
            yield Dropped(Reason.MALFORMED, "start", 'no JSON array, and no "items" array')
            return
        buffer += more
    buffer = buffer[match.end() :]
    number, depth, start, at = 0, 0, 0, 0
    while True:
        for token in _JSON_TOKEN.finditer(buffer, at):
            character = buffer[token.start()]
            if character == 0x22 and not token.group(1):
                at = token.start()
                break
            if character == 0x7B:  # {
                if depth == 0:
                    start = token.start()
                depth += 1
            elif character == 0x7D and depth:
                depth -= 1
                if depth == 0:
                    number += 1
                    yield _load(buffer[start : token.end()], f"item {number}")
            at = token.end()
        keep = start if depth else at
        buffer, at, start = buffer[keep:], at - keep, 0
        if len(buffer) > MAX_ENTRY_BYTES:
            yield Dropped(Reason.TOO_LARGE, f"item {number + 1}", "nothing after it was read")
            return
        more = stream.read(_CHUNK)
        if not more:
            if depth:
                yield Dropped(Reason.UNREADABLE_REST, f"item {number + 1}", "the file ends inside it")
            return
        buffer += more


def is_tar(stream: Peekable) -> bool:
    """Whether a tar archive comes."""
    return stream.peek(512)[257:262] == b"ustar"


def documents(stream: IO[bytes]) -> Iterator[tuple[str, bytes] | Dropped]:
    """(name, content) of every regular file of a tar stream, or the stream itself as one document."""
    head = Peekable(stream)
    if not is_tar(head):
        content = head.read(MAX_ENTRY_BYTES + 1)
        while len(content) <= MAX_ENTRY_BYTES and (more := head.read(MAX_ENTRY_BYTES + 1 - len(content))):
            content += more
        yield Dropped(Reason.TOO_LARGE, "document") if len(content) > MAX_ENTRY_BYTES else ("document", content)
        return
    with tarfile.open(fileobj=cast(Any, head), mode="r|") as archive:
        for member in archive:
            if not member.isfile():
                continue
            if member.size > MAX_ENTRY_BYTES:
                yield Dropped(Reason.TOO_LARGE, member.name)
            elif (content_file := archive.extractfile(member)) is not None:
                yield member.name, content_file.read()
            archive.members = []  # type: ignore[attr-defined]  # tarfile keeps every header it has seen


_DECLARED_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def xml_elements(
    stream: IO[bytes], tags: tuple[str, ...], limit: int = MAX_ENTRY_BYTES
) -> Iterator[tuple[str, bytes, str] | Dropped]:
    """(tag, text, encoding) of every element with one of the tags, none inside another, cut out by its tags.

    Each is then parsed by itself (`parse_xml`), so that a broken one costs one entry, and a file is never held whole.
    """
    buffer = stream.read(_CHUNK)
    declared = _DECLARED_ENCODING.match(buffer)
    encoding = declared.group(1).decode("ascii") if declared else "utf-8"
    opening = re.compile(rb"<(?:\w+:)?(" + "|".join(tags).encode() + rb")(?=[\s>/])")
    number, ended = 0, False
    while True:
        at = 0
        while (match := opening.search(buffer, at)) is not None:
            at = match.start()
            qualified = buffer[at + 1 : match.end()]
            gt = buffer.find(b">", match.end())
            if gt >= 0 and buffer[gt - 1 : gt] == b"/":
                number, at = number + 1, gt + 1
                continue
            close = buffer.find(b"</" + qualified + b">", match.end())
            if close < 0:
                break
            following = opening.search(buffer, match.end(), close)
            if following is not None and following.group(1) == match.group(1):
                number += 1
                yield Dropped(Reason.MALFORMED, f"{qualified.decode()} {number}", "it is not closed")
                at = following.start()
                continue
            end = close + len(qualified) + 3
            number += 1
            yield match.group(1).decode(), buffer[at:end], encoding
            at = end
        else:
            at = max(at, len(buffer) - 200) if not ended else len(buffer)
        buffer = buffer[at:]
        if ended:
            if opening.match(buffer):
                yield Dropped(Reason.UNREADABLE_REST, f"element {number + 1}", "the file ends inside it")
            return
        if len(buffer) > limit:
            number += 1
            yield Dropped(Reason.TOO_LARGE, f"element {number}")
            buffer = _skip_to(stream, buffer, opening)
        more = stream.read(max(_CHUNK, len(buffer)))
        ended = not more
        buffer += more


def _skip_to(stream: IO[bytes], buffer: bytes, opening: re.Pattern[bytes]) -> bytes:
    """What follows an element that is too large: from the next opening tag on."""
    buffer = buffer[1:]
    while (match := opening.search(buffer)) is None:
        more = stream.read(_CHUNK)
        if not more:
            return b""
        buffer = buffer[-200:] + more
    return buffer[match.start() :]
