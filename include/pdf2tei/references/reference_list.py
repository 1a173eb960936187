"""Find the reference list and split it into entries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import compress, count
from statistics import median

from pdf2tei.models.segmentation import SegmentLabel, score_as_reference
from pdf2tei.pages.model import Document, Kind, Line, group_items
from pdf2tei.pages.text import Joiner
from pdf2tei.references import shape
from pdf2tei.references.entries import LABEL, may_end
from pdf2tei.references.splitting import split
from pdf2tei.words import read_pattern

_REFERENCES_HEAD = read_pattern("reference_list", "references_head")
_BACK_MATTER = read_pattern("reference_list", "back_matter")
_NOTE = re.compile(r"\s*(?:\d{1,2}|[*†‡§¶∗])\s?[A-Z(\"“h]")
_MAX_BRIDGED_LINES = 3
"""Maximum number of lines with another label within a list, regardless of their font."""
_MAX_MISLABELED_LINES = 150
"""Maximum number of consecutive lines with another label within a list, if they have its size."""
_SIZE_TOLERANCE = 0.3
"""Maximum difference between lines of one size, in points."""
_MIN_SCORE_OF_LONG_LIST = 0.7
"""Minimum mean reference score of a list that takes more than half of the paper."""
_MAX_BOLD_SHARE = 0.1
"""If a larger share of a list's lines is bold, bold type is ignored."""
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
    inside = [labels.get(id(line)) is SegmentLabel.REFERENCE for line in lines]
    parts = _find_parts(lines, inside)
    heads = {id(line) for line in lines if is_head(line)}
    if shaped := shape.find_list(lines):
        head, first, end = shaped
        if 2 * sum(max(min(stop, end) - max(start, first), 0) for start, stop in parts) < end - first:
            parts = [(head, end)]
            heads |= {id(line) for line in lines[head:first]}
    found = [lines[start:end] for start, end in parts]
    longest = median(line.size for line in max(found, key=len)) if found else 0.0
    for stretch in found:
        least = (median(x.size for x in stretch) if is_head(stretch[0]) else longest) - 0.4
        notes = {line.block for line in stretch if line.size < least and _NOTE.match(line.text)}
        stretch = [line for line in stretch if line.block not in notes or line.size > least]
        for line in stretch:
            line.kind = Kind.LABEL if id(line) in heads else Kind.REFERENCE
        items += [line for line in stretch if line.kind is Kind.REFERENCE]
    raws = [joiner.text(group).text.strip() for group in split(items)]
    matches = [LABEL.match(raw) for raw in raws]
    labeled = sum(m is not None for m in matches) > len(raws) / 2
    entries = [_build_entry(raw, match if labeled else None) for raw, match in zip(raws, matches, strict=True)]
    return [entry for entry in entries if len(entry.raw) > 8]


def is_head(line: Line) -> bool:
    """Return whether a line is exactly the head of a reference list."""
    return len(line.text) < 50 and bool(_REFERENCES_HEAD.fullmatch(line.text))


def _find_parts(lines: list[Line], inside: list[bool]) -> list[tuple[int, int]]:
    """Return the parts of the list as (index of the first line, index after the last line).

    A part is a run that the segmentation labels as references (`inside`). It has a head, continues an earlier part, or is long
    and reads like references.
    """
    runs = _begin_at_heads(lines, _group_runs(lines, inside))
    begun = {start for start, _ in runs if is_head(lines[start])}
    out: list[tuple[int, int]] = []
    for start, end in runs:
        head = _find_head(lines, start, end)
        density = _score_lines(lines[start:end]) / (end - start)
        continues = bool(out) and (lines[start].page - lines[out[-1][1] - 1].page <= 2)
        continues = continues and (density > 0.8 or _continues_numbers(lines, *out[-1], start))
        if head is None and not (continues and end - start > 1) and (end - start < 8 or density < 0.9 or end in begun):
            continue
        if head is not None:
            start = head
        stop = _find_end(lines, start, end)
        gap = range(out[-1][1], start) if out else range(0)
        size = median(line.size for line in lines[out[-1][0] : out[-1][1]]) if out else 0.0
        is_mislabeled = head is None and len(gap) <= _MAX_MISLABELED_LINES
        if out and (not gap or (is_mislabeled and all(_is_set_like_list(lines, i, size) for i in gap))):
            out[-1] = (out[-1][0], max(stop, out[-1][1]))
        elif stop > start:
            out.append((start, stop))
    out = [
        (a, b) for a, b in out if b - a < len(lines) / 2 or _score_lines(lines[a:b]) > _MIN_SCORE_OF_LONG_LIST * (b - a)
    ]
    if any(is_head(lines[start]) for start, _ in out):
        out[-1] = (out[-1][0], _extend_end(lines, *out[-1]))
    return out


