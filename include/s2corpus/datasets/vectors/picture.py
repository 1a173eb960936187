"""Draw a scatter plot as SVG text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

import numpy as np

_SIZE, _LEGEND = 640, 190
_COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22", "#17becf", "#393b79", "#637939",
    "#8c6d31", "#843c39", "#7b4173", "#3182bd", "#e6550d", "#31a354", "#756bb1", "#636363",
)  # fmt: skip


def scatter(title: str, places: np.ndarray, labels: Sequence[str]) -> str:
    """Return a plot of points (n × 2), colored by label, with the most frequent label first in the legend."""
    counts = Counter(labels)
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    colour = {label: "#999" if label == "unknown" else _COLOURS[i % len(_COLOURS)] for i, label in enumerate(ranked)}
    low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(2), np.ones(2))
    span = np.where(high > low, high - low, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE + _LEGEND}" height="{_SIZE}" role="img" '
        f'aria-label="{escape(title)}" font-family="sans-serif" font-size="12">',
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="8" y="20" font-size="14">{escape(title)}</text>',
    ]
    for place, label in zip((places - low) / span, labels, strict=True):
        x, y = 20 + place[0] * (_SIZE - 40), 36 + place[1] * (_SIZE - 56)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour[label]}" fill-opacity="0.7"/>')
    for i, label in enumerate(ranked):
        y = 40 + 20 * i
        parts.append(f'<rect x="{_SIZE + 4}" y="{y - 10}" width="12" height="12" fill="{colour[label]}"/>')
        parts.append(f'<text x="{_SIZE + 22}" y="{y}">{escape(label)} ({counts[label]:,})</text>')
    return "\n".join([*parts, "</svg>", ""])
