"""What is usual in a document: the measures by which its lines are judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .model import Line


@dataclass(slots=True)
class Measures:
    """What is usual in the document."""

    size: float
    """Font size of the running text."""
    family: str
    leading: float
    """From one line's top to the next."""
    width: float
    """Width of a column's full line."""


def measure(lines: list[Line]) -> Measures:
    """The running text's size, family, leading and column width: what most characters have."""
    sizes: Counter[float] = Counter()
    families: Counter[str] = Counter()
    widths: Counter[int] = Counter()
    leadings: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    size = max(sizes, key=lambda s: (sizes[s], s), default=10.0)
    before: Line | None = None
    for line in lines:
        if abs(line.size - size) > 0.3:
            before = None
            continue
        families[line.font.family] += len(line.text)
        widths[round(line.width / 4) * 4] += len(line.text)
        if before is not None and before.block == line.block and line.y0 > before.y0:
            leadings[round((line.y0 - before.y0) * 2) / 2] += 1
        before = line
    return Measures(
        size,
        max(families, key=lambda f: (families[f], f), default=""),
        max(leadings, key=lambda v: (leadings[v], -v), default=size * 1.2),
        float(max(widths, key=lambda w: (widths[w], w), default=400)),
    )
