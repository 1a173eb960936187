"""The reference CRF: tokens of a reference string, their features, their labels."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .tagger import tagger

MODEL = Path(__file__).with_name("references.crfsuite")
"""Trained by `python -m s2corpus.layout.training`."""
MAX_CHARACTERS = 3000
"""Longer strings are not references; the rest is left unlabelled."""

_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*$", re.I)
_ROMAN = re.compile(r"[IVXLC]+$")
_STOPS = ".?!"
_SIGNS = ",;:"


class Label(StrEnum):
    """What a token of a reference string belongs to."""

    AUTHOR = "author"
    TITLE = "title"
    JOURNAL = "journal"
    BOOKTITLE = "booktitle"
    SERIES = "series"
    EDITOR = "editor"
    PUBLISHER = "publisher"
    LOCATION = "location"
    INSTITUTION = "institution"
    COLLABORATION = "collaboration"
    VOLUME = "volume"
    ISSUE = "issue"
    PAGES = "pages"
    DATE = "date"
    IDNO = "idno"
    URL = "url"
    NOTE = "note"
    OTHER = "other"


class Piece(NamedTuple):
    """A token of a reference string and where it stands."""

    text: str
    start: int
    end: int


def pieces(raw: str) -> list[Piece]:
    """Runs of letters, runs of digits, single signs."""
    return [Piece(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(raw[:MAX_CHARACTERS])]


def _shape(text: str) -> str:
    if text.isdigit():
        return f"d{min(len(text), 5)}"
    if not text.isalpha():
        return text
    if len(text) == 1:
        return "A" if text.isupper() else "a"
    if text.isupper():
        return "AA"
    if text[0].isupper():
        return "Aa" if text[1:].islower() else "AaA"
    return "aa" if text.islower() else "aA"


class _Word(NamedTuple):
    """What is true of a token by itself."""

    low: str
    """without accents in small letters"""
    plain: str
    """the same, with numbers as NUM"""
    shape: str
    said: tuple[str, ...]
    """its endings and what it may be"""
    beside: tuple[tuple[str, ...], ...]
    """how the tokens that it stands beside say it: for each place of _BESIDE"""


@lru_cache(maxsize=1 << 15)
def _word(text: str) -> _Word:
    low = text.lower()
    if not text.isascii():
        low = "".join(c for c in unicodedata.normalize("NFKD", low) if not unicodedata.combining(c))
    said: list[str] = []
    if text.isalpha():
        said += ["p2=" + low[:2], "p3=" + low[:3], "s2=" + low[-2:], "s3=" + low[-3:]]
        if _MONTH.match(low) and len(low) >= 3:
            said.append("month")
        if _ROMAN.match(text):
            said.append("roman")
    plain, shape = "NUM" if text.isdigit() else low, _shape(text)
    beside = tuple((f"{d}w={plain}", f"{d}s={shape}") if abs(d) < 3 else (f"{d}s={shape}",) for d in _BESIDE)
    return _Word(low, plain, shape, tuple(said), beside)


@lru_cache(maxsize=1 << 14)
def _run(before: str | None, last: str | None, shape: str, first: str | None, after: str | None) -> tuple[str, ...]:
    """What is true of a token's shape together with those of the two before it and the two after it (None: there is none)."""
    out = []
    if last is not None:
        out.append(f"s-1s={last}|{shape}")
    if first is not None:
        out.append(f"ss+1={shape}|{first}")
    if last is not None and first is not None:
        out.append(f"sss={last}|{shape}|{first}")
    if before is not None:
        out.append(f"s-2s-1s={before}|{last}|{shape}")
    if after is not None:
        out.append(f"ss+1s+2={shape}|{first}|{after}")
    return tuple(out)


_BESIDE = (-3, -2, -1, 1, 2, 3)
_FIRST, _LAST, _TENTH, _STOPPED = ([f"{name}={i}" for i in range(10)] for name in ("i", "e", "p", "st"))


