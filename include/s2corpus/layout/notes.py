"""Footnotes: small type at the foot of a column."""

from __future__ import annotations

import re

from .measures import Measures
from .model import Document, Kind, Line, Page
from .text import Joiner

_MARKED = re.compile(r"\s*(?:[*†‡§¶∗⋆♯#✉]|\d{1,2}(?=\s?[A-Z(“\"h]))")
_IMPRINT = re.compile(
    r"©|\(c\)\s?\d{4}|copyright|licen[cs]e|correspond|e-?mail|@|https?://|proceedings|\bdoi\b|\bisbn\b|\bissn\b|manuscript|received|"
    r"permission|accepted|editor|affiliat|supported by|funded|authors? contributed|preprint|workshop|conference",
    re.I,
)
_PLAIN = 6
"""Lines a note without a mark may have; more are text set small."""


def read(document: Document, measures: Measures, joiner: Joiner) -> list[str]:
    """The footnotes' texts; marks their lines NOTE."""
    out: list[str] = []
    for page in document.pages:
        for column in _columns(page):
            for note in _feet(column, page, measures):
                for line in note:
                    line.kind = Kind.NOTE
                if text := joiner.text(note).text:
                    out.append(text)
    return out


def _columns(page: Page) -> list[list[Line]]:
    """The page's lines by the half they stand in; lines over both halves belong to both."""
    middle = page.width / 2
    lines = [x for x in page.lines if x.kind in (Kind.BODY, Kind.REFERENCE, Kind.TABLE, Kind.FIGURE, Kind.CAPTION)]
    left = [x for x in lines if x.x0 < middle - 10]
    right = [x for x in lines if x.x1 > middle + 10]
    if (
        all(x.x0 < middle and x.x1 > middle for x in lines if x.width > 0.5 * page.width)
        and len([x for x in lines if x.width > 0.5 * page.width]) > len(lines) / 2
    ):
        return [lines]
    return [left, [x for x in right if x not in left]]


def _feet(column: list[Line], page: Page, measures: Measures) -> list[list[Line]]:
    """The small lines under a column's last line of running text, cut where a mark begins a new note."""
    feet: list[Line] = []
    for line in sorted(column, key=lambda x: -x.y0):
        small = line.size < measures.size - 0.6
        if not small or line.kind is not Kind.BODY or line.y0 < 0.4 * page.height:
            break
        feet.append(line)
    feet.reverse()
    feet.sort(key=lambda x: (round(x.y0), x.x0))
    while feet and not (_marked(feet[0]) or (page.number == 1) or _IMPRINT.search(feet[0].text)):
        if any(_marked(x) for x in feet[1:]) and feet[0].block == feet[-1].block:
            break
        feet = feet[1:]
    if len(feet) > _PLAIN and page.number > 1 and not _marked(feet[0]):
        return []
    notes: list[list[Line]] = []
    for line in feet:
        if not notes or _marked(line):
            notes.append([line])
        else:
            notes[-1].append(line)
    return notes


def _marked(line: Line) -> bool:
    first = line.tokens[0]
    return bool(_MARKED.match(line.text)) and (first.font.raised or not first.text.isdigit() or len(line.tokens) > 1)
