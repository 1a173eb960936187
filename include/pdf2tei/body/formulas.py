"""Detect display formulas."""

from __future__ import annotations

import re

from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Line
from pdf2tei.words import read_words

LABEL = re.compile(r"\(\s*[A-Z]?\.?\d+(?:\.\d+)?[a-z]?\s*\)\s*$")
_WORD = re.compile(r"[^\W\d_]{3,}(?!\w*\s?\()")  # a word, but not the name of a function before its bracket
_PROSE = re.compile(r"\b(?:is|are|be|the|of|we|by|as|to|denotes?|being)\b")
_CITED = re.compile(r"(?:\[\d[\d,;\s–-]*\][\s.,;]*)+")
_MIXED = re.compile(r"[a-zA-Z][α-ωΑ-Ω]|[α-ωΑ-Ω][a-zA-Z]")
_RELATION = re.compile(r"[=¼≠≤≥<>≈∼≡∝∈→←⇒⇔]")
_MAX_GAP = 0.8  # maximum vertical gap between the parts of a formula, in type sizes
_MAX_ROW_GAP = 1.5  # maximum horizontal gap between the parts of a row, in type sizes
_MAX_NAMES = 3  # maximum number of words in a part of a formula that has a relation sign
_WORDS_IN_FORMULAS = read_words("formulas", "words_in_formulas")
_SIGN = re.compile(r"[=¼≠≤≥<>+−±×÷∑∏∫√∂∇∈∉⊂⊆∪∩∀∃→←↔⇒⇔≈∼≡∝∞|{}\[\]^_α-ωΑ-Ω\U0001d400-\U0001d7ff]")


def is_formula(line: Line, measures: Measures) -> bool:
    """Return whether a line is display mathematics: few words, and many signs or letters from mathematical fonts."""
    text = line.text
    visible = len(text) - text.count(" ")
    if visible <= 0:
        return False
    fonts = sum([len(t.text) for t in line.tokens if t.font.mathematical])
    mathematical = max(fonts, len(_SIGN.findall(text)))
    if not mathematical:  # fast path for most lines
        return False
    words = _list_words(text)
    letters = sum(map(len, words))
    if letters / visible < 0.25 and mathematical / visible > 0.25:
        return not _PROSE.search(text)
    if not LABEL.search(text) or line.width > 1.05 * measures.width:
        return False
    return (letters / visible < 0.4 and mathematical > 2) or (not words and _RELATION.search(text) is not None)


def _list_words(text: str) -> list[str]:
    """Return the words of a line that are no names of operators or variables (`τmax`)."""
    return [
        w
        for w in _WORD.findall(text)
        if w.lower() not in _WORDS_IN_FORMULAS
        and not "\U0001d400" <= w[0] <= "\U0001d7ff"
        and (w.isascii() or not _MIXED.search(w))
    ]


def formula_length(lines: list[Line], i: int, measures: Measures) -> int:
    """Return how many lines from line i on form one display formula; 0 if none begins at line i.

    pdfalto divides a formula into lines: limits, fractions, large brackets, the number. One of them is mathematics for certain. Lines
    next to running text are parts of an inline formula.
    """
    first = lines[i]
    if i and not _may_be_part(before := lines[i - 1], measures):
        is_next = abs(first.y0 - before.y1 - measures.gap) < 0.3 * measures.size and first.page == before.page
        is_last_line = is_next and first.x0 < before.x0 + 1 and before.width > 0.8 * measures.width
        if is_last_line or _CITED.fullmatch(first.text):  # the end of a sentence
            return 0
    count, is_certain, has_relation = 0, False, False
    top, bottom = first.y0, first.y1
    for line in lines[i:]:
        reach = _MAX_GAP * measures.size
        if line.page != first.page or line.y0 > bottom + reach or line.y1 < top - reach:
            break
        if not _may_be_part(line, measures):
            break
        is_numbered = has_relation and LABEL.fullmatch(line.text) is not None
        is_certain = is_certain or is_numbered or is_formula(line, measures)
        has_relation = has_relation or _RELATION.search(line.text) is not None
        top, bottom, count = min(top, line.y0), max(bottom, line.y1), count + 1
    if not is_certain:
        return 0
    region, around = lines[i : i + count], lines[max(i - 4, 0) : i] + lines[i + count : i + count + 4]
    return 0 if any(_share_row(line, other, measures) for line in region for other in around) else count


def _may_be_part(line: Line, measures: Measures) -> bool:
    """Return whether a line may be a part of a formula: it is one, it has no word, or it has few words and a relation sign."""
    text = line.text
    if is_formula(line, measures):
        return True
    if line.width > 0.9 * measures.width or _PROSE.search(text) or text.lower() in _WORDS_IN_FORMULAS:
        return False
    words = _list_words(text)
    is_named = len(words) <= _MAX_NAMES and sum(map(str.islower, words)) <= 1
    return not words or (is_named and _RELATION.search(text) is not None)


def _share_row(line: Line, other: Line, measures: Measures) -> bool:
    """Return whether running text follows or precedes a line in its row. The box of a large bracket is flat, at the top of its row."""
    size, gap = measures.size, max(other.x0 - line.x1, line.x0 - other.x1)
    is_flat = line.height < 0.5 * size
    if is_flat:
        is_beside = line.y0 - 0.3 * size < other.y0 < line.y1 + size and gap < _MAX_ROW_GAP * size
    else:
        is_beside = line.y0 < other.y1 and other.y0 < line.y1 and -size < gap < _MAX_ROW_GAP * size
    return is_beside and line.page == other.page and not _may_be_part(other, measures)
