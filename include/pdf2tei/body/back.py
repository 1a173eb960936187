"""Separate the back matter from the body: acknowledgements, statements, appendices."""

from __future__ import annotations

import re

from pdf2tei.body.sections import Section

_KINDS = (
    ("acknowledgement", re.compile(r"acknowledge?ments?|danksagung|remerciements|agradecimientos|致\s*谢", re.I)),
    ("funding", re.compile(r"funding|financial support|grant support", re.I)),
    (
        "availability",
        re.compile(
            r"(?:data|code)(?: and (?:code|materials?))? (?:availability|sharing)|availability of (?:data|code)", re.I
        ),
    ),
    ("contribution", re.compile(r"(?:authors?.{0,2}\s)?(?:contributions?|credit author)|contributors$", re.I)),
    (
        "conflict",
        re.compile(r"(?:declaration of |statement of )?(?:conflicts?|competing|conflicting)\b.{0,20}interests?", re.I),
    ),
    (
        "annex",
        re.compile(
            r"(?:appendi(?:x|ces)|supplement|supporting information|orcid|abbreviations|additional (?:files?|information)|"
            r"about the authors?|biograph|notes?$|publisher.s note|endnotes?|declarations?\b|author details|author information|"
            r"disclosures?|reproducibility checklist|anhang)",
            re.I,
        ),
    ),
)
_STATEMENT = re.compile(
    r"ethic|compliance with|(?:informed |patient )?consent\b|data sharing|provenance|open access|contributors|grant|financ|role of the|"
    r"trial registration|orcid|"
    r"(?:received|accepted)\b",
    re.I,
)
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
        kind = _find_kind(section.head)
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


def _find_kind(head: str) -> str | None:
    text = _NUMBER.sub("", head.strip())
    return next((kind for kind, pattern in _KINDS if pattern.match(text)), None)
