"""Split a reference list into its entries.

If the list has labels with ascending numbers, the labels decide. Otherwise several methods are tried: hanging indents, indented
first lines, gaps, the text of the lines, and a CRF that gets the best of these as a feature. The split with the most plausible
entries is used.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from pdf2tei.models.segmentation import YEAR
from pdf2tei.pages.model import Line, group_items
from pdf2tei.references import entries
from pdf2tei.references.entries import AUTHOR, LABEL, may_end
from pdf2tei.words import read_pattern

EntryLines = list[Line]

_PARTICLES = re.compile(r"(?:(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|el|al)\s+){1,2}[A-Z]")
"""Start of a surname with particles."""
_GROUP_AND_YEAR = read_pattern("splitting", "group_and_year", re.NOFLAG)  # `Eurostat, 2001:` begins an entry
_CONTINUES = re.compile(r"[-/]\w|(?:Tab|Fig)\w*\.?\s\d")
"""Start of a line that continues a URL or a word, or of a caption within a list."""
_MIN_USUAL_SHARE = 0.8
"""Minimum share of the starts that are set apart, and of the other lines that are not, for a list to set its starts apart."""
_MIN_GAP = 0.25  # minimum gap between entries in addition to the smallest distance of two lines, in type sizes
_MAX_SKIP = 3  # largest step between the numbers of two labels; numbers between them may be missing


def split(lines: list[Line]) -> list[EntryLines]:
    """Return the list's lines grouped into entries, in order."""
    if not lines:
        return []
    labeled = _split_at_labels(lines)
    if labeled:
        return labeled
    offsets = _measure_indents(lines)
    ruled = _split_by_layout(lines, offsets)
    begins = {id(group[0]) for group in ruled}
    rows = [entries.EntryLine(x.text, offset > 3, id(x) in begins) for x, offset in zip(lines, offsets, strict=True)]
    found = max(ruled, _group_at_starts(lines, entries.predict_starts(rows)), key=_score_entries)
    begins = {id(group[0]) for group in found if not _CONTINUES.match(group[0].text)}
    return _group_at_starts(lines, _correct_starts(lines, offsets, [id(line) in begins for line in lines]))


def _correct_starts(lines: list[Line], offsets: list[float], starts: list[bool]) -> list[bool]:
    """Return the starts corrected by the layout, if it sets most starts apart: by an indent, by its lack, or by a gap above.

    A start that is set like other lines is removed. A line that is set like a start and begins like authors is added.
    """
    by_text = [
        may_end(before.text) and _detect_author_and_year(line.text)[0] for before, line in pairwise([lines[0], *lines])
    ]
    gaps = [True, *(gap is not False for gap in _find_gaps(lines))]
    for set_apart in ([offset < 3 for offset in offsets], [offset > 3 for offset in offsets], gaps):
        pairs = list(zip(set_apart, starts, strict=True))
        usual, other = ([x for x, start in pairs if start is side] for side in (True, False))
        if sum(usual) >= _MIN_USUAL_SHARE * len(usual) and sum(other) < (1 - _MIN_USUAL_SHARE) * len(other):
            starts = [x and (start or named) for start, x, named in zip(starts, set_apart, by_text, strict=True)]
    return starts


def split_by_rules(lines: list[Line]) -> list[EntryLines]:
    """Return the list's lines grouped into entries, by rules alone."""
    return _split_at_labels(lines) or _split_by_layout(lines, _measure_indents(lines))


def _split_by_layout(lines: list[Line], offsets: list[float]) -> list[EntryLines]:
    gaps = _find_gaps(lines)
    by_text = _find_starts_by_text(lines)  # also decides at the top of a column, where no gap is visible
    candidates = (
        [  # a hanging indent
            offset < 3 and not (i and lines[i - 1].text.endswith(("-", ",")) and line.text[:1].islower())
            for i, (line, offset) in enumerate(zip(lines, offsets, strict=True))
        ],
        [offset > 3 for offset in offsets],  # indented first lines
        [True, *(text if gap is None else gap for gap, text in zip(gaps, by_text[1:], strict=True))],
        by_text,
    )
    return max((_group_at_starts(lines, starts) for starts in candidates), key=_score_entries)


@dataclass(frozen=True, slots=True)
class _LabelRun:
    """A run of ascending labels, as a linked list from its last label."""

    score: float
    line: int
    before: _LabelRun | None


