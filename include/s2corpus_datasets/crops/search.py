"""Find captions and the areas of their figures and tables.

A caption is located by its letters and digits. A figure is the graphics next to its caption, up to running text or
another caption. A table is the area between its rules. Boxes are in points from the lower left corner of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from s2corpus_datasets.crops.areas import Area, is_mostly_in
from s2corpus_datasets.crops.page_contents import PageContents, normalize

NEAR = 60.0
"""largest distance in points between a caption and its graphics"""
_JOIN = 20.0
"""largest distance in points between two graphics of one figure"""
_MIN_SIDE = 18.0
_MAX_PROSE = 6
"""lines of running text that end a table"""
_KEY_LENGTH = 40
_LABEL = r"(?:figure|figura|fig|table|tableau|tabelle|tabla|tab|scheme|chart|abbildung|abb|box|plate|algorithm)"


def find_caption(pages: list[PageContents], number: str, caption: str) -> tuple[PageContents, Area] | None:
    """Return the page and area of a caption, or None. Its text follows the label and number at the start of a line."""
    wanted = normalize(caption)
    wanted = re.sub(rf"^{_LABEL}{re.escape(normalize(number))}", "", wanted) if number else wanted
    key = wanted[:_KEY_LENGTH]
    if len(key) < 8:
        return None
    for page in pages:
        at = page.letters.find(key)
        while at >= 0:
            label = re.search(rf"{_LABEL}s?{re.escape(normalize(number))}$", page.letters[max(0, at - 24) : at])
            begin = at - len(label[0]) if label else at
            starts = any(line.start == begin for line in page.lines)
            if starts and (label or not number):
                lines = [x for x in page.lines if begin <= x.start < at + len(wanted)]
                area = lines[0].area
                for line in lines:
                    if line.area.touches(area.grow(16)):
                        line.is_caption, area = True, area.join(line.area)
                return page, area
            at = page.letters.find(key, at + 1)
    return None


def find_figure(page: PageContents, caption: Area) -> Area | None:
    """Return the area of the graphics above the caption; without any, below it; without any, next to it."""
    for band in _list_bands(page, caption):
        area: Area | None = None
        graphics = [box for box in page.graphics if not is_mostly_in(caption, box)]  # without frames around both
        todo = [box for box in graphics if is_mostly_in(box, band) and not is_mostly_in(box, caption.grow(2))]
        near = [x for x in todo if x.touches(caption.grow(NEAR)) and not (x.height < 4 and x.width > 100)]
        if not near:
            continue
        area = max(near, key=lambda x: (x.width + 1) * (x.height + 1))
        grown = True
        while grown:
            grown = False
            for box in todo:
                if box.touches(area.grow(_JOIN)) and (joined := area.join(box)) != area:
                    area, grown = joined, True
        for line in page.lines:  # labels of axes and panels
            if not line.is_caption and is_mostly_in(line.area, band) and line.area.touches(area.grow(8)):
                area = area.join(line.area)
        if area.width >= _MIN_SIDE * 2 and area.height >= _MIN_SIDE * 2:
            return area.clip(page.area)
    return None


def find_area(kind: str, page: PageContents, caption: Area) -> Area | None:
    """Return the area of a table or figure. A table without rules is searched like a figure."""
    return (find_table(page, caption) if kind == "table" else None) or find_figure(page, caption)


def _list_bands(page: PageContents, caption: Area) -> Iterator[Area]:
    """Yield the free areas above and below a caption, then those at its sides."""
    barriers = [
        x.area for x in page.lines if (x.is_caption or x.is_prose(page.area)) and not is_mostly_in(x.area, caption)
    ]
    edge = page.area
    column = [x for x in barriers if x.overlaps_column(caption)]
    top = min((x.y0 for x in column if x.y0 >= caption.y1 - 2), default=edge.y1 - 20)
    bottom = max((x.y1 for x in column if x.y1 <= caption.y0 + 2), default=edge.y0 + 20)
    for y0, y1 in ((caption.y1 - 1, top), (bottom, caption.y0 + 1)):
        beside = [x for x in barriers if x.y0 < y1 - 3 and x.y1 > y0 + 3]
        x0 = max((x.x1 for x in beside if x.x1 <= caption.x0 + 4), default=edge.x0)
        x1 = min((x.x0 for x in beside if x.x0 >= caption.x1 - 4), default=edge.x1)
        yield Area(x0, y0, x1, y1)
    yield Area(edge.x0, bottom, caption.x0, top)
    yield Area(caption.x1, bottom, edge.x1, top)


def find_table(page: PageContents, caption: Area) -> Area | None:
    """Return the area between the first and last rule of equal extent below (else above) a caption."""
    captions = [x.area for x in page.lines if x.is_caption and not is_mostly_in(x.area, caption.grow(2))]
    for is_below in (True, False):
        rules = [x for x in _join_rules(page.rules) if x.overlaps_column(caption)]
        rules = [x for x in rules if (x.y1 <= caption.y1 - 5 if is_below else x.y0 >= caption.y0 + 5)]
        rules.sort(key=lambda x: -x.y1 if is_below else x.y0)
        near = [x for x in rules if (caption.y0 - x.y1 if is_below else x.y0 - caption.y1) <= NEAR]
        if not near:
            continue
        area = widest = max(near, key=lambda x: round(x.width / 8))
        for rule in rules:
            between = area.join(rule)
            added = Area(area.x0, rule.y1, area.x1, area.y0) if is_below else Area(area.x0, area.y1, area.x1, rule.y0)
            if any(x.touches(between) and x.overlaps_column(between) for x in captions):
                break
            if sum(x.is_prose(page.area) and is_mostly_in(x.area, added) for x in page.lines) > _MAX_PROSE:
                break
            if abs(rule.x0 - widest.x0) < 8 and abs(rule.x1 - widest.x1) < 8:
                area = between
        rules = sorted(page.rules, key=lambda x: x.x0) + sorted(page.rules, key=lambda x: -x.x1)  # cells at the sides
        for rule in rules:
            if rule.touches(area.grow(6)) and area.y0 - 2 <= rule.y0 <= area.y1 + 2:
                area = area.join(rule)
        if area.height >= _MIN_SIDE:
            return area.grow(2).clip(page.area)
    return None


def _join_rules(rules: list[Area]) -> list[Area]:
    """Return rules at one height that touch each other as one rule."""
    joined: list[Area] = []
    for rule in sorted(rules, key=lambda x: (round(x.y0), x.x0)):
        if joined and abs(joined[-1].y0 - rule.y0) < 2 and rule.x0 <= joined[-1].x1 + 4:
            joined[-1] = joined[-1].join(rule)
        else:
            joined.append(rule)
    return joined
