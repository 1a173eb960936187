"""Crop figures and tables from a hostile PDF: `python crops.py` in a folder with `in.pdf` and `captions.json`.

`captions.json` contains `[[key, "figure" or "table", number, caption], …]` and the limits. The process writes `<n>.png` and
`crops.json`, a list of `{key, outcome, page, box, file, width, height}`. It runs in a sandbox and imports PDFium only.

A caption is located by its letters and digits. A figure is the graphics next to its caption, up to running text or
another caption. A table is the area between its rules. Boxes are in points from the lower left corner of the page.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
from pypdfium2 import raw

NEAR = 60.0
"""largest distance in points between a caption and its graphics"""
_JOIN = 20.0
"""largest distance in points between two graphics of one figure"""
_MIN_SIDE = 18.0
_MAX_PROSE = 6
"""lines of running text that end a table"""
_KEY_LENGTH = 40
_MAX_CHARS, _MAX_OBJECTS = 50_000, 50_000
_LABEL = r"(?:figure|figura|fig|table|tableau|tabelle|tabla|tab|scheme|chart|abbildung|abb|box|plate|algorithm)"


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
        return Area(
            min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1)
        )  # fmt: skip

    def clip(self, other: Area) -> Area:
        """Return the common part; its sides may be negative."""
        return Area(
            max(self.x0, other.x0), max(self.y0, other.y0), min(self.x1, other.x1), min(self.y1, other.y1)
        )  # fmt: skip

    def grow(self, points: float) -> Area:
        """Return the rectangle extended on all sides."""
        return Area(self.x0 - points, self.y0 - points, self.x1 + points, self.y1 + points)

    def touches(self, other: Area) -> bool:
        """Return whether both have a common part."""
        return self.x0 <= other.x1 and other.x0 <= self.x1 and self.y0 <= other.y1 and other.y0 <= self.y1

    def overlaps_column(self, other: Area) -> bool:
        """Return whether both share more than a fifth of the narrower width."""
        return min(self.x1, other.x1) - max(self.x0, other.x0) > 0.2 * min(self.width, other.width)


@dataclass(slots=True)
class TextLine:
    """A line of text: its area, and its letters and digits in lower case."""

    area: Area
    text: str
    start: int
    """place of the first letter or digit in the page's `letters`"""
    is_caption: bool = False

    def is_prose(self, page: Area) -> bool:
        """Return whether the line belongs to running text."""
        words = self.text.split()
        letters = sum(len(word) for word in words if word.isalpha())
        return (
            len(words) >= 6 and letters > 0.55 * len(self.text.replace(" ", "")) and self.area.width > 0.27 * page.width
        )


@dataclass(slots=True)
class PageContents:
    """The text lines and graphics of a page."""

    number: int
    area: Area
    letters: str
    lines: list[TextLine]
    graphics: list[Area]
    rules: list[Area]


