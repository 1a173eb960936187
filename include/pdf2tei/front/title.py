"""Find the title and the subtitle on the first pages."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import accumulate, groupby, pairwise
from statistics import median

from pdf2tei.front.byline import find_labeled, measure_names
from pdf2tei.front.front_lines import Front, FrontLabel
from pdf2tei.front.inverted import is_label
from pdf2tei.pages.language import language
from pdf2tei.pages.model import Document, Kind, Line, Page
from pdf2tei.pages.text import clean
from pdf2tei.words import read_pattern

_MAX_TITLE_GAP = 2.0  # maximum space between two lines of a title in sizes of its type: a manuscript is double-spaced
_BANNER = read_pattern("title", "banner")
_KIND = read_pattern("title", "kind")  # the kind of an article, printed above its title
_COVER = read_pattern("title", "cover", re.NOFLAG)  # patterns of cover pages, for lowercase text
_LABEL = read_pattern("title", "label")  # before the title of a thesis: `Thema: …`
_OPEN_LABEL = "OPEN"
_MAX_SUBTITLE_SIZE = 0.85  # upper limit of a subtitle's type size, as a share of the title's size
_MIN_TITLE_SIZE = 0.95  # lower limit of a title's type size, as a share of the median of the front
_TITLE_RATIO = 1.3  # minimum size of a double-spaced title that the CRF does not label, as a multiple of that median
_MIN_LANGUAGE = 0.9  # minimum probability of the languages of a title and its translation
_MIN_TRANSLATION = 4  # minimum number of words of a translation
_MIN_AGREEMENT = 0.8
"""Minimum similarity of a title and the title on a cover with labels; below it, the cover's title is taken."""
_CERTAIN = 0.3
"""If any line is the title with at least this probability, short lines (mastheads, labels) do not set the largest size."""


def is_cover(page: Page) -> bool:
    """Return whether a page is a cover that a repository or publisher put before the paper."""
    return _COVER.search(" ".join([x.text for x in page.lines if x.kind is not Kind.FURNITURE]).lower()) is not None


def find_title(document: Document, front: Front) -> tuple[list[Line], list[Line]]:
    """Return the lines of the title and of the subtitle, which is set in smaller type under the title.

    The candidates are the runs that the header CRF labels as a title and the groups of adjacent lines in one font. The score
    combines the CRF's probability, the type size relative to the largest of the front, names of people under the candidate, and
    the title in the PDF's metadata.
    """
    if announced := _find_announced(front):
        return announced, []
    candidates = _find_labeled_runs(front)
    pages = document.pages[: max((x.page for x in front.lines), default=0)]
    for page in pages:
        candidates += _group_by_type([x for x in front.lines if x.page == page.number and x.y0 < page.height * 0.7])
    candidates = [group[bool(_KIND.fullmatch(group[0].text)) :] or group for group in candidates]
    page_scores = {page.number: _score_page(page, front) for page in pages}
    scores = [_score_title(group, front, document.metadata_title) for group in candidates]
    pairs = zip(scores, candidates, strict=True)
    scored = [(score + page_scores[group[0].page], group) for score, group in pairs if score > 0]
    named = _find_on_cover(document, front)
    if not scored:
        return named, []
    _, best = max(scored, key=lambda item: (item[0], len(item[1]), -item[1][0].page))
    lines = _cut_translation(_extend_title(best, front))
    letters, others = _join_letters(named).casefold(), _join_letters(lines).casefold()
    agreement = SequenceMatcher(None, letters, others[: len(letters) + 5], autojunk=False).ratio()
    if named and (lines[0].page == named[0].page or (agreement < _MIN_AGREEMENT and not letters.startswith(others))):
        return named, []
    cut = next((i for i, x in enumerate(lines) if x.size < _MAX_SUBTITLE_SIZE * lines[0].size), len(lines))
    return lines[:cut], lines[cut:]


def _find_on_cover(document: Document, front: Front) -> list[Line]:
    """Return the title above a label of the authors on a cover, such as `Author(s):`; a review names other works there."""
    label = next(iter(find_labeled(front)), None)
    if label is None or label.text.startswith("Review") or not is_cover(document.pages[label.page - 1]):
        return []
    above = [x for x in front.lines if x.page == label.page and x.y0 < label.y0 and x.font.family == label.font.family]
    gaps = [below.y0 - line.y1 > label.size for line, below in pairwise([*above, label])]
    return above[len(gaps) - [*gaps[::-1], True].index(True) :]


def _find_announced(front: Front) -> list[Line]:
    """Return the title after a label on its first line, without the label."""
    for line in front.lines:
        match = _LABEL.match(line.text)
        if match and len(line.text) > match.end() + 8:
            ends = accumulate(len(x.text) + x.space for x in line.tokens)
            _keep_tokens(line, next(i for i, end in enumerate(ends, 1) if end >= len(match[0].rstrip())))
            found = [line]
            for x in front.lines[front.lines.index(line) + 1 :]:
                if x.continues(found[-1], gap=0.8, size=0.5) and not _names_people(x, found[-1]):
                    found.append(x)
            return found
    return []