def features(raw: str, found: list[Piece]) -> list[list[str]]:
    """For each token the names of what is true of it and its neighbours."""
    n = len(found)
    known = [_word(p.text) for p in found]
    shapes = [word.shape for word in known]
    wide = [None, None, *shapes, None, None]
    quoted = _inside(found, '“«‘"', '”»’"')
    bracket = _inside(found, "([", ")]")
    quote = _quotation(found, quoted)
    stretches = _stretches(found, shapes, _STOPS), _stretches(found, shapes, _STOPS + _SIGNS)
    year_before = 0
    stops = 0
    out: list[list[str]] = []
    for i, piece in enumerate(found):
        word = known[i]
        is_year = len(piece.text) == 4 and word.plain == "NUM" and "1600" <= piece.text <= "2035"
        item = [
            "w=" + ("YEAR" if is_year else word.low if len(word.low) < 2 else word.plain),
            "s=" + word.shape,
            _TENTH[min(10 * i // n, 9)],
            _FIRST[min(i, 4)],
            _LAST[min(n - 1 - i, 4)],
            f"y={year_before}",
            _STOPPED[min(stops, 4)],
            "q=" + quote[i],
            *stretches[0][i],
            *stretches[1][i],
            *word.said,
        ]
        if i > 0 and found[i - 1].end == piece.start:
            item.append("glued")
        if is_year:
            item.append("year")
        if quoted[i]:
            item.append("quoted")
        if bracket[i]:
            item.append("bracket")
        for k, d in enumerate(_BESIDE):
            if 0 <= i + d < n:
                item += known[i + d].beside[k]
            else:
                item.append(f"{d}=END")
        item += _run(*wide[i : i + 5])
        out.append(item)
        if is_year:
            year_before = 1
        if piece.text == "." and i and shapes[i - 1] not in ("A", "d1") and len(found[i - 1].text) > 3:
            stops += 1
    return out


def _quotation(found: list[Piece], quoted: list[bool]) -> list[str]:
    """Where each token stands to the longest quoted stretch: before it, inside, after; or `0` if there is none of two tokens."""
    best = (0, 0)
    start = 0
    for i in range(1, len(found) + 1):
        if i == len(found) or quoted[i] != quoted[start]:
            if quoted[start] and i - start > best[1] - best[0]:
                best = (start, i)
            start = i
    if best[1] - best[0] < 4:  # the two signs and two tokens
        return ["0"] * len(found)
    return ["b" if i < best[0] else "i" if i < best[1] else "a" for i in range(len(found))]


def _stretches(found: list[Piece], shapes: list[str], signs: str) -> list[list[str]]:
    """For each token what is true of its stretch between these signs: its number from both ends, the stretches up to the next number,
    how long it is and how its words are capitalised; of the shorter stretches (signs other than _STOPS) all but the first two, marked.
    """  # fmt: skip
    n = len(found)
    ends = [i for i in range(n) if found[i].text in signs and _ends_stretch(found, shapes, i)]
    starts = [0, *(i + 1 for i in ends)]
    ends = [*ends, n]
    numbered = [any(found[i].text.isdigit() for i in range(a, b)) for a, b in zip(starts, ends, strict=True)]
    out: list[list[str]] = []
    for k, (a, b) in enumerate(zip(starts, ends, strict=True)):
        until = next((j - k for j in range(k, len(starts)) if numbered[j]), 9)
        words = [i for i in range(a, b) if found[i].text.isalpha()]
        long = [i for i in words[1:] if found[i].end - found[i].start > 3]
        upper = sum(shapes[i] == "AA" for i in long)
        capital = sum(found[i].text[0].isupper() for i in long)
        case = (
            "-"
            if not long
            else "U"
            if 2 * upper > len(long)
            else "0"
            if not capital
            else "1"
            if capital == len(long)
            else "s"
        )
        size = next((str(limit) for limit in (1, 2, 4, 8, 16) if len(words) <= limit), "17")
        said = [
            f"sb={min(k, 6)}", f"se={min(len(starts) - 1 - k, 5)}", f"sn={min(until, 3) if until < 9 else 9}",
            f"sl={size}", f"sc={case}", f"slc={size}{case}",
        ]  # fmt: skip
        out += [said if signs == _STOPS else ["," + name for name in said[2:]]] * (min(b + 1, n) - a)
    return out


def _ends_stretch(found: list[Piece], shapes: list[str], i: int) -> bool:
    """Whether the sign ends a stretch: white space and a capital, digit or sign follow, and it does not shorten an initial."""
    if i + 1 >= len(found) or found[i + 1].start == found[i].end:
        return False
    after = found[i + 1].text[0]
    return (found[i].text != "." or i == 0 or shapes[i - 1] not in ("A", "a")) and (
        found[i].text in _SIGNS or not after.islower()
    )


def _inside(found: list[Piece], opening: str, closing: str) -> list[bool]:
    """Whether each token stands between an opening sign and its closing one (at most 60 tokens on)."""
    out = [False] * len(found)
    i = 0
    while i < len(found):
        at = opening.find(found[i].text)
        if at >= 0:
            for j in range(i + 1, min(len(found), i + 60)):
                if found[j].text == closing[at]:
                    out[i : j + 1] = [True] * (j + 1 - i)
                    i = j
                    break
        i += 1
    return out


def label(raw: str) -> list[tuple[Label, str]]:
    """The fields of a reference string in order: neighbouring tokens of one label, without separators at their ends."""
    found = pieces(raw)
    if not found:
        return []
    labels = [Label(x) for x in tagger(MODEL).tag(features(raw, found))]
    return spans(raw, found, labels)


def spans(raw: str, found: list[Piece], labels: list[Label]) -> list[tuple[Label, str]]:
    """Labelled tokens as fields; OTHER is left out."""
    out: list[tuple[Label, str]] = []
    start = 0
    for i in range(1, len(found) + 1):
        if i < len(found) and labels[i] is labels[start]:
            continue
        if labels[start] is not Label.OTHER:
            out.append((labels[start], raw[found[start].start : found[i - 1].end]))
        start = i
    return out
