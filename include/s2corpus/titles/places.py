"""Where a paper stands in print: journals by their initials, volumes and first pages as numbers that are compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.titles.arrays import one_chunk, text_of
from s2corpus.titles.equal import hash_strings

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
_LEADING = r"^\W*(?:(?:vol(?:ume)?|pp?|pages?|art(?:icle)?|s)\b\W*)*0*"
_FIRST = _LEADING + r"([\p{L}\p{N}]+(?:\.[\p{L}\p{N}]+)*).*$"


def journal_words(name: str) -> list[str]:
    """The words of a journal's name that an abbreviation keeps, in lower case without accents; an acronym as its letters."""
    text = _BRACKETS.sub(" ", name)
    found = _WORD.findall(text)
    if (
        len(found) == 1
        and found[0].isupper()
        and (1 < len(found[0]) < 5 or (len(found[0]) < 7 and not _VOWEL.search(found[0])))
    ):
        return list(found[0].lower())
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    words = [w for w in _WORD.findall(plain.replace("'s ", "s ")) if not w.isdigit()]
    words = [w for w in words if w not in _STOP_WORDS or len(words) == 1]
    return next(
        (words[: -len(tail)] for tail in _TAILS if words[-len(tail) :] == tail and len(words) > len(tail)), words
    )


@lru_cache(1 << 16)
def journal_key(name: str) -> str:
    """What all usual abbreviations of a journal's name share: the initials of its first three words ("J. Biol. Chem." → jbc)."""
    return "".join(word[0] for word in journal_words(name)[:3])


def same_journal(a: str, b: str) -> bool:
    """Whether one name may abbreviate the other: its words are beginnings of the other's in order."""
    return _abbreviates(journal_words(a), journal_words(b)) or _abbreviates(journal_words(b), journal_words(a))


def _abbreviates(short: list[str], long: list[str]) -> bool:
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


def journal_keys(names: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """`journal_key` of each row as a 32-bit hash, uint32; 0 where there is none."""
    names = one_chunk(names)
    if names.null_count == len(names):
        return np.zeros(len(names), np.uint32)
    coded = names.dictionary_encode()
    keys = pa.array([journal_key(name) for name in coded.dictionary.to_pylist()], pa.string())
    hashes = np.append(_short(hash_strings(*text_of(keys))), np.uint32(0))
    keyed: np.ndarray = hashes[coded.indices.fill_null(len(keys)).to_numpy()]
    return keyed


def first_numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """The first number or word of each volume or range of pages ("58(6)" → 58, "pp. 0985–990" → 985) as a hash, uint32; 0 for none."""
    column = one_chunk(column)
    if column.null_count == len(column):
        return np.zeros(len(column), np.uint32)
    first = pc.replace_substring_regex(pc.utf8_lower(column.fill_null("")), _FIRST, r"\1")
    return _short(hash_strings(*text_of(first)))


def _short(hashes: np.ndarray) -> np.ndarray:
    return np.where(hashes == 0, np.uint32(0), (hashes >> np.uint64(32)).astype(np.uint32) | np.uint32(1))
