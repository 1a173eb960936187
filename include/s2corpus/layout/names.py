"""The authors of a reference, as its style prints them, into forenames and surnames."""

from __future__ import annotations

import re

from .authors import PARTICLES, SUFFIXES, Author

_ET_AL = re.compile(r"[,;\s]*(?:\bet\s+al\b\.?|\band\s+(?:\d+\s+)?others\b|\bu\.\s?a\.|…|\.\.\.)\s*", re.I)
_EDITORS = re.compile(r"[(\[]?\b(?:eds?|editors?|hrsg)\b\.?[)\]]?", re.I)
_AND = re.compile(r"\s*(?:&|\band\b|\bund\b|\bet\b|\by\b|\be\b(?=\s[A-Z]))\s*")
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\s*\.?\s*[-‐–]?\s*){1,4}")
_CAPITALS = re.compile(r"[A-ZÀ-Þ]{1,4}(?:-[A-ZÀ-Þ]{1,2})?")
_INVERTED = re.compile(r"(?P<surname>.+?)\s+(?P<initials>(?:[A-ZÀ-Þ]\s?\.\s?-?){1,4}|[A-ZÀ-Þ]{1,3}(?:-[A-ZÀ-Þ])?)")


def people(text: str) -> list[Author]:
    """Every author named in the author field of a reference string.

    Knows `J. Q. Smith, K. Berg and A. Doe`, `Smith, J. Q., Berg, K., & Doe, A.`, `Smith JQ, Berg K`, `Smith, John; Berg, Kees`
    and a first author alone inverted."""
    text = _EDITORS.sub(" ", _ET_AL.sub(" , ", text))
    if ";" in text:
        out = [a for part in text.split(";") for a in _joined([p.strip() for p in _AND.sub(",", part).split(",")])]
        return out
    return _joined([p.strip() for p in _AND.sub(",", text).split(",")])


def _is_initials(piece: str) -> bool:
    return bool(piece) and bool(
        _CAPITALS.fullmatch(piece)
        or (_INITIALS.fullmatch(piece) and piece[0].isupper() and ("." in piece or len(piece) < 4))
    )


def _joined(parts: list[str]) -> list[Author]:
    """Pieces between commas as names: a piece with its initials beside it, before it, or in the next piece."""
    pieces = [p.strip(" :()[]") for p in parts if len(p.strip(" .:()[]")) > 0]
    out: list[Author] = []
    i = 0
    while i < len(pieces):
        piece = pieces[i]
        after = pieces[i + 1] if i + 1 < len(pieces) else ""
        i += 1
        if piece.lower().rstrip(".") in {s.rstrip(".") for s in SUFFIXES}:
            continue
        words = piece.split()
        if _is_initials(piece) and len(piece.replace(" ", "")) < 3 and not out:
            continue
        if _is_initials(after) and not _has_initials(piece):
            out.append(Author(_forenames(after), piece))
            i += 1
        elif (
            (match := _INVERTED.fullmatch(piece))
            and not re.match(r"[A-ZÀ-Þ]\s?\.", piece)
            and len(match["surname"]) > 1
        ):
            out.append(Author(_forenames(match["initials"]), match["surname"].strip()))
        elif (
            len([w for w in words if w.lower() not in PARTICLES]) < 2
            and after
            and not _has_initials(after)
            and _given(after)
        ):
            out.append(Author(_forenames(after), piece))
            i += 1
        elif len(words) == 1:
            if not _is_initials(piece) or len(piece) > 4:
                out.append(Author((), piece))
        else:
            cut = len(words) - 1
            while cut > 1 and words[cut - 1].lower() in PARTICLES:
                cut -= 1
            out.append(Author(_forenames(" ".join(words[:cut])), " ".join(words[cut:])))
    return [a for a in out if len(a.surname.strip(".")) > 1 and len(a.surname) < 60]


def _has_initials(piece: str) -> bool:
    return bool(re.match(r"(?:[A-ZÀ-Þ]\s?\.\s?-?)+", piece)) or bool(re.search(r"\s(?:[A-ZÀ-Þ]\s?\.\s?-?)+$", piece))


def _given(piece: str) -> bool:
    words = piece.split()
    return len(words) <= 2 and words[0][:1].isupper() and words[0].lower() not in PARTICLES


def _forenames(text: str) -> tuple[str, ...]:
    """Given names or initials apart: `J.Q.` and `JQ` are two."""
    if _CAPITALS.fullmatch(text) and "-" not in text:
        return tuple(text)
    return tuple(w for w in re.sub(r"\.\s*(?!-)", ". ", text).replace(" .", ".").split() if w.strip("."))
