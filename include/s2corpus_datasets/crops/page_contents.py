"""Read the text lines and graphics of a PDF's pages with PDFium."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from pypdfium2 import raw

from s2corpus_datasets.crops.areas import Area

_MAX_CHARS, _MAX_OBJECTS = 50_000, 50_000


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
        is_text = letters > 0.55 * len(self.text.replace(" ", ""))
        return len(words) >= 6 and is_text and self.area.width > 0.27 * page.width


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


def remove_running(pages: list[PageContents]) -> None:
    """Remove graphics that occur at the same place of three headers or footers, such as logos."""
    counts = Counter(box for page in pages for box in {_round(box) for box in page.graphics})
    for page in pages:
        inner = page.area.grow(-0.1 * page.area.height)
        page.graphics = [x for x in page.graphics if counts[_round(x)] < 3 or inner.y0 < (x.y0 + x.y1) / 2 < inner.y1]
        page.rules = [x for x in page.rules if counts[_round(x)] < 3 or inner.y0 < x.y0 < inner.y1]


def _round(box: Area) -> Area:
    return Area(round(box.x0), round(box.y0), round(box.x1), round(box.y1))
