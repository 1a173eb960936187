"""The paper's front: title, authors, abstract, keywords; what of the first pages is body."""

from __future__ import annotations

from dataclasses import dataclass, field

from pdf2tei.identity import NOTHING, Identity

from . import abstract as abstracts
from . import affiliations, furniture, unheaded
from . import title as titles
from .authors import Author, affiliation_words, authors, pieces
from .byline import byline
from .front_lines import Judged, Label, judge
from .heads import head_length, is_head
from .measures import Measures
from .model import Document, Kind, Line, Page
from .segmentation import Label as Part
from .text import Joiner, clean

PAGES = 3
"""Pages that the front may take: a repository's cover, the title, an abstract on its own page"""
_FULL = 60
"""Characters of a line of text; a page with fewer than three such lines after a cover goes on with it"""


_TEXT_LINES = 15
"""Lines set as running text that make a page before the title a page of the paper"""


@dataclass(slots=True)
class Header:
    """What the front says."""

    title: str = ""
    subtitle: str = ""
    authors: list[Author] = field(default_factory=list)
    abstract: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    identity: Identity = NOTHING


@dataclass(frozen=True, slots=True)
class Front:
    """The front's lines in reading order, with what the header CRF says of each."""

    lines: list[Line]
    judged: dict[int, Judged]

    def label(self, line: Line) -> Label | None:
        """A line's label; None if it is not of the front."""
        found = self.judged.get(id(line))
        return found.label if found else None

    def probability(self, line: Line, label: Label) -> float:
        """How probable a label is for a line."""
        found = self.judged.get(id(line))
        return found.of[label] if found else 0.0


def read(document: Document, parts: dict[int, Part], measures: Measures, joiner: Joiner) -> Header:
    """Read the front and mark its lines FRONT or ABSTRACT. `parts` says by id what the segmentation takes each line for."""
    header = Header()
    front = _front(document, parts)
    title, subtitle = titles.choose(document, front)
    header.title = clean(joiner.text(title).text)
    header.subtitle = clean(joiner.text(subtitle).text)
    title = title + subtitle
    for line in title:
        line.kind = Kind.FRONT
    number = title[0].page if title else 1
    page = document.pages[number - 1]
    lines = [line for line in page.lines if line.kind is Kind.BODY]
    bottom = max((line.y1 for line in title), default=0.0)
    abstract = abstracts.find(lines, bottom, measures)
    after = number
    while not abstract and after < min(len(document.pages), PAGES):
        abstract = abstracts.find([x for x in document.pages[after].lines if x.kind is Kind.BODY], 0.0, measures)
        after += 1
    if not abstract:
        abstract = unheaded.find(document, front, measures)
    if abstract and abstract[-1].page < len(document.pages):
        following = [x for x in document.pages[abstract[-1].page].lines if x.kind is Kind.BODY]
        judged = bool(following) and front.label(following[0]) is Label.ABSTRACT
        is_continued = any(map(furniture.is_continued, document.pages[abstract[-1].page - 1].lines))
        abstract += abstracts.rest(abstract, following, judged, measures, is_continued=is_continued)
    header.keywords = abstracts.keywords(lines, joiner)
    lines = [line for line in lines if line.kind is Kind.BODY]
    start = _start(lines, bottom, abstract, measures)
    names = byline(front, title, abstract, page.width)
    for line in names:
        line.kind = Kind.FRONT
    for line in abstract:
        line.kind = Kind.ABSTRACT
    header.authors = affiliations.assign(authors(names), names, front)
    header.abstract = [text for run in abstracts.paragraphs(abstract) if (text := joiner.text(run).text)]
    before = set(map(id, lines[:start]))
    first = set(map(id, lines[start : start + head_length(lines, start, measures)])) if start < len(lines) else set()
    for each in document.pages[:PAGES]:
        for line in each.lines:
            if (
                line.kind is Kind.BODY
                and id(line) not in first
                and (
                    (each.number < number and not _is_page_of_text(each, measures))
                    or (id(line) in before and not _is_text(line, parts, measures))
                    or (id(line) in front.judged and not _set_as_text(line, front, measures))
                    or (each.number == number and abstracts.FRONT.match(line.text))
                )
            ):
                line.kind = Kind.FRONT
    return header


def _is_page_of_text(page: Page, measures: Measures) -> bool:
    """Return whether a page is full of running text, so that a title on a later page does not make it a cover."""
    is_text = [abs(x.size - measures.size) < 0.3 and x.width > 0.8 * measures.width for x in page.lines]
    return not titles.is_cover(page) and sum(is_text) >= _TEXT_LINES


def _front(document: Document, parts: dict[int, Part]) -> Front:
    """The lines that the segmentation takes for the front; where it finds none, the upper half of the first page up to the
    introduction."""
    lines = [x for page in document.pages[:PAGES] for x in page.lines if x.kind is Kind.BODY]
    found = [line for line in lines if parts.get(id(line)) is Part.FRONT]
    covered = False
    for page in document.pages[:PAGES]:
        here = [line for line in lines if line.page == page.number]
        if covered and not any(line.page == page.number for line in found):  # the paper begins after its cover
            found += [line for line in here if line.y0 < page.height / 2]
        covered = titles.is_cover(page) or (covered and sum(len(line.text) > _FULL for line in here) < 3)
    if not found:
        first = [line for line in lines if line.page == 1]
        end = next((i for i, line in enumerate(first) if i and abstracts.INTRODUCTION.match(line.text)), len(first))
        found = [line for line in first[:end] if line.y0 < document.pages[0].height / 2]
        found = [line for line in found if parts.get(id(line)) is not Part.REFERENCE]
    for line in found:
        titles.take_off_label(line)
    judged: dict[int, Judged] = {}
    for number in sorted({line.page for line in found}):  # each page may be the one that the paper begins on
        here = [line for line in found if line.page == number]
        judged |= {id(line): judgement for line, judgement in zip(here, judge(here), strict=False)}
    return Front(found, judged)


def _is_text(line: Line, parts: dict[int, Part], measures: Measures) -> bool:
    """Whether a line that stands in the front is running text all the same."""
    return parts.get(id(line)) is Part.BODY and abs(line.size - measures.size) < 0.3


def _set_as_text(line: Line, front: Front, measures: Measures) -> bool:
    """Whether a line of the front is set like the running text and nothing that a front holds."""
    sentence = max(len(part.split()) for part in pieces(line.tokens) or [""]) > 8 and not affiliation_words(line.text)
    plain = sentence or front.label(line) in (Label.ABSTRACT, Label.TITLE, Label.OTHER)
    return (
        plain
        and abs(line.size - measures.size) < 0.3
        and line.font.family == measures.family
        and line.width > 0.6 * measures.width
    )


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
