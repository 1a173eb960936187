"""Detect section heads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from .formulas import is_formula
from .measures import Measures
from .model import Font, Line, Token

_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4}\.?)(?:\s+\|)?\s+(?=\S)")
NUMBERED = re.compile(r"\s*(?:\d{1,2}(?:\.\d{1,2}){0,4}[.)]?|[IVX]{1,5}[.)]|[A-Z](?:\.\d{1,2}){0,3}[.)]?)\s+(?=\S)")
_RUN_IN_NUMBER = re.compile(r"[1-9]\d?(?:\.\d{1,2}){0,4}[.)]?|[a-z]\)")
_RUN_IN_END = re.compile(r"[^\W\d_]{3}\W*[.:]$")
_RUN_IN_LINES = 3
_RUN_IN_TOKENS = 30
"""Maximum lines and tokens of a head at the start of a paragraph."""
_SENTENCE = re.compile(r"[a-z]{3}\. [A-Z][a-z]+ [a-z]")
_SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+[A-Z]")
_LABELLED = re.compile(
    r"(?:fig|tab|scheme|box|step)\w*\.?\s+(?:\d+|[a-z])\b|"
    r"(?:theorem|lemma|proof|definition|corollary|proposition|remark|example|assumption|claim)\w*\b",
    re.I,
)
"""Bold phrases at the start of a paragraph that are not section heads."""
_STATEMENT = re.compile(
    r"((?:acknowledge?ments?|funding(?:\s+(?:sources?|statement|information))?|(?:financial\s+)?disclosures?|author(?:s|.s|s.)?\s+contributions?|"
    r"(?:conflicts?\s+of|competing|declaration\s+of(?:\s+competing)?)\s+interests?|data\s+availability(?:\s+statement)?|abbreviations|"
    r"availability\s+of\s+data(?:\s+and\s+materials?)?|ethic(?:s|al)\s+(?:approval|statement|consideration)s?|(?:informed\s+)?consent(?:\s+statement)?|"
    r"supplementary\s+(?:materials?|data|information)|open\s+access)(?=\W|$))(\s*[:.—–])?",
    re.I,
)
_USUAL = re.compile(
    r"(?:introduction|background|(?:materials?|patients|subjects)\s+and\s+methods|methods?|results?(?:\s+and\s+discussions?)?|discussions?|"
    r"conclusions?|related\s+work|limitations|acknowledge?ments?)\s*",
    re.I,
)
_KEYWORDS = re.compile(r"key\s?-?words?\s*[:—–]", re.I)
_SMALLEST = 0.7
"""Smallest size of a bold heading in another family, as a share of the running text's size"""
_CELL = 6
"""Maximum distance of the cells of a row, in type sizes."""
_ENDS = re.compile(r"[.!?:;][\"'”’)\]\d]*$")
_MIN_NUMBERED = 3
"""Numbered heads of a paper that numbers its sections, at least."""
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u9fff]{2,}")


def split_number(text: str) -> tuple[str, str]:
    """Split a head into its Arabic number and its text, as GROBID does.

    `3.1. Data` becomes (`3.1.`, `Data`); `II. Data` is not split.
    """
    match = _NUMBER.match(text)
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
    if not _is_apart(before, line) or not (_has_head_type(line, measures) or _is_usual_and_apart(lines, i)):
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
    if count == 4 or len(whole) > 220 or _SENTENCE.search(whole):
        return 0
    return count


def _is_apart(before: Line | None, line: Line) -> bool:
    """Return whether a line is separated from the line before by a block, a column, a gap, or a change of type."""
    if before is None or before.block != line.block or line.y0 < before.y0 or before.page != line.page:
        return True
    return (
        line.y0 - before.y1 > 0.6 * line.size
        or abs(before.size - line.size) > 0.5
        or before.font.family != line.font.family
    )


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
        and not _ENDS.search(before.text)
    )


def _shares_row(lines: list[Line], i: int) -> bool:
    """Return whether a line is one of several pieces of a row in one type, such as the cells of a table."""
    line = lines[i]
    return any(
        other.page == line.page
        and abs(other.y0 - line.y0) < 0.3 * line.size
        and -1 < max(other.x0 - line.x1, line.x0 - other.x1) < _CELL * line.size
        and other.font == line.font
        and _WORD.search(other.text)
        for other in lines[max(i - 1, 0) : i] + lines[i + 1 : i + 2]
    )


def is_usual_name(line: Line) -> bool:
    """Return whether a line is exactly a usual section name."""
    return _USUAL.fullmatch(line.text) is not None


def _is_usual_and_apart(lines: list[Line], i: int) -> bool:
    """Return whether a line in the running text's type is exactly a usual section name and is set apart."""
    return is_usual_name(lines[i]) and (i + 1 == len(lines) or _is_apart(lines[i], lines[i + 1]))


def has_numbered_heads(lines: list[Line], measures: Measures) -> bool:
    """Return whether a paper numbers its sections."""
    return sum(_SECTION.match(x.text) is not None and _has_head_type(x, measures) for x in lines) >= _MIN_NUMBERED


