"""Find the reference list and split it into entries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import compress, count, pairwise
from statistics import median

from pdf2tei.models.segmentation import SegmentLabel, score_as_reference
from pdf2tei.pages.model import Document, Kind, Line, group_items
from pdf2tei.pages.text import Joiner
from pdf2tei.references import shape
from pdf2tei.references.entries import AUTHOR, LABEL, may_end
from pdf2tei.references.splitting import split
from pdf2tei.words import read_pattern

_REFERENCES_HEAD = read_pattern("reference_list", "references_head")
_BACK_MATTER = read_pattern("reference_list", "back_matter")
_BIOGRAPHY = read_pattern("reference_list", "biography", re.NOFLAG)
_NOTE = re.compile(r"\s*(?:\d{1,2}|[*†‡§¶∗])\s?[A-Z(\"“h]")
_MAX_BRIDGED_LINES = 3  # maximum number of lines with another label within a list, regardless of their font
_SIZE_TOLERANCE = 0.8  # maximum difference between lines of one size, in points
_MIN_SCORE_OF_LONG_LIST = 0.7  # minimum mean reference score of a list that takes more than half of the paper
_MAX_BOLD_SHARE = 0.1  # if a larger share of a list's lines is bold, bold type is ignored
_NEAR_LINES = 9  # number of lines with whose median the size of the list under a head is measured
_LEADING_LINES = 60  # number of the first lines that determine a list's type; a list in smaller type may follow
_MAX_PART_HEAD = 45  # maximum length of a bold head of a part of a list, in characters
_MAX_LOSS = 8.0  # maximum loss of evidence over lines after which a list may go on
_USUAL_SCORE_OF_TEXT = 0.4
"""Mean reference score between lists and running text: 99 % of 16 lines of a list have more, 94 % of running text less."""


@dataclass(slots=True)
class PrintedEntry:
    """An entry of the reference list as printed."""

    label: str
    """4 for `[4]`, ABC19 for `[ABC19]`; empty if the list has no labels."""
    raw: str


def take_references(document: Document, labels: dict[int, SegmentLabel], joiner: Joiner) -> list[PrintedEntry]:
    """Find the reference list, mark its lines REFERENCE and its head LABEL, and return its entries.

    `labels` are the segmentation's labels by the lines' ids.
    """
    lines = [line for page in document.pages for line in page.lines if line.kind is Kind.BODY]
    items: list[Line] = []
    labeled = [labels.get(id(line)) is SegmentLabel.REFERENCE for line in lines]
    inside = list(labeled)
    heads = {id(line) for line in lines if is_head(line)}
    for head in (i for i, line in enumerate(lines) if id(line) in heads):
        end = _follow_list(lines, head)
        if any(labeled[head + 1 : end]) or shape.is_list(lines[head + 1 : end]):
            inside[head:end] = [True] * (end - head)
    parts = _find_parts(lines, inside, labeled)
    is_certain = any(is_head(lines[a]) and shape.is_list(lines[a + 1 : b]) for a, b in parts)
    if shaped := None if is_certain else shape.find_list(lines):
        head, first, end = shaped
        common = sum(max(min(stop, end) - max(start, first), 0) for start, stop in parts)
        if 2 * common < end - first and sum(stop - start for start, stop in parts) < end - first:
            parts = [(head, max(end, _find_end(lines, head, end)))]
            heads |= {id(line) for line in lines[head:first]}
    found = [lines[start:end] for start, end in parts]
    longest = median(line.size for line in max(found, key=len)) if found else 0.0
    for stretch in found:
        usual = median(x.size for x in stretch[1:] or stretch) if is_head(stretch[0]) else longest
        notes = {line.block for line in stretch if abs(line.size - usual) > 0.4 and _NOTE.match(line.text)}
        stretch = [line for line in stretch if line.block not in notes or abs(line.size - usual) <= 0.4]
        size, is_bold = _measure_type(stretch or found[0])
        while stretch and stretch[-1].size < size - 0.8:  # an imprint
            stretch.pop()
        for before, line in pairwise([*stretch[:1], *stretch]):
            line.kind = Kind.REFERENCE
            if id(line) in heads or (_is_set_as_head(line, size, is_bold=is_bold) and line is not stretch[0]):
                is_top = line.page != before.page or before.kind is Kind.FURNITURE
                line.kind = Kind.FURNITURE if is_top and id(line) not in heads else Kind.LABEL
        items += [line for line in stretch if line.kind is Kind.REFERENCE]
    raws = [joiner.text(group).text.strip() for group in split(items)]
    matches = [LABEL.match(raw) for raw in raws]
    has_labels = sum(m is not None for m in matches) > len(raws) / 2
    entries = [_build_entry(raw, match if has_labels else None) for raw, match in zip(raws, matches, strict=True)]
    return [entry for entry in entries if len(entry.raw) > 8]


def is_head(line: Line) -> bool:
    """Return whether a line is exactly the head of a reference list."""
    return len(line.text) < 50 and bool(_REFERENCES_HEAD.fullmatch(line.text))


def _find_parts(lines: list[Line], inside: list[bool], labeled: list[bool]) -> list[tuple[int, int]]:
    """Return the parts of the list as (index of the first line, index after the last line).

    A part is a run under a head, or of lines that the segmentation labels as references (`labeled`). It has a head, continues an
    earlier part, or is long and reads like references. After a box within a list, the rest of its run may be a part.
    """
    runs = _group_runs(lines, inside)
    begun = {start for start, _ in runs if is_head(lines[start])}
    out: list[tuple[int, int]] = []
    while runs:
        start, end = runs.pop(0)
        is_headed = is_head(lines[start])
        density = _score_lines(lines[start:end]) / (end - start)
        continues = bool(out) and (lines[start].page - lines[out[-1][1] - 1].page <= 2)
        continues = continues and (density > 0.8 or _continues_numbers(lines, *out[-1], start))
        if not is_headed and not (continues and end - start > 1) and (end - start < 8 or density < 0.9 or end in begun):
            continue
        stop = _find_end(lines, start, end)
        runs[:0] = _group_runs(lines, [x and stop <= i < end for i, x in enumerate(labeled)])
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(stop, out[-1][1]))
        elif stop > start:
            out.append((start, stop))
    return [
        (a, b) for a, b in out if b - a < len(lines) / 2 or _score_lines(lines[a:b]) > _MIN_SCORE_OF_LONG_LIST * (b - a)
    ]


def _continues_numbers(lines: list[Line], begin: int, end: int, start: int) -> bool:
    """Return whether a run begins with one of the next numbers in square brackets after an earlier part of the list."""
    matches = (LABEL.match(x.text) for x in (*lines[begin:end], lines[start]))
    *known, first = (int(match["square"] or 0) if match else 0 for match in matches)
    return max(known) > 0 and 0 < first - max(known) < _MAX_BRIDGED_LINES


def _weigh(line: Line) -> float:
    """Return how much a line reads like a reference; a beginning like authors counts half."""
    return score_as_reference(line.text) + (AUTHOR.match(line.text) is not None) / 2


def _score_lines(lines: list[Line]) -> int:
    return sum(score_as_reference(line.text) for line in lines)


def _group_runs(lines: list[Line], inside: list[bool]) -> list[list[int]]:
    """Group the lines inside the list into runs, over short gaps; a head begins a run."""

    def begins(run: list[int], i: int) -> bool:
        return i - run[-1] > _MAX_BRIDGED_LINES + 1 or any(map(is_head, lines[run[-1] + 1 : i + 1]))

    return [[run[0], run[-1] + 1] for run in group_items(compress(count(), inside), begins)]


def _follow_list(lines: list[Line], head: int) -> int:
    """Return the end of the list under a head: after the line up to which its lines read most like references.

    Running heads and heads of parts of the list are skipped.
    """
    size = median(line.size for line in lines[head : head + _NEAR_LINES])
    evidence = best = 0.0
    others, stop = 0, head + 1
    for i in range(head + 1, len(lines)):
        line, reads = lines[i], _weigh(lines[i])
        is_other = abs(line.size - size) > _SIZE_TOLERANCE or (line.font.bold and not reads)
        others = others + 1 if is_other else 0
        evidence += 0 if is_other else reads - _USUAL_SCORE_OF_TEXT
        if is_head(line) or others > _MAX_BRIDGED_LINES + 1 or evidence < best - _MAX_LOSS:
            break
        if _is_back_matter(line, lines[i - 1]) and reads < 1:
            break
        if evidence > best:
            best, stop = evidence, i + 1
    return stop


def _measure_type(lines: list[Line]) -> tuple[float, bool]:
    """Return the size of a list's type, and whether bold type is usual in it."""
    bold = sum(line.font.bold for line in lines[1:])
    return median(line.size for line in lines), bold > max(2, _MAX_BOLD_SHARE * len(lines))