def remove_open_label(line: Line) -> None:
    """Remove the word `OPEN` from a title's first line if it is set apart at the left."""
    if len(line.tokens) > 1 and line.tokens[0].text == _OPEN_LABEL:
        first, second = line.tokens[:2]
        if second.x0 - first.x1 > 0.6 * second.font.size or first.font != second.font:
            _keep_tokens(line, 1)


def _keep_tokens(line: Line, start: int) -> None:
    """Remove the tokens before a position from a line."""
    line.tokens = line.tokens[start:]
    line.__post_init__()
    line.forget()


def _score_page(page: Page, front: Front) -> float:
    """Return the score that a page adds to its titles.

    The page on which the paper begins has names and an abstract. A cover has boilerplate.
    """
    lines = [x for x in front.lines if x.page == page.number]
    named = any(front.label(x) is FrontLabel.AUTHOR and measure_names(x)[1] for x in lines)
    has_abstract = sum(front.label(x) is FrontLabel.ABSTRACT for x in lines) > 2
    return 0.2 * named + 0.2 * has_abstract - 0.5 * is_cover(page)


def _find_labeled_runs(front: Front) -> list[list[Line]]:
    """Return the runs of consecutive lines that the header CRF labels as a title."""

    def get_run(line: Line) -> tuple[bool, int]:
        return front.label(line) is FrontLabel.TITLE and not _BANNER.search(clean(line.text)), line.page

    runs = [list(run) for (is_title, _), run in groupby(front.lines, get_run) if is_title]
    sizes = [_MAX_SUBTITLE_SIZE * max(x.size for x in run) for run in runs]  # an imprint above is smaller
    runs = [run[next(i for i, x in enumerate(run) if x.size >= size) :] for run, size in zip(runs, sizes, strict=True)]
    # the names of the authors end a run
    return [next((run[:i] for i in range(1, len(run)) if _names_people(run[i], run[i - 1])), run) for run in runs]


def _names_people(line: Line, above: Line) -> bool:
    """Return whether a line under a title names people, or announces them: several, or at least one in smaller type.

    Two capitalized halves of a title that continues in the same type are not names (`Protective Immunizations and Novel
    Models`).
    """
    share, count = measure_names(line)
    is_near = line.y0 - above.y1 < 0.6 * line.size or above.text.endswith((":", "–", "—", ","))
    as_set = abs(line.size - above.size) < 0.3 and line.font == above.font and is_near
    is_smaller = line.size < 0.95 * above.size and count > 0 and share >= 0.5
    return is_smaller or is_label(line) or (count > 1 + as_set and share > 0.9)


def _score_title(group: list[Line], front: Front, metadata_title: str) -> float:
    """Score a group of lines as the title; return 0 if the group cannot be the title."""
    text = clean(" ".join(x.text for x in group))
    letters, target = _fold_letters(text), _fold_letters(metadata_title)
    if len(letters) < 5 or len(text) > 600 or _BANNER.search(text) or is_label(group[0]):
        return 0.0
    above_names = _is_above_names(group, front)
    if _KIND.fullmatch(text) and not above_names:  # an editorial may be called "Editorial"
        return 0.0
    if max(x.size for x in group) < _MIN_TITLE_SIZE * median(x.size for x in front.lines):  # a citation in the margin
        return 0.0
    named = [count for share, count in map(measure_names, group) if share > 0.9]
    is_list = len(named) == len(group) and (len(group) > 2 or (sum(named) > 2 and not above_names))
    may_be_title = above_names or text.isupper()
    if is_list and not (may_be_title and all(x in group or x.size < 0.9 * group[0].size for x in front.lines)):
        return 0.0  # a list of people
    is_uncertain = max((front.probability(x, FrontLabel.TITLE) for x in front.lines), default=0.0) < _CERTAIN
    largest = max((x.size for x in front.lines if is_uncertain or len(x.text.split()) > 2), default=1.0)
    score = sum(front.probability(x, FrontLabel.TITLE) for x in group) / len(group)
    score += 0.4 * min(max(x.size for x in group) / max(largest, 1.0), 1.0)
    if len(target) > 12 and (letters in target or target in letters):
        score += 0.5 * min(len(letters), len(target)) / max(len(letters), len(target))
    if len(text.split()) < 3:
        score *= 0.75
    return score + 0.2 * above_names


def _is_above_names(group: list[Line], front: Front) -> bool:
    """Return whether the next line under a group of lines names people."""
    last = group[-1]
    below = [x for x in front.lines if x.page == last.page and x not in group and x.y0 > last.y1 - 2]
    if not below:
        return False
    nearest = min(below, key=lambda x: (x.y0, x.x0))
    return nearest.y0 - last.y1 < 4 * last.size and _names_people(nearest, last)


