"""Read the XML elements of an untrusted file of any size, one at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import IO, Any

from s2corpus.sources.record import Dropped, Entry, RejectReason
from s2corpus.sources.streams import read_documents
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.xml import NAMESPACES_OF_DTDS, parse_xml

_CHUNK = 1 << 20
_MAX_START_TAG = 4_096  # bytes of a start tag that declares namespaces
_MAX_NAMESPACES = 64
_NAMESPACE = re.compile(rb"""\sxmlns:([\w.-]{1,40})\s*=\s*("[^"<>]{0,400}"|'[^'<>]{0,400}')""")
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
    namespaces = dict(NAMESPACES_OF_DTDS)
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
                name = 2 if is_end_tag else 3  # a prefix is part of the name that ends an element
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
    stream: IO[bytes], tags: tuple[str, ...], parse: Callable[[Any, str], Iterable[Entry]], skipped: Container[str] = ()
) -> Iterator[Entry]:
    """Yield the entries `parse(element, place)` of every element with one of the tags, and `Dropped` for unreadable elements.

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
            yield from parse(root, where)


def _read_namespaces(namespaces: dict[bytes, bytes], text: bytes, start: int, end: int) -> None:
    """Add the namespace declarations in the text between two elements, which contains the start tags of their ancestors."""
    for prefix, uri in _NAMESPACE.findall(text, start, end):
        if prefix in namespaces or len(namespaces) < _MAX_NAMESPACES:
            namespaces[prefix] = uri


def _declare(namespaces: dict[bytes, bytes], element: bytes, name_end: int) -> bytes:
    """Add the inherited namespace declarations to an element, except the declarations of its start tag."""
    own = {prefix for prefix, _ in _NAMESPACE.findall(element, name_end, element.index(b">"))}
    inherited = [
        b" xmlns:%b=%b" % item for item in namespaces.items() if item[0] not in own and item[0] + b":" in element
    ]
    return element[:name_end] + b"".join(inherited) + element[name_end:] if inherited else element


def parse_documents(
    stream: IO[bytes],
    suffixes: tuple[str, ...],
    parse: Callable[[Any, str], Iterable[Entry]],
    load: Callable[[bytes], Any] = parse_xml,
) -> Iterator[Entry]:
    """Yield the entries `parse(root, name)` of the documents among `read_documents`; names in a tar end with a suffix."""
    for item in read_documents(stream):
        if isinstance(item, Dropped):
            yield item
        elif item[0] == "document" or item[0].endswith(suffixes):
            try:
                root = load(item[1])
            except ValueError as error:
                yield Dropped(RejectReason.MALFORMED, item[0], str(error))
            else:
                yield from parse(root, item[0])
