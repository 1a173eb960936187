"""Where one entry of a reference list ends and the next begins.

Labels decide if their numbers run through the list. Without them every way of cutting (hanging indents, indented first lines, gaps,
what the lines say, what a CRF says that knows the best of these) is tried, and the one whose entries read most like references is taken."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from . import entries
from .entries import AUTHOR, LABEL, YEAR, may_end
from .model import Line, Token

Group = list[Line]

_MARK = re.compile(r"[\[(]?(\d{1,3})(?:[\])]|\.)")
_FEW = 8
"""Entries below which a list's order says nothing"""
_SORTED = 0.9
"""Share of neighbours in order from which on a list is sorted"""
_MAX_SKIP = 3
"""Numbers that may fail to be read between two labels."""


def split(lines: list[Line]) -> list[Group]:
    """The list's lines as entries, in order."""
    if not lines:
        return []
    labelled = _labelled(lines)
    if labelled:
        return labelled
    offsets = _offsets(lines)
    ruled = _ruled(lines, offsets)
    begins = {id(group[0]) for group in ruled}
    rows = [entries.Row(x.text, offset > 3, id(x) in begins) for x, offset in zip(lines, offsets, strict=True)]
    return _in_order(max(ruled, _cut(lines, entries.starts(rows)), key=_reads))


def _in_order(groups: list[Group]) -> list[Group]:
    """Groups of a list in alphabetical order, those joined again of which the first has no year and the second breaks the order: a
    book's title that begins a line, say."""
    words = [unicodedata.normalize("NFKD", group[0].text).casefold().split()[:1] for group in groups]
    ordered = sum(a <= b for a, b in pairwise(words))
    if len(groups) < _FEW or ordered < _SORTED * (len(groups) - 1):
        return groups
    out: list[Group] = []
    for i, group in enumerate(groups):
        breaks = 0 < i < len(groups) - 1 and words[i - 1] <= words[i + 1] < words[i]
        if breaks and not any(YEAR.search(line.text) for line in out[-1]):
            out[-1] = out[-1] + group
        else:
            out.append(group)
    return out


def by_rules(lines: list[Line]) -> list[Group]:
    """The list's lines as entries, by rules alone."""
    return _labelled(lines) or _ruled(lines, _offsets(lines))


def _ruled(lines: list[Line], offsets: list[float]) -> list[Group]:
    ways = (_hanging(lines, offsets), _indented(lines, offsets), _gaps(lines), _said(lines))
    return max((_cut(lines, starts) for starts in ways), key=_reads)


def _form(match: re.Match[str]) -> str:
    return next((name for name in ("square", "round", "stop", "bare") if match[name]), "")


@dataclass(frozen=True, slots=True)
class _Link:
    """A label as the end of a run of labels."""

    score: float
    line: int
    number: int
    before: _Link | None


def _labelled(lines: list[Line]) -> list[Group]:
    """Groups cut at labels: the longest run of ascending numbers of one form, or bracketed keys; empty if the list has none."""
    matches = [LABEL.match(line.text) for line in lines]
    keys = [i for i, m in enumerate(matches) if m and m["key"]]
    best: _Link | None = None
    for form in ("square", "round", "stop", "bare"):
        found = _run([(i, int(m[form])) for i, m in enumerate(matches) if m and m[form]])
        if found and (best is None or found.score > best.score + (form == "bare")):
            best = found
    if len(keys) > max(2, len(lines) / 12) and (best is None or best.score < len(keys)):
        return _cut(lines, [i in set(keys) for i in range(len(lines))])
    if best is None or best.score < max(2.5, len(lines) / 14):
        return []
    starts: dict[int, int] = {}
    link: _Link | None = best
    while link:
        starts[link.line] = link.number
        link = link.before
    first = min(starts)
    if sum(len(line.text) for line in lines[:first]) > 600 or (first > 3 and first > len(lines) / 4):
        return []
    groups = _cut(lines, [i in starts for i in range(len(lines))])
    return _missed(groups)


def _run(labels: list[tuple[int, int]]) -> _Link | None:
    """The best run of labels (line, number): each number one more than that before, up to three, or 1 where a list begins again."""
    ends: dict[int, _Link] = {}
    top: _Link | None = None
    for line, number in labels:
        before: _Link | None = None
        gain = 1.0 if number == 1 else 0.3
        for step in range(1, _MAX_SKIP + 1):
            link = ends.get(number - step)
            if link and link.score + 1.5 - 0.5 * step > gain:
                before, gain = link, link.score + 1.5 - 0.5 * step
        if number == 1 and top and top.score > 4 and top.score - 1 > gain:
            before, gain = top, top.score - 1
        old = ends.get(number)
        if old is None or gain > old.score:
            ends[number] = _Link(gain, line, number, before)
            if top is None or gain > top.score:
                top = ends[number]
    return top


