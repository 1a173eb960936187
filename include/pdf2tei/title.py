"""The paper's title on its first page."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from .byline import names
from .front_lines import Label
from .model import Document, Line, Page
from .text import clean

if TYPE_CHECKING:
    from .header import Front

_BANNER = re.compile(
    r"journal homepage|contents lists|sciencedirect|www\.|https?://|doi[: ]|\bvol(?:ume|\.)\s?\d|\bissn\b|"
    r"^(?:(?:original|review|regular|full)\s)?(?:research)?\s*(?:article|paper|letter|preprint|report)s?(?:\s+open access)?$|"
    r"^open access|r e s e a r c h|^arxiv:|^technical report|^proceedings of|^published in|^submitted to|^accepted|^received",
    re.I,
)
_COVER = re.compile(
    r"institutional repositor|digital academic repository|research repository|downloaded from (?:orca|the)|version of a work that|"
    r"this is (?:the|an) (?:author|accepted|open access document)|permalink|escholarship|since january 2020 elsevier|"
    r"see discussions, stats|\bhal id\b|stable url|jstor is a|unedited manuscript|powered by the california|to cite this version|"
    r"link to publication|general rights|citation for (?:final )?published version|white rose research|eprints? (?:id|url)|"
    r"peer reviewed version"
)
"""In small letters"""
_OPEN = "OPEN"
_STEM = re.compile(r"[-,]")
"""What parts a font family's name from its style"""
_SUBTITLE = 0.85
"""A subtitle's type is smaller than this share of the title's"""
_SURE = 0.3
"""Probability that some line is the title from which on the size of short lines (mastheads, labels) is not asked"""


def is_cover(page: Page) -> bool:
    """Whether a repository or publisher put a page before the paper."""
    return _COVER.search(" ".join([x.text for x in page.lines]).lower()) is not None


def choose(document: Document, front: Front) -> tuple[list[Line], list[Line]]:
    """The lines of the title and of the subtitle, which is set in smaller type under it.

    Of the runs that the header CRF takes for a title, and of those in large type, the best founded. What counts: the CRF's probability, the
    size of type against the largest of the front, whether people are named under it, and whether the PDF's metadata spell it. Of a title
    that stands on a cover page and again on the next, the later is taken: names and abstract follow it.
    """
    candidates = _runs(front)
    for page in document.pages[: max((x.page for x in front.lines), default=0)]:
        candidates += _groups([x for x in front.lines if x.page == page.number and x.y0 < page.height * 0.7])
    claimed = document.claimed_title
    pages = {
        page.number: _of_page(page, front) for page in document.pages[: max((x.page for x in front.lines), default=0)]
    }
    scored = [
        (score + pages[group[0].page], group) for group in candidates if (score := _score(group, front, claimed)) > 0
    ]
    if not scored:
        return [], []
    best_score, best = max(scored, key=lambda item: (item[0], len(item[1]), -item[1][0].page))
    for score, group in scored:
        if group[0].page > best[0].page and score > 0.6 * best_score and _similar(group, best):
            best_score, best = score, group
    return _parted(_extended(best, front))


