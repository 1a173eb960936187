"""Read the basic syntax of TeX: groups, arguments, environments, comments.

The time is linear if all groups are closed; otherwise `deadline` limits it.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from s2orc_parse.outcomes import BadSource, LatexOutcome

_FAR = 1 << 40
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BRACKET = re.compile(r"\\.|[{}\[\]]", re.DOTALL)
_SPACE = re.compile(r"(?:\s|%\n)*")


deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))
"""deadline of reading on the monotonic clock"""


def check_deadline() -> None:
    """Raise `BadSource` after the deadline."""
    if time.monotonic() > deadline.get():
        raise BadSource(LatexOutcome.TIMEOUT, "reading the source took too long, before pandoc started")


def replace_intervals(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    """Return the text with each interval (start, end), in order, replaced."""
    parts, at = [], 0
    for start, end, new in pieces:
        if start >= at:
            parts += [text[at:start], new]
            at = end
    return "".join([*parts, text[at:]])


def group_end(text: str, start: int, within: int = _FAR) -> int | None:
    """Return the end of the group that opens at `start` (after its brace), or None. Raises `BadSource` after the deadline."""
    check_deadline()
    depth = 0
    for match in _BRACE.finditer(text, start, start + within):
        sign = match.group()
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def skip_space(text: str, at: int) -> int:
    """Return the first position from `at` that is neither white space nor a comment's line end."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def read_argument(text: str, at: int, within: int = _FAR) -> tuple[str, int] | None:
    """Return the argument at `at` without braces (leading white space is skipped) and its end, or None."""
    at = skip_space(text, at)
    if at >= len(text) or text[at] == "}":
        return None
    if text[at] == "{":
        end = group_end(text, at, within)
        return None if end is None else (text[at + 1 : end - 1], end)
    if text[at] == "\\":
        match = re.compile(r"\\(?:[A-Za-z@]+|.)", re.DOTALL).match(text, at)
        return (match.group(), match.end()) if match else None
    return text[at], at + 1


def read_option(text: str, at: int, within: int = _FAR) -> tuple[str | None, int]:
    """Return the optional argument at `at`, or None, and its end."""
    start = skip_space(text, at)
    if start >= len(text) or text[start] != "[":
        return None, at
    check_deadline()
    depth = 0
    for match in _BRACKET.finditer(text, start + 1, start + within):
        sign = match.group()
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth < 0:
                return None, at
        elif sign == "]" and depth == 0:
            return text[start + 1 : match.start()], match.end()
    return None, at


def read_value(options: str, names: str) -> str | None:
    """Return the last value of a key, or of several alternatives, in a list of options."""
    matches = [
        match
        for match in re.finditer(rf"(?:^|,)\s*(?:{names})\*?\s*=\s*", options)
        if options.count("{", 0, match.start()) == options.count("}", 0, match.start())
    ]
    if not matches:
        return None
    match = matches[-1]
    if options[match.end() : match.end() + 1] == "{" and (got := read_argument(options, match.end())):
        return got[0].strip()
    depth = 0
    for at in range(match.end(), len(options)):
        depth += {"{": 1, "}": -1}.get(options[at], 0)
        if options[at] == "," and depth <= 0:
            return options[match.end() : at].strip()
    return options[match.end() :].strip()


@dataclass(frozen=True, slots=True)
class Call:
    """A command with its arguments; `text[start:end]` is the complete command."""

    name: str
    start: int
    end: int
    options: tuple[str | None, ...]
    arguments: tuple[str, ...]


def find_calls(text: str, names: str, arguments: int, options: int = 1) -> Iterator[Call]:
    """Yield the outermost calls of matching commands with up to `options` optional and exactly `arguments` mandatory arguments."""
    pattern = re.compile(rf"\\({names})(?![A-Za-z@])\*?")
    at = 0
    while match := pattern.search(text, at):
        at = end = match.end()
        found: list[str | None] = []
        for _ in range(options):
            value, end = read_option(text, end)
            found.append(value)
        values = []
        for _ in range(arguments):
            if (got := read_argument(text, end)) is None:
                break
            values.append(got[0])
            end = got[1]
        if len(values) == arguments:
            at = max(end, at)
            yield Call(match.group(1), match.start(), end, tuple(found), tuple(values))


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment: `text[start:end]` is the complete environment, `body` its content."""

    name: str
    start: int
    end: int
    body: str


def find_environments(text: str, names: str) -> Iterator[Environment]:
    """Yield the outermost environments with a matching name; unclosed environments are skipped."""
    end = 0
    pairs, _ = _match_pairs(text, re.compile(rf"\\(?:(begin)|end)\s*\{{(?P<name>{names})\}}"))
    for first, last in sorted(pairs, key=lambda pair: pair[0].start()):
        if first.start() >= end:
            end = last.end()
            yield Environment(first["name"], first.start(), end, text[first.end() : last.start()])


_ENVIRONMENT = re.compile(r"\\(?:(begin)|end)\s*\{(?P<name>[^{}]*)\}")
_BRACES = re.compile(r"\\.|(?:(\{)|\})(?P<name>)", re.DOTALL)


_COMMAND = re.compile(r"\\[A-Za-z]+\Z")


def balance(text: str) -> str:
    """Return the text without unmatched braces, \\begin and \\end; a command keeps its distance from the text after its brace."""
    if "\\begin" in text or "\\end" in text:
        text = _remove_unmatched(text, _ENVIRONMENT)
    return _remove_unmatched(text, _BRACES) if "{" in text or "}" in text else text


def _remove_unmatched(text: str, pattern: re.Pattern[str]) -> str:
    ends = sorted(_match_pairs(text, pattern)[1], key=lambda match: match.start())
    cuts = (
        (end.start(), end.end(), " " * bool(_COMMAND.search(text, max(end.start() - 40, 0), end.start())))
        for end in ends
    )
    return replace_intervals(text, cuts) if ends else text


def _match_pairs(
    text: str, pattern: re.Pattern[str]
) -> tuple[list[tuple[re.Match[str], re.Match[str]]], list[re.Match[str]]]:
    """Return the pairs of matches that open, with group 1, and close a name; and the matches without a partner."""
    stack: list[re.Match[str]] = []
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    unmatched: list[re.Match[str]] = []
    open_ = Counter[str]()
    for match in pattern.finditer(text):
        if (name := match["name"]) is None:  # an escaped sign
            continue
        if match[1]:
            stack.append(match)
            open_[name] += 1
        elif open_[name]:
            while (popped := stack.pop())["name"] != name:
                unmatched.append(popped)
                open_[popped["name"]] -= 1
            open_[name] -= 1
            pairs.append((popped, match))
        else:
            unmatched.append(match)
    return pairs, [*unmatched, *stack]
