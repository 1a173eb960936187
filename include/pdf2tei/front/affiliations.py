"""Assign affiliations and e-mail addresses on the first pages to the authors, by their marks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pdf2tei.body.sections import Section
from pdf2tei.front.authors import AUTHOR_DETAILS, DEGREES, FrontAuthor, PrintedAffiliation, affiliation_words
from pdf2tei.front.front_lines import Front, FrontLabel
from pdf2tei.models.segmentation import score_as_reference
from pdf2tei.pages.model import Kind, Line, Token
from pdf2tei.pages.text import Text, clean
from pdf2tei.words import read_pattern

_KEY = re.compile(r"[\d*†‡§¶∗⋆♯∥#ǁ♠♣♦♥]|[a-z](?![a-z])")
_LEADING = read_pattern("affiliations", "leading", re.NOFLAG)
_EMAIL = read_pattern("affiliations", "email", re.NOFLAG)
_NOT_AFFILIATION = read_pattern("affiliations", "not_affiliation")
_MARKS = re.compile(r"\d{1,2}|[*†‡§¶∗⋆♯∥#ǁ]+")
_INITIALS = re.compile(r"(?:[A-ZÀ-Þ]\.?-?){1,3}(?![\w’'])")
_MAX_LENGTH = 400  # upper limit of an affiliation's length, in characters


@dataclass(slots=True)
class _MarkedAffiliation:
    """An affiliation with the mark before it and its position."""

    key: str
    words: list[Token]
    last: Line

    @property
    def text(self) -> str:
        text = clean("".join((" " if t.space and i else "") + t.text for i, t in enumerate(self.words)))
        return _EMAIL.sub("", text).strip(" ,;.:|")


def assign_affiliations(authors: list[FrontAuthor], names: list[Line], front: Front) -> list[FrontAuthor]:
    """Return the authors with their affiliations and e-mail addresses. `names` are the byline's lines.

    Affiliations are assigned by mark. Without marks, a single affiliation belongs to all authors; otherwise each affiliation
    belongs to the nearest name above it. An e-mail address is assigned by the surname in it, or to the only author.
    """
    if not authors:
        return authors
    where = _locate_surnames(authors, names)
    lines = [x for x in front.lines if x not in names and x.kind is not Kind.ABSTRACT]
    places = _find_affiliations([x for x in lines if _is_affiliation_line(x, front)])
    matches = _EMAIL.finditer(" ".join(clean(line.text) for line in lines))
    addresses = (f"{name.strip()}@{m[3]}" for m in matches for name in (m[1] or m[2]).split(",") if name.strip())
    emails = list(dict.fromkeys(x for x in addresses if not x.startswith(("support@", "permissions@"))))
    keyed: dict[str, list[_MarkedAffiliation]] = {}
    for place in places:
        keyed.setdefault(place.key, []).append(place)
    left, right = min(x.x0 for x in names), max(x.x1 for x in names)
    under = [x for x in places if x.last.page == names[0].page and x.last.y0 > names[0].y0 - 2]
    below = [x for x in under if x.last.x0 < right + 5 and x.last.x1 > left - 5]
    marked = any(set(marks) & set(keyed) - {""} for _, marks in where)
    out: list[FrontAuthor] = []
    for author, (token, marks) in zip(authors, where, strict=True):
        author = replace(author, marks=tuple(dict.fromkeys(marks)))
        if marked:
            own = [place for key in dict.fromkeys(marks) for place in keyed.get(key, []) if key]
        elif len(below) == 1:
            own = below
        else:
            own = [place for place in below if token and _is_nearest_name(token, place, where)]
        texts = tuple(dict.fromkeys(PrintedAffiliation(p.key, p.text) for p in own if len(p.text) > 5))
        out.append(replace(author, affiliations=texts, email=_choose_email(author, emails, len(authors))))
    return out


def add_affiliations_of_sections(authors: list[FrontAuthor], sections: list[Section]) -> list[FrontAuthor]:
    """Return the authors with the affiliations of a section such as `Author details`, if it lists more than the front."""
    keyed: dict[str, str] = {}
    for section in sections:
        if AUTHOR_DETAILS.match(section.head):
            for item in section.items:
                keyed |= _parse_paragraph(item.content)
    if len(keyed) <= len({place.mark for author in authors for place in author.affiliations}):
        return authors
    return [
        replace(
            author,
            affiliations=tuple(PrintedAffiliation(key, keyed[key]) for key in author.marks if key in keyed)
            or author.affiliations,
        )
        for author in authors
    ]


def _parse_paragraph(content: Text) -> dict[str, str]:
    """Return the affiliations in a paragraph, by the raised number before each."""
    mark_ranges = [(start, end) for start, end in content.raised if content.text[start:end].strip().isdigit()]
    if not mark_ranges:
        return {}
    ends = [*(start for start, _ in mark_ranges[1:]), len(content.text)]
    return {
        content.text[start:end].strip(): place
        for (start, end), stop in zip(mark_ranges, ends, strict=True)
        if 5 < len(place := content.text[end:stop].strip(" .;,")) < _MAX_LENGTH
    }


def _is_affiliation_line(line: Line, front: Front) -> bool:
    if score_as_reference(line.text) > 2:  # a footnote that contains a publisher's name
        return False
    probability = front.probability(line, FrontLabel.AFFILIATION)
    is_likely = probability > (0.1 if affiliation_words(line.text) else 0.5)
    return is_likely and not _NOT_AFFILIATION.match(line.text)


def _find_affiliations(lines: list[Line]) -> list[_MarkedAffiliation]:
    """Return the affiliations in order.

    A new affiliation begins at a raised or leading mark. Without marks, it begins at a gap or where the type size changes.
    """
    found: list[_MarkedAffiliation] = []
    for line in lines:
        raised = line.tokens[0].font.raised and _KEY.match(line.tokens[0].text) is not None
        leading = None if raised else _LEADING.match(line.text)
        begins = not found or not line.continues(found[-1].last, gap=0.8, size=0.6, rise=0.5)
        words: list[Token] = []
        if leading:
            found.append(_MarkedAffiliation(leading[1] or leading[2], words, line))
        elif begins and not raised:
            found.append(_MarkedAffiliation("", words, line))
        elif found and not raised:
            words = found[-1].words
            found[-1].last = line
        skip = leading.end() if leading else 0
        for i, token in enumerate(line.tokens):
            if token.font.raised and _KEY.match(token.text):
                words = []
                found.append(_MarkedAffiliation(token.text.strip(" ,"), words, line))
                continue
            if skip > 0:
                kept = token.text[skip:]
                skip -= len(token.text) + (line.tokens[i + 1].space if i + 1 < len(line.tokens) else 0)
                if not kept:
                    continue
                token = replace(token, text=kept)
            words.append(replace(token, space=True) if not i else token)
    return [place for place in found if 5 < len(place.text) < _MAX_LENGTH and any(c.isalpha() for c in place.text)]


def _locate_surnames(authors: list[FrontAuthor], names: list[Line]) -> list[tuple[Token | None, list[str]]]:
    """Return for each author the token that ends the surname in the byline, and the marks after it."""
    tokens = [token for line in sorted(names, key=lambda x: (round(x.y0 / 4), x.x0)) for token in line.tokens]
    out: list[tuple[Token | None, list[str]]] = []
    at = 0
    for author in authors:
        last = author.surname.split()[-1].casefold() if author.surname else ""
        here = next((i for i in range(at, len(tokens)) if last and last in clean(tokens[i].text).casefold()), None)
        if here is None:
            out.append((None, []))
            continue
        marks: list[str] = []
        tail = clean(tokens[here].text)
        marks += _MARKS.findall(tail[tail.casefold().find(last) + len(last) :])
        at = here + 1
        if at < len(tokens) and (initials := _INITIALS.match(tokens[at].text)):  # Jianu C**
            marks += _MARKS.findall(tokens[at].text[initials.end() :])
            at += 1
        while at < len(tokens):  # marks, signs and degrees of the same author
            is_degree = tokens[at].text.strip(",.") in DEGREES
            if not (is_degree or tokens[at].font.raised or not any(c.isalpha() for c in tokens[at].text)):
                break
            if not is_degree:
                marks += re.findall(r"\d{1,2}|[a-z]|[*†‡§¶∗⋆♯∥#ǁ]+", tokens[at].text)
            at += 1
        out.append((tokens[here], marks))
    return out


def _is_nearest_name(token: Token, place: _MarkedAffiliation, where: list[tuple[Token | None, list[str]]]) -> bool:
    """Return whether an affiliation is below a name and nearer to this name than to any other."""
    middle = (place.last.x0 + place.last.x1) / 2
    above = [name for name, _ in where if name is not None and name.y1 < place.last.y1]
    return bool(above) and token is min(
        above, key=lambda name: (round(abs((name.x0 + name.x1) / 2 - middle) / 30), abs(place.last.y0 - name.y1))
    )


def _choose_email(author: FrontAuthor, emails: list[str], authors: int) -> str:
    surname, *names = ("".join(filter(str.isalpha, x.partition("@")[0].casefold())) for x in (author.surname, *emails))
    named = (email for email, name in zip(emails, names, strict=True) if len(surname) > 2 and surname in name)
    return next(named, emails[0] if authors == len(emails) == 1 else "")
