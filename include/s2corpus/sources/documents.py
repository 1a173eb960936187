"""Recognize kinds of documents that are no articles, and names of journals, by their titles (SPEC §0.24)."""

from __future__ import annotations

import re
from enum import StrEnum


class Document(StrEnum):
    """The kind of a document that is no article: its title often contains the title of another work."""

    ERRATUM = "erratum"
    REPLY = "reply"
    COMMENT = "comment"
    REVIEW = "review"
    EDITORIAL = "editorial"
    FRONT_MATTER = "front matter"
    ABSTRACT = "abstract"


_ERRATUM = r"corrections?|corrigend(?:um|a)|errat(?:um|a)|addend(?:um|a)|retraction|expression of concern"
_BEGINNINGS = {
    Document.ERRATUM: rf"(?:(?:author|publisher)\W{{0,2}}s?\W+)?(?:{_ERRATUM})(?:\s+(?:note|notice))?\s*(?::|\bto\b|\bfor\b|-|–|—)",
    Document.REPLY: r"(?:(?:the )?authors?\W{0,2}s?\W+)?(?:in )?(?:reply|repl(?:y|ies)|response|rejoinder)(?:\s+to\b|\s*:)",
    Document.COMMENT: r"(?:(?:invited|editorial)\s+)?(?:comment(?:ary|s)?|discussion|letter)(?:\s+(?:on|to|re|of)\b|\s*:)|re\s*:",
    Document.REVIEW: r"(?:book|film|literature)?\s*review(?:\s+of\b|\s*:)|book review\b",
    Document.EDITORIAL: r"(?:guest |invited )?editorial(?:\s*:|\s+on\b)|editors?\W{0,2}s?\W+(?:comments?|notes?|introduction)\s*:",
    Document.FRONT_MATTER: r"(?:front|back)\s?matter\b|table of contents\b|(?:author|subject) index\b|cover (?:image|picture)\b",
    Document.ABSTRACT: r"abstract\s+[a-z]{0,4}-?\d+[a-z]?\s*[:.–—-]",
}
_PLACE = r"\((?:19|20)\d\d\)\s*[\w.:,-]*\s*\([^()]*\d[^()]*\)"
"""year, volume and pages of the corrected work, as Scopus appends them to its title: (Blood (2009) 36 (542-544))"""
_ENDS = {
    Document.ERRATUM: rf"[(\[](?:vol(?:ume)?\.?\s*\d+\W[^()]*\bp(?:gs?|p|ages?)?\b\.?[^()]*|{_ERRATUM}|[^()]{{3,}}{_PLACE}[^()]*)[)\]]\W*",
    Document.REPLY: r"(?:(?<!dose)\s[-–—]\s*|[:.?]\s+|[(\[])(?:the )?(?:authors?\W{0,2}s?\W+)?(?:reply|rejoinder|response)\W*",
    Document.COMMENT: r"(?:\s[-–—]\s*|[:.?]\s+|[(\[])(?:invited |editorial )?(?:comment|commentary)\W*",
}
DOCUMENT_WORDS = (
    r"(?i)correction|corrigend|errat|addend|retraction|concern|repl|respon|rejoinder|comment|discussion|letter|re\s*:|review|matter|"
    rf"index|cover|contents|editor|abstract|vol|{_PLACE}"
)
"""A title without a match of this expression (RE2) names no kind of document."""
_WORDS = re.compile(DOCUMENT_WORDS)
_BEGINNING = re.compile("|".join(f"({pattern})" for pattern in _BEGINNINGS.values()), re.IGNORECASE)
_END = re.compile("|".join(f"({pattern})$" for pattern in _ENDS.values()), re.IGNORECASE)
_NAMES = r"(?:\s+(?-i:(?:[^\W\d_a-z][\w.'’-]*|and|et|al\.|&|by|de|van|von|der)(?:[,\s]+|(?=:))){1,8}:)"
_BEFORE_TITLE = re.compile(rf"\b(?:{'|'.join(_BEGINNINGS.values())})(?:\s+the article|{_NAMES})?\W*$", re.IGNORECASE)
SERIES_WORDS = r"(?i)journal|ieee|acm|transactions|proceedings|annals|bulletin|communications|archives|reports"
"""A title without a match of this expression (RE2) is no name of a series."""
_SERIES = re.compile(
    r"\W*(?:the )?(?:(?:[a-z]+ ){0,3}journals? (?:of|on|for)|(?:ieee|acm)\b[/a-z ]* (?:transactions|journal|letters) on|"
    r"(?:\w+ ){0,2}(?:transactions|proceedings|annals|bulletin|communications|archives|reports) of the)\b[^:?!.]*",
    re.IGNORECASE,
)


def find_document(title: str) -> Document | None:
    """Return the kind of document that a title names, or None: "Correction to: X", "Reply to X", "X (vol 3, pg 5, 2010)"."""
    if _WORDS.search(title) is None:
        return None
    if (match := _BEGINNING.match(title.lstrip(" \"'“”‘’([«."))) and match.lastindex:
        return tuple(_BEGINNINGS)[match.lastindex - 1]
    if (match := _END.search(title)) and match.lastindex and match.start():
        return tuple(_ENDS)[match.lastindex - 1]
    return None


def ends_with_kind(text: str) -> bool:
    """Return whether a text before a title makes it the title of a notice: "Correction to: "."""
    return _BEFORE_TITLE.search(text) is not None


def is_name_of_series(title: str) -> bool:
    """Return whether a title is the name of a journal or of proceedings: "Journal of the Association for Information"."""
    return _SERIES.fullmatch(title) is not None
