"""The body: heads with their numbers, paragraphs joined over columns and pages, formulas apart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .measures import Measures
from .model import Document, Kind, Line
from .text import Hyphens, Text

_NUMBERED = re.compile(r"\s*((?:\d{1,2}(?:\.\d{1,2}){0,4}|[IVX]{1,5}|[A-Z](?:\.\d{1,2}){0,3}))(?:[.)]\s*|\s+)(?=\S)")
_ENDS = re.compile(r"[.!?:;。！？]['\"”’)\]\d]*\s*$")
_LABEL = re.compile(r"\(\s*[A-Z]?\.?\d+(?:\.\d+)?[a-z]?\s*\)\s*$")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MATH_WORDS = {
    "max",
    "min",
    "log",
    "exp",
    "sup",
    "inf",
    "sin",
    "cos",
    "arg",
    "lim",
    "argmax",
    "argmin",
    "softmax",
    "det",
    "var",
    "cov",
    "tanh",
}
_MATH_SIGN = re.compile(r"[=≠≤≥<>+−±×÷∑∏∫√∂∇∈∉⊂⊆∪∩∀∃→←↔⇒⇔≈∼≡∝∞|{}\[\]^_𝐀-𝟿α-ωΑ-Ω]")


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
        head = _head(lines, i, measures)
        if head:
            flush()
            number, title = _numbered(hyphens.text(lines[i : i + head]).text)
            sections.append(Section(number, title))
            i += head
            continue
        if _formula(lines[i], measures):
            run = [lines[i]]
            while i + 1 < len(lines) and _formula(lines[i + 1], measures) and lines[i + 1].page == lines[i].page:
                i += 1
                run.append(lines[i])
            flush()
            text = hyphens.text(run).text
            label = _LABEL.search(text)
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


def _numbered(text: str) -> tuple[str, str]:
    match = _NUMBERED.match(text)
    if match and match.end() < len(text):
        return match.group(1), text[match.end() :].strip()
    return "", text.strip()


def _head(lines: list[Line], i: int, measures: Measures) -> int:
    """How many lines from i on are a head; 0 if none."""
    line = lines[i]
    before = lines[i - 1] if i else None
    text = line.text
    if len(text) > 120 or len(_WORD.findall(text)) < 1 or not any(c.isalpha() for c in text[:12]):
        return 0
    apart = before is None or before.block != line.block or line.y0 - before.y1 > 0.6 * line.size or line.y0 < before.y0
    if not apart or _formula(line, measures):
        return 0
    bigger = line.size > measures.size + 0.5
    styled = (
        bigger
        or _plainly_bold(line, measures)
        or (text.isupper() and len(text) > 5)
        or (line.font.family != measures.family and line.size >= measures.size - 0.6 and not line.font.mathematical)
    )
    numbered = bool(_NUMBERED.match(text)) and text[:1].isalnum()
    short = line.width < measures.width * 0.95 or bigger
    if text.rstrip().endswith((".", ",", ";")) and not (styled and len(text) < 60):
        return 0
    if not (styled and short) or text[:1].islower():
        return 0
    if not numbered and not (text[:1].isupper() or not text[:1].isascii()):
        return 0
    count = 1
    while (
        i + count < len(lines)
        and count < 4
        and lines[i + count].font.family == line.font.family
        and abs(lines[i + count].size - line.size) < 0.3
        and lines[i + count].block == line.block
        and lines[i + count].y0 - lines[i + count - 1].y1 < 0.6 * line.size
        and not _NUMBERED.match(lines[i + count].text)
        and lines[i + count - 1].width > measures.width * 0.5
    ):
        count += 1
    total = sum(x.width for x in lines[i : i + count])
    return count if total < measures.width * 2.6 and count < 4 else 0


def _plainly_bold(line: Line, measures: Measures) -> bool:
    letters = sum(len(t.text) for t in line.tokens)
    bold = sum(len(t.text) for t in line.tokens if (t.font.bold and t.font.family != measures.family) or t.font.bold)
    return bold > 0.85 * letters


def _formula(line: Line, measures: Measures) -> bool:
    """A line of mathematics by itself: few words, many signs or a number in brackets at its end, not a full line of text."""
    text = line.text
    words = [
        w
        for w in _WORD.findall(text)
        if w.lower() not in _MATH_WORDS and not all("\U0001d400" <= c <= "\U0001d7ff" for c in w)
    ]
    letters = sum(map(len, words))
    visible = sum(not c.isspace() for c in text)
    mathematical = sum(len(t.text) for t in line.tokens if t.font.mathematical) + len(_MATH_SIGN.findall(text))
    if visible == 0:
        return False
    if letters / visible < 0.25 and mathematical / visible > 0.25:
        return True
    return bool(_LABEL.search(text)) and letters / visible < 0.4 and mathematical > 2


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
