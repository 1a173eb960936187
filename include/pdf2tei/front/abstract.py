"""Find the abstract and the keywords on the first pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from pdf2tei.pages.language import language
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Kind, Line, group_items
from pdf2tei.pages.text import Joiner
from pdf2tei.words import read_pattern

ABSTRACT_HEAD = read_pattern("abstract", "abstract_head")
_KEYWORDS = read_pattern("abstract", "keywords")
INTRODUCTION = read_pattern("abstract", "introduction")
SUBHEAD_NAMES = read_pattern("abstract", "subhead_names")
BOILERPLATE = read_pattern("abstract", "boilerplate")

_MIN_LANGUAGE = 0.9  # minimum probability of the language of an abstract
_MIN_CHARACTERS = 150  # minimum length of an abstract in another language, in characters
_MAX_SUBHEAD_LENGTH = 50  # maximum length of a subhead of an abstract, in characters
INDEX_TERMS = re.compile(_KEYWORDS.pattern + read_pattern("abstract", "index_terms").pattern, re.I)
"""Start of keywords or subject classes, which directly follow an abstract."""


@dataclass
class HeadedAbstract:
    """The lines of an abstract under its head."""

    head: Line
    prefix: int
    """Number of characters of the head if it is on the first line of the text, or 0."""
    lines: list[Line]

    @cached_property
    def code(self) -> str:
        """The language of the text; an empty string if it is uncertain."""
        found, share = language(" ".join(x.text for x in self.lines))
        return found if share > _MIN_LANGUAGE and sum(len(x.text) for x in self.lines) > _MIN_CHARACTERS else ""

    def take(self) -> list[Line]:
        """Return the lines without the head, and mark a head on a separate line as LABEL."""
        if self.prefix:
            _remove_prefix(self.head, self.prefix)
        else:
            self.head.kind = Kind.LABEL
        return self.lines


def find_abstracts(lines: list[Line], top: float) -> list[HeadedAbstract]:
    """Return the abstracts under heads, for example in two languages.

    `lines` are the lines of one page in reading order. Lines above `top` are ignored.
    """
    found: list[HeadedAbstract] = []
    for i, line in enumerate(lines):
        match = ABSTRACT_HEAD.match(line.text)
        if line.y0 < top - 2 or not match or line.kind is not Kind.BODY:
            continue
        rest = len(line.text) - match.end()
        if rest > 3:
            if not match["stop"] and not _has_run_in_head(line):
                continue
            found.append(HeadedAbstract(line, match.end(), _take_abstract(lines[i:])))
        elif rest <= 1:
            below = [x for x in lines if x is not line and x.y0 > line.y0 + 2 and x.y0 >= line.y1 - 2]
            below = _select_column(line, below)
            after = _list_after_head(lines[i + 1 :], below) or below
            nearest = min(below, key=lambda x: (x.y0, x.x0), default=line)
            is_missing = nearest not in after and nearest.y0 - line.y1 < line.size
            found.append(HeadedAbstract(line, 0, _take_abstract(below if is_missing else after)))
    return [item for item in found if item.lines]


def _list_after_head(lines: list[Line], below: list[Line]) -> list[Line]:
    """Return the lines after a head in reading order: lines in `below`, and all lines in columns to the right."""
    out: list[Line] = []
    right = False
    for line in lines:
        right = right or (bool(out) and line.y0 < out[-1].y0 - 2 and line.x0 > out[-1].x1 - 2)
        if right or line in below:
            out.append(line)
    return out


def _select_column(head: Line, below: list[Line]) -> list[Line]:
    """Return the lines below a head that belong to its column.

    They do not end left of the head, belong to the block of such a line, or are not left of the column's text. A head may be
    centered, so short lines of the column may end left of it.
    """
    under = [x for x in below if x.x1 > head.x0 - 5]
    blocks = {x.block for x in under}
    left = min((x.x0 for x in under[:2]), default=head.x0)  # two, because the first may be indented
    return [x for x in below if x.x1 > head.x0 - 5 or x.block in blocks or x.x0 > left - 5]


def _has_run_in_head(line: Line) -> bool:
    """Return whether the first word of a line has another font than the rest, or is in capitals."""
    first = line.tokens[0].font
    rest = [t for t in line.tokens[1:] if len(t.text) > 2]
    return bool(rest) and (
        first.family != rest[-1].font.family or first.bold != rest[-1].font.bold or line.tokens[0].text.isupper()
    )


def _remove_prefix(line: Line, characters: int) -> None:
    """Remove the first characters of a line's text."""
    tokens = line.tokens
    while len(tokens) > 1 and characters >= len(tokens[0].text):
        characters -= len(tokens[0].text) + tokens[1].space
        tokens = tokens[1:]
    if characters > 0:
        tokens[0].text = tokens[0].text[characters:]
    line.tokens = tokens
    line.forget()


