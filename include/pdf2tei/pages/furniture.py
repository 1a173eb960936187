"""Mark page furniture: running heads, page numbers, stamps in the margin."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

from pdf2tei.front.first_pages import PAGES
from pdf2tei.front.title import is_cover
from pdf2tei.pages.model import Document, Kind, Line, Page, group_items
from pdf2tei.words import read_pattern

_NUMBER = read_pattern("furniture", "number")
_REFERENCE_LABEL = re.compile(r"\[\d{1,3}\]|\d{1,3}\.")  # a reference label on a separate line
_DIGITS = re.compile(r"\d+")
_SIGNS = re.compile(r"\W+")
_CONTINUED = re.compile(r"\(?continue[sd] (?:on|from) (?:the )?(?:next|previous|following|preceding) page\)?", re.I)
_MARGIN = 0.075  # height of the margins at the top and the bottom, as a share of the page's height
_LINE_NUMBER_STEP = 5
_MIN_LINE_NUMBERS = 3
_MAX_LINE_NUMBER_SIZE = 0.6
"""Upper limit of the size of a number of every line, as a share of the text's size: labels of references are larger."""
_TITLE_PAGE = 30  # upper limit of the lines of a cover or title page, which both name author and institution at the top
_MARGIN_ROWS = 4  # rows at a page's top and bottom that may be running heads


def mark_furniture(document: Document) -> None:
    """Mark as FURNITURE sideways text, duplicate text, line numbers, repeated lines in the margins, and page numbers."""
    families = Counter[str]()
    for page in document.pages:
        for line in page.lines:
            families[line.font.family] += len(line.text)
    family = max(families, key=lambda f: (families[f], f), default="")
    places: dict[str, list[tuple[int, Line]]] = defaultdict(list)
    edges: list[tuple[Page, list[Line]]] = []
    for page in document.pages:
        upright: list[Line] = []
        for line in page.lines:
            is_sideways = len(line.text) > 3 and line.height > 3 * max(line.size, 1) and line.height > line.width * 1.5
            if is_sideways or is_continued_elsewhere(line):
                line.kind = Kind.FURNITURE
            else:
                upright.append(line)
        for line in _find_duplicates(page, family) + _find_line_numbers(page):
            line.kind = Kind.FURNITURE
        edge = _list_edge_lines(upright)
        edges.append((page, edge))
        for line in () if page.number == 1 and is_cover(page) else edge:  # the title is repeated on the next page
            places[_normalize_text(line)].append((page.number, line))
    for page, edge in edges:
        labels = sum(len(x.text) < 6 and _REFERENCE_LABEL.fullmatch(x.text) is not None for x in page.lines) > 2
        first, last = min((x.y0 for x in edge), default=0.0), max((x.y0 for x in edge), default=0.0)
        for line in edge:
            if labels and _REFERENCE_LABEL.fullmatch(line.text):
                continue
            alike = places[_normalize_text(line)]
            repeats = {n for n, x in alike if n != page.number and abs(x.y0 - line.y0) < 8 and x.size > 0.9 * line.size}
            is_long = sum(map(str.isalpha, line.text)) > 16
            is_front = any(n == 1 for n, _ in alike) and all(n <= PAGES for n, _ in alike)
            if is_front and len(document.pages) > 2 * PAGES and len(page.lines) < _TITLE_PAGE:
                continue
            is_outermost = line.y0 < first + 3 or line.y0 > last - 3
            margin = 0.2 if len(repeats) > max(2, len(document.pages) / 4) and (is_outermost or is_long) else 0.12
            is_outer = min(line.y0, page.height - line.y0) < margin * page.height
            if (
                (is_outer and len(repeats) >= (1 if is_long or len(document.pages) < 6 else 2))
                or (is_outermost and is_outer and _NUMBER.fullmatch(line.text))
                or _is_marginal(line, page)
            ):
                line.kind = Kind.FURNITURE


