"""Restore running text to the body if a step took it for front matter or a float by mistake."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from pdf2tei.front.authors import affiliation_words
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Document, Kind, Line, group_items
from pdf2tei.words import read_pattern

_MIN_LINES = 3  # minimum number of lines of a paragraph
_MIN_CHARACTERS = 200  # minimum number of characters of a paragraph
_MIN_LOWERCASE_SHARE = 0.6  # minimum share of a paragraph's words that begin with a lowercase letter
_MIN_WIDTH_SHARE = 0.75  # a paragraph narrower than this share of a column is a sidebar
_MAX_SHARE = 0.5  # maximum share of the lines in the running text's font that may have a kind other than BODY
_MAX_COUNT = 30  # maximum number of such lines, if their share is smaller
_TITLE_SIZE_RATIO = 1.2  # a paragraph that is larger than the running text by this factor is a title
_IMPRINT = read_pattern("guard", "imprint")


def restore_front(document: Document, measures: Measures) -> None:
    """Restore paragraphs of the front to the body unless they are imprint or affiliations."""
    for run in _list_paragraphs(document, (Kind.FRONT,)):
        if _is_prose(run) and _is_text_of_paper(run, measures):
            _restore(run)


def restore_floats(document: Document, measures: Measures) -> None:
    """Restore paragraphs of figures and tables in the running text's font to the body.

    If most lines in the running text's font have one kind other than BODY, that decision was wrong and all of them are restored.
    """
    texts = [x for page in document.pages for x in page.lines if _is_set_as_text(x, measures)]
    kinds = Counter(line.kind for line in texts)
    least = max(_MAX_SHARE * len(texts), _MAX_COUNT)
    wrong = [k for k in (Kind.FRONT, Kind.FIGURE, Kind.TABLE, Kind.CAPTION) if kinds[k] > least]
    _restore([line for line in texts if line.kind in wrong])
    for run in _list_paragraphs(document, (Kind.FIGURE, Kind.TABLE)):
        if _is_prose(run) and all(_is_set_as_text(line, measures) for line in run[:-1]):
            _restore(run)


def _restore(run: list[Line]) -> None:
    for line in run:
        line.kind = Kind.BODY


def _list_paragraphs(document: Document, kinds: tuple[Kind, ...]) -> list[list[Line]]:
    """Return the paragraphs of neighboring lines with these kinds."""
    groups = (groupby(page.lines, key=lambda line: line.kind in kinds) for page in document.pages)
    return [run for group in groups for is_taken, lines in group if is_taken for run in _group_paragraphs(list(lines))]


def _group_paragraphs(lines: list[Line]) -> list[list[Line]]:
    """Group lines of one size that follow each other closely in one column."""

    def begins(run: list[Line], line: Line) -> bool:
        return run[-1].font.bold != line.font.bold or not line.continues(run[-1], gap=0.9, size=0.3, rise=0.5)

    return group_items(lines, begins)


def _is_prose(run: list[Line]) -> bool:
    """Return whether lines are a paragraph of sentences."""
    words = [word for line in run for word in line.text.split()]
    small = sum(word[0].islower() for word in words)
    is_long = len(run) >= _MIN_LINES and sum(len(x.text) for x in run) >= _MIN_CHARACTERS
    return is_long and small >= _MIN_LOWERCASE_SHARE * len(words)


def _is_text_of_paper(run: list[Line], measures: Measures) -> bool:
    """Return whether a paragraph of the front is the paper's own text, and not a title, a sidebar, an imprint or affiliations."""
    text = " ".join(line.text for line in run)
    return (
        run[0].size < _TITLE_SIZE_RATIO * measures.size
        and max(line.width for line in run) > _MIN_WIDTH_SHARE * measures.width
        and affiliation_words(text) <= len(run)
        and not _IMPRINT.search(text)
    )


def _is_set_as_text(line: Line, measures: Measures) -> bool:
    """Return whether a line has the running text's font and fills its column."""
    return measures.has_text_font(line) and line.width > 0.9 * measures.width and not line.font.bold
