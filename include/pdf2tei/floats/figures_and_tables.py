"""Find figures and tables: their captions and the text inside them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from pdf2tei.body.heads import NUMBERED
from pdf2tei.floats import grids
from pdf2tei.floats.captions import CAPTION, find_captions, is_table
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Box, Document, Kind, Line, Page, group_items, join_tokens
from pdf2tei.pages.text import Joiner

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_MAX_GAP = 60.0  # maximum gap within a float, in points
_MIN_TEXT_SHARE = 0.6  # prose that is wider than this share of a column is no text in a figure


@dataclass(slots=True)
class Float:
    """A figure or table."""

    table: bool
    head: str
    label: str
    caption: str
    notes: str = ""
    rows: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class FloatLines:
    """The lines of a figure or table: its caption, its content, and the notes below a table."""

    caption: list[Line]
    inside: list[Line]
    notes: list[Line] = field(default_factory=list)


def take_floats(document: Document, measures: Measures) -> list[FloatLines]:
    """Return the lines of figures and tables in order, marked CAPTION, FIGURE or TABLE. A table may have no caption."""
    found: list[FloatLines] = []
    for page, captions in zip(document.pages, find_captions(document, measures), strict=True):
        running = _running_blocks(page, measures)
        large = [b for b in page.boxes if b.x1 - b.x0 > 15 and b.y1 - b.y0 > 15]  # no rules, no background
        graphics = [b for b in large if (b.x1 - b.x0) * (b.y1 - b.y0) < 0.7 * page.width * page.height]
        prose = _prose_blocks(page) | running
        wide = {x.block for x in page.lines if x.block in prose and x.width > _MIN_TEXT_SHARE * measures.width}
        insides = _assign_lines_to_captions(page, captions, graphics, (wide, running), measures)
        floats = list(map(FloatLines, captions, insides))
        taken = {id(line) for inside in insides for line in inside}
        for grid in grids.find_tables(page, running, measures):
            new = [line for line in grid if id(line) not in taken]
            for line in new:
                line.kind = Kind.TABLE
            tables = [item for item in floats if item.caption and is_table(item.caption)]
            if tables:
                top, bottom = min(x.y0 for x in grid), max(x.y1 for x in grid)
                min(tables, key=lambda x: max(top - x.caption[-1].y1, x.caption[0].y0 - bottom, 0.0)).inside += new
            elif new:
                floats.append(FloatLines([], new))
        _take_table_notes(page, floats, running, measures)
        found += floats
        for line in page.lines:
            if line.kind is Kind.BODY and line.block not in prose and _is_on_graphics(line, graphics, measures):
                line.kind = Kind.FIGURE
    return found


def _take_table_notes(page: Page, floats: list[FloatLines], running: set[int], measures: Measures) -> None:
    """Add notes in smaller type directly below a table to the table, and mark them TABLE."""
    tables = [(item, x) for item in floats for x in item.inside if x.kind is Kind.TABLE]
    for line in sorted(page.lines, key=lambda x: x.y0):
        if line.kind is not Kind.BODY or line.block in running or line.size > measures.size - 0.4:
            continue
        for item, x in tables:
            if -2 < line.y0 - x.y1 < 1.3 * line.size and x.x0 - 8 < line.x1 and line.x0 < x.x1 + 8:
                line.kind = Kind.TABLE
                item.notes.append(line)
                tables.append((item, line))
                break


def build_floats(found: list[FloatLines], joiner: Joiner) -> list[Float]:
    """Return the figures and tables of lines that are still marked as such."""
    out: list[Float] = []
    for item in found:
        caption = [x for x in item.caption if x.kind is Kind.CAPTION]
        inside, notes = ([x for x in part if x.kind is Kind.TABLE] for part in (item.inside, item.notes))
        if caption or inside or notes:
            text = joiner.text(caption).text
            match = CAPTION.match(text)
            head, label, rest = (
                (text[: match.end()].strip(), match["label"], text[match.end() :].strip()) if match else ("", "", text)
            )
            table = is_table(caption) if caption else True
            out.append(Float(table, head, label, rest, joiner.text(notes).text, _split_rows(inside) if table else []))
    return out


def _split_rows(lines: list[Line]) -> list[list[str]]:
    """Return a table's lines as rows of cells, from left to right."""
    ordered = sorted(lines, key=lambda x: (x.y0, x.x0))
    rows = group_items(ordered, lambda row, line: line.y0 >= row[0].y1 - 0.5 * row[0].height)
    return [[join_tokens(y) for x in sorted(row, key=lambda x: x.x0) for y in grids.split_at_gaps(x)] for row in rows]


def _running_blocks(page: Page, measures: Measures) -> set[int]:
    """Return the blocks that contain a line with the size of the running text that fills its column."""
    return {
        line.block
        for line in page.lines
        if abs(line.size - measures.size) < 0.4
        and line.width > 0.8 * measures.width
        and _share_of_words(line.text) > 0.5
    }


