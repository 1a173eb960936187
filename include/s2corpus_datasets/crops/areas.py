"""Rectangles on a page: joining, clipping, and comparing them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle in points."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Width in points."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Height in points."""
        return self.y1 - self.y0

    def join(self, other: Area) -> Area:
        """Return the smallest rectangle that contains both."""
        return Area(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def clip(self, other: Area) -> Area:
        """Return the common part; its sides may be negative."""
        return Area(max(self.x0, other.x0), max(self.y0, other.y0), min(self.x1, other.x1), min(self.y1, other.y1))

    def grow(self, points: float) -> Area:
        """Return the rectangle extended on all sides."""
        return Area(self.x0 - points, self.y0 - points, self.x1 + points, self.y1 + points)

    def touches(self, other: Area) -> bool:
        """Return whether both have a common part."""
        return self.x0 <= other.x1 and other.x0 <= self.x1 and self.y0 <= other.y1 and other.y0 <= self.y1

    def distance(self, other: Area) -> float:
        """Return the free space between both, in points."""
        common = self.clip(other)
        return max(-common.width, 0.0) + max(-common.height, 0.0)

    def overlaps_column(self, other: Area) -> bool:
        """Return whether both share more than a fifth of the narrower width."""
        return min(self.x1, other.x1) - max(self.x0, other.x0) > 0.2 * min(self.width, other.width)


def is_mostly_in(box: Area, area: Area) -> bool:
    """Return whether more than 70 % of a box is in an area; lines have a width of a tenth of a point."""
    common = box.clip(area)
    if common.width < 0 or common.height < 0:
        return False
    return (common.width + 0.1) * (common.height + 0.1) > 0.7 * (box.width + 0.1) * (box.height + 0.1)


def share_most(one: Area, other: Area) -> bool:
    """Return whether two areas are the same graphics, or one contains most of the other."""
    return is_mostly_in(one, other) or is_mostly_in(other, one)
