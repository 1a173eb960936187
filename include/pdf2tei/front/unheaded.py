"""Find an abstract without a head, from the header CRF's labels, or from its position and font."""

from __future__ import annotations

from itertools import chain

from pdf2tei.front.abstract import BOILERPLATE, INDEX_TERMS, INTRODUCTION, split_paragraphs
from pdf2tei.front.authors import affiliation_words
from pdf2tei.front.front_lines import Front, FrontLabel
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Document, Kind, Line, join_tokens

_MIN_CHARACTERS = 150
"""Minimum length of an abstract, in characters."""
_MAX_WORDS = 400
"""Maximum number of words of an abstract without a head in the running text's font."""
_LOWEST_START = 0.6
"""An abstract without a head begins above this share of the page height."""


def find_unheaded_abstract(document: Document, front: Front, measures: Measures) -> list[Line]:
    """Return the lines of an abstract without a head.

    The first choice is the longest run of lines that the header CRF labels as abstract, except a run that begins the paper's
    text. The second choice is a paragraph in the usual position of an abstract.
    """
    lines = [line for line in front.lines if line.kind is Kind.BODY]
    runs: list[list[Line]] = [[]]
    for line in front.lines:
        if front.label(line) is FrontLabel.ABSTRACT and line.kind is Kind.BODY:
            above = runs[-1][-1] if runs[-1] else line
            is_new = line.block != above.block or line.y0 - above.y1 > 0.9 * line.size
            is_other_font = (line.font.family, line.font.bold) != (above.font.family, above.font.bold)
            if abs(above.size - line.size) > 0.8 or (is_new and is_other_font):
                runs.append([])
            runs[-1].append(line)
        elif runs[-1]:
            runs.append([])
    long = [run for run in runs if _count_characters(run) >= _MIN_CHARACTERS]
    long = [run for run in long if not _begins_text(run, document, measures)]
    if not long:
        return _find_by_position(document, lines, front, measures)
    apart = [sum(not measures.has_text_font(x) for x in run) > len(run) / 2 for run in long]
    run = max(zip(apart, long, strict=True), key=lambda pair: (pair[0], _count_characters(pair[1])))[1]
    first, last = lines.index(run[0]), lines.index(run[-1])
    found = lines[first : last + 1]
    if not found[0].text[:1].islower():
        return found
    if rest := list(chain.from_iterable(split_paragraphs(found)[1:])):  # without the end of the paragraph before
        return rest
    while first and _continues_paragraph(lines[first - 1], lines[first], front):  # its only paragraph begins earlier
        first -= 1
    return lines[first : last + 1]


def _count_characters(lines: list[Line]) -> int:
    return sum(len(line.text) for line in lines)


def _continues_paragraph(above: Line, below: Line, front: Front) -> bool:
    """Return whether two lines of the front form one paragraph and both may be part of an abstract."""
    return below.continues(above, gap=0.9, size=0.3) and not any(_is_other(line, front) for line in (above, below))


def _is_other(line: Line, front: Front) -> bool:
    """Return whether a line of the front is clearly not part of an abstract."""
    label = front.label(line)
    return (
        (
            label in (FrontLabel.AUTHOR, FrontLabel.AFFILIATION, FrontLabel.KEYWORDS, FrontLabel.TITLE)
            and front.probability(line, label) > 0.5
        )
        or BOILERPLATE.match(line.text) is not None
        or INDEX_TERMS.match(line.text) is not None
    )


def _find_by_position(document: Document, lines: list[Line], front: Front, measures: Measures) -> list[Line]:
    """Return the longest paragraph of the front that may be an abstract and begins in the upper part of its page.

    The paragraph directly precedes keywords or classes, or its font differs from that of the running text.
    """
    runs: list[list[Line]] = []
    for line in lines:
        if _is_other(line, front):
            continue
        if runs and _continues_paragraph(runs[-1][-1], line, front):
            runs[-1].append(line)
        elif line.y0 <= _LOWEST_START * document.pages[line.page - 1].height:
            runs.append([line])
    return max((run for run in runs if _is_summary(run, lines, measures)), key=_count_characters, default=[])


def _is_summary(run: list[Line], lines: list[Line], measures: Measures) -> bool:
    """Return whether a paragraph of the front without a head is the abstract although the header CRF did not label it."""
    text = " ".join(line.text for line in run)
    words = text.split()
    lowercase = sum(word[:1].islower() for word in words)
    if (
        len(run) < 3
        or lowercase < 0.6 * len(words)
        or not text.rstrip("”’\"') ").endswith(".")
        or "@" in text
        or affiliation_words(text) > len(run)
    ):
        return False
    after = lines.index(run[-1]) + 1
    if after < len(lines) and INDEX_TERMS.match(lines[after].text):
        return len(text) >= _MIN_CHARACTERS
    apart = abs(run[0].size - measures.size) > 0.3 or run[0].font.family != measures.family
    return apart and len(text) >= 2 * _MIN_CHARACTERS


def _begins_text(run: list[Line], document: Document, measures: Measures) -> bool:
    """Return whether a run without an abstract's head is the paper's text.

    The run has the running text's font, and it follows the head of the introduction, ends within a sentence, or is too long.
    """
    last = run[-1]
    if last.font.family != measures.family or abs(last.size - measures.size) > 0.3:
        return False
    page = document.pages[run[0].page - 1].lines
    above = page[: page.index(run[0])]
    ended = join_tokens([t for t in last.tokens if not t.font.raised]).rstrip("”’\"') ").endswith((".", "!", "?", "。"))
    words = sum(len(x.text.split()) for x in run)
    return not ended or words > _MAX_WORDS or any(INTRODUCTION.match(x.text) for x in above)