def _prose_blocks(page: Page) -> set[int]:
    """Return blocks that read as prose in any size: at least three lines, most with six or more words."""
    blocks: dict[int, list[Line]] = {}
    for line in page.lines:
        blocks.setdefault(line.block, []).append(line)
    return {
        number
        for number, lines in blocks.items()
        if len(lines) > 2
        and sum(len(x.text.split()) > 5 and _share_of_words(x.text) > 0.7 for x in lines) > 0.7 * len(lines)
    }


@lru_cache(maxsize=1 << 12)
def _share_of_words(text: str) -> float:
    """Return the share of a text's characters that are in words."""
    return sum(map(len, _LETTERS.findall(text))) / max(len(text) - text.count(" "), 1)


def _is_on_graphics(line: Line, graphics: list[Box], measures: Measures) -> bool:
    if (line.width > 0.8 * measures.width and abs(line.size - measures.size) < 0.4) or _is_section_head(line, measures):
        return False
    return any(
        b.x0 - 3 <= line.x0 and line.x1 <= b.x1 + 3 and b.y0 - 3 <= line.y0 and line.y1 <= b.y1 + 3 for b in graphics
    )


def _assign_lines_to_captions(
    page: Page, captions: list[list[Line]], graphics: list[Box], stops: tuple[set[int], set[int]], measures: Measures
) -> list[list[Line]]:
    """Return the lines of each caption's figure or table, and mark them.

    The search runs from the caption up to the blocks of `stops`: upwards for figures (first set), downwards for tables. If it
    finds no row of a table, the lines above the caption are used if they contain one.
    """
    out: list[list[Line]] = []
    left = min((x.x0 for x in page.lines), default=0.0)
    right = max((x.x1 for x in page.lines), default=page.width)
    for caption in captions:
        x0, x1 = min(x.x0 for x in caption), max(x.x1 for x in caption)
        middle = (x0 + x1) / 2
        wide = x1 - x0 > 1.15 * measures.width or (
            abs(middle - (left + right) / 2) < 0.06 * (right - left) and right - left > 1.6 * measures.width
        )
        if wide:
            x0, x1 = left, right
        else:
            x0, x1 = min(x0, middle - measures.width / 2), max(x1, middle + measures.width / 2)
        lines = [
            x for x in page.lines if x.kind in (Kind.BODY, Kind.CAPTION, Kind.FRONT, Kind.NOTE) and x not in caption
        ]
        lines = [x for x in lines if x0 - 8 < (x.x0 + x.x1) / 2 < x1 + 8]
        table = is_table(caption)
        top, bottom = min(x.y0 for x in caption), max(x.y1 for x in caption)
        inside = _collect_lines(lines, graphics, 1 if table else -1, top, bottom, stops[table], measures)
        if table and not _has_row(inside):
            above = _collect_lines(lines, graphics, -1, top, bottom, stops[table], measures)
            inside = above if _has_row(above) else inside
        for line in inside:
            line.kind = Kind.TABLE if table else Kind.FIGURE
        out.append(inside)
    return out


def _has_row(lines: list[Line]) -> bool:
    """Return whether two lines are side by side."""
    return any(abs(a.y0 - b.y0) < 3 for a, b in pairwise(sorted(lines, key=lambda x: x.y0)))


def _collect_lines(
    lines: list[Line],
    graphics: list[Box],
    direction: int,
    top: float,
    bottom: float,
    running: set[int],
    measures: Measures,
) -> list[Line]:
    """Return the lines from the caption's edge in one direction up to running text, a head, another caption or a wide gap."""
    taken: list[Line] = []
    edge = top if direction < 0 else bottom
    beyond = [x for x in lines if (x.y1 <= top + 2 if direction < 0 else x.y0 >= bottom - 2)]
    for line in sorted(beyond, key=lambda x: (-x.y1 if direction < 0 else x.y0, x.x0)):
        larger = line.size > measures.size + 0.8 and _share_of_words(line.text) > 0.6
        if line.kind is not Kind.BODY or line.block in running or larger or _is_section_head(line, measures):
            break
        near, far = (line.y1, edge) if direction < 0 else (edge, line.y0)
        if far - near > _MAX_GAP and not any(b.y0 < far - 5 and b.y1 > near + 5 for b in graphics):
            break
        taken.append(line)
        edge = min(edge, line.y0) if direction < 0 else max(edge, line.y1)
    return taken


def _is_section_head(line: Line, measures: Measures) -> bool:
    """Return whether a line is a numbered or larger bold head, which no float contains."""
    strong = line.font.bold or line.size > measures.size + 0.8 or line.text.isupper()
    is_set_apart = strong and line.size > measures.size - 0.3
    return is_set_apart and bool(NUMBERED.match(line.text)) and _share_of_words(line.text) > 0.6
