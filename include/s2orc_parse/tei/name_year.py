"""Link citations by name and year: find the cited works in a citation, and their bibliography entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from s2orc_parse.parse_model import BibEntry
from s2orc_parse.words import read_table, to_letters

_TABLE = read_table("tei/words")
YEAR = re.compile(r"(?<![\d\-–.])(1[5-9]\d\d|20\d\d)([a-z]?)(?!\w)")
_NO_DATE = re.compile(rf"\b(?:{'|'.join(_TABLE['undated'])})(?!\w)", re.IGNORECASE)
_MORE_LETTERS = re.compile(r"\s*[,;&]\s*([a-z])(?!\w)|\s+and\s+([a-z])(?!\w)")
_NOT_SURNAMES = frozenset(_TABLE["not_surnames"].split())
_SURNAME = re.compile(r"[^\W\d_a-z][\w'’‘`´-]+")
_PARTICLES = r"(?:van der|van den|von der|de la|van|von|de|del|della|di|da|dos|du|la|le|el|al|bin|ibn|ter|ten)"
_BEFORE = re.compile(
    rf"((?:{_PARTICLES}\s+)?[^\W\d_a-z][\w'’-]+)(?:\s+et\s+al\.?|\s+(?:and|&)\s+(?:\w+\s+)?[^\W\d_a-z][\w'’-]+)?(?:['’]s)?(?:[\s,;(\[]*[12]\d{{3}}[a-z]?(?=[,;\s]))*[\s,;(\[]*$"
)


class Work(NamedTuple):
    """One cited work in a citation: position, surname and year."""

    start: int
    end: int
    surname: str
    year: int
    letter: str  # "a" for 2010a; "" without a letter


def has_date(text: str) -> bool:
    """Return whether a citation prints a year or a substitute such as "in press"."""
    return bool(YEAR.search(text) or _NO_DATE.search(text))


def find_works(text: str, start: int, end: int) -> list[Work]:
    """Return the works cited at `start:end` of a text, one for each printed year; their intervals cover the citation.

    A year without a name uses the previous name in the citation or directly before it ("Smith et al. (2010, 2012)"). A
    single letter is another work of the same year ("2010a,b").
    """
    found: list[Work] = []
    surname = ""
    left = at = start
    while match := YEAR.search(text, at, end):
        names = _SURNAME.findall(text, at, match.start())
        if names:
            surname = next((name for name in names if name not in _NOT_SURNAMES), surname)
        elif not found and (before := _BEFORE.search(text[max(0, start - 80) : start])):
            surname = before.group(1)
        right = match.end()
        year, letter = int(match.group(1)), match.group(2)
        found.append(Work(left, right, surname, year, letter))
        left = at = right
        while letter and (more := _MORE_LETTERS.match(text, at, end)):
            found.append(Work(more.end() - 1, more.end(), surname, year, more.group(1) or more.group(2)))
            left = at = more.end()
    return _tile_intervals(text, found, start, end)


def _tile_intervals(text: str, found: list[Work], start: int, end: int) -> list[Work]:
    """Extend each interval from its first word to the separator before the next interval."""
    tiled: list[Work] = []
    for i, work in enumerate(found):
        left, right = (start if i == 0 else work.start), (end if i + 1 == len(found) else work.end)
        if i:
            while left < work.end and text[left] in " ,;&)":
                left += 1
        while right < end and text[right] in ",;)":
            right += 1
        tiled.append(work._replace(start=left, end=right))
    return tiled


def index_entries(entries: Iterable[BibEntry]) -> Mapping[tuple[str, int], Sequence[BibEntry]]:
    """Index entries by year and first author's surname (complete, and its last word), in bibliography order."""
    index: dict[tuple[str, int], list[BibEntry]] = {}
    for entry in entries:
        if entry.year is None or not entry.authors:
            continue
        last = entry.authors[0].last or entry.authors[0].first
        for name in dict.fromkeys((to_letters(last), *map(to_letters, last.split()[-1:]))):
            if name:
                index.setdefault((name, entry.year), []).append(entry)
    return index


def find(work: Work, index: Mapping[tuple[str, int], Sequence[BibEntry]]) -> str | None:
    """Return the key of the entry for a work, or None if no entry or several entries match."""
    candidates = index.get((to_letters(work.surname), work.year), ())
    if work.letter:
        lettered = [entry for entry in candidates if f"{work.year}{work.letter}" in entry.raw_text]
        if len(lettered) == 1:
            return lettered[0].key
        place = ord(work.letter) - ord("a")
        if len(candidates) > 1 and place < len(candidates):
            return candidates[place].key
    return candidates[0].key if len(candidates) == 1 else None
