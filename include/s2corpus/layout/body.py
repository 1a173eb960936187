"""The body: heads with their numbers, paragraphs joined over columns and pages, formulas apart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .formulas import LABEL, is_formula
from .heads import head_length, split_number
from .measures import Measures
from .model import Document, Kind, Line
from .text import Hyphens, Text

_ENDS = re.compile(r"[.!?:;。！？]['\"”’)\]\d]*\s*$")


@dataclass(slots=True)
class Paragraph:
    """A paragraph of running text."""

    content: Text


@dataclass(slots=True)
class Formula:
    """A display formula and its printed number."""

    text: str
    label: str


@dataclass(slots=True)
class Section:
    """A head, its printed number, and what stands under it."""

    number: str
    head: str
    items: list[Paragraph | Formula] = field(default_factory=list)


def read(document: Document, measures: Measures, hyphens: Hyphens) -> list[Section]:
    """The body's sections in order; text before the first head is a section without head."""
    lines = [line for page in document.pages for line in page.lines if line.kind is Kind.BODY]
    sections = [Section("", "")]
    paragraph: list[Line] = []

    def flush() -> None:
        nonlocal paragraph
        if paragraph:
            content = hyphens.text(paragraph)
            if content.text:
                sections[-1].items.append(Paragraph(content))
        paragraph = []

    i = 0
    while i < len(lines):
        head = head_length(lines, i, measures)
        if head:
            flush()
            number, title = split_number(hyphens.text(lines[i : i + head]).text)
            sections.append(Section(number, title))
            i += head
            continue
        if is_formula(lines[i], measures):
            run = [lines[i]]
            while i + 1 < len(lines) and is_formula(lines[i + 1], measures) and lines[i + 1].page == lines[i].page:
                i += 1
                run.append(lines[i])
            flush()
            text = hyphens.text(run).text
            label = LABEL.search(text)
            sections[-1].items.append(
                Formula(text[: label.start()].strip() if label else text, label.group().strip() if label else "")
            )
            i += 1
            continue
        if paragraph and _breaks(paragraph, lines[i], measures):
            flush()
        paragraph.append(lines[i])
        i += 1
    flush()
    return [s for s in sections if s.head or s.items]


def _breaks(paragraph: list[Line], line: Line, measures: Measures) -> bool:
    """Whether a line begins a new paragraph."""
    before = paragraph[-1]
    text = line.text
    ended = bool(_ENDS.search(before.text))
    moved = line.page != before.page or line.y1 < before.y0 or line.x0 > before.x1
    lower = text[:1].islower()
    if moved:
        return ended and not lower
    gap = line.y0 - before.y1
    if line.block == before.block:
        indented = line.x0 - before.x0 > 0.7 * line.size and (
            len(paragraph) < 2 or line.x0 - paragraph[-2].x0 > 0.7 * line.size or True
        )
        if indented and (ended or before.width < measures.width * 0.9) and not lower:
            return True
        return gap > 0.8 * line.size and ended
    return (ended and not lower) or (gap > 1.2 * line.size and not lower)
