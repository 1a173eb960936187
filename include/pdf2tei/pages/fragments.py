"""Join lines that pdfalto broke at inline mathematics."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

from pdf2tei.pages.model import Kind, Line, Page

_LOOKBACK_LINES = 12  # number of neighboring lines that are searched for another part of a line
_MAX_SIZE_RATIO = 1.6
"""Longer lines are separate if their sizes differ by more than this factor, such as a title and a date next to it."""
_MAX_SHORT_TEXT = 8  # maximum number of characters of a part that may differ in size
_SCRIPT_SIZE = 0.8  # subscripts and superscripts are smaller than this share of the text
_LABEL = re.compile(r"\[\d{1,3}\]|\(\d{1,3}\)|\d{1,3}(?:\.\d{1,2}){0,3}[.)]?|[•▪●■]")
_MAX_LABEL_LENGTH = 9
_MIN_ENDS = 3  # minimum number of lines that end where the number of a formula ends
_MIN_JUSTIFIED = 6  # minimum number of lines that end at the right edge of justified text
_MAX_LABEL_GAP = 3.5  # maximum gap between a label on a separate line and its text, in type sizes


def join_fragments(page: Page) -> None:
    """Join lines on one baseline that are less than a word space apart, in any order in pdfalto's output.

    Labels of lists (`12.`, `[4]`) are joined with the text at their right.
    """
    out: list[Line] = []
    for line in _insert_scripts(_join_stretched(page.lines)):
        for i in range(len(out) - 1, max(len(out) - _LOOKBACK_LINES, 0) - 1, -1):
            if out[i].y1 <= line.y0 or line.y1 <= out[i].y0:
                continue  # fast path: most lines are above or below
            pairs = ((out[i], line), (line, out[i]))
            if pair := next((pair for pair in pairs if _continues_on_baseline(*pair)), None):
                out[i] = _join(*pair)
                break
        else:
            out.append(line)
    page.lines = _join_labels(out)
    for line in page.lines:
        _join_letters(line)


def _join_stretched(lines: list[Line]) -> list[Line]:
    """Join the parts of justified lines with wide spaces after full stops, as in reference lists."""
    ends = Counter(round(x.x1 / 2) for x in lines)
    out: list[Line] = []
    for line in reversed(lines):
        right = out[-1] if out else line
        end = round(right.x1 / 2)
        is_row = line.block == right.block and line.x1 < right.x0 and abs(line.y1 - right.y1) < 2
        is_justified = sum(ends[x] for x in (end - 1, end, end + 1)) >= _MIN_JUSTIFIED
        if is_row and is_justified and line.size == right.size and line.text.endswith((".", "?")):
            out[-1] = _join(line, right)
        else:
            out.append(line)
    return out[::-1]


def _insert_scripts(lines: list[Line]) -> list[Line]:
    """Insert subscripts and superscripts that are separate lines into the lines that they overlap."""
    out: list[Line] = []
    for i, line in enumerate(lines):
        first = max(i - _LOOKBACK_LINES, 0)
        hosts = [
            (min(x.y1, line.y1) - max(x.y0, line.y0), j)
            for j, x in enumerate(lines[first : i + _LOOKBACK_LINES], first)
            if line.size < _SCRIPT_SIZE * x.size and x.x0 < line.x0 < x.x1 + 0.2 * x.size and x.kind is line.kind
        ]
        if not hosts or len(line.text) > _MAX_SHORT_TEXT or max(hosts)[0] < 0.4 * line.height:
            out.append(line)
            continue
        host = lines[max(hosts)[1]]
        at = sum(token.x0 < line.x0 + 0.3 * line.size for token in host.tokens)
        line.tokens[0].space = True
        host.tokens[at:at] = line.tokens
        host.x1 = max(host.x1, line.x1)
        host.forget()
    return out


def _join_letters(line: Line) -> None:
    """Join the letters of letterspaced words (`R E F E R E N C E S`). Wider gaps separate words."""
    tokens = line.tokens
    if len(tokens) < 5 or not tokens[0].text.isalpha() or sum(len(t.text) == 1 for t in tokens) < 0.8 * len(tokens):
        return
    gaps = sorted(right.x0 - left.x1 for left, right in pairwise(tokens))
    usual = gaps[len(gaps) // 2]
    if (
        usual < 0
        or gaps[len(gaps) // 4] < 0.1 * line.size
        or not all((t.text.isalpha() or t.text in "&") and not t.font.lowered and not t.font.raised for t in tokens)
    ):
        return
    out = [tokens[0]]
    for token in tokens[1:]:
        if token.x0 - out[-1].x1 < 1.6 * usual + 0.5:
            out[-1] = replace(out[-1], text=out[-1].text + token.text, x1=token.x1)
        else:
            out.append(token)
    line.tokens = out
    line.forget()


def _join_labels(lines: list[Line]) -> list[Line]:
    """Join each label that is a separate line to the nearest text at its right. The number of a formula ends its column instead."""
    joined: dict[int, Line] = {}
    gone: set[int] = set()
    ends = Counter(round(x.x1) for x in lines if len(x.text) > _MAX_LABEL_LENGTH)
    for label in lines:
        if (
            label.kind is Kind.FURNITURE
            or len(label.text) > _MAX_LABEL_LENGTH
            or not _LABEL.fullmatch(label.text.strip())
            or (label.text[0] == "(" and ends[round(label.x1)] >= _MIN_ENDS)
        ):
            continue
        reach = _MAX_LABEL_GAP * label.size
        row = [x for x in lines if abs(x.y0 + x.y1 - label.y0 - label.y1) < label.size]
        right = [x for x in row if 0 < x.x0 - label.x1 < reach and x.width > reach]
        if right:
            text = min(right, key=lambda x: x.x0)
            if id(text) not in joined:
                joined[id(text)] = _join(label, text)
                gone.add(id(label))
    return [joined.get(id(x), x) for x in lines if id(x) not in gone]


def _continues_on_baseline(left: Line, right: Line) -> bool:
    if left.kind is not right.kind:
        return False
    gap = right.x0 - left.x1
    size = max(left.size, right.size)
    if size > _MAX_SIZE_RATIO * min(left.size, right.size) and min(len(left.text), len(right.text)) > _MAX_SHORT_TEXT:
        return False
    above = left.tokens[-1]
    is_stacked = above.font.size < _SCRIPT_SIZE * size and abs(right.x0 - above.x0) < 0.3 * size  # a subscript below it
    if not (is_stacked or -0.3 * size < gap < 0.75 * size) or left.x1 - left.x0 < 1:
        return False
    low = max(left.y0, right.y0) - min(left.y1, right.y1)
    shift = abs((left.y0 + left.y1) - (right.y0 + right.y1)) / 2
    return low < 0 and shift < 0.45 * size and max(left.height, right.height) < 2.2 * size


def _join(left: Line, right: Line) -> Line:
    right.tokens[0].space = True
    keep = left if len(left.text) >= len(right.text) else right
    return Line([*left.tokens, *right.tokens], left.page, keep.block, keep.kind)
