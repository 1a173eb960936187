"""Separate the back matter from the body: acknowledgements, statements, appendices."""

from __future__ import annotations

import re

from pdf2tei.body.sections import Section
from pdf2tei.words import read_pattern

_KINDS = {
    kind: read_pattern("back", kind)
    for kind in ("acknowledgement", "funding", "availability", "contribution", "conflict", "annex")
}
_STATEMENT = read_pattern("back", "statement")
_NUMBER = re.compile(r"^(?:[A-Z]|\d+|[IVX]+)[.:]?\s+(?=\S)")


def split_back_matter(sections: list[Section]) -> tuple[list[Section], list[tuple[str, list[Section]]]]:
    """Return the body's sections, and the back's sections with their kinds.

    A section with the head of back matter belongs to the back. If back matter precedes it, a statement or a section in smaller
    type belongs to the back too. Other sections up to the reference list belong to the body. Sections after the list belong to
    the back; without a head of back matter they are annex.
    """
    body: list[Section] = []
    back: list[tuple[str, list[Section]]] = []
    for section in sections:
        head = _NUMBER.sub("", section.head.strip())
        kind = next((kind for kind, pattern in _KINDS.items() if pattern.match(head)), None)
        if section.after_references:
            kind = kind or "annex"
        elif kind == "contribution" and not re.match(r"(?:the\s)?(?:authors?|contributors)", section.head, re.I):
            kind = None
        if kind is None and back and not section.after_references and (section.small or _STATEMENT.match(section.head)):
            kind = back[-1][0]
        if kind is None:
            body.append(section)
        elif back and back[-1][0] == kind:
            back[-1][1].append(section)
        else:
            back.append((kind, [section]))
    return body, back
