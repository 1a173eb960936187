"""Find the captions of figures and tables."""

from __future__ import annotations

import re

from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Document, Kind, Line, Page
from pdf2tei.words import read_pattern

CAPTION = read_pattern("captions", "caption", re.NOFLAG)
_CONTINUED = re.compile(r"\W*\(?cont(?:inued|\.|’d|'d|d)", re.I)


def find_captions(document: Document, measures: Measures) -> list[list[list[Line]]]:
    """Return the lines of each caption, by page; mark them CAPTION."""
    return _remove_lookalikes([_find_candidates(page, measures) for page in document.pages], measures)


def _find_candidates(page: Page, measures: Measures) -> list[list[Line]]:
    lines = page.lines
    captions: list[list[Line]] = []
    for i, line in enumerate(lines):
        match = CAPTION.match(line.text) if line.kind is Kind.BODY else None
        if not match or not _begins_caption(lines, i, match, measures):
            continue
        run = [line]
        for other in lines[i + 1 :]:
            if other.kind is not Kind.BODY or CAPTION.match(other.text) or not _continues_caption(run, other, measures):
                break
            run.append(other)
        captions.append(run)
    return captions


def is_table(caption: list[Line]) -> bool:
    """Return whether a caption belongs to a table."""
    return caption[0].text.lstrip()[:3].casefold().startswith(("tab", "t a", "таб", "表"))


def _remove_lookalikes(pages: list[list[list[Line]]], measures: Measures) -> list[list[list[Line]]]:
    """Return each page's captions, marked CAPTION, without sentences that only begin like a caption.

    If several candidates have the same number, those that differ clearly less from running text than the best one are removed.
    """
    best: dict[str, float] = {}
    for captions in pages:
        for run in captions:
            best[_number(run)] = max(best.get(_number(run), 0.0), _weigh_caption(run, measures))
    out: list[list[list[Line]]] = []
    for captions in pages:
        weights = [_weigh_caption(run, measures) - best[_number(run)] for run in captions]
        pairs = zip(captions, weights, strict=True)
        kept = [run for run, weight in pairs if weight > -1 or _CONTINUED.search(run[0].text[:40])]
        for run in kept:
            for line in run:
                line.kind = Kind.CAPTION
        out.append(kept)
    return out


def _number(run: list[Line]) -> str:
    match = CAPTION.match(run[0].text)
    return f"{is_table(run)} {match['label'].upper().rstrip('ABCDEFGH')}" if match else ""


def _weigh_caption(run: list[Line], measures: Measures) -> float:
    """Return how much a caption differs from running text: in size, in the font of its first word, by a stop after its number."""
    line = run[0]
    first = line.tokens[0].font
    match = CAPTION.match(line.text)
    is_stopped = bool(match and match["stop"])
    return (abs(line.size - measures.size) > 0.4) + (first.bold or first.family != measures.family) + 0.5 * is_stopped


def _begins_caption(lines: list[Line], i: int, match: re.Match[str], measures: Measures) -> bool:
    """Return whether a line that begins with `Figure 3` begins a caption.

    It has a stop after the number or differs in font. A line that has only one of these must also begin a block, or follow a
    gap or another kind of line.
    """
    line = lines[i]
    before = lines[i - 1] if i else None
    apart = before is None or before.block != line.block or before.kind is not Kind.BODY
    apart = apart or (before is not None and line.y0 - before.y1 > 0.5 * line.size)
    first = line.tokens[0].font
    other = abs(line.size - measures.size) > 0.4 or first.bold or first.italic or first.family != measures.family
    stop = bool(match["stop"]) or match.end() >= len(line.text.rstrip())
    if (
        before
        and not apart
        and line.x0 <= before.x0 + 2
        and not before.text.rstrip().endswith((".", ":", "?", "!", ")"))
    ):
        return False
    return (apart and (stop or other)) or (stop and other)


def _continues_caption(run: list[Line], line: Line, measures: Measures) -> bool:
    last, first = run[-1], run[0]
    gap = line.y0 - last.y1
    if not -2 < gap < 0.8 * first.size or abs(line.size - last.size) > 1.1 or line.x0 > last.x1 or line.x1 < last.x0:
        return False
    if line.block == last.block or (len(run) == 1 and CAPTION.fullmatch(first.text.rstrip())):
        return True
    full = last.x1 > max(x.x1 for x in run) - 0.1 * measures.width
    return full and line.font == last.font and not last.text.rstrip().endswith(".") and line.size < measures.size + 0.2
