"""Find a table of contents, which names sections but is not a section."""

from __future__ import annotations

import re

from pdf2tei.pages.model import Document, Kind, Line, Page
from pdf2tei.words import read_pattern

_HEAD = read_pattern("contents", "head")
_MIN_DOTS = 4
_LEADER = re.compile(rf"(?:[.…·]\s?){{{_MIN_DOTS},}}\s*(?:\d{{1,4}}|[ivxlc]{{1,7}})?\s*$")  # dots before a page number
_NUMBERED = re.compile(r"\S.*\s(?:\d{1,4}|[ivxlc]{1,7})$")
"""A title and its page; the head before it distinguishes it from running text."""
_PAGE = re.compile(r"\d{1,4}|[ivxlc]{1,7}")
_MIN_LISTED_LINES = 3
"""Minimum number of lines with dot leaders, or with page numbers under a head, in a table of contents."""
_MAX_WRAPPED_LINES = 2  # maximum number of title lines before the line with the page number


def mark_contents(document: Document) -> None:
    """Mark tables of contents and their heads as FRONT.

    A table of contents is a run of lines with page numbers below a head, or a run of lines with dot leaders.
    """
    open_ = False
    for page in document.pages:
        open_ = _mark_page(page, open_)


def _mark_page(page: Page, continues: bool) -> bool:
    """Mark the part of a table of contents on a page; return whether it continues on the next page."""
    lines = [line for line in page.lines if line.kind is Kind.BODY]
    if not continues and not any(_has_dot_leader(line.text) or _HEAD.fullmatch(line.text) for line in lines):
        return False  # fast path: most pages contain no table of contents
    i = 0
    while i < len(lines):
        headed = _HEAD.fullmatch(lines[i].text) is not None
        start = i + 1 if headed else i
        end = _find_end(lines, start, numbered=headed or (continues and i == 0))
        dotted = sum(_has_dot_leader(line.text) for line in lines[start:end])
        listed = sum(_ends_in_page(line.text) for line in lines[start:end])
        if dotted >= _MIN_LISTED_LINES or (continues and i == 0 and dotted) or (headed and listed >= _MIN_LISTED_LINES):
            for line in lines[i:end]:
                line.kind = Kind.FRONT
            i, continues = end, True
            if end == len(lines):
                return True
        else:
            i += 1
    return False


def _find_end(lines: list[Line], start: int, *, numbered: bool) -> int:
    """Return the end of a run of lines with page numbers that begins at `start`."""
    end = start
    for i in range(start, len(lines)):
        text = lines[i].text
        if _has_dot_leader(text) or (numbered and _ends_in_page(text)):
            end = i + 1
        elif i - end >= _MAX_WRAPPED_LINES or text.endswith("."):
            break
    return end


def _has_dot_leader(text: str) -> bool:
    dots = text.count(".") + text.count("…") + text.count("·")  # fast path for most lines
    return dots >= _MIN_DOTS and _LEADER.search(text) is not None


def _ends_in_page(text: str) -> bool:
    return _NUMBERED.fullmatch(text) is not None or _PAGE.fullmatch(text) is not None
