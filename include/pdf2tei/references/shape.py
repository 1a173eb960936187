"""Find a reference list by the shape of its entries, in any language and without a head that is known.

The entries of a list begin with names, contain years and numbers, and are in alphabetical order or numbered.
"""

from __future__ import annotations

from itertools import pairwise

from pdf2tei.models.segmentation import YEAR, score_as_reference
from pdf2tei.pages.model import Line
from pdf2tei.references.entries import AUTHOR, LABEL
from pdf2tei.references.splitting import split
from s2orc_parse.words import fold

_USUAL_SCORE = 0.55
"""Mean score of a line between lists and running text."""
_MIN_ENTRIES = 5
_MIN_LENGTH = 60
"""Minimum length of entries under a head, in characters."""
_MIN_SHARE = 0.75
"""Minimum share of the entries that begin with a name or label and contain a year, and of the neighbors in order."""


def find_list(lines: list[Line]) -> tuple[int, int, int] | None:
    """Return the positions of a list's head (its first line if it has none), first line and end."""
    start, end = _find_densest(lines)
    head = _find_head(lines, start, end)
    first = start if head is None else head + 1
    while head is None and first < end and not AUTHOR.match(lines[first].text):
        first += 1
    entries = _join_entries(lines[first:end])
    if len(entries) < _MIN_ENTRIES:
        return None
    labeled = [LABEL.match(entry) is not None for entry in entries]
    begun = sum((label or AUTHOR.match(entry) is not None) for label, entry in zip(labeled, entries, strict=True))
    dated = sum(YEAR.search(entry) is not None for entry in entries)
    is_listed = min(begun, dated) >= _MIN_SHARE * len(entries)
    names = [fold(entry) for entry in entries]
    ordered = sum(a[:1] <= b[:1] for a, b in pairwise(names)) >= _MIN_SHARE * (len(names) - 1)
    is_sorted = ordered and names[0][:1] < names[-1][:1]
    if not is_listed or not (is_sorted or sum(labeled) >= _MIN_SHARE * len(entries)):
        return None
    return (first if head is None else head), first, end


def is_list(lines: list[Line]) -> bool:
    """Return whether lines under a head are entries: they begin with names, have years, and are longer than cells of a table."""
    entries = _join_entries(lines)
    begun = sum(AUTHOR.match(entry) is not None for entry in entries)
    dated = sum(YEAR.search(entry) is not None for entry in entries)
    is_listed = begun >= _MIN_SHARE * len(entries) and dated >= len(entries) / 2
    return len(entries) > 2 and is_listed and sum(map(len, entries)) > _MIN_LENGTH * len(entries)


def _join_entries(lines: list[Line]) -> list[str]:
    return [" ".join(line.text for line in group) for group in split(lines)]


def _find_densest(lines: list[Line]) -> tuple[int, int]:
    """Return the run of lines in one size with the most evidence for references."""
    best, where = 0.0, (0, 0)
    total, start = 0.0, 0
    for i, line in enumerate(lines):
        if total <= 0 or (i and abs(line.size - lines[i - 1].size) > 0.8):
            total, start = 0.0, i
        total += score_as_reference(line.text) + (AUTHOR.match(line.text) is not None) / 2 - _USUAL_SCORE
        if total > best:
            best, where = total, (start, i + 1)
    return where


def _find_head(lines: list[Line], start: int, end: int) -> int | None:
    """Return the index of a short line near the start that is set in another type than the list."""
    if start == end:
        return None
    text = lines[(start + end) // 2].font
    for i in range(min(start + 4, end - 1), max(start - 4, -1), -1):
        line = lines[i]
        is_other = line.size > text.size + 0.8 or (line.font.bold and not text.bold) or line.text.isupper()
        if is_other and len(line.text) < 60 and not score_as_reference(line.text):
            return i
    return None