def _split_at_labels(lines: list[Line]) -> list[EntryLines]:
    """Split the lines at their labels; return an empty list if the list has no labels.

    Labels are the longest run of ascending numbers of one form, or bracketed keys.
    """
    matches = [LABEL.match(line.text) for line in lines]
    keys = [i for i, m in enumerate(matches) if m and m["key"]]
    best: _LabelRun | None = None
    for form in ("square", "round", "stop", "bare"):
        found = _find_best_run([(i, int(m[form])) for i, m in enumerate(matches) if m and m[form]])
        if found and (best is None or found.score > best.score + (form == "bare")):
            best = found
    if len(keys) > max(2, len(lines) / 12) and (best is None or best.score < len(keys)):
        return _group_at_starts(lines, [i in set(keys) for i in range(len(lines))])
    if best is None or best.score < max(2.5, len(lines) / 14):
        return []
    starts: set[int] = set()
    link: _LabelRun | None = best
    while link:
        starts.add(link.line)
        link = link.before
    first = min(starts)
    if sum(len(line.text) for line in lines[:first]) > 600 or (first > 3 and first > len(lines) / 4):
        return []
    return _group_at_starts(lines, [i in starts for i in range(len(lines))])


def _find_best_run(labels: list[tuple[int, int]]) -> _LabelRun | None:
    """Return the best run of labels, each given as (line, number).

    Each number exceeds the previous number by one to three, or is 1 if the list restarts.
    """
    ends: dict[int, _LabelRun] = {}
    top: _LabelRun | None = None
    for line, number in labels:
        before: _LabelRun | None = None
        gain = 1.0 if number == 1 else 0.3
        for step in range(1, _MAX_SKIP + 1):
            link = ends.get(number - step)
            if link and link.score + 1.5 - 0.5 * step > gain:
                before, gain = link, link.score + 1.5 - 0.5 * step
        if number == 1 and top and top.score > 4 and top.score - 1 > gain:
            before, gain = top, top.score - 1
        old = ends.get(number)
        if old is None or gain > old.score:
            ends[number] = _LabelRun(gain, line, before)
            if top is None or gain > top.score:
                top = ends[number]
    return top


def _group_at_starts(lines: list[Line], starts: list[bool]) -> list[EntryLines]:
    groups = group_items(zip(lines, starts, strict=True), lambda _, pair: pair[1])
    return [[line for line, _ in entry] for entry in groups]


def _number_columns(lines: list[Line]) -> list[int]:
    """Return the column number of each line, counted over all pages."""
    neighbors = pairwise([*lines[:1], *lines])
    return list(accumulate(x.page != y.page or y.x0 > x.x1 or y.y1 < x.y0 for x, y in neighbors))


def _measure_indents(lines: list[Line]) -> list[float]:
    """Return the distance of each line from the left edge of its column: the leftmost x0 that occurs repeatedly."""
    columns = _number_columns(lines)
    places: dict[int, Counter[int]] = defaultdict(Counter)
    for column, line in zip(columns, lines, strict=True):
        places[column][round(line.x0 / 2)] += 1
    edges: dict[int, float] = {}
    for column, counts in places.items():
        total = counts.total()
        common = [x for x, n in counts.items() if n + counts[x + 1] + counts[x - 1] >= max(2, total / 12)]
        edges[column] = 2.0 * min(common or counts)
    return [line.x0 - edges[column] for column, line in zip(columns, lines, strict=True)]


def _find_gaps(lines: list[Line]) -> list[bool | None]:
    """Return whether a gap precedes each line but the first; None at the top of a column."""
    steps = [y.y0 - x.y0 if x.page == y.page and x.y0 < y.y0 and y.x0 < x.x1 else 0.0 for x, y in pairwise(lines)]
    usual = min((step for step, line in zip(steps, lines, strict=False) if step > 0.9 * line.size), default=0.0)
    return [x > usual + _MIN_GAP * line.size if x else None for x, line in zip(steps, lines[1:], strict=True)]


def _find_starts_by_text(lines: list[Line]) -> list[bool]:
    """Return for each line whether it begins like authors after a complete entry, which has a year."""
    out: list[bool] = []
    dated = False
    for i, line in enumerate(lines):
        author, year = _detect_author_and_year(line.text)
        start = i == 0 or (dated and author and may_end(lines[i - 1].text))
        out.append(start)
        dated = year or (dated and not start)
    return out


@lru_cache(maxsize=1 << 12)  # every method of splitting calls this
def _detect_author_and_year(text: str) -> tuple[bool, bool]:
    """Return whether a text begins like authors, and whether it contains a year."""
    is_name = text[:1].isupper() or _PARTICLES.match(text) is not None
    return is_name and bool(AUTHOR.match(text) or _GROUP_AND_YEAR.match(text)), bool(YEAR.search(text))


def _score_entries(groups: list[EntryLines]) -> float:
    """Score how plausible groups are as entries.

    A group that begins with a name, contains a year and ends properly scores 1. Features that no entry has reduce the score.
    """
    score = 0.0
    for group in groups:
        text = " ".join(line.text for line in group)
        author, dated = _detect_author_and_year(text)
        ended = may_end(text)
        score += (author + dated + ended) / 3 if author or dated else -0.3
        if (text[:1].islower() and not author) or len(text) < 30 or not ended:
            score -= 0.5
        inside = sum(_find_starts_by_text(group)[1:])
        score -= 0.7 * inside + max(len(text) - 700, 0) / 500
    return score
