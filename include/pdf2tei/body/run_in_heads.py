"""Detect section heads that begin a paragraph."""

from __future__ import annotations

import re
from collections.abc import Callable

from pdf2tei.body.heads import NUMBER, begins_after_break
from pdf2tei.pages.model import Font, Line, Token
from pdf2tei.words import read_pattern

_HEAD_LABEL = re.compile(r"[1-9]\d?(?:\.\d{1,2}){0,4}[.)]?|[a-z]\)")
_END = re.compile(r"[^\W\d_]{3}\W*[.:]$")
_MAX_LINES = 3  # maximum number of lines of such a head
_MAX_TOKENS = 30  # maximum number of tokens of such a head
_NOT_A_HEAD = read_pattern("run_in_heads", "not_a_head")
"""Bold phrases at the start of a paragraph that are not section heads."""
_STATEMENT = read_pattern("run_in_heads", "statement")


def split_run_in(lines: list[Line], i: int, *, begins: bool, is_numbered: bool) -> tuple[list[Line], Line] | None:
    """Split a head at the start of a paragraph from the rest; return None if line i begins no such head.

    Examples are `3.4.1 Selective labels. Another challenge …` and `Acknowledgements We thank …`. A numbered head differs from
    the rest in font and ends with a full stop or colon; it may continue on the next lines. A statement's name (`Funding:`) ends
    the same way or differs in font. `begins` is whether the line begins a paragraph. `is_numbered` is whether the paper numbers
    its sections; then a bold phrase without a number is not a head.
    """
    line, before = lines[i], lines[i - 1] if i else None
    if len(line.tokens) < 3 or not (begins or begins_after_break(before, line)):
        return None
    if named := _STATEMENT.match(line.text):
        words = len(named.group(1).split())
        same = _count_same(line.tokens, 0, lambda font, first: font.bold == first.bold and font.italic == first.italic)
        family = _count_same(line.tokens, 0, lambda font, first: font.family == first.family)
        if words < len(line.tokens) and (named.group(2) or words in (same, family)):
            return _split_line([line], words)
    taken = [line]
    while (count := _count_head_tokens([t for x in taken for t in x.tokens])) == sum(len(x.tokens) for x in taken):
        after = lines[i + len(taken)] if i + len(taken) < len(lines) else None
        if len(taken) == _MAX_LINES or after is None or not _continues(taken[-1], after):
            return None
        taken.append(after)
    tokens = [t for x in taken for t in x.tokens]
    has_number = NUMBER.match(line.text) is not None or _HEAD_LABEL.fullmatch(tokens[0].text) is not None
    may_be_phrase = begins and not is_numbered and line.text[:1].isupper() and not _NOT_A_HEAD.match(line.text)
    if not count or not (has_number or (may_be_phrase and (tokens[0].font.bold or count > 1))):
        return None
    # A colon ends only numbered heads: `Formal analysis: J. W.` is an item.
    ended = tokens[count - 1].text.endswith((".", ":") if has_number else ".")
    if not ended and has_number:
        # The text continues in the same font: `3.2 Marrubium vulgare. Marrubium vulgare grows …`
        count = next((n for n in range(2, count + 1) if _END.search(tokens[n - 1].text)), 0)
    elif not ended:
        return None
    return _split_line(taken, count) if sum(len(x.tokens) for x in taken[:-1]) < count <= _MAX_TOKENS else None


def _count_head_tokens(tokens: list[Token]) -> int:
    """Return the number of leading tokens in a head's font: bold, italic, or another family after a number."""
    number = _HEAD_LABEL.fullmatch(tokens[0].text) is not None and len(tokens) > 1
    first = tokens[number].font
    if first.bold:  # a species' name in italics is part of a bold head
        return _count_same(tokens, number, lambda font, _: font.bold)
    if first.italic:
        return _count_same(tokens, number, lambda font, _: font.italic and not font.bold)
    # `3.1.1. Participants.` in an italic family that is not named so
    is_marked = number and "." in tokens[0].text[:-1] and tokens[1].text[:1].isupper()
    is_marked = is_marked and first.family != tokens[0].font.family
    return _count_same(tokens, number, lambda font, start: font.family == start.family) if is_marked else 0


def _count_same(tokens: list[Token], start: int, is_same: Callable[[Font, Font], bool]) -> int:
    """Return the index of the first token from `start` on with a font unlike the font at `start`."""
    first = tokens[start].font
    return next((i for i in range(start, len(tokens)) if not is_same(tokens[i].font, first)), len(tokens))


def _continues(above: Line, line: Line) -> bool:
    """Return whether a head that fills a line may continue on the next line of the paragraph."""
    return (
        line.page == above.page
        and -2 < line.y0 - above.y1 < 0.6 * line.size
        and abs(line.tokens[0].font.size - above.size) < 0.3
        and line.x0 < above.x0 + 2
        and above.x1 > line.x1 - 2 * line.size
    )


def _split_line(lines: list[Line], count: int) -> tuple[list[Line], Line]:
    """Split lines into a head of `count` tokens and the rest of the last line."""
    last = lines[-1]
    count -= sum(len(x.tokens) for x in lines[:-1])
    head, rest = last.tokens[:count], last.tokens[count:]
    rest[0].space = False
    return [*lines[:-1], Line(head, last.page, last.block)], Line(rest, last.page, last.block)
