"""The paper's front: title, authors, abstract, keywords; what of the first page is body."""

from __future__ import annotations

from dataclasses import dataclass, field

from s2corpus.pdf.identity import NOTHING, Identity

from . import abstract as abstracts
from . import title as titles
from .authors import Author, authors
from .heads import is_head
from .measures import Measures
from .model import Document, Kind, Line, Page
from .text import Joiner, clean


@dataclass(slots=True)
class Header:
    """What the front says."""

    title: str = ""
    authors: list[Author] = field(default_factory=list)
    abstract: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    identity: Identity = NOTHING


def read(document: Document, measures: Measures, joiner: Joiner) -> Header:
    """Reads the front and marks its lines FRONT or ABSTRACT: all of the first page before the body's first line."""
    header = Header()
    page = document.pages[0]
    lines = [line for line in page.lines if line.kind is Kind.BODY]
    title = titles.find(lines, page.height, document.claimed_title)
    header.title = clean(joiner.text(title).text)
    for line in title:
        line.kind = Kind.FRONT
    top = min((line.y0 for line in title), default=0.0)
    bottom = max((line.y1 for line in title), default=0.0)
    lines = [line for line in lines if line.kind is Kind.BODY]
    abstract = abstracts.find(lines, bottom, measures)
    if not abstract and len(document.pages) > 1:
        second = [line for line in document.pages[1].lines if line.kind is Kind.BODY]
        abstract = abstracts.find(second, 0.0, measures)
    header.keywords = abstracts.keywords(lines, joiner)
    lines = [line for line in lines if line.kind is Kind.BODY]
    start = _start(lines, bottom, abstract, measures)
    body = lines[start] if start < len(lines) else None
    above = min(
        (x.y0 for x in (abstract[:1] if abstract and abstract[0].page == 1 else []) + ([body] if body else [])),
        default=page.height,
    )
    if not abstract:
        between = [line for line in lines[:start] if line.y0 > bottom - 2]
        abstract = abstracts.unheaded(between, measures)
        above = min([above, *(line.y0 for line in abstract[:1])])
    edge = _sidebar(title, abstract or ([body] if body else []), page)
    late = [x for i, x in enumerate(lines) if i >= start and _running(lines, i, measures)]
    front = [
        x
        for i, x in enumerate(lines)
        if x not in abstract
        and bottom - 2 < x.y1
        and x.y0 < above - 2
        and x.x1 > edge
        and (i < start or x.y1 < min((r.y0 for r in late if r.x0 < x.x1 and x.x0 < r.x1), default=0.0))
    ]
    header.authors = authors(front)
    for line in front:
        line.kind = Kind.FRONT
    for line in abstract:
        line.kind = Kind.ABSTRACT
    header.abstract = [text for run in _paragraphs(abstract) if (text := joiner.text(run).text)]
    for i, line in enumerate(lines):
        if line.kind is Kind.BODY and (
            i < start or line.y1 < top or line.x1 <= edge or abstracts.FRONT.match(line.text)
        ):
            line.kind = Kind.FRONT
    return header


def _start(lines: list[Line], bottom: float, abstract: list[Line], measures: Measures) -> int:
    """Index of the body's first line: the introduction's head; else the first head or line of running text after the abstract;
    else the first line of running text below the title that fills its column."""
    below = [i for i, x in enumerate(lines) if x.y0 > bottom - 2 and x not in abstract]
    after = max((lines.index(x) for x in abstract if x in lines), default=-1)
    for i in below:
        if abstracts.INTRODUCTION.match(lines[i].text) and is_head(lines, i, measures):
            return i
    if after >= 0:
        for i in below:
            if (
                i > after
                and not abstracts.FRONT.match(lines[i].text)
                and (is_head(lines, i, measures) or _running(lines, i, measures))
            ):
                return i
        return after + 1
    for i in below:
        if _running(lines, i, measures) and _running(lines, i + 1, measures):
            head = i - 1 in below and is_head(lines, i - 1, measures)
            return i - 1 if head else i
    return len(lines)


def _running(lines: list[Line], i: int, measures: Measures) -> bool:
    """Whether a line is set like the running text and about as wide."""
    if i >= len(lines):
        return False
    line = lines[i]
    return (
        abs(line.size - measures.size) < 0.3
        and line.font.family == measures.family
        and line.width > 0.8 * measures.width
    )


def _sidebar(title: list[Line], text: list[Line], page: Page) -> float:
    """Right edge of a column of imprint at the left of title and text; 0 if there is none."""
    if not title or not text or min(x.x0 for x in title) < 0.2 * page.width:
        return 0.0
    left = min(x.x0 for x in text)
    return left - 4 if abs(left - min(x.x0 for x in title)) < 12 and left > 0.2 * page.width else 0.0


def _paragraphs(lines: list[Line]) -> list[list[Line]]:
    """The abstract's paragraphs: parted where space or an indent follows a full stop."""
    runs: list[list[Line]] = []
    for line in lines:
        last = runs[-1][-1] if runs else None
        if last is None or (
            last.text.rstrip().endswith((".", "?", "!", ":"))
            and (line.y0 - last.y1 > 0.6 * line.size or (line.x0 - last.x0 > 0.7 * line.size and line.y0 > last.y0))
        ):
            runs.append([line])
        else:
            runs[-1].append(line)
    return runs
