"""Read the paper's front: title, authors, abstract, keywords; decide where the body begins on the first pages."""

from __future__ import annotations

from dataclasses import dataclass, field

from pdf2tei.identity import NOTHING, Identity

from . import abstract as abstracts
from . import affiliations, furniture, unheaded
from . import title as titles
from .authors import FrontAuthor, affiliation_words, authors, pieces
from .byline import byline
from .front_lines import FrontLabel, Judged, judge
from .heads import head_length, is_head
from .language import language
from .measures import Measures
from .model import Document, Kind, Line, Page
from .segmentation import SegmentLabel as Part
from .text import Joiner, clean

PAGES = 3
"""Maximum number of pages of the front: a repository's cover, the title, an abstract on a separate page."""
_FULL_LINE_LENGTH = 60
"""Minimum length of a full line of text, in characters. A page after a cover with fewer than three full lines is part of the cover."""
_LANGUAGE_LINES = 40
"""Maximum number of lines of running text that determine the language."""
_MIN_TEXT_LINES = 15
"""Minimum number of lines of running text for a page before the title to be a page of the paper."""


@dataclass(slots=True)
class FrontContents:
    """The contents of the front."""

    title: str = ""
    subtitle: str = ""
    authors: list[FrontAuthor] = field(default_factory=list)
    abstract: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    identity: Identity = NOTHING


@dataclass(frozen=True, slots=True)
class Front:
    """The front's lines in reading order, with the labels of the header CRF."""

    lines: list[Line]
    judged: dict[int, Judged]

    def label(self, line: Line) -> FrontLabel | None:
        """Return a line's label; None if the line is not in the front."""
        found = self.judged.get(id(line))
        return found.label if found else None

    def probability(self, line: Line, label: FrontLabel) -> float:
        """Return the probability of a label for a line."""
        found = self.judged.get(id(line))
        return found.of[label] if found else 0.0


def read(document: Document, parts: dict[int, Part], measures: Measures, joiner: Joiner) -> FrontContents:
    """Read the front and mark its lines FRONT or ABSTRACT. `parts` contains the segmentation's labels by line id."""
    header = FrontContents()
    front = _select_front(document, parts)
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
    code = language(" ".join(x.text for x in _list_text_lines(document, measures)))[0]
    abstract = abstracts.find(lines, bottom, measures, code)
    after = number
    while not abstract and after < min(len(document.pages), PAGES):
        abstract = abstracts.find([x for x in document.pages[after].lines if x.kind is Kind.BODY], 0.0, measures, code)
        after += 1
    if not abstract:
        abstract = unheaded.find(document, front, measures)
    if abstract and abstract[-1].page < len(document.pages):
        following = [x for x in document.pages[abstract[-1].page].lines if x.kind is Kind.BODY]
        judged = bool(following) and front.label(following[0]) is FrontLabel.ABSTRACT
        is_continued = any(map(furniture.is_continued, document.pages[abstract[-1].page - 1].lines))
        abstract += abstracts.rest(abstract, following, judged, measures, is_continued=is_continued)
    header.keywords = abstracts.keywords(lines, joiner)
    lines = [line for line in lines if line.kind is Kind.BODY]
    start = _find_body_start(lines, bottom, abstract, measures)
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
                    or (id(line) in front.judged and not _looks_like_text(line, front, measures))
                    or (each.number == number and abstracts.FRONT.match(line.text))
                )
            ):
                line.kind = Kind.FRONT
    return header


def _list_text_lines(document: Document, measures: Measures) -> list[Line]:
    """Return the first lines of running text after page 1, or of page 1 if the document has one page."""
    lines = [x for page in document.pages[1:] or document.pages for x in page.lines if x.size > measures.size - 0.3]
    return lines[:_LANGUAGE_LINES]


def _is_page_of_text(page: Page, measures: Measures) -> bool:
    """Return whether a page is full of running text, so that a title on a later page does not make it a cover."""
    is_text = [abs(x.size - measures.size) < 0.3 and x.width > 0.8 * measures.width for x in page.lines]
    return not titles.is_cover(page) and sum(is_text) >= _MIN_TEXT_LINES


def _select_front(document: Document, parts: dict[int, Part]) -> Front:
    """Return the front lines from the segmentation; if it found none, return the upper half of page 1 up to the introduction."""
    lines = [x for page in document.pages[:PAGES] for x in page.lines if x.kind is Kind.BODY]
    found = [line for line in lines if parts.get(id(line)) is Part.FRONT]
    covered = False
    for page in document.pages[:PAGES]:
        here = [line for line in lines if line.page == page.number]
        if covered and not any(line.page == page.number for line in found):  # the paper begins after its cover
            found += [line for line in here if line.y0 < page.height / 2]
        covered = titles.is_cover(page) or (covered and sum(len(line.text) > _FULL_LINE_LENGTH for line in here) < 3)
    if not found:
        first = [line for line in lines if line.page == 1]
        end = next((i for i, line in enumerate(first) if i and abstracts.INTRODUCTION.match(line.text)), len(first))
        found = [line for line in first[:end] if line.y0 < document.pages[0].height / 2]
        found = [line for line in found if parts.get(id(line)) is not Part.REFERENCE]
    for line in found:
        titles.take_off_label(line)
    judged: dict[int, Judged] = {}
    for number in sorted({line.page for line in found}):  # separately, because the paper may begin on any page
        here = [line for line in found if line.page == number]
        judged |= {id(line): judgement for line, judgement in zip(here, judge(here), strict=False)}
    return Front(found, judged)


def _is_text(line: Line, parts: dict[int, Part], measures: Measures) -> bool:
    """Return whether the segmentation labels a line as body and the line has the size of running text."""
    return parts.get(id(line)) is Part.BODY and abs(line.size - measures.size) < 0.3


def _looks_like_text(line: Line, front: Front, measures: Measures) -> bool:
    """Return whether a line of the front looks like running text and has no content of a front."""
    sentence = max(len(part.split()) for part in pieces(line.tokens) or [""]) > 8 and not affiliation_words(line.text)
    plain = sentence or front.label(line) in (FrontLabel.ABSTRACT, FrontLabel.TITLE, FrontLabel.OTHER)
    return plain and measures.has_text_font(line) and line.width > 0.6 * measures.width


def _find_body_start(lines: list[Line], bottom: float, abstract: list[Line], measures: Measures) -> int:
    """Return the index of the body's first line.

    This is the head of the introduction, or the first head or line of running text after the abstract. If neither exists, it is
    the first line of running text below the title that fills its column.
    """
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
                and (is_head(lines, i, measures) or _is_running_text(lines, i, measures))
            ):
                return i
        return after + 1
    for i in below:
        if _is_running_text(lines, i, measures) and _is_running_text(lines, i + 1, measures):
            head = i - 1 in below and is_head(lines, i - 1, measures)
            return i - 1 if head else i
    return len(lines)


def _is_running_text(lines: list[Line], i: int, measures: Measures) -> bool:
    """Return whether a line has the running text's font and about its width."""
    return i < len(lines) and measures.has_text_font(lines[i]) and lines[i].width > 0.8 * measures.width
