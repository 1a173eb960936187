"""Label each line of a document with the segmentation CRF, from its words, its font and the lines around it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from pdf2tei.models.tagger import load_tagger
from pdf2tei.pages.model import Document, Line
from pdf2tei.words import read_pattern

MODEL = Path(__file__).with_name("segmentation.crfsuite")
"""Trained by `python -m devtools.training segmentation` on GROBID's annotated documents (CC BY 4.0, see NOTICE.md)."""
MAX_LINES = 60_000  # maximum number of lines that are labeled; later lines count as body

YEAR = re.compile(r"(?<!\d)(?:1[6-9]|20)\d\d[a-z]?(?!\d)")
_INITIALS = re.compile(r"\b[A-Z][\w’'-]+,? (?:[A-Z]\.?[ -]?){1,3}(?=[,;.&(]|\band\b|$)|\b(?:[A-Z]\. ?){1,3}[A-Z][a-z]+")
_PAGES = re.compile(r"\d+\s?[-–—]\s?\d+\b")
_VOLUME = read_pattern("segmentation", "volume")
_JOURNAL = read_pattern("segmentation", "journal", re.NOFLAG)
_LABEL = re.compile(r"\s*([\[(]?)(\d{1,3})([\])]|\.(?!\d)|(?=\s))")
_CAPTION = re.compile(r"\s*(?:fig(?:ure|\.)?|table|tab\.|scheme|box|algorithm)\s*[\dA-Z]", re.I)
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_WINDOW = 6


class SegmentLabel(StrEnum):
    """The part of a document that a line belongs to."""

    FRONT = "front"
    BODY = "body"
    REFERENCE = "reference"
    FURNITURE = "furniture"
    FOOTNOTE = "footnote"
    BACK = "back"
    """Acknowledgements, statements, funding."""
    ANNEX = "annex"


@dataclass(slots=True)
class LineAttributes:
    """The attributes of a line that are available in GROBID's training data and in our documents."""

    text: str
    block_start: bool
    page_start: bool
    new_font: bool
    size: int
    """Type size relative to the line before: 1 larger, 0 equal, -1 smaller."""
    bold: bool
    italic: bool


def read_attributes(lines: Sequence[Line]) -> list[LineAttributes]:
    """Return the attributes of lines in reading order."""
    out: list[LineAttributes] = []
    before: Line | None = None
    for line in lines:
        font = line.tokens[0].font
        last_font = before.tokens[0].font if before is not None else None
        change = 0
        if last_font is not None and abs(font.size - last_font.size) >= 0.05:
            change = 1 if font.size > last_font.size else -1
        out.append(
            LineAttributes(
                line.text,
                before is None or before.block != line.block,
                before is None or before.page != line.page,
                last_font is None or font.family != last_font.family or change != 0,
                change,
                font.bold,
                font.italic,
            )
        )
        before = line
    return out


@lru_cache(maxsize=1 << 14)
def score_as_reference(text: str) -> int:
    """Score how much a line reads like a reference, from 0 to 4.

    A year, names with initials, pages or a volume, and words of journal names each count 1.
    """
    digits = bool(_DIGITS.search(text))
    return (
        (digits and bool(YEAR.search(text)))
        + bool(_INITIALS.search(text))
        + bool((digits and _PAGES.search(text)) or _VOLUME.search(text))
        + bool(_JOURNAL.search(text))
    )


def _count_adjacent_numbers(lines: Sequence[LineAttributes]) -> list[int]:
    """Return for each line how many of the two adjacent numbers occur nearby with the same form: 0, 1 or 2."""
    numbers: list[tuple[str, int] | None] = []
    for line in lines:
        match = _LABEL.match(line.text)
        numbers.append((match.group(1) + match.group(3), int(match.group(2))) if match else None)
    out = [0] * len(lines)
    for i, key in enumerate(numbers):
        if key is None:
            continue
        form, number = key
        before = (form, number - 1) in numbers[max(i - 12, 0) : i]
        after = (form, number + 1) in numbers[i + 1 : i + 13]
        out[i] = before + after
    return out


@lru_cache(maxsize=1 << 14)
def _describe_text(text: str) -> tuple[str, ...]:
    """Return the features of a line's text: five features that every line has, then optional features."""
    text = text.strip()
    words = _WORD.findall(text)
    visible = max(len(text) - text.count(" "), 1)
    first, _, rest = text.partition(" ")
    second = rest.split(" ", 1)[0]
    digits = _DIGITS.findall(text)
    if digits:
        first, second = _DIGITS.sub("#", first), _DIGITS.sub("#", second)
    capitals = sum([w[0].isupper() for w in words])
    out = [
        "w1=" + first.casefold()[:12],
        "w2=" + second.casefold()[:12],
        f"digits={round(5 * sum(map(len, digits)) / visible)}",
        f"capitals={round(4 * capitals / max(len(words), 1))}",
        f"end={text[-1:] if text[-1:] in '.,;:-)' else 'x'}",
    ]
    if len(words) <= 6:
        out.append("all=" + "".join(words).casefold()[:30])
    if text.isupper():
        out.append("upper")
    if "@" in text:
        out.append("@")
    if _CAPTION.match(text):
        out.append("caption")
    if text[:1].islower():
        out.append("small")
    if _LABEL.match(text):
        out.append("label")
    if "©" in text or "icense" in text:
        out.append("rights")
    return tuple(out)


