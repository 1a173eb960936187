"""Parse reference strings into fields, from the CRF's labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pdf2tei.front.authors import FrontAuthor
from pdf2tei.references.crf import TokenLabel, label_references
from pdf2tei.references.dois import find_doi
from pdf2tei.references.entry_titles import CONTAINERS, TRIMMED, Field, correct_fields, locate
from pdf2tei.words import read_pattern
from s2orc_parse.bibliography.names import make_author, parse_authors

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d[a-z]?")
_ARXIV = read_pattern("fields", "arxiv")
_OLD_ARXIV = read_pattern("fields", "old_arxiv", re.NOFLAG)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]+")
_EDITORS = read_pattern("fields", "editors")
_IN_BOOK = re.compile(r"\W+[iI]n:?\s+[A-Z]")
_EDITION = re.compile(r"\b\d{1,2}\.? ?(?:st|nd|rd|th)? ed(?:n|ition)?\b", re.I)
_BEFORE_HOST = re.compile(r"(\w[?!]?)[.\s]*(?:\s/\s[^/]{1,200})?\s//\s*(?=[^\W\d_])")
"""Before the journal or book in references of GOST R 7.0.5 and 7.1; the latter repeats the authors after a slash."""
_REPEATED_AUTHORS = read_pattern("fields", "repeated_authors", re.NOFLAG)
"""Authors after a slash before place and publisher, and the number of pages, in references to books of GOST 7.1."""
_SLASHED = read_pattern("fields", "slashed", re.NOFLAG)
_SLASH = re.compile(r"\s?/\s?")
_BULLET = re.compile(r"^[^\w\s(\[{“”„«»\"'‘’‚<¿¡—–_.…-]+\s+")
_INITIAL = re.compile(r"\b[^\W\d_]\.\s+(?=[^\W\d_]{2,}\s)")
_JOURNAL_BEGIN = re.compile(
    r"^\W*(?:\d+\W+)?[^\W\d_]{2}[^,.]*,\s(?:.*[^\W\d_]{2},\s)?(?:[A-Z]\.[\s-]?)+?((?:J\.\s)?[A-Z][\w-]+(?:\.?\s[A-Z][\w-]*){0,4})\.?$"
)
"""A journal, or its first word, after the initials of the last author: "Klinman, J. P. Acc. Chem. Res."."""
_BRACKETS = re.compile(r"[()\[\]]")
_MAX_SURNAME = 60  # maximum length of a surname, in characters; longer texts are not names


@dataclass(slots=True)
class Reference:
    """The fields of a reference, as printed; missing fields are empty."""

    title: str = ""
    authors: list[FrontAuthor] = field(default_factory=list)
    journal: str = ""
    booktitle: str = ""
    series: str = ""
    publisher: str = ""
    location: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    year: str = ""
    """The year, with a letter if the list distinguishes works of one year (2010a)."""
    doi: str = ""
    arxiv: str = ""
    url: str = ""
    monograph: bool = False
    """Whether the work is a book and not a part of a book."""


def parse_reference(raw: str) -> Reference:
    """Return the fields of one reference string."""
    return parse_references([raw])[0]


def parse_bibliography_item(raw: str) -> dict[str, Any]:
    """Return the fields of a printed entry of a LaTeX bibliography without markup of the fields."""
    found = parse_reference(raw)
    people = (make_author(" ".join(author.forenames), author.surname) for author in found.authors)
    return {
        "title": found.title, "authors": tuple(author for author in people if author), "year": found.year,
        "venue": found.journal or found.booktitle or found.series, "volume": found.volume, "issue": found.issue, "pages": found.pages,
        "publisher": found.publisher, "doi": found.doi, "eprint": found.arxiv,
    }  # fmt: skip


def parse_references(raws: Sequence[str]) -> list[Reference]:
    """Return the fields of each reference string. Patterns find identifiers; the CRF finds the other fields."""
    plain = list(map(_normalize, raws))
    hosts = [_BEFORE_HOST.search(text) for text in plain]
    texts = [f"{text[: m.end(1)]}. {text[m.end() :]}" if m else text for text, m in zip(plain, hosts, strict=True)]
    found = zip(texts, label_references(texts), (m.end(1) if m else 0 for m in hosts), strict=True)
    return [_build_reference(text, _divide_at_host(fields, text, at) if at else fields) for text, fields, at in found]


def _normalize(raw: str) -> str:
    """Return a reference string without bullet and repeated authors, and with semicolons for slashes between names."""
    text = _REPEATED_AUTHORS.sub(".", _BULLET.sub("", raw))
    return _SLASHED.sub(lambda m: _SLASH.sub("; ", m[0]), text) if "/" in text else text


def _divide_at_host(fields: list[Field], text: str, at: int) -> list[Field]:
    """Return fields of which none extends over the place before the host. If the authors extend to it, a title follows their initials."""
    out: list[Field] = []
    for (kind, value), start in zip(fields, locate(fields, text), strict=True):
        end = start + len(value)
        if start < at <= end + 2:
            is_author = kind is TokenLabel.AUTHOR
            names = max((m.end() for m in _INITIAL.finditer(value, 0, at - start) if is_author), default=0)
            out += [(kind, value[:names])] if names else []
            out.append((TokenLabel.TITLE if names or kind in CONTAINERS else kind, text[start + names : min(end, at)]))
            kind, value = TokenLabel.JOURNAL, text[at + 2 : end]
        if value:
            out.append((kind, value))
    return out


def _build_reference(raw: str, fields: list[tuple[TokenLabel, str]]) -> Reference:
    out = Reference()
    found: dict[TokenLabel, list[str]] = {}
    for kind, value in correct_fields(fields, raw):
        found.setdefault(kind, []).append(value)

    def first(kind: TokenLabel) -> str:
        return next((v for x in found.get(kind, []) if (v := x.strip(TRIMMED))), "")

    out.title = max(
        (t.strip(TRIMMED[:-4] if t.count("(") == t.count(")") else TRIMMED) for t in found.get(TokenLabel.TITLE, [])),
        key=len,
        default="",
    )
    if out.title.count("(") > out.title.count(")") and out.title.rfind("(") > len(out.title) - 40:
        out.title += ")"
    out.journal = first(TokenLabel.JOURNAL)
    out.booktitle = first(TokenLabel.BOOKTITLE)
    out.series = first(TokenLabel.SERIES)
    if not out.title and out.booktitle:
        out.title, out.booktitle, out.monograph = out.booktitle, "", True
    out.volume, out.issue, out.pages = first(TokenLabel.VOLUME), first(TokenLabel.ISSUE), first(TokenLabel.PAGES)
    authors = " , ".join(found.get(TokenLabel.AUTHOR, []))
    begin = None if out.title or not (out.journal or out.volume) else _JOURNAL_BEGIN.search(authors)
    if begin and (not out.journal or f"{begin[1]}." in raw):
        authors, out.journal = authors[: begin.start(1)], f"{begin[1]}. {out.journal}".rstrip(". ")
    out.authors = parse_reference_authors(authors)
    out.publisher = first(TokenLabel.PUBLISHER) or first(TokenLabel.INSTITUTION)
    out.location = first(TokenLabel.LOCATION)
    if out.title and not (out.journal or out.booktitle) and (first(TokenLabel.PUBLISHER) or out.location):
        out.monograph = not (out.title in raw and _IN_BOOK.match(raw, raw.index(out.title) + len(out.title)))
    elif out.title and not (out.journal or out.booktitle) and _EDITION.search(raw):
        out.monograph = True
    years = [m.group() for d in found.get(TokenLabel.DATE, []) if (m := _YEAR.search(d))]
    out.year = next(iter(years), "") or next((m.group() for m in _YEAR.finditer(raw)), "")
    if out.year and (letter := re.search(rf"{out.year}([a-z])\b", raw)) and not out.year[-1].isalpha():
        out.year += letter.group(1)
    out.doi = find_doi(raw)
    if match := _ARXIV.search(raw) or _OLD_ARXIV.search(raw):
        out.arxiv = match.group(1).replace(" ", "")
    if match := _URL.search(raw):
        out.url = match.group().rstrip(".,;)]")
    return out


def parse_reference_authors(text: str) -> list[FrontAuthor]:
    """Return every author in the author field of a reference string, without words like `editors`."""
    found = parse_authors(_BRACKETS.sub(" ", _EDITORS.sub(" ", text)))
    return [
        FrontAuthor(tuple(filter(None, (author.first, *author.middle))), author.last)
        for author in found
        if len(author.last.strip(".")) > 1 and len(author.last) < _MAX_SURNAME
    ]
