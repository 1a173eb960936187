"""Parse reference strings into fields, from the CRF's labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from s2orc_parse.bibliography.names import parse_authors

from .authors import FrontAuthor
from .crf import TokenLabel, label_references
from .dois import find_doi

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d[a-z]?")
_ARXIV = re.compile(
    r"arxiv[\s:.]*(?:preprint\s+arxiv\s*:)?\s*(?:abs/)?(\d{4}\.\s?\d{4,5}|[a-z\-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.I
)
_OLD_ARXIV = re.compile(
    r"\b((?:hep-(?:ph|th|ex|lat)|astro-ph|cond-mat|gr-qc|nucl-(?:ex|th)|quant-ph|math-ph|math)/\d{7})\b"
)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]+")
_LEADING_YEAR = re.compile(r"((?:1[6-9]|20)\d\d[a-z]?)[.,:]?\s+(?=[^\W\d_])")
_BEFORE_YEAR = re.compile(r"\s*(?:\[\d+\]\s*)?([^()]+?)[.,]?\s*\((?:1[6-9]|20)\d\d[a-z]?(?:,[^)]*)?\)[.,]\s")
_QUOTE = re.compile(r"[“«]([^“”«»]{4,}?)[”»](?![^\W_])")
_LOWERCASE_WORD = re.compile(r"\b[a-zß-ÿ]{5,}\b(?!\.)")
_QUOTE_END = re.compile(r"(?<=[^\W\d_]{2}[.,?!])[”\"»](?=\s*[^\W_])|(?<=[^\W\d_]{3})[”\"»][.,]?(?=\s+[A-Z0-9])")
_SENTENCE = re.compile(r"(?<=[^\W\d_]{4})\s?[.?!]+[)”’\"']?\s+(?=[A-Z0-9À-Þ])|(?<=\))[.]\s+(?=[A-Z0-9À-Þ])")
_QUESTION_END = re.compile(r"[?!]\s+(?=[A-Z0-9À-Þ])(?!.*[?!])")
_CONTAINERS = frozenset((TokenLabel.JOURNAL, TokenLabel.BOOKTITLE))
_NUMBERS = frozenset((TokenLabel.VOLUME, TokenLabel.ISSUE, TokenLabel.PAGES))
_EDITORS = re.compile(r"[(\[]?\b(?:eds?|editors?|hrsg)\b\.?[)\]]?", re.I)
_BRACKETS = re.compile(r"[()\[\]]")
_MAX_SURNAME = 60
"""Maximum length of a surname, in characters; longer texts are not names."""
_TRIMMED = " ,.;:“”\"'‘’«»()[]"


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


def parse_references(raws: Sequence[str]) -> list[Reference]:
    """Return the fields of each reference string. Patterns find identifiers; the CRF finds the other fields."""
    return [_build_reference(raw, fields) for raw, fields in zip(raws, label_references(raws), strict=True)]


def _build_reference(raw: str, fields: list[tuple[TokenLabel, str]]) -> Reference:
    out = Reference()
    found: dict[TokenLabel, list[str]] = {}
    for kind, value in _correct_fields(fields, raw):
        found.setdefault(kind, []).append(value)

    def first(kind: TokenLabel) -> str:
        return next((v for x in found.get(kind, []) if (v := x.strip(_TRIMMED))), "")

    out.title = max(
        (t.strip(_TRIMMED[:-4] if t.count("(") == t.count(")") else _TRIMMED) for t in found.get(TokenLabel.TITLE, [])),
        key=len,
        default="",
    )
    out.title = _close_bracket(out.title)
    out.journal = first(TokenLabel.JOURNAL)
    out.booktitle = first(TokenLabel.BOOKTITLE)
    out.series = first(TokenLabel.SERIES)
    if not out.title and out.booktitle:
        out.title, out.booktitle, out.monograph = out.booktitle, "", True
    out.authors = parse_reference_authors(" , ".join(found.get(TokenLabel.AUTHOR, [])))
    out.publisher = first(TokenLabel.PUBLISHER) or first(TokenLabel.INSTITUTION)
    out.location = first(TokenLabel.LOCATION)
    out.volume, out.issue, out.pages = first(TokenLabel.VOLUME), first(TokenLabel.ISSUE), first(TokenLabel.PAGES)
    if out.title and not (out.journal or out.booktitle) and (first(TokenLabel.PUBLISHER) or out.location):
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


def _correct_fields(fields: list[tuple[TokenLabel, str]], raw: str) -> list[tuple[TokenLabel, str]]:
    """Return the fields with wrongly joined or split titles corrected.

    A quoted title is exactly the text between its quotation marks; text after the closing mark belongs to another field. If the
    title or the journal is missing, the other is split at the end of a sentence. A year before a title is removed from it. Text
    before a year in brackets is a title unless it is a name.
    """
    kinds = {kind for kind, _ in fields}
    if kinds & _CONTAINERS and TokenLabel.TITLE not in kinds:
        before = _BEFORE_YEAR.match(raw)
        has_no_authors = TokenLabel.AUTHOR not in kinds or (
            fields[0][0] is TokenLabel.AUTHOR and _is_prose(fields[0][1])
        )
        if has_no_authors and before and len(before[1]) > 3:
            return [(TokenLabel.TITLE, before[1]), *(f for f in fields if f[1] not in before[1])]
        if has_no_authors and TokenLabel.AUTHOR in kinds:
            return [(TokenLabel.TITLE, fields[0][1]), *fields[1:]]
    out: list[tuple[TokenLabel, str]] = []
    for i, (kind, value) in enumerate(fields):
        if kind is TokenLabel.TITLE and (dated := _LEADING_YEAR.match(value)) and kinds.isdisjoint({TokenLabel.DATE}):
            out.append((TokenLabel.DATE, dated[1]))
            value = value[dated.end() :]
        alone = (kind is TokenLabel.TITLE and not kinds & _CONTAINERS) or (
            kind in _CONTAINERS and TokenLabel.TITLE not in kinds
        )
        cut = _QUOTE_END.search(value) if alone else None
        if (
            cut is None
            and alone
            and kind is not TokenLabel.JOURNAL
            and i + 1 < len(fields)
            and fields[i + 1][0] in _NUMBERS
        ):
            cut = next(reversed([m for m in _SENTENCE.finditer(value) if len(value) - m.end() > 2]), None)
        elif cut is None and alone and kind is TokenLabel.JOURNAL:
            prose = [m for m in _SENTENCE.finditer(value) if _LOWERCASE_WORD.search(value, 0, m.start())]
            cut = prose[-1] if prose else next(iter(_QUESTION_END.finditer(value)), None)
        if cut is None:
            out.append((kind, value))
        else:
            container = kind if kind in _CONTAINERS else TokenLabel.JOURNAL
            out += [(TokenLabel.TITLE, value[: cut.end()].rstrip()), (container, value[cut.end() :].lstrip())]
    title = next((value for kind, value in out if kind is TokenLabel.TITLE), None)
    quote = next((m[1] for m in _QUOTE.finditer(raw) if title and title.strip(_TRIMMED) in m[1]), None)
    if title is None or quote is None:
        return out
    return [(kind, quote if value == title else value) for kind, value in out if value == title or value not in quote]


def _is_prose(authors: str) -> bool:
    """Return whether supposed authors are a title: at least three words without comma, initial or `and`."""
    return len(authors.split()) > 2 and not re.search(r"[,;&]|\band\b|\bet al\b|\b[^\W\d_]\b", authors)


def _close_bracket(title: str) -> str:
    """Append the closing bracket that is missing at the end of a title."""
    if title.count("(") > title.count(")"):
        return title + ")" if title.rfind("(") > len(title) - 40 else title
    return title
