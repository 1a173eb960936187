"""Read pages without a usable text layer with RapidOCR (extra `ocr`)."""

from __future__ import annotations

import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from pdf2tei.errors import Code, ExtractionError
from pdf2tei.pages.model import Document, Font, Line, Token

DPI = 150  # resolution of rendered pages; 8-point type is 17 pixels high
MAX_PIXELS = 12_000_000  # maximum number of pixels of a rendered page; an A3 page at this resolution has 4.3 million
_MIN_SCORE = 0.5  # minimum confidence of a recognized line
_HEIGHT_TOLERANCE = 0.2  # boxes within this relative difference of the document's usual height get the usual size
_TYPE_SIZE_SHARE = 0.75  # type size as a share of the height of a line's box
_MAX_CROSSING_SHARE = 0.35  # if a larger share of lines crosses the middle of the page, it has one column


def installed() -> bool:
    """Return whether the extra `ocr` is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


@cache
def _load_engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": 1})


def recognize_pages(document: Document, pages: list[int], pdf: Path, timeout: float) -> None:
    """Replace the lines of some pages (by number, from 1) with text recognized in their pictures.

    Raises:
        ExtractionError: TIMEOUT after `timeout` seconds.
    """
    import pypdfium2

    end = time.monotonic() + timeout
    found: dict[int, list[tuple[str, float, float, float, float]]] = {}
    with pypdfium2.PdfDocument(pdf) as source:
        for number in pages:
            if time.monotonic() > end:
                raise ExtractionError(Code.TIMEOUT, f"reading scanned pages took more than {timeout:g} s")
            page = source[number - 1]
            width, height = page.get_size()
            scale = min(DPI / 72, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
            result = _load_engine()(page.render(scale=scale).to_numpy(), use_cls=False)
            found[number] = []
            if result.txts is None:
                continue
            for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
                if score >= _MIN_SCORE and text.strip():
                    (x0, y0), (x1, y1) = box.min(axis=0) / scale, box.max(axis=0) / scale
                    found[number].append((text, float(x0), float(y0), float(x1), float(y1)))
    usual = median([y1 - y0 for items in found.values() for text, _, y0, _, y1 in items if len(text) > 20] or [12.0])
    for number, items in found.items():
        page = document.pages[number - 1]
        page.lines = _sort_lines([_build_line(item, number, usual) for item in items])
        _number_blocks(page.lines, 1_000_000 * number)


def _build_line(item: tuple[str, float, float, float, float], page: int, usual: float) -> Line:
    """Return a line; the widths of its words are proportional to their numbers of letters."""
    text, x0, y0, x1, y1 = item
    height = usual if abs(y1 - y0 - usual) < _HEIGHT_TOLERANCE * usual else y1 - y0
    font = Font("ocr", round(_TYPE_SIZE_SHARE * height, 1))
    inset = 0.12 * (y1 - y0)  # the boxes are higher than the lines
    step = (x1 - x0) / len(text)
    tokens: list[Token] = []
    at = 0
    for word in text.split():
        at = text.index(word, at)
        left, right = x0 + at * step, x0 + (at + len(word)) * step
        tokens.append(Token(word, left, y0 + inset, right, y1 - inset, font, bool(tokens)))
        at += len(word)
    return Line(tokens, page, 0)


def _sort_lines(lines: list[Line]) -> list[Line]:
    """Sort lines into reading order.

    Lines that cross the gutter divide the page into bands. In each band, the left column precedes the right column.
    """
    lines = sorted(lines, key=lambda x: (round(x.y0 / 4), x.x0))
    if not lines:
        return []
    left, right = min(x.x0 for x in lines), max(x.x1 for x in lines)
    gutters = [left + (right - left) * share / 100 for share in range(40, 61)]
    gutter = min(gutters, key=lambda g: (sum(x.x0 < g < x.x1 for x in lines), abs(g - (left + right) / 2)))
    if sum(x.x0 < gutter < x.x1 for x in lines) > _MAX_CROSSING_SHARE * len(lines):
        return lines
    out: list[Line] = []
    columns: tuple[list[Line], list[Line]] = ([], [])
    for line in [*lines, None]:
        if line is not None and not line.x0 < gutter < line.x1:
            columns[line.x0 >= gutter].append(line)
            continue
        out += columns[0] + columns[1]
        columns = ([], [])
        if line is not None:
            out.append(line)
    return out


def _number_blocks(lines: list[Line], first: int) -> None:
    """Number the blocks; a new block begins at a change of column or size, and after a gap."""
    number = first
    for i, line in enumerate(lines):
        if i:
            before = lines[i - 1]
            gap = line.y0 - before.y1
            is_near = -line.height < gap < 0.9 * line.height and line.overlaps(before)
            number += not (is_near and line.size == before.size)
        line.block = number
