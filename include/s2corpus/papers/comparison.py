"""Compare titles and author lists by the criteria of S2ORC's evaluation (Appendix D).

Titles are equal if they differ only in case, white space, punctuation and the notation of special characters. Authors
of a paper are equal if all occur in order, in any surface form. Authors of a bibliography entry match if the names
overlap substantially.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Name = Mapping[str, Any]
"""`{first, middle, last, suffix}`"""

_GREEK = {
    chr(point): unicodedata.name(chr(point)).split()[-1].lower()
    for point in (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA))
    if unicodedata.name(chr(point), "").startswith("GREEK") and "SIGMA" not in unicodedata.name(chr(point))
} | {"Σ": "sigma", "σ": "sigma", "ς": "sigma", "Λ": "lambda", "λ": "lambda"}
_TRANSLITERATION = str.maketrans(
    {**_GREEK, "&": " and ", "×": "x", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l",
     "đ": "d", "Đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ℏ": "h", "%": " percent "}
)  # fmt: skip
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_TAG = re.compile(
    r"</?(?:[a-z]+:)?(?:i|b|u|em|strong|sub|sup|sc|scp|tt|italic|bold|inf|span|math|mi|mn|mo|mrow|msub|msup)\b[^>]*>",
    re.I,
)
_COMMAND = re.compile(
    r"\\(?:math(?:rm|bf|it|cal|bb|sf)|text(?:rm|bf|it|sc|sf)?|emph|operatorname|left|right|boldsymbol|bm)\b"
)
_NOT_NAMES = {
    "dr", "prof", "professor", "phd", "md", "msc", "bsc", "ma", "mph", "mbbs", "frcs", "sir", "mr", "mrs", "ms", "miss", "rn",
    "jr", "sr", "ii", "iii", "iv", "dsc", "mba",
}  # fmt: skip
_INITIALS = 4
"""maximum length of a run of capitals that is read as initials, unless the complete name is in capitals"""
_ET_AL = {"etal", "al", "others", "andothers"}


def titles_match(one: str | None, other: str | None) -> bool | None:
    """Return whether two titles are equal, or None if either is missing."""
    if not one or not other:
        return None
    return normalize_title(one) == normalize_title(other)


def normalize_title(title: str) -> str:
    """Return a title without case, white space, punctuation, markup and accents, with Greek letters and symbols spelled out."""
    text = _COMMAND.sub("", _TAG.sub("", html.unescape(title)))
    text = unicodedata.normalize("NFKC", text).translate(_TRANSLITERATION)
    text = unicodedata.normalize("NFKD", text).casefold().translate(_TRANSLITERATION)
    return "".join(char for char in text if char.isalnum())


def authors_match(ours: Sequence[Name], theirs: Sequence[Name]) -> bool | None:
    """Return whether two lists name the same people in the same order, or None if either is empty.

    Initials, omitted middle names, titles, hyphens, accents and the order of a name's parts are ignored.
    """
    one, other = _list_spellings(ours), _list_spellings(theirs)
    if not one or not other:
        return None
    return len(one) == len(other) and all(map(_persons_match, one, other))


def authors_overlap(entry: Sequence[Name], paper: Sequence[Name], share: float) -> bool | None:
    """Return whether the longer list contains at least `share` of the shorter list's names, or None if either is empty.

    "If authors A, B and C are in the bibliography entry and the linked paper cluster has authors A and B, then this is
    still a match."
    """
    one, other = _list_spellings(entry), _list_spellings(paper)
    if not one or not other:
        return None
    shorter, longer = sorted((one, other), key=len)
    found = sum(any(_persons_match(name, candidate) for candidate in longer) for name in shorter)
    return found >= share * len(shorter)


def _list_spellings(names: Sequence[Name]) -> list[list[tuple[str, ...]]]:
    """Return the possible spellings of each author's name as lower-case words, with the surname last."""
    found = []
    for name in names:
        given = " ".join(filter(None, (name.get("first"), *(name.get("middle") or ()))))
        spellings = _spell_name(given, name.get("last") or "")
        if spellings and spellings[0] and "".join(spellings[0]) not in _ET_AL:
            found.append(spellings)
    return found


def _spell_name(given: str, last: str) -> list[tuple[str, ...]]:
    spellings = []
    for expand in (False, True):
        words: list[str] = []
        for text in (given, last):
            for word in re.split(r"[\s.,\-‐-―'’]+", text):
                initials = word.isupper() and len(word) <= _INITIALS and not f"{given}{last}".isupper()
                words += [_fold(char, expand) for char in word] if initials else [_fold(word, expand)]
        filtered = tuple(word for word in words if word and word not in _NOT_NAMES)
        if filtered not in spellings:
            spellings.append(filtered)
    return spellings


def _fold(word: str, expand: bool) -> str:
    text = unicodedata.normalize("NFC", word).casefold()
    text = text.translate(_UMLAUTS) if expand else text
    text = unicodedata.normalize("NFKD", text.translate(_TRANSLITERATION))
    return "".join(char for char in text if char.isalnum())


def _persons_match(one: list[tuple[str, ...]], other: list[tuple[str, ...]]) -> bool:
    return any(_names_match(a, b) for a in one for b in other)


def _names_match(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether all words of one name occur in the other, in any order. An initial matches a word that starts with it.

    The surname of each name (its last word that is not an initial) must occur in the other name in full.
    """
    if "".join(one) == "".join(other):
        return True
    common = Counter(one) & Counter(word for word in other if len(word) > 1)
    surnames = (next((word for word in reversed(name) if len(word) > 1), "") for name in (one, other))
    if any(surname not in common for surname in surnames):
        return False
    left, right = (Counter(name) - common for name in (one, other))
    for word in list(left.elements()):
        fits = (match for match in right if match[0] == word[0] and 1 in (len(match), len(word)))
        if found := next(fits, None):
            left[word] -= 1
            right -= Counter([found])
    return not +left or not +right


def count_common_names(one: Sequence[Name], other: Sequence[Name]) -> tuple[int, int, int]:
    """Return the number of people in both lists, regardless of order, and the number of people in each list."""
    left, right = _list_spellings(one), _list_spellings(other)
    free = list(right)
    for name in left:
        if found := next((candidate for candidate in free if _persons_match(name, candidate)), None):
            free.remove(found)
    return len(right) - len(free), len(left), len(right)
