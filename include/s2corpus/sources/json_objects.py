"""Read the JSON objects of an untrusted file of any size, one at a time: JSON lines, an array, or a document with an "items" array."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

import orjson

from s2corpus.sources.record import Dropped, Entry, RejectReason
from s2corpus.sources.streams import Peekable, read_lines, skip_bom
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES

_CHUNK = 1 << 18
_ARRAY_OF_ITEMS = re.compile(rb'^\s*\[|"items"\s*:\s*\[')
_AFTER_ITEM = re.compile(r"\s*+(?:\]|,?\s*+\{)")
_BRACKET = re.compile("[{}]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}]', re.DOTALL)
_DECODER = json.JSONDecoder(
    strict=False, parse_int=float
)  # It only finds the end of an object; orjson parses the object.
_LONGEST_TOKEN = 16
"""characters of the longest token that is a syntax error if the text ends in it: two escapes of four digits"""
_FIRST_WINDOW = 256


def read_json_objects(stream: IO[bytes]) -> Iterator[tuple[str, dict[str, Any]] | Dropped]:
    """Yield (place, object) of every JSON object in JSONL, in an array, or in a document's "items" array.

    Memory does not depend on the size of the file. A broken or overlong object is a `Dropped`.
    """
    for item in read_json_texts(stream):
        if isinstance(item, Dropped):
            yield item
            continue
        try:
            yield item[0], load_object(item[1])
        except ValueError as error:
            yield Dropped(RejectReason.MALFORMED, item[0], str(error)[:200])


def parse_objects(
    stream: IO[bytes],
    parse: Callable[[dict[str, Any], str], Entry],
    find_list: Callable[[dict[str, Any]], object] = lambda _: None,
) -> Iterator[Entry]:
    """Yield `parse(object, place)` of every JSON object, as `read_json_objects` finds them.

    If `find_list` returns a list, the object is an answer of an API, and the list contains the objects.
    """
    for item in read_json_objects(stream):
        if isinstance(item, Dropped):
            yield item
            continue
        where, value = item
        if not isinstance(values := find_list(value), list):
            yield parse(value, where)
            continue
        for number, inner in enumerate(values, 1):
            place = f"{where}, item {number}"
            is_object = isinstance(inner, dict)
            yield parse(inner, place) if is_object else Dropped(RejectReason.MALFORMED, place, "expected a JSON object")


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


def load_object(text: bytes) -> dict[str, Any]:
    """Return the object of a JSON text.

    Raises:
        ValueError: it is not JSON, or not an object.
    """
    value = orjson.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    return value


def _read_array(stream: IO[bytes]) -> Iterator[tuple[str, bytes] | Dropped]:
    buffer = stream.read(_CHUNK)
    while (match := _ARRAY_OF_ITEMS.search(buffer)) is None:
        more = stream.read(max(_CHUNK, len(buffer)))  # The buffer is searched again, so it doubles each time.
        if not more or len(buffer) > MAX_ENTRY_BYTES:
            yield Dropped(RejectReason.MALFORMED, "start", 'no JSON array, and no "items" array')
            return
        buffer += more
    buffer, number, at_end = buffer[match.end() :], 0, False
    while True:
        text = buffer.decode("latin-1")  # one character per byte: JSON's own signs are ASCII
        start = text.find("{")
        while start >= 0 and (end := _find_end(text, start, is_complete=at_end)) is not None:
            number += 1
            yield f"item {number}", buffer[start:end]
            if end > _CHUNK:  # A syntax error takes time up to its position: Python counts the lines before it.
                buffer, text, end = buffer[end:], text[end:], 0
            start = text.find("{", end)
        buffer = buffer[start:] if start >= 0 else b""
        if at_end:
            if buffer:
                yield Dropped(RejectReason.UNREADABLE_REST, f"item {number + 1}", "unexpected end of the file")
            return
        if len(buffer) > MAX_ENTRY_BYTES:
            yield Dropped(RejectReason.TOO_LARGE, f"item {number + 1}", "the rest of the file was skipped")
            return
        more = stream.read(max(_CHUNK, len(buffer)))
        at_end = not more
        buffer += more


def _find_end(text: str, start: int, *, is_complete: bool) -> int | None:
    """Return the end of the JSON object at `start`, or None if more text is needed (`is_complete`: there is no more)."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated string") or error.pos > len(text) - _LONGEST_TOKEN
        return None if is_cut and not is_complete else _find_damaged_end(text, start, error.pos)
    except RecursionError:
        return _find_damaged_end(text, start, -1)


def _find_damaged_end(text: str, start: int, error: int) -> int | None:
    """Return the end of an object with a syntax error at `error`: where its brackets balance and an item or the array ends.

    Brackets are counted with those in strings, because a missing quotation mark exchanges the inside and the outside of all
    later strings; then without them. A bracket in place of a key begins the next item, if the brackets balance after it.
    """
    size = 0
    while start + size < len(text):
        size = 4 * size or _FIRST_WINDOW  # Each window is searched twice, so the time is linear in the object's size.
        for pattern in (_BRACKET, _STRING_OR_BRACKET):
            depth = 0
            for token in pattern.finditer(text, start, start + size):
                if token.group() == "{":
                    if depth == 1 and token.start() == error and _is_item(text, error):
                        return error
                    depth += 1
                elif token.group() == "}":
                    depth = max(0, depth - 1)
                    if depth == 0 and _AFTER_ITEM.match(text, token.end()):
                        return token.end()
    return None


def _is_item(text: str, start: int) -> bool:
    try:
        return _AFTER_ITEM.match(text, _DECODER.raw_decode(text, start)[1]) is not None
    except (json.JSONDecodeError, RecursionError):
        return False
