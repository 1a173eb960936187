"""Figures and tables: their captions, and the text inside them that is no paragraph."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .measures import Measures
from .model import Document, Kind, Line, Page
from .text import Hyphens

_CAPTION = re.compile(
    r"\s*((?:Figure|FIGURE|Fig\.?|FIG\.?|Abbildung|Abb\.|图|Table|TABLE|Tab\.|Tabelle|表|Algorithm|Scheme|Box|Chart)\s*"
    r"((?:[A-Z]\.?)?\d+(?:\.\d+)*[a-z]?|[IVXL]+|[A-Z]\d+))\s*([.:|—–\-]?)(?=\s|$|[A-Z])"
)


@dataclass(slots=True)
class Float:
    """A figure or table."""

    table: bool
    head: str
    label: str
    caption: str
    rows: list[list[str]] = field(default_factory=list)
    page: int = 0


def read(document: Document, measures: Measures, hyphens: Hyphens) -> list[Float]:
    """Finds captions and marks CAPTION, FIGURE and TABLE lines."""
    found: list[Float] = []
    for page in document.pages:
        for caption in _captions(page, measures):
            found.append(_float(caption, page, measures, hyphens))
        _inside(page, measures)
    return found


def _captions(page: Page, measures: Measures) -> list[list[Line]]:
    lines = page.lines
    captions: list[list[Line]] = []
    for i, line in enumerate(lines):
        if line.kind is not Kind.BODY:
            continue
        match = _CAPTION.match(line.text)
        if not match or not _opens(lines, i, match, measures):
            continue
        run = [line]
        for other in lines[i + 1 :]:
            last = run[-1]
            if other.kind is not Kind.BODY or other.page != last.page or _CAPTION.match(other.text):
                break
            gap = other.y0 - last.y1
            if not -2 < gap < 0.75 * line.size or abs(other.size - line.size) > 1.1:
                break
            if other.block != last.block and (gap > 0.6 * line.size or last.text.endswith(".")):
                break
            if other.x0 > last.x1 or other.x1 < last.x0:
                break
            run.append(other)
        for x in run:
            x.kind = Kind.CAPTION
        captions.append(run)
    return captions


def _opens(lines: list[Line], i: int, match: re.Match[str], measures: Measures) -> bool:
    """Whether a line that begins with `Figure 3` begins a caption: it has a stop after the number or another type, and
    begins a block or follows a gap."""
    line = lines[i]
    before = lines[i - 1] if i else None
    apart = (
        before is None
        or before.block != line.block
        or before.kind is not Kind.BODY
        or line.y0 - before.y1 > 0.5 * line.size
    )
    other = (
        abs(line.size - measures.size) > 0.4
        or line.tokens[0].font.bold
        or line.tokens[0].font.family != measures.family
    )
    stop = bool(match.group(3)) or match.end() >= len(line.text.rstrip())
    return (apart and (stop or other)) or (stop and other)


def _float(lines: list[Line], page: Page, measures: Measures, hyphens: Hyphens) -> Float:
    text = hyphens.text(lines).text
    match = _CAPTION.match(text)
    assert match is not None
    table = match.group(1)[:3].lower() in {"tab", "表"} or match.group(1).startswith("表")
    head = text[: match.end()].strip()
    return Float(
        table,
        head,
        match.group(2),
        text[match.end() :].strip(" :.|—–-") if False else text[match.end() :].strip(),
        page=page.number,
    )


def _inside(page: Page, measures: Measures) -> None:
    """Marks the text of figures (on graphics, or strewn in another type above a caption) and of tables."""
    captions = [line for line in page.lines if line.kind is Kind.CAPTION]
    for line in page.lines:
        if line.kind is not Kind.BODY:
            continue
        small = line.size < measures.size - 0.6 or (line.font.family != measures.family and not line.font.bold)
        short = line.width < measures.width * 0.6
        on_graphics = any(
            b.x0 - 2 <= line.x0 and line.x1 <= b.x1 + 2 and b.y0 - 2 <= line.y0 and line.y1 <= b.y1 + 2
            for b in page.boxes
            if (b.x1 - b.x0) * (b.y1 - b.y0) < 0.8 * page.width * page.height and b.y1 - b.y0 > 20 and b.x1 - b.x0 > 20
        )
        if on_graphics and (small or short):
            line.kind = Kind.FIGURE
        elif captions and small and short and abs(line.size - measures.size) > 0.3:
            line.kind = Kind.TABLE