def _parted(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Title and subtitle: where smaller type begins."""
    cut = next((i for i, x in enumerate(lines) if x.size < _SUBTITLE * lines[0].size), len(lines))
    return lines[:cut], lines[cut:]


def take_off_label(line: Line) -> None:
    """Take the word `OPEN`, set apart at the title's left, off its first line."""
    if len(line.tokens) > 1 and line.tokens[0].text == _OPEN:
        first, second = line.tokens[:2]
        if second.x0 - first.x1 > 0.6 * second.font.size or first.font != second.font:
            line.tokens = line.tokens[1:]
            line.__post_init__()
            line.forget()


def _of_page(page: Page, front: Front) -> float:
    """What a page adds to its titles: names and an abstract stand on the page that the paper begins on, boilerplate on a cover."""
    lines = [x for x in front.lines if x.page == page.number]
    named = any(front.label(x) is Label.AUTHOR and names(x)[1] for x in lines)
    summed_up = sum(front.label(x) is Label.ABSTRACT for x in lines) > 2
    return 0.2 * named + 0.2 * summed_up - 0.5 * is_cover(page)


def _runs(front: Front) -> list[list[Line]]:
    """Lines one after the other that the header CRF takes for a title."""
    runs: list[list[Line]] = [[]]
    for line in front.lines:
        if front.label(line) is not Label.TITLE or (runs[-1] and runs[-1][-1].page != line.page):
            runs.append([])
        if front.label(line) is Label.TITLE:
            runs[-1].append(line)
    return [cut for run in runs if run and (cut := _before_names(run))]


def _before_names(run: list[Line]) -> list[Line]:
    """A run up to where people are named."""
    return next((run[:i] for i in range(1, len(run)) if _names_people(run[i], run[i - 1])), run)


def _names_people(line: Line, above: Line) -> bool:
    """Whether a line under a title's names people: several, or one at least in smaller type. Two capitalised halves of a title that goes on
    in its own type (`Protective Immunizations and Novel Models`) are none."""
    share, count = names(line)
    as_set = abs(line.size - above.size) < 0.3 and line.font == above.font and line.y0 - above.y1 < 0.6 * line.size
    return (line.size < 0.95 * above.size and count > 0 and share >= 0.5) or (count > 1 + as_set and share > 0.9)


def _score(group: list[Line], front: Front, claimed: str) -> float:
    """How well founded a group of lines is as the title; 0 for none at all."""
    text = clean(" ".join(x.text for x in group))
    letters, target = _letters(text), _letters(claimed)
    if len(letters) < 5 or len(text) > 600 or _BANNER.search(text):
        return 0.0
    if len(group) > 2 and all(names(x)[0] > 0.9 for x in group):  # a list of people
        return 0.0
    unsure = max((front.probability(x, Label.TITLE) for x in front.lines), default=0.0) < _SURE
    largest = max((x.size for x in front.lines if unsure or len(x.text.split()) > 2), default=1.0)
    score = sum(front.probability(x, Label.TITLE) for x in group) / len(group)
    score += 0.4 * min(max(x.size for x in group) / max(largest, 1.0), 1.0)
    if len(target) > 12 and (letters in target or target in letters):
        score += 0.5 * min(len(letters), len(target)) / max(len(letters), len(target))
    if len(text.split()) < 3:
        score *= 0.75
    return score + 0.2 * _above_names(group, front)


def _above_names(group: list[Line], front: Front) -> bool:
    """Whether the next line under a group of lines names people."""
    last = group[-1]
    below = [x for x in front.lines if x.page == last.page and x not in group and x.y0 > last.y1 - 2]
    if not below:
        return False
    nearest = min(below, key=lambda x: (x.y0, x.x0))
    return nearest.y0 - last.y1 < 4 * last.size and _names_people(nearest, last)


def _similar(one: list[Line], other: list[Line]) -> bool:
    a, b = (_letters(" ".join(x.text for x in group)) for group in (one, other))
    return SequenceMatcher(None, a, b, autojunk=False).ratio() > 0.8


def _extended(title: list[Line], front: Front) -> list[Line]:
    """The title with the lines right above and below it that are set the same and are not surely something else."""
    found = list(title)
    for step in (-1, 1):
        while (line := _next(found, step, front)) is not None:
            found.insert(0 if step < 0 else len(found), line)
    below = [x for x in front.lines if x.page == found[-1].page and x not in found and x.y0 > found[-1].y1 - 2]
    if below and _belongs(found, min(below, key=lambda x: (x.y0, x.x0)), front):
        found.append(min(below, key=lambda x: (x.y0, x.x0)))
    return found


def _next(title: list[Line], step: int, front: Front) -> Line | None:
    """The line right above (`step` -1) or below a title that is its own."""
    last = title[0 if step < 0 else -1]
    near: list[tuple[float, Line]] = []
    for line in front.lines:
        gap = (last.y0 - line.y1) if step < 0 else (line.y0 - last.y1)
        beside = line.x0 < last.x1 and line.x1 > last.x0
        if line.page == last.page and line not in title and beside and -0.5 * line.size < gap < 1.1 * line.size:
            near.append((abs(line.y0 - last.y0), line))
    nearest = min(near, key=lambda item: item[0])[1] if near else None
    if (
        nearest is None
        or abs(nearest.size - last.size) > 0.6
        or nearest.font.bold != last.font.bold
        or (front.probability(nearest, Label.TITLE) < 0.1 and not _as_large(nearest, last, front))
        or _BANNER.search(clean(nearest.text))
        or (step > 0 and _names_people(nearest, last))
    ):
        return None
    return nearest


def _belongs(title: list[Line], line: Line, front: Front) -> bool:
    """Whether the line under a title is its last part: the paper prints both together once more in the same letters, as in how to cite
    it."""
    near = line.y0 - title[-1].y1 < 1.5 * title[-1].size and len(_letters(line.text)) > 8
    elsewhere = [x for x in front.lines if x.page == line.page and x not in title and x is not line]
    return near and not _names_people(line, title[-1]) and _exact([*title, line]) in _exact(elsewhere)


def _exact(lines: list[Line]) -> str:
    """The letters of lines, large and small ones kept apart."""
    return "".join(c for x in lines for c in clean(x.text) if c.isalnum())


def _as_large(line: Line, last: Line, front: Front) -> bool:
    """Whether a line is set in the title's own type, which is larger than most of the front's."""
    sizes = sorted(x.size for x in front.lines)
    return (
        abs(line.size - last.size) < 0.2
        and _STEM.split(line.font.family)[0] == _STEM.split(last.font.family)[0]
        and line.size > 1.15 * sizes[len(sizes) // 2]
    )


def _groups(lines: list[Line]) -> list[list[Line]]:
    """Lines of one type one under the other."""
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda x: (x.y0, x.x0)):
        for group in reversed(groups):
            last = group[-1]
            if (
                abs(last.size - line.size) < 0.6
                and last.font.bold == line.font.bold
                and last.font.family == line.font.family
                and -0.3 * line.size < line.y0 - last.y1 < 1.1 * line.size
                and line.x0 < last.x1
                and line.x1 > last.x0
            ):
                group.append(line)
                break
        else:
            groups.append([line])
    return groups


def _letters(text: str) -> str:
    return "".join(c for c in clean(text).casefold() if c.isalnum())
