"""Draw bar charts as standalone SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_BAR, _GAP, _LABEL, _WIDTH = 18, 6, 260, 420


def bars(title: str, rows: Sequence[tuple[str, int]]) -> str:
    """Return an SVG chart with a horizontal bar per row, between its label and its count. The greatest count has the longest bar."""
    height = 40 + len(rows) * (_BAR + _GAP)
    greatest = max((count for _, count in rows), default=0) or 1
    parts = []
    for i, (label, count) in enumerate(rows):
        y = 32 + i * (_BAR + _GAP)
        width = round(_WIDTH * count / greatest)
        parts.append(
            f'<text x="{_LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{_LABEL}" y="{y}" width="{width}" height="{_BAR}" fill="#3b6ea5"/>'
            f'<text x="{_LABEL + width + 6}" y="{y + 13}">{count:,}</text>'
        )
    return _format_svg(title, parts, width=_LABEL + _WIDTH + 120, height=height, font_size=12, title_y=20)


def columns(title: str, rows: Sequence[tuple[int, int]]) -> str:
    """Return an SVG chart with a vertical bar per year, from the first to the last. Every tenth year has a label."""
    counts = dict(rows)
    years = range(min(counts), max(counts) + 1) if counts else range(0)
    greatest = max(counts.values(), default=0) or 1
    parts = []
    for i, year in enumerate(years):
        tall = round(150 * counts.get(year, 0) / greatest)
        x = 20 + 10 * i
        parts.append(
            f'<rect x="{x}" y="{190 - tall}" width="8" height="{tall}" fill="#3b6ea5">'
            f"<title>{year}: {counts.get(year, 0):,}</title></rect>"
        )
        if year % 10 == 0 or len(years) < 10:
            parts.append(f'<text x="{x}" y="206">{year}</text>')
    return _format_svg(title, parts, width=max(320, 40 + 10 * len(years)), height=220, font_size=11, title_y=18)


def _format_svg(title: str, parts: list[str], *, width: int, height: int, font_size: int, title_y: int) -> str:
    text = escape(title)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img"',
        f' aria-label="{text}" font-family="sans-serif" font-size="{font_size}">',
        f"<title>{text}</title>",
        f'<rect width="100%" height="100%" fill="#fff"/><text x="8" y="{title_y}" font-size="14">{text}</text>',
    ]
    return "\n".join([*head, *parts, "</svg>", ""])
