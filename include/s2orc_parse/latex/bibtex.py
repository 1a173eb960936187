"""BibTeX databases: entries with their fields, still TeX."""

from __future__ import annotations

import re
from dataclasses import dataclass

from s2orc_parse.latex.tex import group_end

MAX_ENTRIES = 50_000
_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*[{(]")
_KEY = re.compile(r"\s*([^\s,{}()=\"]+)\s*,")
_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w:.+/-]*)\s*=\s*")
_WORD = re.compile(r"[^\s,#{}\"()=]+")
_MONTHS = {
    m: m.capitalize() for m in ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
}


@dataclass(frozen=True, slots=True)
class Record:
    """An entry of a database; names of fields in lower case."""

    key: str
    type: str
    fields: dict[str, str]


def read_bib(text: str) -> dict[str, Record]:
    """Entries by key, the first of each; what is broken ends where the next entry starts."""
    strings = dict(_MONTHS)
    found: dict[str, Record] = {}
    at = 0
    while (match := _ENTRY.search(text, at)) and len(found) < MAX_ENTRIES:
        at = match.end()
        kind = match.group(1).lower()
        if kind in ("comment", "preamble"):
            continue
        if kind == "string":
            pairs, at = _fields(text, at, strings)
            strings.update(pairs)
            continue
        key = _KEY.match(text, at)
        if key is None:
            continue
        at = key.end()
        pairs, at = _fields(text, at, strings)
        found.setdefault(key.group(1), Record(key.group(1), kind, dict(reversed(pairs))))
    return found


def _fields(text: str, at: int, strings: dict[str, str]) -> tuple[list[tuple[str, str]], int]:
    """`name = value` pairs from `at` on, and where they end."""
    found: list[tuple[str, str]] = []
    while match := _FIELD.match(text, at):
        at = match.end()
        parts: list[str] = []
        while True:
            if text[at : at + 1] == "{":
                end = group_end(text, at)
                if end is None:
                    return found, at
                parts.append(text[at + 1 : end - 1])
            elif text[at : at + 1] == '"':
                end = _quote_end(text, at)
                if end is None:
                    return found, at
                parts.append(text[at + 1 : end - 1])
            elif word := _WORD.match(text, at):
                end = word.end()
                parts.append(strings.get(word.group().lower(), word.group()))
            else:
                break
            at = end
            if joined := re.compile(r"\s*#\s*").match(text, at):
                at = joined.end()
                continue
            break
        found.append((match.group(1).lower(), "".join(parts).strip()))
    return found, at


def _quote_end(text: str, start: int) -> int | None:
    depth = 0
    for match in re.compile(r'\\.|[{}"]', re.DOTALL).finditer(text, start + 1):
        sign = match.group()
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        elif sign == '"' and depth <= 0:
            return match.end()
    return None