def _find_line_numbers(page: Page) -> list[Line]:
    """Return the numbers of every fifth line, or the tiny numbers that pdfalto leaves on fronts: at least three on one edge."""
    edges: dict[tuple[int, bool], list[Line]] = defaultdict(list)
    usual = max(page.lines, key=lambda x: len(x.text)).size if page.lines else 0.0
    for line in page.lines:
        is_tiny = page.number <= PAGES and line.size < _MAX_LINE_NUMBER_SIZE * usual
        if line.text.isdecimal() and len(line.text) < 10 and (is_tiny or int(line.text) % _LINE_NUMBER_STEP == 0):
            edges[round(line.x1), is_tiny].append(line)
    out: list[Line] = []
    for (_, is_tiny), lines in edges.items():
        lines.sort(key=lambda line: line.y0)
        steps = {int(below.text) - int(above.text) for above, below in pairwise(lines)}
        if len(lines) >= _MIN_LINE_NUMBERS and steps in ({_LINE_NUMBER_STEP}, {1} if is_tiny else None):
            out += lines
    return out


def _find_duplicates(page: Page, family: str) -> list[Line]:
    """Return the lines of a duplicate text layer: text that is hidden under an image and also part of the image.

    If long lines repeat, these are the blocks whose words occur in another block. Blocks in the document's main font family are
    preferred.
    """
    keys: dict[str, Line] = {}
    repeated: dict[int, bool] = {}
    for line in page.lines:
        key = _SIGNS.sub("", line.text.casefold()) if len(line.text) > 8 else ""
        other = keys.setdefault(key, line) if key else line
        if other.block != line.block and max(abs(other.y0 - line.y0), abs(other.x0 - line.x0)) < 30:
            repeated[id(line)] = len(key) > 25
    if sum(repeated.values()) < 4 or sum(repeated.values()) < 0.15 * sum(len(key) > 25 for key in keys):
        return []
    blocks: dict[int, list[Line]] = defaultdict(list)
    for line in page.lines:
        blocks[line.block].append(line)
    before: Counter[str] = Counter()
    out: list[Line] = []
    for lines in sorted(blocks.values(), key=lambda x: max(x, key=lambda line: len(line.text)).font.family != family):
        words = Counter(w for line in lines for w in line.text.casefold().split())
        if (words & before).total() > 0.7 * words.total() or id(lines[0]) in repeated:
            before -= words
            out += lines
        else:
            before += words
    return out


def _is_marginal(line: Line, page: Page) -> bool:
    """Return whether a line that is not bold is alone in the margin, clearly separated from the page's text."""
    if not (line.y1 < _MARGIN * page.height or line.y0 > (1 - _MARGIN) * page.height) or line.font.bold:
        return False
    others = [x for x in page.lines if x.kind is Kind.BODY and abs(x.y0 - line.y0) > 3]
    if not others or len(line.text) > 120:
        return False
    apart = min(max(x.y0 - line.y1, line.y0 - x.y1) for x in others)
    return apart > 1.3 * max(line.size, others[0].size)


def is_continued_elsewhere(line: Line) -> bool:
    """Return whether a line only announces that its text continues on another page."""
    return len(line.text) < 40 and _CONTINUED.fullmatch(line.text.strip()) is not None


def _normalize_text(line: Line) -> str:
    return _DIGITS.sub("#", line.text).casefold()


def _list_edge_lines(lines: list[Line]) -> list[Line]:
    """Return the lines of a page's first and last rows."""
    rows = [row[0] for row in group_items(sorted(line.y0 for line in lines), lambda row, y: y - row[0] > 3)]
    if not rows:
        return []
    top = rows[min(_MARGIN_ROWS, len(rows)) - 1] + 3
    bottom = rows[-min(_MARGIN_ROWS, len(rows))]
    return [line for line in lines if line.y0 <= top or line.y0 >= bottom]
