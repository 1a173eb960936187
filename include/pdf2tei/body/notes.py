"""Find footnotes: lines in small type at the foot of a column."""

from __future__ import annotations

import re

from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Document, Kind, Line, Page, group_items
from pdf2tei.pages.text import Joiner, Text
from pdf2tei.words import read_pattern

_NOTE_START = re.compile(r"\s*(?:[*†‡§¶∗⋆♯#✉]|\d{1,2}(?=\s?[A-Z(“\"h]))")
_IMPRINT = read_pattern("notes", "imprint")
_SYMBOLS = "*†‡§¶∗"
_NOTE_MARK = re.compile(rf"\s*([{_SYMBOLS}]|\d{{1,2}})(?![\d.])")
_CALL_AT_WORD_END = re.compile(rf"[^\W\d_][.,;:!?)”’\"]+(\d{{1,2}}|[{_SYMBOLS}])$")
_ANY_MARK = re.compile(rf"(?<![\d.])\d{{1,2}}(?![\d.])|[{_SYMBOLS}]")
_TOP_LIMIT = 0.4  # notes occur only below this share of a page's height
_MAX_UNMARKED_LINES = 6  # maximum number of lines of a note without a mark; more lines are small text


def take_notes(document: Document, measures: Measures, joiner: Joiner) -> list[Text]:
    """Return the footnotes' texts; mark their lines as NOTE."""
    out: list[Text] = []
    for page in document.pages:
        _reclaim_lines(page)
        for column in _split_columns(page):
            for note in _find_notes(column, page, measures):
                for line in note:
                    line.kind = Kind.NOTE
                if (text := joiner.text(note)).text:
                    out.append(text)
    return out


def _reclaim_lines(page: Page) -> None:
    """Reclaim lines at a page's foot from the front if their mark occurs in the page's text but not in its byline."""
    called_marks, byline_marks = set[str](), set[str]()
    for line in page.lines:
        if line.kind is Kind.BODY:
            for token in line.tokens[1:]:
                text = token.text
                if not (token.font.raised or text[-1].isdecimal() or text[-1] in _SYMBOLS):
                    continue  # fast path for most tokens
                if mark := _CALL_AT_WORD_END.search(text) or (token.font.raised and _NOTE_MARK.match(text)):
                    called_marks.add(mark[1])
        elif line.kind is Kind.FRONT:
            for token in line.tokens[1:]:
                byline_marks.update(_ANY_MARK.findall(token.text))
    called_marks -= byline_marks
    last: Line | None = None
    for line in page.lines if called_marks else ():
        if line.kind is not Kind.FRONT or line.y0 < _TOP_LIMIT * page.height:
            last = None
            continue
        mark = _NOTE_MARK.match(line.text)
        if mark is None:
            is_reclaimed = last is not None and line.size == last.size and 0 < line.y0 - last.y0 < 2 * last.size
        else:
            is_reclaimed = mark[1] in called_marks
        if is_reclaimed:
            line.kind = Kind.BODY
        last = line if is_reclaimed else None


def _split_columns(page: Page) -> list[list[Line]]:
    """Return the page's lines by page half; lines across both halves belong to both."""
    middle = page.width / 2
    lines = [x for x in page.lines if x.kind in (Kind.BODY, Kind.REFERENCE, Kind.TABLE, Kind.FIGURE, Kind.CAPTION)]
    left = [x for x in lines if x.x0 < middle - 10]
    right = [x for x in lines if x.x1 > middle + 10]
    wide = [x for x in lines if x.width > 0.5 * page.width]
    if len(wide) > len(lines) / 2 and all(x.x0 < middle < x.x1 for x in wide):
        return [lines]
    return [left, [x for x in right if x not in left]]


def _find_notes(column: list[Line], page: Page, measures: Measures) -> list[list[Line]]:
    """Return the small lines below a column's last line of running text, split where a mark begins a new note."""
    feet: list[Line] = []
    for line in sorted(column, key=lambda x: -x.y0):
        small = line.size < measures.size - 0.6
        if not small or line.kind is not Kind.BODY or line.y0 < _TOP_LIMIT * page.height:
            break
        feet.append(line)
    feet.reverse()
    feet.sort(key=lambda x: (round(x.y0), x.x0))
    while feet and not (_has_mark(feet[0]) or (page.number == 1) or _IMPRINT.search(feet[0].text)):
        if any(_has_mark(x) for x in feet[1:]) and feet[0].block == feet[-1].block:
            break
        feet = feet[1:]
    if len(feet) > _MAX_UNMARKED_LINES and page.number > 1 and not _has_mark(feet[0]):
        return []
    return group_items(feet, lambda _, line: _has_mark(line))


def _has_mark(line: Line) -> bool:
    first = line.tokens[0]
    is_page_number = first.text.isdigit() and not first.font.raised and len(line.tokens) == 1
    return _NOTE_START.match(line.text) is not None and not is_page_number