def _has_head_type(line: Line, measures: Measures) -> bool:
    if line.size > measures.size + 0.5:
        return True
    if line.tokens[0].font.family in measures.fixed:  # a line of code or of program output
        return False
    first = line.tokens[0].font
    is_bold_other = first.bold and first.family.split("-")[0] != measures.family.split("-")[0]
    if line.size < (_SMALLEST * measures.size if is_bold_other else measures.size - 1.2):
        return False
    letters = [t for t in line.tokens if any(c.isalpha() for c in t.text)]
    total = sum(len(t.text) for t in letters)
    bold = sum(len(t.text) for t in letters if t.font.bold)
    other = sum(
        len(t.text)
        for t in letters
        if t.font.family != measures.family and not t.font.mathematical and not t.font.raised
    )
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
        and last.x0 < line.x1
        and line.x0 < last.x1
    )


def run_in(lines: list[Line], i: int, *, begins: bool, is_numbered: bool) -> tuple[list[Line], Line] | None:
    """Split a head at the start of a paragraph from the rest; return None if line i begins no such head.

    Examples are `3.4.1 Selective labels. Another challenge …` and `Acknowledgements We thank …`. A numbered head differs from
    the rest in type and ends with a full stop or colon; it may continue on the next lines. A statement's name (`Funding:`) ends
    the same way or differs in type. `begins` is whether the line begins a paragraph; `is_numbered` is whether the paper
    numbers its sections, so that a bold phrase without a number is no head.
    """
    line, before = lines[i], lines[i - 1] if i else None
    if len(line.tokens) < 3 or not (begins or _is_apart(before, line)):
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
        if len(taken) == _RUN_IN_LINES or after is None or not _continues_run_in(taken[-1], after):
            return None
        taken.append(after)
    tokens = [t for x in taken for t in x.tokens]
    has_number = _NUMBER.match(line.text) is not None or _RUN_IN_NUMBER.fullmatch(tokens[0].text) is not None
    is_phrase = (
        (tokens[0].font.bold or count > 1) and begins and line.text[:1].isupper() and not _LABELLED.match(line.text)
    )
    if not count or not (has_number or (is_phrase and not is_numbered)):
        return None
    if has_number:  # the type of the head may continue in the text: `3.2 Marrubium vulgare. Marrubium vulgare grows …`
        ends = [n for n in range(2, count + 1) if _RUN_IN_END.search(tokens[n - 1].text)]
        count = count if tokens[count - 1].text.endswith((".", ":")) else next(iter(ends), 0)
    elif not tokens[count - 1].text.endswith(
        "."
    ):  # a bold phrase with a colon begins an item: `Formal analysis: J. W.`
        return None
    return _split_line(taken, count) if sum(len(x.tokens) for x in taken[:-1]) < count <= _RUN_IN_TOKENS else None


def _count_head_tokens(tokens: list[Token]) -> int:
    """Return how many tokens from the first on have the type of a head: bold, or with a number italic or in another family."""
    number = _RUN_IN_NUMBER.fullmatch(tokens[0].text) is not None and len(tokens) > 1
    first = tokens[number].font
    if first.bold:  # a species' name in italics is part of a bold heading
        return _count_same(tokens, number, lambda font, _: font.bold)
    if first.italic:
        return _count_same(tokens, number, lambda font, _: font.italic and not font.bold)
    # 3.1.1. Participants. in a separate family with no slant in its name
    is_marked = (
        number and "." in tokens[0].text[:-1] and tokens[1].text[:1].isupper() and first.family != tokens[0].font.family
    )
    return _count_same(tokens, number, lambda font, start: font.family == start.family) if is_marked else 0


def _count_same(tokens: list[Token], start: int, is_same: Callable[[Font, Font], bool]) -> int:
    """Return the index of the first token from `start` on with a font unlike the font at `start`."""
    first = tokens[start].font
    return next((i for i in range(start, len(tokens)) if not is_same(tokens[i].font, first)), len(tokens))


def _continues_run_in(above: Line, line: Line) -> bool:
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


def numbered_run(lines: list[Line], measures: Measures) -> set[int]:
    """Return the ids of lines that are heads only because of their number, in the running text's type.

    Such a head is `3.2 Extraction`, set apart from the lines around it, if a similar `3.1` or `3` precedes it.
    """
    found: list[tuple[tuple[int, ...], Line]] = []
    for i, line in enumerate(lines):
        match = _SECTION.match(line.text)
        if (
            not match
            or line.width > 0.9 * measures.width
            or re.search(r"\. [A-Z]", line.text[match.end() :])
            or line.text.rstrip().endswith((".", ",", ";", ":"))
        ):
            continue
        after = lines[i + 1] if i + 1 < len(lines) else None
        if _is_apart(lines[i - 1] if i else None, line) and (after is None or _is_apart(line, after)):
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


def local(lines: list[Line], i: int, measures: Measures) -> Measures:
    """Return the measures around line i.

    If the lines after line i are smaller than the running text, as in statements in the second half, their size and family are
    used.
    """
    after = [x for x in lines[i + 1 : i + 6] if x.page == lines[i].page]
    if not after or 2 * i < len(lines) or len(lines[i].text) > 90 or any(x.size > measures.size - 0.6 for x in after):
        return measures
    fonts = Counter(x.font for x in after)
    font = max(fonts, key=lambda f: (fonts[f], f.size))
    return replace(measures, size=font.size, family=font.family)
