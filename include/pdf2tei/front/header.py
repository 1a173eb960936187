"""Read the paper's front: title, authors, abstract, keywords; decide where the body begins on the first pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain

from pdf2tei.body.heads import head_length, is_head
from pdf2tei.front.abstract import (
    ABSTRACT_HEAD,
    BOILERPLATE,
    INTRODUCTION,
    find_abstracts,
    find_continuation,
    split_paragraphs,
    take_keywords,
)
from pdf2tei.front.affiliations import assign_affiliations
from pdf2tei.front.authors import FrontAuthor, affiliation_words, read_authors, split_names
from pdf2tei.front.byline import find_byline
from pdf2tei.front.front_lines import Front, FrontLabel, LineLabel, label_front
from pdf2tei.front.identity import NOTHING, Identity
from pdf2tei.front.inverted import is_cited
from pdf2tei.front.title import find_title, is_cover, remove_open_label
from pdf2tei.front.unheaded import find_unheaded_abstract
from pdf2tei.models.segmentation import SegmentLabel
from pdf2tei.pages.furniture import is_continued_elsewhere
from pdf2tei.pages.language import language
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Document, Kind, Line
from pdf2tei.pages.text import Joiner, Text, clean
from pdf2tei.words import read_pattern

_NOTICE = read_pattern("title", "notice")
"""A line under a title that is no subtitle: a track, or where the work appeared."""
_FOOTNOTE_MARK = re.compile(r"(?<=[^\W\d_]{3})\s*[*∗†‡§¶]+$")
"""The mark of a note at the end of a title. After a shorter word, it belongs to the title: A*."""
PAGES = 3  # maximum number of pages of the front: a repository's cover, the title, an abstract on a separate page
_FULL_LINE_LENGTH = 60
"""Minimum length of a full line of text, in characters. A page after a cover with fewer than three full lines is part of the cover."""
_LANGUAGE_LINES = 40  # maximum number of lines of running text that determine the language
_MIN_TEXT_LINES = 15  # minimum number of lines of running text for a page before the title to be a page of the paper


@dataclass(slots=True)
class FrontContents:
    """The contents of the front."""

    title: str = ""
    subtitle: str = ""
    authors: list[FrontAuthor] = field(default_factory=list)
    abstract: list[Text] = field(default_factory=list)
    translations: dict[str, list[Text]] = field(default_factory=dict)
    """Abstracts in other languages by their language."""
    keywords: list[str] = field(default_factory=list)
    identity: Identity = NOTHING


def read_front(
    document: Document, labels: dict[int, SegmentLabel], measures: Measures, joiner: Joiner
) -> FrontContents:
    """Read the front and mark its lines FRONT or ABSTRACT. `labels` are the segmentation's labels by line id."""
    contents = FrontContents()
    front = _select_front(document, labels)
    title, subtitle = find_title(document, front)
    contents.title = _FOOTNOTE_MARK.sub("", clean(joiner.text(title).text))
    subtitle_text = clean(joiner.text(subtitle).text)
    contents.subtitle = "" if _NOTICE.match(subtitle_text) else subtitle_text
    title = title + subtitle
    for line in title:
        line.kind = Kind.FRONT
    number = title[0].page if title else 1
    page = document.pages[number - 1]
    lines = [line for line in page.lines if line.kind is Kind.BODY]
    bottom = max((line.y1 for line in title), default=0.0)
    pages = document.pages[1:] or document.pages
    texts = [x.text for other in pages for x in other.lines if x.size > measures.size - 0.3]
    code = language(" ".join(texts[:_LANGUAGE_LINES]))[0]
    headed = [find_abstracts(lines, bottom)]
    later = document.pages[number : number + 2]
    headed += [find_abstracts([x for x in y.lines if x.kind is Kind.BODY], 0.0) for y in later]
    found = next(filter(None, headed), [])
    chosen = next((x for x in found if x.code == code), found[0] if found else None)
    abstract, chosen_code = (chosen.take(), chosen.code) if chosen else ([], "")
    translations: dict[str, list[Line]] = {}
    for other in chain(*headed) if chosen_code else ():
        is_new = other.code not in ("", chosen_code, *translations)
        if is_new and set(map(id, other.lines)).isdisjoint(map(id, abstract)):
            translations[other.code] = other.take()
    if not abstract:
        abstract = find_unheaded_abstract(document, front, measures)
    if abstract and abstract[-1].page < len(document.pages):
        following = [x for x in document.pages[abstract[-1].page].lines if x.kind is Kind.BODY]
        last = [x for x in document.pages[abstract[-1].page - 1].lines if x.kind is Kind.BODY][-1:]
        is_labeled = last == abstract[-1:] or (bool(following) and front.label(following[0]) is FrontLabel.ABSTRACT)
        is_continued = any(map(is_continued_elsewhere, document.pages[abstract[-1].page - 1].lines))
        abstract += find_continuation(abstract, following, is_labeled, measures, is_continued=is_continued)
    contents.keywords = take_keywords(lines, joiner)
    lines = [line for line in lines if line.kind is Kind.BODY]
    start = _find_body_start(lines, bottom, abstract, measures)
    names = find_byline(front, title, abstract, page.width)
    are_cited = bool(names) and is_cited(front, names[0])
    for line in names:
        line.kind = Kind.FRONT
    for line in chain(abstract, *translations.values()):
        line.kind = Kind.ABSTRACT
    contents.authors = assign_affiliations(read_authors(names, are_cited=are_cited), names, front)
    contents.abstract = [joiner.text(run) for run in split_paragraphs(abstract)]
    contents.translations = {
        name: [joiner.text(run) for run in split_paragraphs(other)] for name, other in translations.items()
    }
    before = set(map(id, lines[:start]))
    first = set(map(id, lines[start : start + head_length(lines, start, measures)])) if start < len(lines) else set()
    has_begun = False
    for front_page in document.pages[:PAGES]:
        full = [abs(x.size - measures.size) < 0.3 and x.width > 0.8 * measures.width for x in front_page.lines]
        is_before = front_page.number < number and (is_cover(front_page) or sum(full) < _MIN_TEXT_LINES)
        for line in front_page.lines:
            is_text = labels.get(id(line)) is SegmentLabel.BODY and abs(line.size - measures.size) < 0.3
            is_later = front_page.number > number and line.kind is Kind.BODY
            has_begun = has_begun or (is_later and INTRODUCTION.match(line.text) is not None)
            if line.kind is not Kind.BODY or has_begun or id(line) in first:
                continue
            if (
                is_before
                or (id(line) in before and not is_text)
                or (id(line) in front.line_labels and not _looks_like_text(line, front, measures))
                or (front_page.number == number and BOILERPLATE.match(line.text))
            ):
                line.kind = Kind.FRONT
    return contents