def _extend_title(title: list[Line], front: Front) -> list[Line]:
    """Extend a title with adjacent lines that have the same type and are not clearly something else."""
    found = list(title)
    for step in (-1, 1):
        while (line := _find_adjacent_line(found, step, front)) is not None:
            found.insert(0 if step < 0 else len(found), line)
    return _add_cited_lines(found, front)


def _add_cited_lines(title: list[Line], front: Front) -> list[Line]:
    """Extend a title with the lines above and below that the front prints with it elsewhere: in a citation, or on a cover."""
    here = [x for x in front.lines if x.page == title[0].page]
    for step in (1, -1):
        edge = title[-1 if step > 0 else 0]
        gaps = {id(x): x.y0 - edge.y1 if step > 0 else edge.y0 - x.y1 for x in here if x not in title}
        near = [x for x in here if -2 < gaps.get(id(x), -2) < 1.5 * edge.size]
        line = min(near, key=lambda x: (gaps[id(x)], x.x0), default=None)
        if line is None or len(_fold_letters(line.text)) <= 8:
            continue
        joined = [*title, line] if step > 0 else [line, *title]
        letters = _join_letters(joined).rstrip("0123456789")  # without a footnote's mark
        others = [x for x in front.lines if x.page != line.page]
        covers = [_join_letters(list(x)) for _, x in groupby(others, lambda x: (x.page, x.font.family, round(x.size)))]
        if step > 0 and not _names_people(line, edge):
            covers.append(_join_letters([x for x in here if x not in joined]))
        if any(letters in cover for cover in covers):
            return _add_cited_lines(joined, front)
    return title


def _cut_translation(title: list[Line]) -> list[Line]:
    """Return a title without its translation, which follows in another type or after a gap.

    Names of species in a font of their own are no translation.
    """
    for i in range(1, len(title)):
        above, line = title[i - 1 : i + 1]
        if line.font.family != above.font.family or line.y0 - above.y1 > 0.8 * line.size:
            texts = [clean(" ".join(x.text for x in part)) for part in (title[:i], title[i:])]
            (one, one_share), (other, other_share) = map(language, texts)
            is_certain = min(one_share, other_share) > _MIN_LANGUAGE and len(texts[1].split()) >= _MIN_TRANSLATION
            if is_certain and one != other != "la":
                return title[:i]
    return title


def _find_adjacent_line(title: list[Line], step: int, front: Front) -> Line | None:
    """Return the line directly above (`step` -1) or below a title that belongs to the title."""
    last = title[0 if step < 0 else -1]
    is_largest = last.size > _TITLE_RATIO * median(x.size for x in front.lines)
    near: list[tuple[float, Line]] = []
    for line in front.lines:
        gap = (last.y0 - line.y1) if step < 0 else (line.y0 - last.y1)
        is_titled = min(front.probability(x, FrontLabel.TITLE) for x in (line, last)) > _CERTAIN
        is_titled = is_titled or (is_largest and line.font == last.font)
        is_near = -0.5 * line.size < gap < (_MAX_TITLE_GAP if is_titled else 1.1) * line.size and line.overlaps(last)
        if line.page == last.page and line not in title and is_near:
            near.append((abs(line.y0 - last.y0), line))
    nearest = min(near, key=lambda item: item[0])[1] if near else None
    if nearest is None:
        return None
    is_titled = front.label(nearest) is FrontLabel.TITLE or (
        nearest.font.family == last.font.family and nearest.size >= max(x.size for x in front.lines)
    )
    is_above_subtitle = step < 0 and last.size < _MAX_SUBTITLE_SIZE * nearest.size and is_titled
    if (
        (abs(nearest.size - last.size) > 0.6 and not is_above_subtitle)
        or nearest.font.bold != last.font.bold
        or _BANNER.search(clean(nearest.text))
        or (step < 0 and nearest.size < last.size + 0.6 and _KIND.fullmatch(nearest.text))
        or (step > 0 and _names_people(nearest, last))
    ):
        return None
    return nearest


def _join_letters(lines: list[Line]) -> str:
    """Return the letters and digits of lines, in their original case."""
    return "".join(c for x in lines for c in clean(x.text) if c.isalnum())


def _group_by_type(lines: list[Line]) -> list[list[Line]]:
    """Group vertically adjacent lines in one font."""
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda x: (x.y0, x.x0)):
        for group in reversed(groups):
            last = group[-1]
            is_set_alike = (last.font.bold, last.font.family) == (line.font.bold, line.font.family)
            if is_set_alike and line.continues(last, gap=1.1, size=0.6):
                group.append(line)
                break
        else:
            groups.append([line])
    return groups


def _fold_letters(text: str) -> str:
    return "".join(c for c in clean(text).casefold() if c.isalnum())
