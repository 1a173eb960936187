"""Detect section heads."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from pdf2tei.body.formulas import is_formula
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Line
from pdf2tei.words import read_pattern

NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4}\.?)(?:\s+\|)?\s+(?=\S)")
NUMBERED = re.compile(r"\s*(?:\d{1,2}(?:\.\d{1,2}){0,4}[.)]?|[IVX]{1,5}[.)]|[A-Z](?:\.\d{1,2}){0,3}[.)]?)\s+(?=\S)")
_ITEM_NUMBER = re.compile(r"(\d{1,2})[.)]\s")
_SENTENCE = re.compile(r"[a-z]{3}\. [A-Z][a-z]+ [a-z]")
_SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+[A-Z]")
_USUAL_HEADS = read_pattern("heads", "usual_heads")
_KEYWORDS = re.compile(r"key\s?-?words?\s*[:—–]", re.I)
_MIN_BOLD_SIZE = 0.7  # minimum size of a bold head in another family, as a share of the running text's size
_MAX_CELL_GAP = 6  # maximum distance of the cells of a row, in type sizes
ENDS_CLAUSE = re.compile(r"[.!?:;][\"'”’)\]\d]*$")
_MIN_NUMBERED = 3  # minimum number of numbered heads of a paper that numbers its sections
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u9fff]{2,}")


def split_number(text: str) -> tuple[str, str]:
    """Split a head into its Arabic number and its text, as GROBID does.

    `3.1. Data` becomes (`3.1.`, `Data`); `II. Data` is not split.
    """
    match = NUMBER.match(text)
    return (match.group(1), text[match.end() :].strip()) if match else ("", text.strip())


def is_head(lines: list[Line], i: int, measures: Measures) -> bool:
    """Return whether a head begins at line i."""
    return head_length(lines, i, measures) > 0


def head_length(lines: list[Line], i: int, measures: Measures) -> int:
    """Return how many lines from line i on form one head; 0 if no head begins at line i.

    A head begins a block or follows a gap, is short, and does not end like a sentence. It differs from the running text: it is
    larger, bold, in capitals, or in another family.
    """
    line = lines[i]
    text = line.text
    before = lines[i - 1] if i else None
    if len(text) > 130 or not _WORD.search(text) or is_formula(line, measures):
        return 0
    is_apart = i + 1 == len(lines) or begins_after_break(line, lines[i + 1])
    if not begins_after_break(before, line) or not (
        _has_head_type(line, measures) or (is_usual_name(line) and is_apart)
    ):
        return 0
    if text[:1].islower() or not text[:1].isalnum() or "=" in text or _KEYWORDS.match(text):
        return 0
    if _shares_row(lines, i) or _is_emphasis(lines, i):
        return 0
    first, last = line.tokens[0].font, line.tokens[-1].font
    if first.bold and not last.bold and last.family == measures.family and line.tokens[-1].text[-1:].isalpha():
        return 0
    numbered = bool(NUMBERED.match(text))
    if text.rstrip().endswith((",", ";")) or (text.rstrip().endswith(".") and not numbered and len(text) > 60):
        return 0
    count = 1
    while count < 4 and i + count < len(lines) and _continues_head(lines[i + count - 1], lines[i + count], measures):
        count += 1
    if count == 1 and text.rstrip().endswith("-") and line.width > 0.9 * measures.width:
        return 0
    whole = " ".join(x.text for x in lines[i : i + count])
    if numbered and i + count < len(lines) and line.font == (below := lines[i + count]).font:  # items of a list
        number, following = (_ITEM_NUMBER.match(x.text) for x in (line, below))
        if line.block == below.block and number and following and int(following[1]) == int(number[1]) + 1:
            return 0
    if count == 4 or len(whole) > 220 or _SENTENCE.search(whole):
        return 0
    return count


def begins_after_break(before: Line | None, line: Line) -> bool:
    """Return whether a line begins a block or a column, follows a gap, or has another font than the line before."""
    if before is None or before.block != line.block or line.y0 < before.y0 or before.page != line.page:
        return True
    is_other_type = abs(before.size - line.size) > 0.5 or before.font.family != line.font.family
    return is_other_type or line.y0 - before.y1 > 0.6 * line.size


def _is_emphasis(lines: list[Line], i: int) -> bool:
    """Return whether a line in another family is within a sentence."""
    if not 0 < i < len(lines) - 1:
        return False
    before, line, after = lines[i - 1 : i + 2]
    return (
        before.block == line.block
        and before.font.family == after.font.family != line.font.family
        and abs(before.size - line.size) < 0.3
        and line.y0 - before.y1 < 0.6 * line.size
        and before.x1 > line.x1 - line.size
        and not ENDS_CLAUSE.search(before.text)
    )


def _shares_row(lines: list[Line], i: int) -> bool:
    """Return whether a line is next to another line in the same font, as cells of a table are."""
    line = lines[i]
    return any(
        other.page == line.page
        and abs(other.y0 - line.y0) < 0.3 * line.size
        and -1 < max(other.x0 - line.x1, line.x0 - other.x1) < _MAX_CELL_GAP * line.size
        and other.font == line.font
        and _WORD.search(other.text)
        for other in lines[max(i - 1, 0) : i] + lines[i + 1 : i + 2]
    )


def is_usual_name(line: Line) -> bool:
    """Return whether a line is exactly a usual section name."""
    return _USUAL_HEADS.fullmatch(line.text) is not None


def has_numbered_heads(lines: list[Line], measures: Measures) -> bool:
    """Return whether a paper numbers its sections."""
    return sum(_SECTION.match(x.text) is not None and _has_head_type(x, measures) for x in lines) >= _MIN_NUMBERED


def _has_head_type(line: Line, measures: Measures) -> bool:
    if line.size > measures.size + 0.5:
        return True
    first = line.tokens[0].font
    is_bold_in_other_family = first.bold and first.family.split("-")[0] != measures.family.split("-")[0]
    if line.size < (_MIN_BOLD_SIZE * measures.size if is_bold_in_other_family else measures.size - 1.2):
        return False
    letters = [t for t in line.tokens if any(c.isalpha() for c in t.text)]
    total = sum(len(t.text) for t in letters)
    bold = sum(len(t.text) for t in letters if t.font.bold)
    plain = [t for t in letters if not t.font.mathematical and not t.font.raised]
    other = sum(len(t.text) for t in plain if t.font.family != measures.family)
    capitals = line.text.isupper() and sum(c.isalpha() for c in line.text) > 4
    return bold > 0.85 * total or other > 0.85 * total or capitals


def _continues_head(last: Line, line: Line, measures: Measures) -> bool:
    """Return whether a head continues on the next line.

    The next line has the same type, is close below and has no number. The line before is well filled.
    """
    return (
        line.font.family == last.font.family
        and line.font.bold == last.font.bold
        and abs(line.size - last.size) < 0.3
        and line.page == last.page
        and -2 < line.y0 - last.y1 < 0.6 * line.size
        and not NUMBERED.match(line.text)
        and (
            last.width > 0.45 * measures.width
            or last.text.rstrip().endswith((":", "-", "and", "of", "for", "in", "the", "with", "by"))
        )
        and line.overlaps(last)
    )


def find_numbered_heads(lines: list[Line], measures: Measures) -> set[int]:
    """Return the ids of lines that are heads only because of their number, in the running text's font.

    Such a head is `3.2 Extraction`, set apart from the lines around it, if a similar `3.1` or `3` precedes it.
    """
    found: list[tuple[tuple[int, ...], Line]] = []
    for i, line in enumerate(lines):
        match = _SECTION.match(line.text)
        if not match:
            continue
        near = [x for x in lines[max(i - 1, 0) : i + 2] if x is not line and x.page == line.page and x.overlaps(line)]
        gaps = [max(line.y0 - x.y1, x.y0 - line.y1) for x in near]
        if (
            (line.width > 0.9 * measures.width and not (len(gaps) == 2 and min(gaps) > line.size))
            or re.search(r"\. [A-Z]", line.text[match.end() :])
            or line.text.rstrip().endswith((".", ",", ";", ":"))
        ):
            continue
        after = lines[i + 1] if i + 1 < len(lines) else None
        if begins_after_break(lines[i - 1] if i else None, line) and (after is None or begins_after_break(line, after)):
            found.append((tuple(int(n) for n in match.group(1).split(".")), line))
    numbers = {n for n, _ in found}
    out: set[int] = set()
    for number, line in found:
        if len(number) < 2 or not number[-1]:
            continue
        sibling = (*number[:-1], number[-1] - 1) if number[-1] > 1 else number[:-1]
        if sibling in numbers or (number[-1] == 1 and (*number[:-1], 2) in numbers):
            out.add(id(line))
    return out


def measure_locally(lines: list[Line], i: int, measures: Measures) -> Measures:
    """Return the measures around line i.

    In the second half, the lines after line i may be smaller than the running text, for example in statements. Then their size
    and family are used.
    """
    after = [x for x in lines[i + 1 : i + 6] if x.page == lines[i].page]
    if not after or 2 * i < len(lines) or len(lines[i].text) > 90 or any(x.size > measures.size - 0.6 for x in after):
        return measures
    fonts = Counter(x.font for x in after)
    font = max(fonts, key=lambda f: (fonts[f], f.size))
    return replace(measures, size=font.size, family=font.family)