def _select_front(document: Document, labels: dict[int, SegmentLabel]) -> Front:
    """Return the front lines from the segmentation; if it found none, return the upper half of page 1 up to the introduction."""
    lines = [x for page in document.pages[:PAGES] for x in page.lines if x.kind is Kind.BODY]
    found = [line for line in lines if labels.get(id(line)) is SegmentLabel.FRONT]
    after_cover = False
    for page in document.pages[:PAGES]:
        here = [line for line in lines if line.page == page.number]
        if after_cover and not any(line.page == page.number for line in found):  # the paper begins after its cover
            found += [line for line in here if line.y0 < page.height / 2]
        after_cover = is_cover(page) or (after_cover and sum(len(line.text) > _FULL_LINE_LENGTH for line in here) < 3)
    if not found:
        first = [line for line in lines if line.page == 1]
        end = next((i for i, line in enumerate(first) if i and INTRODUCTION.match(line.text)), len(first))
        found = [line for line in first[:end] if line.y0 < document.pages[0].height / 2]
        found = [line for line in found if labels.get(id(line)) is not SegmentLabel.REFERENCE]
    found = _add_columns(document, found)
    for line in found:
        remove_open_label(line)
    line_labels: dict[int, LineLabel] = {}
    for number in sorted({line.page for line in found}):  # separately, because the paper may begin on any page
        here = [line for line in found if line.page == number]
        line_labels |= {id(line): label for line, label in zip(here, label_front(here), strict=False)}
    return Front(found, line_labels)


def _add_columns(document: Document, found: list[Line]) -> list[Line]:
    """Return the front lines with other lines above the abstract: a title like a running head, or authors in a second column."""
    out: list[Line] = []
    for page in document.pages[:PAGES]:
        here = [line for line in found if line.page == page.number]
        if not here:
            continue
        heads = [(x, match) for x in here if (match := ABSTRACT_HEAD.match(x.text))]
        first, largest = min(x.y0 for x in here), 1.2 * max(x.size for x in here)
        top = min((x.y0 for x, match in heads if match["stop"] or match.end() == len(x.text)), default=first)
        upper = [x for x in page.lines if x.kind is Kind.BODY and x.y1 < top and (x.y0 >= first or x.size > largest)]
        out += upper + [x for x in here if x not in upper] if any(x not in here for x in upper) else here
    return out


def _looks_like_text(line: Line, front: Front, measures: Measures) -> bool:
    """Return whether a line of the front looks like running text and has no content of a front."""
    longest = max((len(part.split()) for part in split_names(line.tokens)), default=0)
    is_sentence = longest > 8 and not affiliation_words(line.text)
    is_plain = is_sentence or front.label(line) in (FrontLabel.ABSTRACT, FrontLabel.TITLE, FrontLabel.OTHER)
    return is_plain and measures.has_text_font(line) and line.width > 0.6 * measures.width


def _find_body_start(lines: list[Line], bottom: float, abstract: list[Line], measures: Measures) -> int:
    """Return the index of the body's first line.

    This is the head of the introduction, or the first head or line of running text after the abstract. If neither exists, it is
    the first line of running text below the title that fills its column.
    """
    below = [i for i, x in enumerate(lines) if x.y0 > bottom - 2 and x not in abstract]
    after = max((lines.index(x) for x in abstract if x in lines), default=-1)
    for i in below:
        if INTRODUCTION.match(lines[i].text) and is_head(lines, i, measures):
            return i
    if after >= 0:
        later = (i for i in below if i > after and not BOILERPLATE.match(lines[i].text))
        return next(
            (i for i in later if is_head(lines, i, measures) or _is_running_text(lines, i, measures)), after + 1
        )
    for i in below:
        if _is_running_text(lines, i, measures) and _is_running_text(lines, i + 1, measures):
            head = i - 1 in below and is_head(lines, i - 1, measures)
            return i - 1 if head else i
    return len(lines)


def _is_running_text(lines: list[Line], i: int, measures: Measures) -> bool:
    """Return whether a line has the running text's font and about its width."""
    return i < len(lines) and measures.has_text_font(lines[i]) and lines[i].width > 0.8 * measures.width
