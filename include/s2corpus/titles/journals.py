"""Names of journals: which abbreviate which, as words and as initials (SEMANTICS §4, §7)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_STOP_LIST = (
    "an and the of for in on to et de des du der die das den und fur fuer le la les el los las del della di da do dos van het en og och "
    "section sect part series ser"
)
_STOP_WORDS = frozenset(_STOP_LIST.split())
_WORD = re.compile(r"[^\W\d_]+|\d+")
_TAILS = (["usa"], ["u", "s", "a"], ["united", "states", "america"])
"""What some abbreviations of a journal add and others leave out."""
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]?")
_VOWEL = re.compile(r"[aeiouy]", re.I)


@lru_cache(1 << 16)
def journal_words(name: str) -> tuple[str, ...]:
    """The words of a journal's name that an abbreviation keeps, in lower case without accents; an acronym as its letters."""
    text = _BRACKETS.sub(" ", name)
    found = _WORD.findall(text)
    if (
        len(found) == 1
        and found[0].isupper()
        and (1 < len(found[0]) < 5 or (len(found[0]) < 7 and not _VOWEL.search(found[0])))
    ):
        return tuple(found[0].lower())
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    words = [w for w in _WORD.findall(plain.replace("'s ", "s ")) if not w.isdigit()]
    words = [w for w in words if w not in _STOP_WORDS or len(words) == 1]
    for tail in _TAILS:
        if words[-len(tail) :] == tail and len(words) > len(tail):
            words = words[: -len(tail)]
            break
    return tuple(words)


def journal_key(name: str) -> str:
    """What all usual abbreviations of a journal's name share: the initials of its first three words ("J. Biol. Chem." → jbc)."""
    return "".join(word[0] for word in journal_words(name)[:3])


def same_journal(a: str, b: str) -> bool:
    """Whether one name may abbreviate the other: its words are beginnings of the other's in order."""
    return _abbreviates(journal_words(a), journal_words(b)) or _abbreviates(journal_words(b), journal_words(a))


def _abbreviates(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    if not short or not long or len(short) > len(long):
        return False
    at = 0
    for word in short:
        while at < len(long) and not (long[at].startswith(word) or _contracted(word, long[at])):
            at += 1
        if at == len(long):
            return False
        at += 1
    return short[0][0] == long[0][0]


def _contracted(short: str, long: str) -> bool:
    """`Natl` of `National`, `Intl`, `Engng`: the same first letter, the rest in order."""
    if len(short) < 3 or short[0] != long[0]:
        return False
    rest = iter(long)
    return all(letter in rest for letter in short)
