"""Find a reference list by the shape of its entries, in any language and without a head that is known.

The entries of a list begin with names, contain years and numbers, and are in alphabetical order or numbered.
"""

from __future__ import annotations

import re
from itertools import pairwise

from pdf2tei.models.segmentation import YEAR, score_as_reference
from pdf2tei.pages.model import Line
from pdf2tei.references.entries import AUTHOR, LABEL
from pdf2tei.references.splitting import split
from s2orc_parse.words import fold

_NAME = re.compile(r"[A-ZÀ-Þ]\S+(?:\s(?:[A-ZÀ-Þ(]\S*|y|e|de|da|di|der?l?|von|van|du|la|le)){1,3}?\s?[,:;(–—/]")
"""A given name and surname in any order, and a sign after them."""
_WORD = re.compile(r"[^\W\d_]{3}|\.$")  # a row of a table may have none
_INITIALS = re.compile(r"\W*(?:[A-ZÀ-Þ]\.[\s-]?)+")
_USUAL_SCORE = 0.5  # mean score of a line between lists and running text
_MIN_ENTRIES = 4
_MIN_LENGTH = 60  # minimum length of entries under a head, in characters
_MIN_SHARE = 0.75  # minimum share of the entries that begin with a name or label, and of the neighbors in order


def find_list(lines: list[Line]) -> tuple[int, int, int] | None:
    """Return the positions of a list's head (its first line if it has none), first line and end."""
    start, end = _find_densest(lines)
    head = _find_head(lines, start, end)
    first = start if head is None else head + 1
    while head is None and first < end and not AUTHOR.match(lines[first].text):
        first += 1
    entries = _join_entries(lines[first:end])
    is_labeled = sum(LABEL.match(entry) is not None for entry in entries) >= _MIN_SHARE * len(entries)
    names = [name for entry in entries if (name := fold(_INITIALS.sub("", entry))[:1]).isalpha()]
    in_order = sum(a <= b for a, b in pairwise(names))
    is_sorted = names[:1] < names[-1:] and in_order >= _MIN_SHARE * (len(names) - 1)
    is_found = len(entries) >= _MIN_ENTRIES and (is_sorted or is_labeled) and _are_entries(entries, _MIN_SHARE)
    return (first if head is None else head, first, end) if is_found else None


def is_list(lines: list[Line]) -> bool:
    """Return whether lines under a head are entries, which are longer than cells of a table."""
    entries = _join_entries(lines)
    return len(entries) > 2 and _are_entries(entries, 0.5) and sum(map(len, entries)) > _MIN_LENGTH * len(entries)


def _are_entries(entries: list[str], share: float) -> bool:
    """Return whether entries begin with names or labels, and a share of them contains a year."""
    begun = sum((LABEL.match(x) or AUTHOR.match(x) or _NAME.match(x)) is not None for x in entries)
    dated = sum(YEAR.search(x) is not None for x in entries)
    return begun >= _MIN_SHARE * len(entries) and dated >= share * len(entries)


def _join_entries(lines: list[Line]) -> list[str]:
    return [" ".join(line.text for line in group) for group in split(lines)]


def _find_densest(lines: list[Line]) -> tuple[int, int]:
    """Return the run of lines in one size with the most evidence for references."""
    best, where, total, start = 0.0, (0, 0), 0.0, 0
    for i, line in enumerate(lines):
        if total < 0 or (i and abs(line.size - lines[i - 1].size) > 0.8):
            total, start = 0.0, i
        if _WORD.search(line.text):
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