def _missed(groups: list[Group]) -> list[Group]:
    """Groups whose labels leave out numbers, cut where the number missing stands within a line after a full stop."""
    out: list[Group] = []
    for group, after in pairwise([*groups, []]):
        out.append(group)
        here, there = (LABEL.match(g[0].text) if g else None for g in (group, after))
        if not here or not there or _form(here) != _form(there) or not _form(here):
            continue
        for number in range(int(here[_form(here)]) + 1, int(there[_form(there)])):
            cut = _cut_at(out[-1], number)
            if cut is None:
                break
            out[-1:] = cut
    return out


def _cut_at(group: Group, number: int) -> list[Group] | None:
    for i, line in enumerate(group):
        for at in range(1, len(line.tokens)):
            mark = _MARK.match(line.tokens[at].text)
            if mark and mark.group(1) == str(number) and line.tokens[at - 1].text.endswith((".", ";", ")")):
                left, right = _parts(line, at)
                return [[*group[:i], left], [right, *group[i + 1 :]]]
    return None


def _parts(line: Line, at: int) -> tuple[Line, Line]:
    def part(tokens: list[Token]) -> Line:
        return Line(tokens, line.page, line.block, line.kind)

    return part(line.tokens[:at]), part(line.tokens[at:])


def _cut(lines: list[Line], starts: list[bool]) -> list[Group]:
    groups: list[Group] = []
    for line, start in zip(lines, starts, strict=True):
        if start or not groups:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _columns(lines: list[Line]) -> list[int]:
    """For each line the number of its column, over all pages."""
    out: list[int] = []
    column = 0
    for i, line in enumerate(lines):
        before = lines[i - 1] if i else line
        if line.page != before.page or line.x0 > before.x1 or line.y1 < before.y0:
            column += 1
        out.append(column)
    return out


def _offsets(lines: list[Line]) -> list[float]:
    """How far each line stands in from the left edge of its column: the leftmost x0 that comes again there."""
    columns = _columns(lines)
    places: dict[int, Counter[int]] = defaultdict(Counter)
    for column, line in zip(columns, lines, strict=True):
        places[column][round(line.x0 / 2)] += 1
    edges: dict[int, float] = {}
    for column, counts in places.items():
        total = counts.total()
        common = [x for x, n in counts.items() if n + counts[x + 1] + counts[x - 1] >= max(2, total / 12)] or list(
            counts
        )
        edges[column] = 2.0 * min(common)
    return [line.x0 - edges[column] for column, line in zip(columns, lines, strict=True)]


def _hanging(lines: list[Line], offsets: list[float]) -> list[bool]:
    """First lines stand out to the left."""
    return [
        offset < 3 and not (i and lines[i - 1].text.endswith(("-", ",")) and line.text[:1].islower())
        for i, (line, offset) in enumerate(zip(lines, offsets, strict=True))
    ]


def _indented(lines: list[Line], offsets: list[float]) -> list[bool]:
    """First lines are indented."""
    return [offset > 3 for offset in offsets]


def _gaps(lines: list[Line]) -> list[bool]:
    """A gap stands before first lines; at a column's head what the lines say decides."""
    said = _said(lines)
    out = [True]
    for i, (before, line) in enumerate(pairwise(lines), 1):
        below = line.page == before.page and line.y0 > before.y0 and line.x0 < before.x1
        out.append(line.y0 - before.y1 > 0.4 * line.size if below else said[i])
    return out


def _said(lines: list[Line]) -> list[bool]:
    """A first line begins like authors after an end and once the entry before has its year."""
    out: list[bool] = []
    dated = False
    for i, line in enumerate(lines):
        author, year = _clues(line.text)
        start = i == 0 or (dated and author and may_end(lines[i - 1].text))
        out.append(start)
        dated = year or (dated and not start)
    return out


@lru_cache(maxsize=1 << 12)  # every way of cutting asks again
def _clues(text: str) -> tuple[bool, bool]:
    """Whether a text begins like authors, and whether it holds a year."""
    return text[:1].isupper() and bool(AUTHOR.match(text)), bool(YEAR.search(text))


def _reads(groups: list[Group]) -> float:
    """How much groups read like entries: each that begins with a name, holds a year and ends counts 1; what an entry cannot be
    is taken off."""
    score = 0.0
    for group in groups:
        text = " ".join(line.text for line in group)
        author, dated = _clues(text)
        ended = may_end(text)
        score += (author + dated + ended) / 3 if author or dated else -0.3
        if text[:1].islower() or len(text) < 30 or not ended:
            score -= 0.5
        inside = sum(_said(group)[1:])
        score -= 0.7 * inside + max(len(text) - 700, 0) / 500
    return score
