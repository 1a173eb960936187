"""The paper's title on its first page."""

from __future__ import annotations

import re

from .authors import AFFILIATION, parse, pieces
from .model import Line
from .text import clean

_BANNER = re.compile(
    r"journal homepage|contents lists|sciencedirect|www\.|https?://|doi[: ]|\bvol(?:ume|\.)\s?\d|\bissn\b|"
    r"^(?:(?:original|review|regular|full)\s)?(?:research)?\s*(?:article|paper|letter|preprint|report)s?(?:\s+open access)?$|"
    r"^open access|r e s e a r c h|^arxiv:|^technical report|^proceedings of|^published in|^submitted to|^accepted|^received",
    re.I,
)


def find(lines: list[Line], height: float, claimed: str) -> list[Line]:
    """The run of lines in the largest type of the page's upper part, banners apart.

    `claimed` is the title the PDF's metadata give: a run that spells it (or begins it) is preferred."""
    groups = _groups([x for x in lines if x.y0 < height * 0.6])
    target = _letters(claimed)
    best: list[Line] = []
    best_score = 0.0
    for group in groups:
        text = " ".join(x.text for x in group)
        letters = _letters(text)
        if len(letters) < 5 or _BANNER.search(clean(text)):
            continue
        score = max(x.size for x in group) + (0.6 if group[0].font.bold else 0)
        if len(target) > 12 and (letters in target or target in letters):
            score += 20 * min(len(letters), len(target)) / max(len(letters), len(target))
        if len(text.split()) < 3:
            score *= 0.75
        tie = abs(score - best_score) <= 0.3
        if (tie and len(letters) > 1.5 * len(_letters(" ".join(x.text for x in best)))) or (
            not tie and score > best_score
        ):
            best, best_score = group, score
    return best + _subtitle(best, lines) if best else []


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


def _subtitle(title: list[Line], lines: list[Line]) -> list[Line]:
    """A line of its own type right under the title, if names follow only after it, in another type."""
    bottom = title[-1].y1
    under = sorted((x for x in lines if x.y0 >= bottom - 2 and x not in title), key=lambda x: (x.y0, x.x0))
    if len(under) < 3:
        return []
    line, rest = under[0], [x for x in under[1:] if x.y0 > under[0].y1 - 1]
    alone = all(abs(x.y0 - line.y0) > 3 for x in under[1:])
    if not (
        alone and rest and line.y0 - bottom < line.size and title[0].x0 - 5 < line.x0 and line.x1 < title[0].x1 + 5
    ):
        return []
    if "," in line.text or line.size > 0.95 * title[0].size or any(t.font.raised for t in line.tokens):
        return []
    names = [x for x in rest if abs(x.y0 - rest[0].y0) < 3]
    named = all(any(parse(p) for p in pieces(x.tokens)) and not AFFILIATION.search(x.text) for x in names)
    apart = names[0].font.family != line.font.family or names[0].font.italic != line.font.italic
    return [line] if named and apart and abs(names[0].size - line.size) < 0.6 else []


def _letters(text: str) -> str:
    return "".join(c for c in clean(text).casefold() if c.isalnum())
