"""Draw charts as inline SVG, without script or style attribute.

Every mark has a title, and shapes supplement colors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

Format = Callable[[float], str]
Points = Sequence[tuple[str, float | None]]
"""releases, oldest first, with a value each"""
Area = tuple[float, float, float, float]
"""left, right, top and bottom"""
_WIDTH, _HEIGHT, _PAD = 160, 36, 4
_WIDE, _HIGH, _LEFT, _TOP, _BOTTOM = 420, 120, 76, 12, 24


def _share(value: float) -> str:
    return f"{value:.1%}"


def bar(parts: Sequence[tuple[str, str, float]], total: float, label: str) -> Markup:
    """Return a horizontal bar as wide as its container: parts (class, title, amount) in a row, as shares of `total`."""
    x = 0.0
    drawn = []
    for kind, words, amount in parts:
        width = 100 * amount / total if total else 0.0
        drawn.append(
            Markup('<rect class="{}" x="{:.2f}%" width="{:.2f}%" height="100%"><title>{}</title></rect>').format(
                kind, x, max(width, 0.4 if amount else 0), words
            )
        )
        x += width
    return Markup('<svg class="bar" width="100%" height="16" role="img" aria-label="{}">{}</svg>').format(
        label, Markup("").join(drawn)
    )


def line(points: Points, label: str, format_value: Format = _share) -> Markup:
    """Return a small line chart over releases, oldest first: (release, value). Values of None are not drawn."""
    low, high = _range([value for _, value in points if value is not None])
    left, right = (_PAD, _WIDTH - _PAD) if len(points) > 1 else (_WIDTH / 2, _WIDTH / 2)
    area = left, right, _PAD, _HEIGHT - _PAD
    return Markup(
        '<svg class="line" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>'
    ).format(_WIDTH, _HEIGHT, _WIDTH, _HEIGHT, label, _polyline(points, area, (low, high), format_value))


def _polyline(points: Points, area: Area, scale: tuple[float, float], format_value: Format) -> Markup:
    """Return a line through the values that are not None, and a circle with a title for each."""
    left, right, top, floor = area
    low, high = scale
    step = (right - left) / max(len(points) - 1, 1)
    dots = [
        (left + step * i, floor - (floor - top) * (value - low) / (high - low), f"{release}: {format_value(value)}")
        for i, (release, value) in enumerate(points)
        if value is not None
    ]
    path = Markup(" ").join(Markup("{:.1f},{:.1f}").format(x, y) for x, y, _ in dots)
    circle = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>')
    return Markup('<polyline points="{}"/>{}').format(path, Markup("").join(circle.format(*dot) for dot in dots))


def trend(points: Points, label: str, format_value: Format) -> Markup:
    """Return a larger line chart over releases from zero up, with its scale and the first and last release.

    Values of None are not drawn.
    """
    high = max((value for _, value in points if value is not None), default=0.0) or 1.0
    right, floor = _WIDE - 10, _HIGH - _BOTTOM
    ends = [(points[0][0], _LEFT, "start"), (points[-1][0], _WIDE - 4, "end")] if len(points) > 1 else []
    return Markup(
        '<svg class="line trend" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">'
        '<path class="axis" d="M{left} {top}H{right}M{left} {floor}H{right}"/>'
        '<text x="{at}" y="{over}" text-anchor="end">{high}</text><text x="{at}" y="{under}" text-anchor="end">0</text>'
        "{ends}{line}</svg>"
    ).format(
        w=_WIDE,
        h=_HIGH,
        label=label,
        left=_LEFT,
        right=right,
        top=_TOP,
        floor=floor,
        at=_LEFT - 6,
        over=_TOP + 4,
        under=floor + 4,
        high=format_value(high),
        ends=Markup("").join(
            Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, _HIGH - 6, anchor, release)
            for release, x, anchor in ends
        ),
        line=_polyline(points, (_LEFT + 6, right, _TOP, floor), (0.0, high), format_value),
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def interval(edges: Sequence[float], number: int) -> str:
    """Return the range of a bin; the first and the last bin are open."""
    low, high = _number(edges[number]), _number(edges[number + 1])
    return f"below {high}" if number == 0 else f"from {low}" if number == len(edges) - 2 else f"{low} to {high}"


def histogram(
    layers: Sequence[tuple[str, Sequence[int]]],
    edges: Sequence[float],
    thresholds: Mapping[str, float],
    label: str,
    links: Sequence[tuple[str, str, Sequence[tuple[str, int]]]] = (),
) -> Markup:
    """Return a histogram with the thresholds drawn in.

    Args:
        layers: class and count in each bin; layers are stacked from below.
        edges: edges of the bins, ascending.
        thresholds: values by rule.
        label: description for a reader of the page who does not see the picture.
        links: range, query and counts by outcome of each bin: a larger histogram with a link on each bar. A table must repeat them.
    """
    width, high = (2 * _WIDE, 2 * _HIGH) if links else (_WIDE, _HIGH)
    left, right, top, floor = 4, width - 4, _TOP + 6, high - _BOTTOM
    most = max(int(sum(column)) for column in zip(*(counts for _, counts in layers), strict=True)) or 1
    step = (right - left) / (len(edges) - 1)
    bars = [Markup("")] * (len(edges) - 1)
    paths = []
    base = [float(floor)] * len(bars)
    for kind, counts in layers:
        shapes = []
        for number, count in enumerate(counts):
            if count:
                size = max((floor - top) * int(count) / most, 0.6)
                base[number] -= size
                path = f"M{left + number * step:.1f} {base[number]:.1f}h{step - 0.6:.1f}v{size:.1f}h{0.6 - step:.1f}z"
                shapes.append(path)
                bars[number] += Markup('<path class="{}" d="{}"/>').format(kind, path)
        paths.append(Markup('<path class="{}" d="{}"/>').format(kind, "".join(shapes)))
    drawn = Markup("").join(paths)
    if links:
        one = Markup('<a href="?{}" tabindex="-1"><title>{}</title>{}</a>')
        titles = [f"{range_}: " + ", ".join(f"{n:,} {word}" for word, n in counted) for range_, _, counted in links]
        drawn = Markup("").join(
            one.format(link, title, bar) for (_, link, _), title, bar in zip(links, titles, bars, strict=True) if bar
        )
    line = Markup(
        '<path class="threshold" d="M{:.1f} 2V{}"><title>{}: {}</title></path><text x="{:.1f}" y="12" text-anchor="{}">{}</text>'
    )
    lines = []
    for rule, value in thresholds.items():
        x = left + (right - left) * (value - edges[0]) / (edges[-1] - edges[0])
        side, anchor = (6, "start") if x < width / 2 else (-6, "end")
        lines.append(line.format(x, floor, rule, f"{value:g}", x + side, anchor, _number(value)))
    return Markup(
        '<svg class="trend histogram" viewBox="0 0 {} {}" {}>{}{}<path class="axis" d="M{} {}H{}"/>'
        '<text x="{}" y="{}">{}</text><text x="{}" y="{}" text-anchor="end">{}</text></svg>'
    ).format(
        width, high, Markup('aria-hidden="true"') if links else Markup('role="img" aria-label="{}"').format(label),
        drawn, Markup("").join(lines), left, floor, right, left, high - 6, _number(edges[0]), right, high - 6, _number(edges[-1]),
    )  # fmt: skip


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if high - low < 0.02 * abs(high) or high == low:  # draw small changes as flat lines, without magnification
        return low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    return low, high


_SHAPES = {
    "pass": Markup('<circle class="pass" cx="{x}" cy="8" r="4">{t}</circle>'),
    "warn": Markup('<path class="warn" d="M{x} 2 l6 11 h-12 z">{t}</path>'),
    "block": Markup('<path class="block" d="M{l} 2 h12 v12 h-12 z">{t}</path>'),
    "": Markup('<path class="none" d="M{l} 7.5 h8 v1 h-8 z">{t}</path>'),
}


def verdicts(points: Sequence[tuple[str, str, int]], label: str) -> Markup:
    """Return the results of a check over releases, oldest first.

    A point is (release, verdict, number of offending rows). The verdict is pass, warn, block, or "" if the check did not run.
    """
    drawn = Markup("").join(
        _SHAPES.get(verdict, _SHAPES[""]).format(
            x=10 + 18 * i,
            l=4 + 18 * i,
            t=Markup("<title>{}</title>").format(
                f"{release}: {verdict}, {offending} offending" if verdict else f"{release}: did not run"
            ),
        )
        for i, (release, verdict, offending) in enumerate(points)
    )
    width = 4 + 18 * len(points)
    return Markup('<svg class="verdicts" width="{}" height="16" role="img" aria-label="{}">{}</svg>').format(
        width, label, drawn
    )
