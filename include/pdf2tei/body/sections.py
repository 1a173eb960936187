"""Split the body into sections: heads, paragraphs across columns and pages, and display formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pdf2tei.body import passages
from pdf2tei.body.formulas import LABEL, formula_length
from pdf2tei.body.heads import (
    find_numbered_heads,
    has_numbered_heads,
    head_length,
    is_usual_name,
    measure_locally,
    split_number,
)
from pdf2tei.body.run_in_heads import split_run_in
from pdf2tei.front.authors import AUTHOR_DETAILS
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Document, Kind, Line, join_tokens
from pdf2tei.pages.text import Joiner, Text
from pdf2tei.words import read_pattern

_ENDS = re.compile(r"[.!?:;。！？][\"'”’)\]]*(?:\s?\[[\d,;–\s-]+\]|\d{1,3}(?:[,–-]\d{1,3})*)?[*†‡\s]*$")
_SHORTENED = read_pattern("sections", "shortened", re.NOFLAG)
_ITEM = re.compile(r"\s*(?:[•▪◦‣·∙○●■–—-]\s|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s)")
_MIN_HEAD_PROBABILITY = 0.05
"""Minimum probability of a head, from the body CRF, for a line that the rules call a head. It was tuned on pmc-pdf and pairs."""
_CERTAIN_SIZE_RATIO = 1.15
"""If a head is larger than the running text by this factor, the CRF is ignored, because it reads long heads as text."""


@dataclass(slots=True)
class Formula:
    """A display formula and its printed number."""

    text: str
    label: str


@dataclass(slots=True)
class BodyParagraph:
    """A paragraph of running text."""

    content: Text
    formulas: list[tuple[int, Formula]] = field(default_factory=list)
    """The display formulas, each with its position in the text."""


@dataclass(slots=True)
class Section:
    """A section: its head, the printed number of the head, and its content."""

    number: str
    head: str
    items: list[BodyParagraph] = field(default_factory=list)
    after_references: bool = False
    small: bool = False
    """Whether the type is smaller than the running text, as in statements after the body."""


def read_sections(document: Document, measures: Measures, joiner: Joiner) -> list[Section]:
    """Return the sections in order, including sections after the reference list; text before the first head has an empty head."""
    lines = [line for page in document.pages for line in page.lines if line.kind in (Kind.BODY, Kind.REFERENCE)]
    last = max((i for i, line in enumerate(lines) if line.kind is Kind.REFERENCE), default=len(lines))
    body = [line for line in lines[:last] if line.kind is Kind.BODY]
    after_references = [line for line in lines[last:] if line.kind is Kind.BODY]
    out = _split_sections(body, measures, joiner)
    for section in _split_sections(after_references, measures, joiner):
        section.after_references = True
        out.append(section)
    return out


def _split_sections(lines: list[Line], measures: Measures, joiner: Joiner) -> list[Section]:
    sections = [Section("", "")]
    paragraph: list[Line | Formula] = []

    def flush() -> None:
        if (built := _build_paragraph(paragraph, joiner)).content.text or built.formulas:
            sections[-1].items.append(built)
        paragraph.clear()

    numbered = find_numbered_heads(lines, measures)
    is_numbered = has_numbered_heads(lines, measures)
    cut = next((i for i, line in enumerate(lines) if AUTHOR_DETAILS.match(line.text)), len(lines))
    probable = passages.predict_heads(lines[:cut]) | passages.predict_heads(lines[cut:])
    i = 0
    while i < len(lines):
        line = lines[i]
        local = measure_locally(lines, i, measures)
        begins = not paragraph or _begins_paragraph(paragraph, line, measures)
        may_begin = begins or _follows_end_of_paragraph(paragraph, line, measures)
        split = split_run_in(lines, i, begins=may_begin, is_numbered=is_numbered)
        count = 0 if split else head_length(lines, i, local) or (1 if id(line) in numbered else 0)
        is_certain = id(line) in numbered or line.size > _CERTAIN_SIZE_RATIO * measures.size or is_usual_name(line)
        if count and not is_certain and max(probable[id(x)] for x in lines[i : i + count]) < _MIN_HEAD_PROBABILITY:
            count = 0
        if count:
            flush()
            number, head = split_number(joiner.text(lines[i : i + count]).text)
            sections.append(Section(number, head, small=local is not measures))
        elif count := formula_length(lines, i, measures):
            for x in lines[i : i + count]:
                x.kind = Kind.FORMULA
            parts = sorted(lines[i : i + count], key=lambda x: LABEL.fullmatch(x.text) is not None)  # the number last
            text = joiner.text(parts).text
            label = LABEL.search(text)
            formula = Formula(text[: label.start()].strip(), label.group().strip()) if label else Formula(text, "")
            if paragraph and isinstance(before := paragraph[-1], Formula) and not before.label:
                formula.text = f"{before.text} {formula.text}".strip()
                paragraph.pop()
            paragraph.append(formula)
        else:
            if split or begins:
                flush()
            if split:
                number, head = split_number(joiner.text(split[0]).text)
                sections.append(Section(number, head, small=line.size < measures.size - 0.6))
            paragraph.append(split[1] if split else line)
            count = len(split[0]) if split else 1
        i += count
    flush()
    return [s for s in sections if s.head or s.items]


def _build_paragraph(parts: list[Line | Formula], joiner: Joiner) -> BodyParagraph:
    """Join lines; each formula has the position between the lines around it."""
    built = BodyParagraph(joiner.text(x for x in parts if isinstance(x, Line)))
    if any(isinstance(part, Formula) for part in parts):
        for i, part in enumerate(parts):
            if isinstance(part, Formula):
                before = joiner.text(x for x in parts[:i] if isinstance(x, Line))
                built.formulas.append((len(before.text), part))
    return built


def _begins_paragraph(paragraph: list[Line | Formula], line: Line, measures: Measures) -> bool:
    """Return whether a line begins a new paragraph.

    The text before it must have ended, except before an indent after a short line and before a block after a wide gap. The line
    must also begin a block, a column or a page, be indented, follow a gap, or begin with the mark of a list item. After a formula,
    the line must be indented or in another column.
    """
    if line.text[:1].islower() and not _ITEM.match(line.text):
        return False
    before = paragraph[-1]
    if isinstance(before, Formula):
        column = [x.x0 for x in paragraph if isinstance(x, Line) and x.page == line.page and x.overlaps(line)]
        return not column or line.x0 > min(column) + 0.7 * line.size or _ITEM.match(line.text) is not None
    ended = _may_end_paragraph([x for x in paragraph[-4:] if isinstance(x, Line)])
    if line.page != before.page or line.y1 < before.y0 or line.x0 > before.x1:
        return ended
    gap = line.y0 - before.y1 - max(measures.gap - 0.4 * line.size, 0.0)  # as in lines without extra leading
    indent = line.x0 - before.x0
    short = before.width < 0.85 * measures.width
    is_next = indent < 1 and not short and measures.gap > 0.5 * line.size and gap < 0.6 * line.size
    if line.block != before.block and not is_next:
        return ended or gap > 1.2 * line.size
    if indent > 0.7 * line.size and (ended or short):
        return True
    if _ITEM.match(line.text) and ended and (short or indent < -0.5 * line.size):
        return True
    return ended and (gap > 0.8 * line.size or (short and gap > 0.55 * line.size))


def _follows_end_of_paragraph(paragraph: list[Line | Formula], line: Line, measures: Measures) -> bool:
    """Return whether a line begins in bold after a short line that ends a sentence, without an indent or gap."""
    before = paragraph[-1]
    return (
        isinstance(before, Line)
        and line.tokens[0].font.bold
        and not before.tokens[-1].font.bold
        and before.width < 0.85 * measures.width
        and _may_end_paragraph([x for x in paragraph[-4:] if isinstance(x, Line)])
    )


def _may_end_paragraph(lines: list[Line]) -> bool:
    """Return whether a paragraph may end here: after a sentence's end that is not an abbreviation, and outside brackets."""
    last = [t for t in lines[-1].tokens if not t.font.raised]
    text = join_tokens(last)
    if not _ENDS.search(text) or _SHORTENED.search(text):
        return False
    tail = " ".join(line.text for line in lines)[-250:]
    opened = max(tail.rfind("("), tail.rfind("["))
    return opened < 0 or bool(re.search(r"[)\]]", tail[opened:])) or len(tail) - opened > 200
