"""Compare names of journals and their abbreviations (SPEC §4, §7)."""

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
"""Optional last words of journal names."""
_BRACKETS = re.compile(r"[(\[][^)\]]*[)\]]?")
_VOWEL = re.compile(r"[aeiouy]", re.I)


@lru_cache(1 << 16)
def journal_words(name: str) -> tuple[str, ...]:
    """Return the significant words of a journal name in lower case, without accents and stop words; for an acronym, its letters."""
    text = _BRACKETS.sub(" ", name)
    names = _WORD.findall(text)
    if len(names) == 1 and names[0].isupper():
        length = len(names[0])
        if 1 < length < 5 or (length < 7 and not _VOWEL.search(names[0])):
            return tuple(names[0].lower())
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    words = [w for w in _WORD.findall(plain.replace("'s ", "s ")) if not w.isdigit()]
    words = [w for w in words if w not in _STOP_WORDS or len(words) == 1]
    for tail in _TAILS:
        if words[-len(tail) :] == tail and len(words) > len(tail):
            words = words[: -len(tail)]
            break
    return tuple(words)


def journal_key(name: str) -> str:
    """Return the initials of the first three words, which most abbreviations share ("J. Biol. Chem." → jbc)."""
    return "".join(word[0] for word in journal_words(name)[:3])


def same_journal(a: str, b: str) -> bool:
    """Return whether one name may abbreviate the other: its words are beginnings of words of the other, in order."""
    return _abbreviates(journal_words(a), journal_words(b)) or _abbreviates(journal_words(b), journal_words(a))


def _abbreviates(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    if not short or not long or len(short) > len(long):
        return False
    at = 0
    for word in short:
        while at < len(long) and not (long[at].startswith(word) or _is_contraction(word, long[at])):
            at += 1
        if at == len(long):
            return False
        at += 1
    return short[0][0] == long[0][0]


def _is_contraction(short: str, long: str) -> bool:
    """Return whether `short` is a contraction of `long`: its letters occur in `long` in order (`Natl`, `Intl`, `Engng`)."""
    if len(short) < 3 or short[0] != long[0]:
        return False
    rest = iter(long)
    return all(letter in rest for letter in short)
