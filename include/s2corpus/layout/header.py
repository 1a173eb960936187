"""The paper's front: title, authors, abstract, keywords, and where the body begins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .authors import Author, authors
from .measures import Measures
from .model import Document, Kind, Line
from .text import Hyphens, clean

_ABSTRACT = re.compile(
    r"\s*(?:a\s*b\s*s\s*t\s*r\s*a\s*c\s*t|summary|zusammenfassung|摘\s*要)\s*(?:[.:：—–\-]+\s*|$|(?=[A-Z]))", re.I
)
_ABSTRACT_STRICT = re.compile(r"\s*(?:abstract|a b s t r a c t|summary|zusammenfassung|摘\s*要)\b", re.I)
_KEYWORDS = re.compile(
    r"\s*(?:key\s?-?words?(?:\s+and\s+phrases)?|index\s+terms|schlüsselwörter|schlagwörter|关\s*键\s*词)\b\s*[.:：—–\-]*\s*",
    re.I,
)
_INTRODUCTION = re.compile(
    r"\s*(?:(?:1|I|A)\s*[.:)]?\s+)?(?:introduction|background|einleitung|introducción|引\s*言)\s*$", re.I
)
_NUMBERED_FIRST = re.compile(r"\s*(?:1|I)\s*\.?\s+[A-Z][A-Za-z]")
_FRONT_HEAD = re.compile(
    r"\s*(?:ccs concepts|acm reference format|categories and subject|general terms|article\s*info|a r t i c l e|open access|"
    r"correspond|received|citation:|copyright|©|doi\b|https?:|jair |editor|edited by|reviewed by|funding:|data availability statement|"
    r"competing interests|author contributions|academic editor|this is an open access|published)",
    re.I,
)
_BANNER = re.compile(
    r"journal homepage|contents lists|sciencedirect|www\.|https?://|doi[: ]|\bvol(?:ume|\.)|\bissn\b|^(?:research|original|review)\s*(?:article|paper)?$|"
    r"open access|r e s e a r c h|original research|research article|^article$|^letter$|^preprint|arxiv:|technical report|proceedings of",
    re.I,
)


@dataclass(slots=True)
class Header:
    """What the front says."""

    title: str = ""
    authors: list[Author] = field(default_factory=list)
    abstract: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)


def read(document: Document, measures: Measures, hyphens: Hyphens) -> Header:
    """Reads the front and marks its lines FRONT or ABSTRACT."""
    header = Header()
    if not document.pages:
        return header
    page = document.pages[0]
    lines = [line for line in page.lines if line.kind is Kind.BODY]
    title = _title(lines, page.height, document.claimed_title)
    header.title = clean(hyphens.text(title).text) if title else ""
    for line in title:
        line.kind = Kind.FRONT
    bottom = max((line.y1 for line in title), default=0.0)
    abstract = _abstract(document, lines, bottom)
    header.keywords = _keywords(lines, hyphens)
    start = _body_start(lines, bottom, abstract, measures)
    above = min((line.y0 for line in (abstract or start)[:1]), default=page.height * 0.5)
    front = [
        line
        for line in lines
        if line.kind is Kind.BODY
        and line not in abstract
        and line.y1 > bottom - 2
        and line.y0 < above
        and (not start or line.y0 < start[0].y0 - 1)
    ]
    header.authors = authors(front)
    for line in front:
        line.kind = Kind.FRONT
    for line in abstract:
        line.kind = Kind.ABSTRACT
    header.abstract = _paragraphs(abstract, hyphens)
    for line in lines:
        if line.kind is Kind.BODY and line.y1 < bottom:
            line.kind = Kind.FRONT
        if start and line.kind is Kind.BODY and line.y0 < start[0].y0 - 1 and line.x0 <= start[0].x1:
            line.kind = Kind.FRONT
    return header


def _title(lines: list[Line], height: float, claimed: str) -> list[Line]:
    """The run of lines in the largest type of the first page's upper part, banners apart; the run that the metadata's title
    spells, if there is one."""
    groups: list[list[Line]] = []
    for line in sorted((x for x in lines if x.y0 < height * 0.6), key=lambda x: (x.y0, x.x0)):
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and abs(last.size - line.size) < 0.6
            and last.font.bold == line.font.bold
            and -2 < line.y0 - last.y1 < 1.1 * line.size
        ):
            groups[-1].append(line)
        else:
            groups.append([line])
    target = _letters(claimed)
    best: list[Line] = []
    best_score = 0.0
    for group in groups:
        text = " ".join(x.text for x in group)
        letters = _letters(text)
        if len(letters) < 5 or _BANNER.search(text):
            continue
        score = group[0].size
        if len(target) > 12 and letters and (letters in target or target in letters):
            score += 20 * min(len(letters), len(target)) / max(len(letters), len(target))
        if len(text.split()) < 3:
            score *= 0.7
        if score > best_score + 0.05 or (
            abs(score - best_score) <= 0.05
            and group[0].y0 > best[0].y0
            and len(text) > len(" ".join(x.text for x in best))
        ):
            best, best_score = group, score
    return best


def _letters(text: str) -> str:
    return "".join(c for c in clean(text).casefold() if c.isalnum())


def _abstract(document: Document, lines: list[Line], bottom: float) -> list[Line]:
    """The lines of the abstract, its heading apart: from the heading to keywords, the next head or a change of type."""
    for i, line in enumerate(lines):
        if line.y0 < bottom or not _ABSTRACT_STRICT.match(line.text):
            continue
        match = _ABSTRACT.match(line.text)
        if match is None:
            continue
        inline = len(line.text) - match.end() > 3
        if inline:
            _drop_prefix(line, match.end())
        else:
            line.kind = Kind.FRONT
        rest = lines[i:] if inline else lines[i + 1 :]
        return _abstract_run(rest)
    return []


def _abstract_run(lines: list[Line]) -> list[Line]:
    run: list[Line] = []
    for line in lines:
        text = line.text
        if _KEYWORDS.match(text) or _INTRODUCTION.match(text) or _FRONT_HEAD.match(text):
            break
        if run:
            first = run[0]
            if line.size > first.size + 0.8 or line.size < first.size - 1.2:
                break
            if line.y0 < run[-1].y0 - 2 and line.x0 < first.x1:
                break
            if _NUMBERED_FIRST.match(text) and line.block != run[-1].block:
                break
        run.append(line)
    return run


def _drop_prefix(line: Line, characters: int) -> None:
    """Takes the first characters of a line's text away."""
    tokens = line.tokens
    while tokens and characters > 0:
        characters -= tokens[0].space and tokens[0] is not line.tokens[0]
        if len(tokens[0].text) <= characters:
            characters -= len(tokens[0].text)
            tokens = tokens[1:]
            characters -= bool(tokens and tokens[0].space)
        else:
            tokens[0].text = tokens[0].text[characters:]
            break
    line.tokens = tokens or line.tokens
    line.__dict__.pop("text", None)
    line.__dict__.pop("font", None)


