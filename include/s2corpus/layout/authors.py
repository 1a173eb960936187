"""The lines between title and abstract: who wrote the paper, affiliations apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .model import Line, Token
from .text import clean

_AFFILIATION = re.compile(
    r"universi|institut|departm|\bdept|college|school|facult|laborator|\blabs?\b|cent(?:er|re)\b|academy|hospital|\binc\b|\bltd\b|"
    r"gmbh|corporation|company|research|ministry|agency|foundation|division|clinic|polytechn|\bécole|ecole|"
    r"hochschule|fakultät|google|microsoft|facebook|amazon|\bibm\b|deepmind|openai|allen institute|\busa\b|\bu\.s\.a|"
    r"\buk\b|china|germany|france|canada|japan|australia|italy|spain|india\b|netherlands|switzerland|"
    r"correspond|equal contribution|e-?mail|@|http|www\.|received|accepted|published|\bvol\b|\bdoi\b|track$|street|\bp\.?o\. box",
    re.I,
)
PARTICLES = {
    "van",
    "von",
    "de",
    "der",
    "den",
    "del",
    "della",
    "di",
    "da",
    "dos",
    "du",
    "la",
    "le",
    "ter",
    "ten",
    "el",
    "al",
    "bin",
    "ibn",
    "st.",
    "zu",
}
SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"}
_TITLES = {
    "dr",
    "dr.",
    "prof",
    "prof.",
    "mr",
    "mrs",
    "ms",
    "phd",
    "ph.d.",
    "md",
    "m.d.",
    "msc",
    "bsc",
    "fellow",
    "member",
    "senior",
    "student",
    "ieee",
}
_SEPARATOR = re.compile(r"\s*(?:[,;·•|&]|\band\b|\bund\b|\bet\b|\bwith\b)\s*", re.I)
_MARK = re.compile(r"[\d*†‡§¶∗⋆♯♮∥#ǁ♠♣♦♥✉\uf000-\uf8ff^]+")
_NAME_WORD = re.compile(r"(?:[^\W\d_][^\W\d_'’‐\-]*(?:[-‐'’][^\W\d_]+)*\.?|(?:[^\W\d_]\.-?)+)")


@dataclass(frozen=True, slots=True)
class Author:
    """A name in its parts."""

    forenames: tuple[str, ...]
    surname: str


def authors(lines: list[Line]) -> list[Author]:
    """The authors named in the lines between title and abstract.

    Pieces of a line are parted by commas, conjunctions, marks above the line and wide gaps; a piece is a name if it is two to
    five capitalised words without the vocabulary of affiliations."""
    found: list[Author] = []
    for line in sorted(lines, key=lambda x: (round(x.y0 / 3), x.x0)):
        names, others = [], 0
        for piece in _pieces(line.tokens):
            name = parse(piece)
            if name is not None:
                names.append(name)
            elif len(piece) > 3:
                others += 1
        if _AFFILIATION.search(line.text) and (others or not found) and len(names) <= others:
            continue
        if found and _AFFILIATION.search(line.text) and len(names) <= 1:
            continue
        found.extend(name for name in names if name not in found)
    return found


def _pieces(tokens: list[Token]) -> list[str]:
    """A line's text cut at separators, marks and gaps."""
    runs: list[list[str]] = [[]]
    before: Token | None = None
    for token in tokens:
        if before is not None and token.x0 - before.x1 > 1.2 * max(token.font.size, 6):
            runs.append([])
        if token.font.raised:
            runs.append([])
        else:
            runs[-1].append((" " if token.space else "") + token.text)
        before = token
    pieces: list[str] = []
    for run in runs:
        text = clean("".join(run))
        for part in _SEPARATOR.split(_MARK.sub(" , ", text)):
            if part.strip(" ."):
                pieces.append(part.strip(" "))
    return pieces


def parse(text: str) -> Author | None:
    """A name as printed, first names first; None if it does not look like one."""
    words = [w for w in text.replace("(", " ").replace(")", " ").split() if w.lower() not in _TITLES]
    if not 2 <= len(words) <= 6 or len(text) > 60 or _AFFILIATION.search(text):
        return None
    if not all(_NAME_WORD.fullmatch(w) for w in words):
        return None
    significant = [w for w in words if w.lower() not in PARTICLES]
    if len(significant) < 1 or not all(w[0].isupper() or not w[0].isascii() for w in significant):
        return None
    if len(words) > 2 and words[-1].lower() in SUFFIXES:
        words = words[:-1]
    cut = len(words) - 1
    while cut > 1 and words[cut - 1].lower() in PARTICLES:
        cut -= 1
    surname = " ".join(words[cut:])
    if len(surname.strip(".")) < 2:
        return None
    return Author(tuple(words[:cut]), surname)