def _continues_numbers(lines: list[Line], begin: int, end: int, start: int) -> bool:
    """Return whether a run begins with one of the next numbers in square brackets after an earlier part of the list."""
    matches = (LABEL.match(x.text) for x in (*lines[begin:end], lines[start]))
    *known, first = (int(match["square"] or 0) if match else 0 for match in matches)
    return max(known) > 0 and 0 < first - max(known) < _MAX_BRIDGED_LINES


def _find_head(lines: list[Line], start: int, end: int) -> int | None:
    """Return the index of a run's head: its first line, or a line above mislabeled lines; None if the run has no head."""
    size = median(line.size for line in lines[start:end])
    for i in range(start, max(start - _MAX_MISLABELED_LINES, -1), -1):
        if is_head(lines[i]):
            between = lines[i + 1 : start]
            is_near = len(between) < _MAX_BRIDGED_LINES
            return i if is_near or _score_lines(between) > _USUAL_SCORE_OF_TEXT * len(between) else None
        if start - i > _MAX_BRIDGED_LINES and not _is_set_like_list(lines, i, size):
            return None
    return None


def _score_lines(lines: list[Line]) -> int:
    return sum(score_as_reference(line.text) for line in lines)


def _group_runs(lines: list[Line], inside: list[bool]) -> list[list[int]]:
    """Group the lines inside the list into runs, over short gaps without a head."""

    def begins(run: list[int], i: int) -> bool:
        return i - run[-1] > _MAX_BRIDGED_LINES + 1 or any(map(is_head, lines[run[-1] + 1 : i]))

    return [[run[0], run[-1] + 1] for run in group_items(compress(count(), inside), begins)]


def _begin_at_heads(lines: list[Line], runs: list[list[int]]) -> list[list[int]]:
    """Split each run where a head follows lines that are not references, such as author contributions."""
    out: list[list[int]] = []
    for start, end in runs:
        head = next((i for i in range(start + 4, end) if is_head(lines[i])), None)
        if head is None or is_head(lines[start]):
            out.append([start, end])
        else:
            out += [[start, head], [head, end]]
    return out


def _is_set_like_list(lines: list[Line], i: int, size: float) -> bool:
    """Return whether a line has the size of a list's lines and heads no other section."""
    line = lines[i]
    is_other = _BACK_MATTER.match(line.text) is not None and not line.text[:1].islower()
    if abs(line.size - size) > _SIZE_TOLERANCE or is_head(line) or is_other:
        return False
    is_apart = line.block != lines[i - 1].block
    return not (line.font.bold and is_apart and not score_as_reference(line.text))


def _extend_end(lines: list[Line], start: int, end: int) -> int:
    """Return the end of a list, extended by following lines that are set like it and read like references."""
    size = median(line.size for line in lines[start:end])
    families = {line.font.family for line in lines[start:end]}
    evidence = best = 0.0
    stop = end
    for i in range(end, len(lines)):
        if lines[i].font.family not in families or not _is_set_like_list(lines, i, size):
            break
        evidence += score_as_reference(lines[i].text) - _USUAL_SCORE_OF_TEXT
        if evidence > best:
            best, stop = evidence, i + 1
    return _find_end(lines, start, stop) if stop > end else end


def _find_end(lines: list[Line], start: int, end: int) -> int:
    """Return the end of a part: before `end` if back matter begins, after `end` while an entry continues."""
    size = median(line.size for line in lines[start:end])
    bold = sum(line.font.bold for line in lines[start + 1 : end]) > max(2, _MAX_BOLD_SHARE * (end - start))
    for i in range(start + 2, end):
        line, before = lines[i], lines[i - 1]
        head = line.size > size + 0.8 or (line.font.bold and not bold)
        continues = line.font == before.font and not may_end(before.text)  # `…, AI,` / `Ethics, and Society`
        head = head and line.text[:1].isupper() and not score_as_reference(line.text)
        if head or (_BACK_MATTER.match(line.text) and not continues):
            apart = line.block != before.block or line.font != before.font or line.y0 - before.y1 > 0.5 * size
            number = LABEL.match(line.text)
            if apart and not number and not any(score_as_reference(x.text) > 1 for x in lines[i + 1 : i + 3]):
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
