"""Measure the usual font size, font family and column width of a document."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median_high

from .model import Line

_MIN_LETTERS = 4
"""Minimum number of letters of a token that is used to detect fixed-width fonts."""
_MIN_TOKENS = 8
"""Minimum number of different such tokens in a family."""
_MAX_DEVIATION = 0.02
"""Maximum relative deviation of a token's width per character from the family's median."""
_MIN_EQUAL_SHARE = 0.8
"""Minimum share of tokens within that deviation; in proportional families it is 0.1 to 0.5."""


@dataclass(slots=True)
class Measures:
    """The usual measures of a document's running text, in points."""

    size: float
    """Font size of the running text."""
    family: str
    width: float
    """Width of a full line of a column."""
    fixed: frozenset[str] = frozenset()
    """Fixed-width families, used for code; empty if the running text is fixed-width."""

    def has_text_font(self, line: Line) -> bool:
        """Return whether a line has the size and the family of the running text."""
        return abs(line.size - self.size) < 0.3 and line.font.family == self.family


def measure(lines: list[Line]) -> Measures:
    """Measure the size, family and column width of most of the running text."""
    sizes: Counter[float] = Counter()
    families: Counter[str] = Counter()
    widths: Counter[int] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    size = max(sizes, key=lambda s: (sizes[s], s), default=10.0)
    for line in lines:
        if abs(line.size - size) <= 0.3:
            families[line.font.family] += len(line.text)
            widths[round(line.width / 4) * 4] += len(line.text)
    family = max(families, key=lambda f: (families[f], f), default="")
    width = float(max(widths, key=lambda w: (widths[w], w), default=400))
    return Measures(size, family, width, _find_fixed_width(lines, family))


def _find_fixed_width(lines: list[Line], usual: str) -> frozenset[str]:
    """Return the fixed-width families other than `usual`, by the widths of their tokens. The PDF's own flag is often wrong."""
    widths: dict[str, dict[str, float]] = {}
    for line in lines:
        if line.font.family != usual:
            for token in line.tokens:
                text = token.text
                if len(text) < _MIN_LETTERS or token.font.size <= 0 or not text[-1].isalpha():
                    continue  # a full stop after the word may be in another font
                if sum(map(str.isalpha, text)) >= _MIN_LETTERS:  # digits have one width in all fonts
                    width = (token.x1 - token.x0) / len(text) / token.font.size
                    widths.setdefault(token.font.family, {})[text] = width
    fixed = set()
    for family, found in widths.items():
        usual_width = median_high(found.values())
        equal = sum(abs(w - usual_width) < _MAX_DEVIATION * usual_width for w in found.values())
        if len(found) >= _MIN_TOKENS and equal > _MIN_EQUAL_SHARE * len(found):
            fixed.add(family)
    return frozenset(fixed)
