"""Read untrusted files of any size: decompression, lines, JSON objects and XML elements, one at a time."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import orjson

from s2corpus.sources.record import Dropped, Entry, RejectReason
from s2orc_parse.archives.child import stream_frames
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.xml import parse_xml

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

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False: the source may be a pipe."""
        return False

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


_ARRAY_OF_ITEMS = re.compile(rb'^\s*\[|"items"\s*:\s*\[')
_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|[{}]', re.DOTALL)  # a string may be cut off by the end of the buffer


def read_json_objects(stream: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]] | Dropped]:
    """Yield (place, object) of every JSON object in JSONL, in an array, or in a document's "items" array.

    Memory does not depend on the size of the file. A broken or overlong object is a `Dropped`.
    """
    for item in read_json_texts(stream):
        yield item if isinstance(item, Dropped) else load_object(item[1], item[0])


def parse_objects(stream: IO[bytes], parse: Callable[[dict[str, Any], str], Entry]) -> Iterator[Entry]:
    """Yield `parse(object, place)` of every JSON object, as `read_json_objects` finds them."""
    for item in read_json_objects(stream):
        yield item if isinstance(item, Dropped) else parse(item[1], item[0])


def read_json_texts(stream: IO[bytes]) -> Iterator[tuple[str, bytes] | Dropped]:
    """Yield (place, text) of every JSON object, unparsed, in the same formats as `read_json_objects`."""
    head = Peekable(skip_bom(stream))
    start = head.peek(4 << 20)
    first = start.lstrip()[:1]
    is_document = first == b"{" and not _is_object(start.split(b"\n", 1)[0])
    if first == b"[" or (is_document and _ARRAY_OF_ITEMS.search(start)):
        yield from _read_array(cast(IO[bytes], head))
    elif is_document and len(start) < 4 << 20 and _is_object(start):
        yield "1", start  # one object on many lines
    else:
        for number, line in read_lines(cast(IO[bytes], head)):
            if line is None:
                yield Dropped(RejectReason.TOO_LARGE, f"line {number}")
            elif line.strip():
                yield f"line {number}", line


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:
        return False


def load_object(text: bytes, where: str) -> tuple[str, dict[str, Any]] | Dropped:
    """Return the place and the object of a JSON text, or a `Dropped` with the reason."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Dropped(RejectReason.MALFORMED, where, str(error)[:200])
    if not isinstance(value, dict):
        return Dropped(RejectReason.MALFORMED, where, f"expected a JSON object, got {type(value).__name__}")
    return where, value


def _read_array(stream: IO[bytes]) -> Iterator[tuple[str, bytes] | Dropped]:
    buffer = stream.read(_CHUNK)
    while (match := _ARRAY_OF_ITEMS.search(buffer)) is None:
        more = stream.read(max(_CHUNK, len(buffer)))  # The buffer is searched again, so it doubles each time.
        if not more or len(buffer) > MAX_ENTRY_BYTES:
            yield Dropped(RejectReason.MALFORMED, "start", 'no JSON array, and no "items" array')
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
                    yield f"item {number}", buffer[start : token.end()]
            at = token.end()
        keep = start if depth else at
        buffer, at, start = buffer[keep:], at - keep, 0
        if len(buffer) > MAX_ENTRY_BYTES:
            yield Dropped(RejectReason.TOO_LARGE, f"item {number + 1}", "the rest of the file was skipped")
            return
        more = stream.read(max(_CHUNK, len(buffer)))
        if not more:
            if depth:
                yield Dropped(RejectReason.UNREADABLE_REST, f"item {number + 1}", "unexpected end of the file")
            return
        buffer += more


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


def parse_documents(stream: IO[bytes], *suffixes: str) -> Iterator[tuple[str, Any] | Dropped]:
    """Yield (name, root) of the XML documents among `read_documents`; the names in a tar end with one of the suffixes."""
    for item in read_documents(stream):
        if isinstance(item, Dropped):
            yield item
        elif item[0] == "document" or item[0].endswith(suffixes):
            try:
                root = parse_xml(item[1])
            except ValueError as error:
                yield Dropped(RejectReason.MALFORMED, item[0], str(error))
            else:
                yield item[0], root


_MAX_START_TAG = 4_096  # bytes of a start tag that declares namespaces
_MAX_NAMESPACES = 64
_NAMESPACE = re.compile(rb"""\sxmlns:([\w.-]{1,40})\s*=\s*("[^"<>]{0,400}"|'[^'<>]{0,400}')""")
_NAMESPACES_OF_DTDS = {
    b"mml": b'"http://www.w3.org/1998/Math/MathML"',
    b"xlink": b'"http://www.w3.org/1999/xlink"',
    b"xsi": b'"http://www.w3.org/2001/XMLSchema-instance"',
}
"""prefixes that the DTDs of PubMed and JATS declare"""
_DECLARED_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


_TAG_END = re.compile(rb"[<>]")


