"""Read BibTeX databases: entries with their fields as TeX."""

from __future__ import annotations

import re
from dataclasses import dataclass

from s2orc_parse.bibliography.links import clean_url
from s2orc_parse.latex.tex import replace_intervals

MAX_ENTRIES = 50_000
_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*[{(]")
_KEY = re.compile(r"\s*([^\s,{}()=\"]+)\s*,")
_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w:.+/-]*)\s*=\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_QUOTE = re.compile(r'\\.|[{}"]', re.DOTALL)
_LINKED_FIELDS = ("url", "ee", "link", "howpublished", "note", "eprint")
_ARGUMENT = re.compile(r"\\[A-Za-z]+\s*\Z")
_GROUP_OPEN, _GROUP_CLOSE = "\ue012", "\ue013"
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
    for found_at in _ENTRY.finditer(text):
        if found_at.group(1).lower() == "string":  # abbreviations may follow their uses
            strings.update(_read_fields(text, found_at.end(), strings, ends)[0])
    found: dict[str, BibtexEntry] = {}
    at = 0
    while (match := _ENTRY.search(text, at)) and len(found) < MAX_ENTRIES:
        at = match.end()
        kind = match.group(1).lower()
        if kind in ("comment", "preamble", "string"):
            continue
        key = _KEY.match(text, at)
        if key is None:
            continue
        at = key.end()
        pairs, at = _read_fields(text, at, strings, ends)
        found.setdefault(key.group(1), BibtexEntry(key.group(1), dict(reversed(pairs))))
    return found


def list_links(record: BibtexEntry) -> list[str]:
    """Return the addresses in the fields of an entry that may contain any."""
    texts = (re.split(r"(?=https?://|www\.)", record.fields.get(name, "")) for name in _LINKED_FIELDS)
    return [url for found in texts for text in found if (url := clean_url(text))]


def mark_groups(names: str) -> str:
    """Replace the braces around names of groups and around parts of names by marks that pandoc retains."""
    ends = _find_group_ends(names)
    groups: list[tuple[int, int, str]] = []
    for start in sorted(ends):
        inner = names[start + 1 : ends[start] - 1]
        is_accent = inner[:1] == "\\" and len(inner) < 6
        if re.search(r"[\s,]", inner) and not is_accent and not _ARGUMENT.search(names, 0, start):
            groups.append((start, ends[start], f"{_GROUP_OPEN}{inner}{_GROUP_CLOSE}"))
    return replace_intervals(names, groups)


def unmark_groups(text: str) -> str:
    """Return a converted text with braces for the marks of `mark_groups`."""
    return text.replace(_GROUP_OPEN, "{").replace(_GROUP_CLOSE, "}")


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Return the `name = value` pairs of the content of one entry."""
    return _read_fields(text, 0, {}, _find_group_ends(text))[0]


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
        found.append((match.group(1).lower(), " ".join("".join(parts).split())))
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