NEIGHBORS = (-2, -1, 1, 2)
_BOTH = (False, True)
_FONT = {(new, size): f"font={int(new)}{size}" for new in _BOTH for size in (-1, 0, 1)}
_STYLE = {(bold, italic): f"style={int(bold)}{int(italic)}" for bold in _BOTH for italic in _BOTH}
_BLOCK = {(first, last): f"block={int(first)}{int(last)}" for first in _BOTH for last in _BOTH}
_LENGTH = [f"len={i}" for i in range(12)]


def describe_lines(lines: Sequence[LineAttributes], *, paged: bool) -> tuple[list[list[str]], list[list[str]]]:
    """Return the feature names of each line, and the subset that is also used for its neighbors."""
    n = len(lines)
    reads = [score_as_reference(x.text) for x in lines]
    runs = _count_adjacent_numbers(lines)
    widths = sorted(len(x.text) for x in lines)
    full = max(widths[int(0.9 * n)] if n else 1, 1)
    places = _describe_positions(lines) if paged else []
    own: list[list[str]] = []
    shared: list[list[str]] = []
    for i, line in enumerate(lines):
        near = reads[max(i - _WINDOW, 0) : i]
        next_ = reads[i + 1 : i + 1 + _WINDOW]
        first, second, digits, capitals, closing, *rest = _describe_text(line.text)
        here = f"r={reads[i]}"
        shown = [
            here,
            f"run={runs[i]}",
            _FONT[line.new_font, line.size],
            _STYLE[line.bold, line.italic],
            _BLOCK[line.block_start, i + 1 == n or lines[i + 1].block_start],
            _LENGTH[min(10 * len(line.text.strip()) // full, 11)],
            digits,
            capitals,
            closing,
        ]
        before = f"rb={round(sum(near) / max(len(near), 1) * 2)}"
        after = f"ra={round(sum(next_) / max(len(next_), 1) * 2)}"
        item = [first, second, before, after, f"{here}|{before}|{after}", *shown, *rest]
        if paged:
            document, page, top, bottom, again = places[i]
            item += [document, page, top, bottom, again, f"{top}|{bottom}|{again}"]
            shown.append(again)
        if rest and rest[0].startswith("all="):
            shown.append(rest[0])
        own.append(item)
        shared.append(shown)
    return own, shared


def _describe_positions(lines: Sequence[LineAttributes]) -> list[tuple[str, str, str, str, str]]:
    """Return position features for each line.

    They are its tenth of the document, its page, its distance from the page's top and bottom, and how often its text occurs at
    page edges.
    """
    n = len(lines)
    page = [0] * n
    for i, line in enumerate(lines):
        page[i] = page[i - 1] + line.page_start if i else 0
    pages = page[-1] + 1 if page else 1
    starts = [i for i in range(n) if i == 0 or page[i] != page[i - 1]]
    from_top, from_bottom = [0] * n, [0] * n
    for start, end in zip(starts, [*starts[1:], n], strict=True):
        for i in range(start, end):
            from_top[i], from_bottom[i] = min(i - start, 4), min(end - 1 - i, 4)
    outer = [i for i in range(n) if min(from_top[i], from_bottom[i]) < 4]
    edges = {i: _DIGITS.sub("#", lines[i].text.casefold()) for i in outer}
    printed = Counter(edges.values())
    return [
        (
            f"doc={10 * i // n}",
            f"page={'first' if page[i] == 0 else 'second' if page[i] == 1 else 'last' if page[i] == pages - 1 else 'in'}",
            f"top={from_top[i]}",
            f"bottom={from_bottom[i]}",
            f"again={min(printed[edges[i]], 3) if i in edges else 0}",
        )
        for i in range(n)
    ]


def label_lines(document: Document) -> dict[int, SegmentLabel]:
    """Return the label of each line of a document, by the line's `id`."""
    lines = [line for page in document.pages for line in page.lines][:MAX_LINES]
    own, shown = describe_lines(read_attributes(lines), paged=True)
    model = load_tagger(MODEL)
    labels = model.tag(model.score_items(own) + model.weigh_neighbors(shown, NEIGHBORS))
    return {id(line): SegmentLabel(x) for line, x in zip(lines, labels, strict=True)}