def _take_abstract(lines: list[Line]) -> list[Line]:
    """Return the lines of an abstract. It ends before keywords, a section head, another font, or another column."""
    run: list[Line] = []
    subheads: list[Line] = []
    for i, line in enumerate(lines):
        text = line.text
        continues = (
            run and line.block == run[-1].block and abs(line.size - run[-1].size) < 0.3 and not ends_sentence(run[-1])
        )
        if _KEYWORDS.match(text) or (BOILERPLATE.match(text) and not continues):
            break
        if not run:
            if _is_subhead(line, lines, i):
                subheads.append(line)
            else:
                run.append(line)
                first = line
            continue
        head = ABSTRACT_HEAD.match(text)
        if head and (head["stop"] or head.end() == len(text)) and not SUBHEAD_NAMES.match(text):
            break  # an abstract in another language
        last = max(run[-1], *subheads, key=lines.index) if subheads else run[-1]
        if INTRODUCTION.match(text) and not (SUBHEAD_NAMES.match(text) and line.font.family == first.font.family):
            break
        if subheads and _is_subhead(line, lines, i, first):  # a structured abstract begins with a subhead
            subheads.append(line)
            continue
        moved = line.y0 < last.y0 - 2
        is_labeled = ":" in text and SUBHEAD_NAMES.match(text.partition(":")[0])  # Results: The
        if abs(line.size - first.size) > 0.8 or (
            moved and (line.x0 < first.x1 or line.page != last.page or (ends_sentence(last) and not is_labeled))
        ):
            break
        gap = line.y0 - last.y1
        if gap > 2.2 * line.size or (gap > 0.8 * line.size and line.font.family != last.font.family and len(text) < 80):
            break
        run.append(line)
    end = lines.index(run[-1]) if run else 0
    parts = {id(line) for line in run} | {id(line) for line in subheads}
    return [line for line in lines[: end + 1] if id(line) in parts]


def _is_subhead(line: Line, lines: list[Line], i: int, first: Line | None = None) -> bool:
    """Return whether line i is a subhead of a structured abstract.

    It has the name of a subhead, and text in the font of the abstract's `first` line follows.
    """
    is_named = SUBHEAD_NAMES.match(line.text) is not None and len(line.text) < _MAX_SUBHEAD_LENGTH
    if first is None or not is_named or i + 1 >= len(lines):
        return is_named and i + 1 < len(lines)
    below = lines[i + 1]
    is_as_set = below.font.family == first.font.family and abs(below.size - first.size) < 0.3
    is_in_column = abs(line.x0 - first.x0) < 10 and abs(below.x0 - first.x0) < 10
    is_near = line.y0 - lines[i - 1].y1 < 3 * line.size and below.y0 - line.y1 < 1.5 * line.size
    return is_as_set and is_in_column and is_near


def ends_sentence(line: Line) -> bool:
    """Return whether a line ends with a sentence."""
    return line.text.rstrip().endswith((".", "!", "?", "”"))


def find_continuation(
    abstract: list[Line], after: list[Line], is_labeled: bool, measures: Measures, *, is_continued: bool = False
) -> list[Line]:
    """Return the lines of the next page that continue an abstract, if the abstract breaks off at the end of its page.

    `after` are the lines of the next page in reading order. `is_labeled` is whether the header CRF labels the first of
    them as abstract. `is_continued` is whether the page of the abstract announces the continuation.
    """
    if not abstract or not after:
        return []
    first, last = after[0], abstract[-1]
    is_set_alike = first.font.family == last.font.family and abs(first.size - last.size) < 0.3
    is_broken_off = not ends_sentence(last) and first.text[:1].islower()
    is_text = measures.has_text_font(last) and not is_labeled  # the line may continue the running text
    return _take_abstract(after) if is_set_alike and (is_continued or (is_broken_off and not is_text)) else []


def take_keywords(lines: list[Line], joiner: Joiner) -> list[str]:
    """Return the keywords; mark their lines as FRONT."""
    for i, line in enumerate(lines):
        match = _KEYWORDS.match(line.text)
        if not match or line.kind is not Kind.BODY:
            continue
        alone = match.end() >= len(line.text) - 1
        run = [line]
        for other in lines[i + 1 :]:
            gap = other.y0 - run[-1].y1
            is_other = INTRODUCTION.match(other.text) or BOILERPLATE.match(other.text) or other.kind is not Kind.BODY
            if is_other or len(run) > 8:
                break
            if alone and len(run) == 1:
                if abs(other.x0 - line.x0) > 60 or gap > 2 * line.size:
                    break
            elif other.block != run[-1].block or gap > 0.8 * other.size or abs(other.size - run[-1].size) > 1:
                break
            run.append(other)
        for x in run:
            x.kind = Kind.FRONT
        text = _KEYWORDS.sub("", joiner.text(run).text, count=1)
        return [k for part in re.split(r"[;,·•|，；、]|\s[-–]\s", text) if (k := part.strip(" ."))]
    return []


def split_paragraphs(lines: list[Line]) -> list[list[Line]]:
    """Split the abstract into paragraphs where space or an indent follows a full stop."""

    def begins(run: list[Line], line: Line) -> bool:
        last = run[-1]
        is_indented = line.x0 - last.x0 > 0.7 * line.size and line.y0 > last.y0
        is_apart = line.y0 - last.y1 > 0.6 * line.size or is_indented
        return is_apart and last.text.rstrip().endswith((".", "?", "!", ":"))

    return group_items(lines, begins)