def _paragraphs(lines: list[Line], hyphens: Hyphens) -> list[str]:
    return [text for text in [hyphens.text(lines).text] if text]


def _keywords(lines: list[Line], hyphens: Hyphens) -> list[str]:
    for i, line in enumerate(lines):
        match = _KEYWORDS.match(line.text)
        if not match or line.kind is not Kind.BODY:
            continue
        run = [line]
        for other in lines[i + 1 :]:
            if other.block != line.block and not (len(run) == 1 and match.end() >= len(line.text) - 1):
                break
            if _INTRODUCTION.match(other.text) or _FRONT_HEAD.match(other.text) or abs(other.size - run[-1].size) > 2.5:
                break
            run.append(other)
        for x in run:
            x.kind = Kind.FRONT
        text = _KEYWORDS.sub("", hyphens.text(run).text, count=1)
        return [k for part in re.split(r"[;,·•|]|\s[-–]\s", text) if (k := part.strip(" ."))]
    return []


def _body_start(lines: list[Line], bottom: float, abstract: list[Line], measures: Measures) -> list[Line]:
    """From the first line of the body on: its first head, else what follows the abstract in reading order."""
    for i, line in enumerate(lines):
        if (
            line.y0 >= bottom
            and line.kind is Kind.BODY
            and line not in abstract
            and (_INTRODUCTION.match(line.text) or (_NUMBERED_FIRST.match(line.text) and len(line.text) < 60))
        ):
            return lines[i:]
    if abstract:
        after = lines.index(abstract[-1]) + 1
        for i, line in enumerate(lines[after:], after):
            if abs(line.size - measures.size) < 0.3 and line.kind is Kind.BODY:
                return lines[i:]
    return []
