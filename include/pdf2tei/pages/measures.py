"""Measure the usual font size, font family and column width of a document."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from pdf2tei.pages.model import Line


@dataclass(slots=True)
class Measures:
    """The usual measures of a document's running text, in points."""

    size: float
    """Font size of the running text."""
    family: str
    width: float
    """Width of a full line of a column."""
    gap: float = 0.0
    """Vertical gap between two lines of a paragraph."""

    def has_text_font(self, line: Line) -> bool:
        """Return whether a line has the size and the family of the running text."""
        return abs(line.size - self.size) < 0.3 and line.font.family == self.family


def measure(lines: list[Line]) -> Measures:
    """Measure the size, family and column width of most of the running text."""
    sizes: Counter[float] = Counter()
    families: Counter[str] = Counter()
    widths: Counter[int] = Counter()
    gaps: Counter[int] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    size = max(sizes, key=lambda s: (sizes[s], s), default=10.0)
    for line in lines:
        if abs(line.size - size) <= 0.3:
            families[line.font.family] += len(line.text)
            widths[round(line.width / 4) * 4] += len(line.text)
    family = max(families, key=lambda f: (families[f], f), default="")
    width = float(max(widths, key=lambda w: (widths[w], w), default=400))
    for before, line in pairwise(lines):
        is_same = abs(line.size - size) <= 0.3 and abs(before.width - width) < 8 and abs(line.x0 - before.x0) < 1
        if is_same and 0 <= line.y0 - before.y1 < 3 * size:
            gaps[round(line.y0 - before.y1)] += 1
    return Measures(size, family, width, float(max(gaps, key=lambda g: (gaps[g], -g), default=0)))
