"""Find an abstract without a head, from the header CRF's labels, or from its position and font."""

from __future__ import annotations

from itertools import chain, groupby

from pdf2tei.front.abstract import BOILERPLATE, INDEX_TERMS, INTRODUCTION, ends_sentence, split_paragraphs
from pdf2tei.front.authors import affiliation_words
from pdf2tei.front.front_lines import Front, FrontLabel
from pdf2tei.front.title import is_cover
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Document, Kind, Line, group_items, join_tokens

_MIN_CHARACTERS = 150  # minimum length of an abstract, in characters
_MAX_WORDS = 400  # maximum number of words of an abstract without a head in the running text's font
_MAX_WIDTH = 0.7
"""Maximum width of an abstract in the running text's font without a head, as a share of the text's width."""
_LOWEST_START = 0.6  # an abstract without a head begins above this share of the page height; footnotes begin below


def find_unheaded_abstract(document: Document, front: Front, measures: Measures) -> list[Line]:
    """Return the lines of an abstract without a head.

    The first choice is the longest run of lines that the header CRF labels as abstract. A run that begins the paper's text,
    footnotes and boilerplate on a cover are no abstract. The second choice is a paragraph in the usual position of an abstract.
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
    long = [run for run in long if not _is_note(run, document, measures) and not _begins_text(run, document, measures)]
    if not long:
        return _find_by_position(document, lines, front, measures)
    apart = [sum(not measures.has_text_font(x) for x in run) > len(run) / 2 for run in long]
    run = max(zip(apart, long, strict=True), key=lambda pair: (pair[0], _count_characters(pair[1])))[1]
    first, last = lines.index(run[0]), lines.index(run[-1])
    found = _complete_paragraph(lines[first : last + 1], document)
    if not found[0].text[:1].islower():
        return found
    if rest := list(chain.from_iterable(split_paragraphs(found)[1:])):  # without the end of the paragraph before
        return rest
    while first and _continues_paragraph(lines[first - 1], lines[first], front):  # its only paragraph begins earlier
        first -= 1
        found.insert(0, lines[first])
    return found


def _complete_paragraph(found: list[Line], document: Document) -> list[Line]:
    """Return an abstract with the rest of its paragraph that has other labels: below it, and at the end of the page before."""
    first, last = found[0], found[-1]
    page = document.pages[last.page - 1].lines
    for line in page[page.index(last) + 1 :]:
        is_alike = (line.block, line.font.family) == (last.block, last.font.family)
        if not is_alike or not line.continues(last, gap=0.9, size=0.3):
            break
        found, last = [*found, line], line
    if first.page == 1 or not first.text[:1].islower():
        return found
    before = [x for x in document.pages[first.page - 2].lines if x.kind is Kind.BODY and x.font == first.font]
    blocks = [list(block) for _, block in groupby(before, lambda x: x.block)]
    broken = (x for x in reversed(blocks) if not ends_sentence(x[-1]) and abs(x[-1].width - first.width) < first.size)
    return next(broken, []) + found


def _count_characters(lines: list[Line]) -> int:
    return sum(len(line.text) for line in lines)


def _continues_paragraph(above: Line, below: Line, front: Front) -> bool:
    """Return whether two lines of the front form one paragraph and both may be part of an abstract."""
    return below.continues(above, gap=0.9, size=0.3) and not any(_is_other(line, front) for line in (above, below))


def _is_other(line: Line, front: Front) -> bool:
    """Return whether a line of the front is clearly not part of an abstract."""
    others = (FrontLabel.AUTHOR, FrontLabel.AFFILIATION, FrontLabel.KEYWORDS, FrontLabel.TITLE)
    is_labeled = max(front.probability(line, label) for label in others) > 0.5
    return is_labeled or BOILERPLATE.match(line.text) is not None or INDEX_TERMS.match(line.text) is not None


def _find_by_position(document: Document, lines: list[Line], front: Front, measures: Measures) -> list[Line]:
    """Return the longest paragraph of the front that may be an abstract and begins in the upper part of its page."""
    plain = [x for x in lines if not _is_other(x, front)]
    runs = group_items(plain, lambda run, line: not _continues_paragraph(run[-1], line, front))
    upper = (run for run in runs if run[0].y0 <= _LOWEST_START * document.pages[run[0].page - 1].height)
    return max((run for run in upper if _is_summary(run, lines, measures)), key=_count_characters, default=[])


def _is_summary(run: list[Line], lines: list[Line], measures: Measures) -> bool:
    """Return whether a paragraph is the abstract although the header CRF did not label it.

    It directly precedes keywords or classes, or its font differs from that of the running text.
    """
    text = " ".join(line.text for line in run)
    words = text.split()
    is_prose = len(run) > 2 and sum(x[:1].islower() for x in words) >= 0.6 * len(words)
    is_ended = text.rstrip("”’\"') ").endswith(".")
    if not is_prose or not is_ended or "@" in text or affiliation_words(text) > len(run):
        return False
    after = lines.index(run[-1]) + 1
    if after < len(lines) and INDEX_TERMS.match(lines[after].text):
        return len(text) >= _MIN_CHARACTERS
    return not measures.has_text_font(run[0]) and len(text) >= 2 * _MIN_CHARACTERS


def _is_note(run: list[Line], document: Document, measures: Measures) -> bool:
    """Return whether a run is boilerplate on a cover, or footnotes: in smaller type than the text and below it."""
    page = document.pages[run[0].page - 1]
    is_low = run[0].y0 > _LOWEST_START * page.height and run[0].size < measures.size - 0.3
    return is_cover(page) or (is_low and not any(x.y0 > run[-1].y1 and measures.has_text_font(x) for x in page.lines))


def _begins_text(run: list[Line], document: Document, measures: Measures) -> bool:
    """Return whether a run without an abstract's head is the paper's text.

    The run has the running text's font, and it follows the head of the introduction, ends within a sentence, or is too long.
    """
    last = run[-1]
    is_narrow = max(x.width for x in run) < _MAX_WIDTH * measures.width
    if is_narrow or last.font.family != measures.family or abs(last.size - measures.size) > 0.3:
        return False
    page = document.pages[run[0].page - 1].lines
    above = page[: page.index(run[0])]
    ended = join_tokens([t for t in last.tokens if not t.font.raised]).rstrip("”’\"') ").endswith((".", "!", "?", "。"))
    words = sum(len(x.text.split()) for x in run)
    heads = [x for x in above if INTRODUCTION.match(x.text) and not x.tokens[0].font.raised]
    return not ended or words > _MAX_WORDS or bool(heads)
