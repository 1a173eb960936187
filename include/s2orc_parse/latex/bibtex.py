"""Read BibTeX databases: entries with their fields as TeX."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_ENTRIES = 50_000
_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*[{(]")
_KEY = re.compile(r"\s*([^\s,{}()=\"]+)\s*,")
_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w:.+/-]*)\s*=\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_QUOTE = re.compile(r'\\.|[{}"]', re.DOTALL)
_MAX_JOINED = 1 << 16
"""maximum number of characters in a value after its abbreviations are expanded"""
_WORD = re.compile(r"[^\s,#{}\"()=]+")
_MONTHS = {
    m: m.capitalize() for m in ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
}


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """An entry of a database; names of fields are in lower case."""

    key: str
    fields: dict[str, str]


def read_bib(text: str) -> dict[str, BibtexEntry]:
    """Return the first entry of each key. A broken entry ends where the next entry starts."""
    strings, ends = dict(_MONTHS), _find_group_ends(text)
    found: dict[str, BibtexEntry] = {}
    at = 0
    while (match := _ENTRY.search(text, at)) and len(found) < MAX_ENTRIES:
        at = match.end()
        kind = match.group(1).lower()
        if kind in ("comment", "preamble"):
            continue
        if kind == "string":
            pairs, at = _read_fields(text, at, strings, ends)
            strings.update(pairs)
            continue
        key = _KEY.match(text, at)
        if key is None:
            continue
        at = key.end()
        pairs, at = _read_fields(text, at, strings, ends)
        found.setdefault(key.group(1), BibtexEntry(key.group(1), dict(reversed(pairs))))
    return found


def _find_group_ends(text: str) -> dict[int, int]:
    """Return the ends of all groups by their starts, in one pass: unclosed groups do not cause quadratic time."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for match in _BRACE.finditer(text):
        if match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            found[opened.pop()] = match.end()
    return found


def _read_fields(
    text: str, at: int, strings: dict[str, str], ends: dict[int, int]
) -> tuple[list[tuple[str, str]], int]:
    """Return the `name = value` pairs that begin at `at`, and their end."""
    found: list[tuple[str, str]] = []
    while match := _FIELD.match(text, at):
        at = match.end()
        parts: list[str] = []
        size = 0
        while True:
            if text[at : at + 1] == "{":
                end = ends.get(at)
                if end is None:
                    return found, at
                parts.append(text[at + 1 : end - 1])
            elif text[at : at + 1] == '"':
                end = _find_quote_end(text, at, ends)
                if end is None:
                    return found, at
                parts.append(text[at + 1 : end - 1])
            elif word := _WORD.match(text, at):
                end = word.end()
                given = strings.get(word.group().lower(), word.group())
                if size + len(given) <= _MAX_JOINED:  # nested abbreviations could double the length each time
                    parts.append(given)
                    size += len(given)
            else:
                break
            at = end
            if joined := re.compile(r"\s*#\s*").match(text, at):
                at = joined.end()
                continue
            break
        found.append((match.group(1).lower(), "".join(parts).strip()))
    return found, at


def _find_quote_end(text: str, start: int, ends: dict[int, int]) -> int | None:
    """Return the end of a value in quotation marks, ignoring quotation marks inside groups."""
    at = start + 1
    while match := _QUOTE.search(text, at):
        if match.group() == '"':
            return match.end()
        after = ends.get(match.start()) if match.group() == "{" else match.end()
        if after is None:  # the group never ends, nor does the value
            return None
        at = after
    return None
