"""Find tables by lines that form rows and columns, independently of captions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from pdf2tei.body.formulas import LABEL, is_formula
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Kind, Line, Page, Token, group_items

_DIGIT = re.compile(r"\d")
_MIN_ROWS = 3  # minimum number of rows with several cells in a table
_MAX_ROW_GAP = 3.5  # maximum gap between the rows of a table, in type sizes


def split_at_gaps(line: Line) -> list[list[Token]]:
    """Split a line into cells at gaps wider than a word space."""
    return group_items(line.tokens, lambda cell, token: token.x0 - cell[-1].x1 > 0.85 * line.size)


def find_tables(page: Page, running: set[int], measures: Measures) -> list[list[Line]]:
    """Return the page's tables as lines.

    A table consists of BODY lines outside `running` blocks that form rows, the lines between the rows, and smaller notes below
    them.
    """
    free = [x for x in page.lines if x.kind in (Kind.BODY, Kind.TABLE) and x.block not in running]
    free = [x for x in free if x.size < measures.size + 0.8 and not LABEL.fullmatch(x.text)]
    free = [x for x in free if not is_formula(x, measures)]
    text = [x for x in page.lines if x.kind in (Kind.BODY, Kind.REFERENCE, Kind.ABSTRACT) and x.block in running]
    tables: list[list[Line]] = []
    for side in _partition_by_side(free, text):
        rows = _group_rows(side)
        for run in group_items(
            rows, lambda run, row: row[0].y0 - max(x.y1 for x in run[-1]) > _MAX_ROW_GAP * max(x.size for x in row)
        ):
            tables += _trim_to_table(run, side)
    return tables


def _partition_by_side(free: list[Line], text: list[Line]) -> list[list[Line]]:
    """Return the free lines left of running text at their height, the lines right of it, and lines without adjacent text."""
    left: list[Line] = []
    right: list[Line] = []
    alone: list[Line] = []
    for line in free:
        beside = [x for x in text if x.y0 < line.y1 and line.y0 < x.y1]
        if any(x.x0 >= line.x1 - 2 for x in beside):
            left.append(line)
        elif beside:
            right.append(line)
        else:
            alone.append(line)
    edge = max((x.x1 for x in left), default=0.0)
    start = min((x.x0 for x in right), default=1e9)
    for line in alone:  # lines that extend beyond a side belong to neither
        if left and line.x1 <= edge + 2 and not right:
            left.append(line)
        elif right and line.x0 >= start - 2 and not left:
            right.append(line)
    chosen = {id(x) for x in (*left, *right)}
    return [s for s in (left, right, [x for x in alone if id(x) not in chosen]) if s]


def _group_rows(lines: Sequence[Line]) -> list[list[Line]]:
    def begins(row: list[Line], line: Line) -> bool:
        return abs((line.y0 + line.y1) / 2 - median((x.y0 + x.y1) / 2 for x in row)) >= 0.4 * line.size

    return group_items(sorted(lines, key=lambda x: (x.y0 + x.y1, x.x0)), begins)


def _trim_to_table(rows: list[list[Line]], side: list[Line]) -> list[list[Line]]:
    """Return the table in a run of rows, from its first to its last row with several cells; an empty list if there is no table."""
    counted = [(row, sum(len(split_at_gaps(x)) for x in row)) for row in rows]
    several = [row for row, count in counted if count > 1]
    if len(several) < _MIN_ROWS or len(several) < 0.3 * len(rows):
        return []
    parts = [x for row in several for x in row]
    counts = [count for _, count in counted if count > 1]
    digits = sum(bool(_DIGIT.search(x.text)) for x in parts) / len(parts)
    words = sum(len(x.text) for x in parts) / len(parts)
    if digits < 0.3 and not (median(counts) >= 3 and words < 40):
        return []
    top, bottom = several[0][0].y0 - 2, max(x.y1 for x in several[-1]) + 2
    x0, x1 = min(x.x0 for x in parts) - 4, max(x.x1 for x in parts) + 4
    return [[x for x in side if top <= x.y0 and x.y1 <= bottom and x0 <= x.x0 and x.x1 <= x1]]
