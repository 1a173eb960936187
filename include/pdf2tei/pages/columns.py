"""Correct the order of columns: pdfalto may put a short right column between the blocks of the left column."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from statistics import median

from pdf2tei.pages.model import Kind, Page

_MIN_LEFT_LINES = 8
"""Minimum number of lines of a left column."""
_EDGE_TOLERANCE = 2.0
"""Maximum distance of the starts of lines on one edge, in points."""
_MAX_BLOCK_GAP = 4.0
"""Maximum gap between the upper and the lower block of the left column, in line heights."""
_MIN_FILLED_SHARE = 0.7
"""Minimum share of the column's width that the median line fills."""


def fix_column_order(page: Page) -> None:
    """Move a right column that pdfalto reads in the middle of the left column behind the left column.

    Lines across both columns divide the page into bands; lines move only within a band.
    """
    edges = _find_edges(page)
    if edges is None:
        return
    left, right = edges
    sides = [  # -1 for the left column, 1 for the right column, 0 for lines across both or outside
        1 if x.x0 >= right - _EDGE_TOLERANCE else -1 if x.x0 >= left - _EDGE_TOLERANCE and x.x1 <= right else 0
        for x in page.lines
    ]
    across = sorted(line.y0 for line, side in zip(page.lines, sides, strict=True) if side == 0)
    bands: dict[int, list[int]] = {}
    for i, (line, side) in enumerate(zip(page.lines, sides, strict=True)):
        if side and line.kind is Kind.BODY:
            bands.setdefault(sum(y < line.y0 for y in across), []).append(i)
    for places in bands.values():
        runs = [list(run) for _, run in groupby(places, key=lambda i: sides[i])]
        if [sides[run[0]] for run in runs] != [-1, 1, -1]:
            continue
        above, right_lines, below = ([page.lines[i] for i in run] for run in runs)
        close = 0 <= below[0].y0 - above[-1].y1 < _MAX_BLOCK_GAP * below[0].height
        text = median(line.width for line in below) > _MIN_FILLED_SHARE * (right - left)
        if len(below) >= _MIN_LEFT_LINES and close and text and right_lines[0].y0 < below[0].y0:
            for i, line in zip(places, [*above, *below, *right_lines], strict=True):
                page.lines[i] = line


def _find_edges(page: Page) -> tuple[float, float] | None:
    """Return the left edges of the two columns, if lines that begin there contain most of a page's text."""
    middle = page.width / 2
    begins = Counter(round(line.x0 / _EDGE_TOLERANCE) for line in page.lines)

    def find_edge(least: float, most: float) -> int | None:
        places = (x for x in begins if least < x * _EDGE_TOLERANCE < most)
        return max(places, key=lambda x: (begins[x], -x), default=None)

    left = find_edge(float("-inf"), 0.35 * page.width)
    right = find_edge(middle - 0.12 * page.width, middle + 0.12 * page.width)
    if left is None or right is None or begins[left] < _MIN_LEFT_LINES:
        return None
    return left * _EDGE_TOLERANCE, right * _EDGE_TOLERANCE