def read_xml_elements(
    stream: IO[bytes], tags: tuple[str, ...], limit: int = MAX_ENTRY_BYTES
) -> Iterator[tuple[str, bytes, str] | Dropped]:
    """Yield (tag, text, encoding) of every element with one of the tags. An element inside another one is part of it.

    The caller parses each element separately (`parse_xml`): a broken element loses one entry, and memory does not depend on the file
    size. Each tag is scanned once, so the time is linear in the file size, even with unclosed elements.
    """
    buffer = stream.read(_CHUNK)
    declared = _DECLARED_ENCODING.match(buffer)
    encoding = declared.group(1).decode("ascii") if declared else "utf-8"
    tag_of = re.compile(rb"<(/?)((?:[\w.-]+:)?(" + "|".join(tags).encode() + rb"))(?=[\s>/])")
    namespaces = dict(_NAMESPACES_OF_DTDS)
    count, at_end = 0, False
    open_tag: re.Match[bytes] | None = None
    start = 0  # of the open element, or of the text after the last element
    at = 0  # of the text to search next
    while True:
        needs_more = False
        while (found := tag_of.search(buffer, at)) is not None:
            is_end_tag = bool(found.group(1))
            if open_tag is None:
                is_nested = is_end_tag  # inside an element that was not requested or was dropped
            else:
                name = 2 if is_end_tag else 3  # a prefix is part of the name that is_end_tag an element
                is_nested = found.group(name) != open_tag.group(name)
            if is_nested:
                at = found.end()
                continue
            end = _TAG_END.search(buffer, found.end())
            if end is None:
                needs_more, at = True, found.start()
                break
            after = end.end() if end.group() == b">" else end.start()
            if is_end_tag and open_tag is not None:
                count += 1
                element = buffer[start : end.start()].rstrip() + b">"
                yield open_tag.group(3).decode(), _declare(namespaces, element, len(open_tag.group(2)) + 1), encoding
                open_tag, start, at = None, after, after
                continue
            if open_tag is not None:
                count += 1
                yield Dropped(RejectReason.MALFORMED, f"{open_tag.group(2).decode()} {count}", "missing end tag")
            else:
                _read_namespaces(namespaces, buffer, start, found.start())
            if buffer[end.start() - 1 : end.end()] == b"/>":
                count += 1
                open_tag, start, at = None, after, after
            else:
                open_tag, start, at = found, found.start(), found.end()
        if at_end:
            if open_tag is not None or needs_more:
                yield Dropped(RejectReason.UNREADABLE_REST, f"element {count + 1}", "unexpected end of the file")
            return
        if not needs_more:
            partial_tag = buffer.rfind(b"<", max(at, len(buffer) - _MAX_START_TAG))
            at = max(at, partial_tag) if partial_tag >= 0 else len(buffer)
        if open_tag is None:
            _read_namespaces(namespaces, buffer, start, at if needs_more else len(buffer))
            start = at if needs_more else max(start, min(at, len(buffer) - 200))
        buffer, at, start = buffer[start:], at - start, 0
        if len(buffer) > limit and (open_tag is not None or needs_more):
            count += 1
            yield Dropped(RejectReason.TOO_LARGE, f"element {count}")
            # Read the element's content again. This happens at most once per tag, because a second element with the
            # same tag would end the first.
            open_tag, at = None, 1
            continue
        more = stream.read(max(_CHUNK, len(buffer)))
        at_end = not more
        buffer += more


def parse_xml_elements(
    stream: IO[bytes], tags: tuple[str, ...], skipped: Container[str] = ()
) -> Iterator[tuple[str, str, Any] | Dropped]:
    """Yield (tag, place, root) of the elements of `read_xml_elements`.

    Elements with a tag in `skipped` are not parsed: they yield `Dropped(NOT_A_PAPER)`.
    """
    for number, item in enumerate(read_xml_elements(stream, tags), 1):
        if isinstance(item, Dropped):
            yield item
            continue
        tag, text, encoding = item
        where = f"{tag} {number}"
        if tag in skipped:
            yield Dropped(RejectReason.NOT_A_PAPER, where, tag)
            continue
        try:
            root = parse_xml(text, encoding)
        except ValueError as error:
            yield Dropped(RejectReason.MALFORMED, where, str(error))
        else:
            yield tag, where, root


def _read_namespaces(namespaces: dict[bytes, bytes], text: bytes, start: int, end: int) -> None:
    """Add the namespace declarations in the text between two elements, which contains the start tags of their ancestors."""
    for prefix, uri in _NAMESPACE.findall(text, start, end):
        if prefix in namespaces or len(namespaces) < _MAX_NAMESPACES:
            namespaces[prefix] = uri


def _declare(namespaces: dict[bytes, bytes], element: bytes, name_end: int) -> bytes:
    """Add the inherited namespace declarations to an element, except those of its own start tag."""
    own = {prefix for prefix, _ in _NAMESPACE.findall(element, name_end, element.index(b">"))}
    inherited = [
        b" xmlns:%b=%b" % item for item in namespaces.items() if item[0] not in own and item[0] + b":" in element
    ]
    return element[:name_end] + b"".join(inherited) + element[name_end:] if inherited else element
