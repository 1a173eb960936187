"""Lines that pdfalto broke at inline mathematics, put together again."""

from __future__ import annotations

from .model import Line, Page

_LOOK = 6
"""How many lines back the left part of a line may stand."""


def mend(page: Page) -> None:
    """Joins lines of one baseline that stand less than a word space apart, whichever order pdfalto gives them in."""
    out: list[Line] = []
    for line in page.lines:
        for i in range(len(out) - 1, max(len(out) - _LOOK, 0) - 1, -1):
            if _beside(out[i], line):
                out[i] = _join(out[i], line)
                break
            if _beside(line, out[i]):
                out[i] = _join(line, out[i])
                break
        else:
            out.append(line)
    page.lines = out


def _beside(left: Line, right: Line) -> bool:
    gap = right.x0 - left.x1
    size = max(left.size, right.size)
    if not -0.3 * size < gap < 0.75 * size or left.x1 - left.x0 < 1:
        return False
    low = max(left.y0, right.y0) - min(left.y1, right.y1)
    shift = abs((left.y0 + left.y1) - (right.y0 + right.y1)) / 2
    return low < 0 and shift < 0.45 * size and max(left.height, right.height) < 2.2 * size


def _join(left: Line, right: Line) -> Line:
    right.tokens[0].space = True
    keep = left if len(left.text) >= len(right.text) else right
    return Line([*left.tokens, *right.tokens], left.page, keep.block, keep.kind)