def _is_set_as_head(line: Line, size: float, *, is_bold: bool) -> bool:
    """Return whether a line of a list is set as the head of a part or of a page."""
    is_other = line.size > size + 0.8 or (line.font.bold and not is_bold)
    return is_other and (line.text[:1].isupper() or line.text.isdecimal()) and not _weigh(line)


def _is_back_matter(line: Line, before: Line) -> bool:
    continues = line.font == before.font and not may_end(before.text)  # `…, AI,` / `Ethics, and Society`
    return bool(_BACK_MATTER.match(line.text) or _BIOGRAPHY.match(line.text)) and not continues


def _find_end(lines: list[Line], start: int, end: int) -> int:
    """Return the end of a part: before `end` if back matter begins, after `end` while an entry continues."""
    is_bold = _measure_type(lines[start:end])[1]
    size = median(line.size for line in lines[start : min(end, start + _LEADING_LINES)])
    for i in range(start + 2, end):
        line, before = lines[i], lines[i - 1]
        is_back = _is_back_matter(line, before)
        if all(x.size < size - _SIZE_TOLERANCE for x in lines[i : min(end, i + _NEAR_LINES)]):
            return i
        if is_back or _is_set_as_head(line, size, is_bold=is_bold):
            apart = line.block != before.block or line.font != before.font or line.y0 - before.y1 > 0.5 * size
            below = [_weigh(x) * (x.size < size + _SIZE_TOLERANCE) for x in lines[i + 1 : min(end, i + 7)]]
            may_head_part = not is_back and (len(line.text) < _MAX_PART_HEAD or not line.font.bold)
            continues = may_head_part and sum(below) > _USUAL_SCORE_OF_TEXT * len(below)
            is_certain = max(below[:2], default=0) < 2 or _BIOGRAPHY.match(line.text)
            if apart and not LABEL.match(line.text) and not continues and is_certain:
                return i
    while end < len(lines):
        line, before = lines[end], lines[end - 1]
        close = line.block == before.block and 0 < line.y0 - before.y0 < 2 * size
        if not close or line.font.size != before.font.size or is_head(line) or _BACK_MATTER.match(line.text):
            break
        if line.x0 < before.x0 - 3 and not score_as_reference(line.text):
            break
        end += 1
    return end


def _build_entry(raw: str, match: re.Match[str] | None) -> PrintedEntry:
    if match is None:
        return PrintedEntry("", raw)
    label = next((g for g in match.groups() if g), "")
    return PrintedEntry("".join(label.split()), raw[match.end() :].strip())