def normalize(text: str) -> str:
    """Return the letters and digits in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))


def read_page(number: int, page: Any) -> PageContents:
    """Return the lines and graphics of a page."""
    area = Area(*page.get_cropbox())
    letters, lines = _read_lines(page.get_textpage())
    graphics, rules = [], []
    for count, item in enumerate(page.get_objects(max_depth=1)):
        if count > _MAX_OBJECTS:
            break
        if item.type == raw.FPDF_PAGEOBJ_TEXT:
            continue
        box = Area(*(item.get_bounds() if hasattr(item, "get_bounds") else item.get_pos())).clip(area)
        if box.width < 0 or box.height < 0 or box.width * box.height > 0.85 * area.width * area.height:
            continue
        if box.height < 4 and box.width > 0.15 * area.width:
            rules.append(box)
        graphics.append(box)
    return PageContents(number, area, letters, lines, graphics, rules)


def _read_lines(text: Any) -> tuple[str, list[TextLine]]:
    letters: list[str] = []
    lines: list[TextLine] = []
    area: Area | None = None
    parts: list[str] = []
    start = total = 0
    for i in range(min(text.count_chars(), _MAX_CHARS) + 1):
        code = raw.FPDFText_GetUnicode(text, i) if i < text.count_chars() else 10
        char = chr(code) if 31 < code < 0x110000 else " "
        box = Area(*text.get_charbox(i)) if not char.isspace() else None
        apart = area and box and (abs(box.y0 - area.y0) > max(area.height, 6) * 1.5 or box.x0 - area.x1 > 40)
        if code in (10, 13) or apart:
            if area and parts:
                lines.append(TextLine(area, "".join(parts).strip(), start))
            area, parts, start = None, [], total
        parts.append(char)
        if box:
            area = area.join(box) if area else box
        for letter in normalize(char):
            letters.append(letter)
            total += 1
    return "".join(letters), lines


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
        graphics = [box for box in page.graphics if not _mostly_in(caption, box)]  # without frames around both
        todo = [box for box in graphics if _mostly_in(box, band) and not _mostly_in(box, caption.grow(2))]
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
            if not line.is_caption and _mostly_in(line.area, band) and line.area.touches(area.grow(8)):
                area = area.join(line.area)
        if area.width >= _MIN_SIDE * 2 and area.height >= _MIN_SIDE * 2:
            return area.clip(page.area)
    return None


def _list_bands(page: PageContents, caption: Area) -> Iterator[Area]:
    """Yield the free areas above and below a caption, then those at its sides."""
    barriers = [
        x.area for x in page.lines if (x.is_caption or x.is_prose(page.area)) and not _mostly_in(x.area, caption)
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


def _mostly_in(box: Area, area: Area) -> bool:
    common = box.clip(area)
    if common.width < 0 or common.height < 0:
        return False
    return (common.width + 0.1) * (common.height + 0.1) > 0.7 * (box.width + 0.1) * (box.height + 0.1)


def find_table(page: PageContents, caption: Area) -> Area | None:
    """Return the area between the first and last rule of equal extent below (else above) a caption."""
    captions = [x.area for x in page.lines if x.is_caption and not _mostly_in(x.area, caption.grow(2))]
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
            if _count_prose(page, added) > _MAX_PROSE:
                break
            if abs(rule.x0 - widest.x0) < 8 and abs(rule.x1 - widest.x1) < 8:
                area = between
        for rule in sorted(page.rules, key=lambda x: x.x0) + sorted(
            page.rules, key=lambda x: -x.x1
        ):  # cells at the sides
            if rule.touches(area.grow(6)) and area.y0 - 2 <= rule.y0 <= area.y1 + 2:
                area = area.join(rule)
        if area.height >= _MIN_SIDE:
            return area.grow(2).clip(page.area)
    return None


def _count_prose(page: PageContents, area: Area) -> int:
    """Return the number of lines of running text in an area."""
    return sum(x.is_prose(page.area) and _mostly_in(x.area, area) for x in page.lines)


def remove_running(pages: list[PageContents]) -> None:
    """Remove graphics that occur at the same place of three headers or footers, such as logos."""
    counts = Counter(box for page in pages for box in {_round(box) for box in page.graphics})
    for page in pages:
        inner = page.area.grow(-0.1 * page.area.height)
        page.graphics = [x for x in page.graphics if counts[_round(x)] < 3 or inner.y0 < (x.y0 + x.y1) / 2 < inner.y1]
        page.rules = [x for x in page.rules if counts[_round(x)] < 3 or inner.y0 < x.y0 < inner.y1]


def _round(box: Area) -> Area:
    return Area(round(box.x0), round(box.y0), round(box.x1), round(box.y1))


def _join_rules(rules: list[Area]) -> list[Area]:
    """Return rules at one height that touch each other as one rule."""
    joined: list[Area] = []
    for rule in sorted(rules, key=lambda x: (round(x.y0), x.x0)):
        if joined and abs(joined[-1].y0 - rule.y0) < 2 and rule.x0 <= joined[-1].x1 + 4:
            joined[-1] = joined[-1].join(rule)
        else:
            joined.append(rule)
    return joined


def encode_png(width: int, height: int, stride: int, pixels: bytes) -> bytes:
    """Return a PNG of RGB rows."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + pixels[y * stride : y * stride + 3 * width] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def render(page: Any, area: Area, dpi: int, max_pixels: int) -> tuple[int, int, bytes]:
    """Return width, height and PNG of a part of a page, with fewer dots per inch if it would exceed `max_pixels`."""
    edge = Area(*page.get_cropbox())
    scale = min(dpi / 72, (max_pixels / max(area.width * area.height, 1)) ** 0.5)
    left, bottom = max(0.0, area.x0 - edge.x0), max(0.0, area.y0 - edge.y0)
    margins = (left, bottom, max(0.0, edge.x1 - area.x1), max(0.0, edge.y1 - area.y1))
    bitmap = page.render(scale=scale, crop=margins, rev_byteorder=True, force_bitmap_format=raw.FPDFBitmap_BGR)
    return bitmap.width, bitmap.height, encode_png(bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer))


def crop_all(folder: Path) -> list[dict[str, Any]]:
    """Write the crops of `in.pdf` and return their descriptions."""
    order = json.loads((folder / "captions.json").read_text("utf-8"))
    results: list[dict[str, Any]] = []
    with pypdfium2.PdfDocument((folder / "in.pdf").read_bytes()) as document:
        numbers = range(min(len(document), order["max_pages"]))
        pages = [read_page(i, document[i]) for i in numbers if not document[i].get_rotation()]
        remove_running(pages)
        found = [(caption, find_caption(pages, caption[2], caption[3])) for caption in order["captions"]]
        for n, ((key, kind, _, _), place) in enumerate(found):
            if place is None:
                results.append({"key": key, "outcome": "caption_not_found"})
                continue
            page, caption = place
            area = find_table(page, caption) if kind == "table" else None
            area = area or find_figure(page, caption)
            if area is None:
                results.append({"key": key, "outcome": "no_graphics"})
                continue
            width, height, png = render(document[page.number], area, order["dpi"], order["max_pixels"])
            (folder / f"{n}.png").write_bytes(png)
            box = [round(x, 1) for x in (area.x0, area.y0, area.x1, area.y1)]
            results.append({
                "key": key, "outcome": "cropped", "page": page.number + 1, "box": box, "file": f"{n}.png",
                "width": width, "height": height,
            })  # fmt: skip
    return results


if __name__ == "__main__":
    Path("crops.json").write_text(json.dumps(crop_all(Path.cwd())), "utf-8")
