"""Whether two titles, or two lists of authors, are the same by the criteria of S2ORC's evaluation (Appendix D): the first mark.

A title is right if it is the other one but for case, white space, punctuation and how special characters are written. The authors of a
paper are right if all stand there in order, in any surface form; those of a bibliography entry, if names overlap substantially.
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
_SPELLED = str.maketrans(
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
"""longest run of capitals that is read as initials, in a name that is not written in capitals altogether"""
_OTHERS = {"etal", "al", "others", "andothers"}


def same_title(one: str | None, other: str | None) -> bool | None:
    """Whether two titles are the same; None where one is not given."""
    if not one or not other:
        return None
    return plain_title(one) == plain_title(other)


def plain_title(title: str) -> str:
    """A title without case, white space, punctuation, markup and accents, Greek letters and the like spelled."""
    text = _COMMAND.sub("", _TAG.sub("", html.unescape(title)))
    text = unicodedata.normalize("NFKC", text).translate(_SPELLED)
    text = unicodedata.normalize("NFKD", text).casefold().translate(_SPELLED)
    return "".join(char for char in text if char.isalnum())


def same_authors(ours: Sequence[Name], theirs: Sequence[Name]) -> bool | None:
    """Whether two lists name the same people in the same order; None where either is empty.

    Initials, omitted middle names and titles, hyphens, accents and the order of a name's parts do not count.
    """
    one, other = _people(ours), _people(theirs)
    if not one or not other:
        return None
    return len(one) == len(other) and all(map(_same_person, one, other))


def overlapping_authors(entry: Sequence[Name], paper: Sequence[Name], share: float) -> bool | None:
    """Whether at least `share` of the shorter list's names are in the other; None where either is empty.

    "If authors A, B and C are in the bibliography entry and the linked paper cluster has authors A and B, then this is still a match."
    """
    one, other = _people(entry), _people(paper)
    if not one or not other:
        return None
    shorter, longer = sorted((one, other), key=len)
    found = sum(any(_same_person(name, candidate) for candidate in longer) for name in shorter)
    return found >= share * len(shorter)


def _people(names: Sequence[Name]) -> list[list[tuple[str, ...]]]:
    """Each author's name in its possible spellings, as words in lower case, the surname last."""
    found = []
    for name in names:
        given = " ".join(filter(None, (name.get("first"), *(name.get("middle") or ()))))
        spellings = _words(given, name.get("last") or "")
        if spellings and spellings[0] and "".join(spellings[0]) not in _OTHERS:
            found.append(spellings)
    return found


def _words(given: str, last: str) -> list[tuple[str, ...]]:
    spellings = []
    for expand in (False, True):
        words: list[str] = []
        for text in (given, last):
            for word in re.split(r"[\s.,\-‐-―'’]+", text):
                initials = word.isupper() and len(word) <= _INITIALS and not f"{given}{last}".isupper()
                words += [_folded(char, expand) for char in word] if initials else [_folded(word, expand)]
        kept = tuple(word for word in words if word and word not in _NOT_NAMES)
        if kept not in spellings:
            spellings.append(kept)
    return spellings


def _folded(word: str, expand: bool) -> str:
    text = unicodedata.normalize("NFC", word).casefold()
    text = text.translate(_UMLAUTS) if expand else text
    text = unicodedata.normalize("NFKD", text.translate(_SPELLED))
    return "".join(char for char in text if char.isalnum())


def _same_person(one: list[tuple[str, ...]], other: list[tuple[str, ...]]) -> bool:
    return any(_same_name(a, b) for a in one for b in other)


def _same_name(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the words of one name are all in the other, in any order: an initial stands for a word that begins with it.

    The surname of each, its last word longer than an initial, must be in the other in full.
    """
    if "".join(one) == "".join(other):
        return True
    whole = Counter(one) & Counter(word for word in other if len(word) > 1)
    if any(_surname(name) not in whole for name in (one, other)):
        return False
    left, right = (Counter(name) - whole for name in (one, other))
    for word in list(left.elements()):
        fits = (match for match in right if match[0] == word[0] and 1 in (len(match), len(word)))
        if found := next(fits, None):
            left[word] -= 1
            right -= Counter([found])
    return not +left or not +right


def _surname(name: tuple[str, ...]) -> str:
    return next((word for word in reversed(name) if len(word) > 1), "")


def names_in_common(one: Sequence[Name], other: Sequence[Name]) -> tuple[int, int, int]:
    """How many people two lists both name, whatever their order, and how many each names."""
    left, right = _people(one), _people(other)
    free = list(right)
    for name in left:
        if (found := next((at for at, known in enumerate(free) if _same_person(name, known)), None)) is not None:
            del free[found]
    return len(right) - len(free), len(left), len(right)
