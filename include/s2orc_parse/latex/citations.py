"""Rewrite citation commands that pandoc reads incorrectly as links. `pandoc_ast` converts them back.

A citation becomes `\\href{<CITE>command<KEYS>keys…}{before<PART>after<PART>alias…}`. Its keys may therefore be a
macro's arguments, and the text before and after may be any TeX, including citations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from s2orc_parse.latex.marks import CITE, KEYS, PART
from s2orc_parse.latex.tex import find_calls, read_argument, read_option, replace_intervals
from s2orc_parse.words import read_table

_TABLE = read_table("latex/words")
_CITES = {kind: tuple(commands.split()) for kind, commands in _TABLE["citations"].items()}
PLAIN_CITES, _MULTIPLE, _VOLUME = _CITES["plain"], _CITES["multiple"], _CITES["volume"]
_CANONICAL = _TABLE["canonical_citations"]
_ALL = sorted((*PLAIN_CITES, *_CITES["single"], *_MULTIPLE, *_VOLUME), key=len, reverse=True)
_COMMAND = re.compile(rf"\\({'|'.join(f'[{name[0].upper()}{name[0]}]{name[1:]}' for name in _ALL)})(?![A-Za-z@])(\*?)")
_PROTECT = re.compile(r"\\protect\s*(?=\\hyperlink)")
_FOOTNOTE_PREFIXES = ("foot", "smart")
_REVTEX_SYNTAX = re.compile(r"\[|(?:^|,)\s*\*")
_MAX_LENGTH = 6000
"""maximum length of a citation command"""
_MAX_DEPTH = 4
"""maximum nesting of citations inside the text of a citation"""


def find_aliases(text: str) -> dict[str, str]:
    """Return the names that a paper gives to entries (`\\defcitealias`), by key."""
    return {call.arguments[0].strip(): call.arguments[1] for call in find_calls(text, "defcitealias", 2, options=0)}


def mark_citations(text: str, defined: Collection[str], aliases: Mapping[str, str], depth: int = 0) -> str:
    """Return the text with its citations as links. Commands that the paper defines (`defined`) are unchanged."""
    if depth == 0:
        text = replace_intervals(
            text, ((call.start, call.end, "") for call in find_calls(text, "defcitealias", 2, options=0))
        )
        text = _mark_printed(text)
    parts: list[str] = []
    at = 0
    for match in _COMMAND.finditer(text):
        if match.start() < at or match[1] in defined:
            continue
        found = _read(text[match.end() : match.end() + _MAX_LENGTH], match[1])
        if found is None:
            continue
        groups, length = found
        base = match[1][:1].lower() + match[1][1:]
        (before, after, keys), *further = groups
        is_plain = base in PLAIN_CITES and match[1] == base and not match[2]
        if is_plain and not (before or after or further or _REVTEX_SYNTAX.search(keys)):
            continue
        command = _CANONICAL.get(base, base.removesuffix("s") if base in _MULTIPLE else base)
        command = command[:1].upper() + command[1:] if match[1] != base else command
        shown = [
            mark_citations(re.sub(r"\n\s*\n", "\n", tex).strip(), defined, aliases, depth + 1)
            if depth < _MAX_DEPTH
            else ""
            for before, after, keys in groups
            for tex in (before, after, aliases.get(keys.strip(), keys) if command.endswith("alias") else "")
        ]
        target = KEYS.join((f"{CITE}{command}{match[2]}", *(_clean_keys(keys) for _, _, keys in groups)))
        link = f"\\href{{{target}}}{{{PART.join(shown)}}}"
        parts += (text[at : match.start()], f"\\footnote{{{link}}}" if base.startswith(_FOOTNOTE_PREFIXES) else link)
        at = match.end() + length
    return "".join([*parts, text[at:]])


def _mark_printed(text: str) -> str:
    r"""Return the text with the citations that pandoc printed: \citeproc{ref-key}{printed}, or \hyperlink in older versions."""
    text = _PROTECT.sub("", text)
    return replace_intervals(
        text,
        (
            (call.start, call.end, f"\\href{{{CITE}citetalias{KEYS}{key}}}{{{PART}{PART}{call.arguments[1]}}}")
            for call in find_calls(text, "citeproc|hyperlink", 2, options=0)
            if (key := call.arguments[0].strip()).startswith("ref-")
        ),
    )


def _read(text: str, name: str) -> tuple[list[tuple[str, str, str]], int] | None:
    """Return the groups (before, after, keys) of a citation command, and the length of its arguments."""
    base = name[:1].lower() + name[1:]
    at = 0
    outer: list[str] = []
    while base in _MULTIPLE and len(outer) < 2 and (match := re.compile(r"\s*\(([^()]*)\)").match(text, at)):
        outer.append(match[1])
        at = match.end()
    first, last = outer if len(outer) == 2 else ("", "".join(outer))
    groups: list[tuple[str, str, str]] = []
    while (found := _read_group(text, at, base)) is not None:
        before, after, keys, at = found
        groups.append((before, after, keys))
        if base not in _MULTIPLE:
            break
    if not groups:
        return None
    before, after, keys = groups[0]
    groups[0] = (f"{first} {before}".strip(), after, keys)
    before, after, keys = groups[-1]
    groups[-1] = (before, ", ".join(filter(None, (after, last))), keys)
    return groups, at


def _read_group(text: str, at: int, base: str) -> tuple[str, str, str, int] | None:
    """Return the texts before and after, the keys, and the end position."""
    angle = ""
    if match := re.compile(r"\s*<([^<>]*)>").match(text, at):
        angle, at = match[1], match.end()
    first, at = read_option(text, at)
    volume = ""
    if base in _VOLUME:
        if (got := read_argument(text, at)) is None:
            return None
        volume, at = got
    second, at = read_option(text, at)
    start = re.compile(r"[ \t]*(?:%?\n[ \t]*)?").match(text, at).end()  # type: ignore[union-attr]
    if text[start : start + 1] != "{" or (got := read_argument(text, start)) is None:
        return None
    if base in _VOLUME:
        return first or "", ", ".join(filter(None, (volume, second))), got[0], got[1]
    before, after = (first or "", second) if second is not None else (angle, first or "")
    return before, after, got[0], got[1]


def _clean_keys(keys: str) -> str:
    """Return keys without REVTeX's prefixes: an asterisk, and bracketed texts for the bibliography."""
    parts: list[str] = []
    at = 0
    while True:
        start = len(re.compile(r"[\s,%*]*").match(keys, at).group()) + at  # type: ignore[union-attr]
        for _ in range(2):
            _, start = read_option(keys, start)
        end = keys.find(",", start)
        key = " ".join(keys[start : end if end >= 0 else len(keys)].replace("%", " ").split()).lstrip("*")
        parts += [key] if key else []
        if end < 0:
            return ",".join(parts)
        at = end
