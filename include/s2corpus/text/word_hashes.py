"""Hash the words of a text to 64 bits, for signals, near-duplicates and overlaps with benchmarks.

White space separates words. They are normalized as in RedPajama-v2: lower case, without ASCII punctuation, empty words
removed.
"""

from __future__ import annotations

import string
from functools import cache

import numpy as np
import numpy.typing as npt

from s2corpus.compiled import njit

SPACE, ALPHA, DIGIT, UPPER, _PUNCTUATION = map(np.uint8, (1, 2, 4, 8, 16))
"""class bits of a code point"""
WORD_SEED = np.uint64(1469598103934665603)
"""start value for hash_words and lines (FNV's offset basis without its last digit); another value would change all published keys"""
_PLANES = 0x20000
"""number of code points in the table of classes; all code points above are ideographs, which are letters"""


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """Return the code points of a text; a lone surrogate becomes a question mark."""
    return np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)


def hash_words(text: str) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the hash and the length, in characters, of every word of a text."""
    return split(code_points(text.lower()), classes())


@cache
def classes() -> npt.NDArray[np.uint8]:
    """Return the classes of each code point, as bits."""
    found = np.zeros(_PLANES, np.uint8)
    for code in range(_PLANES):
        character = chr(code)
        found[code] = (
            (SPACE if character.isspace() else 0)
            | (ALPHA if character.isalpha() else 0)
            | (DIGIT if character.isdigit() else 0)
            | (UPPER if character.isupper() else 0)
        )
    for character in string.punctuation:
        found[ord(character)] |= _PUNCTUATION
    return found


def find_classes(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """Return the class bits of code points."""
    return np.where(codes < _PLANES, classes()[np.minimum(codes, _PLANES - 1)], ALPHA)


@njit(cache=True)
def class_of(classes: npt.NDArray[np.uint8], code: np.uint32) -> np.uint8:
    """Return the class bits of a code point."""
    return classes[code] if code < len(classes) else ALPHA


@njit(cache=True, nogil=True)
def fnv_step(value: np.uint64, code: np.uint32) -> np.uint64:
    """Return the hash extended by one code point (FNV-1a, 64 bits)."""
    return (value ^ np.uint64(code)) * np.uint64(0x100000001B3)


@njit(cache=True)
def mix(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return a hash of two hashes (the finalizer of splitmix64)."""
    x = (a * np.uint64(0x9E3779B97F4A7C15)) ^ (b + np.uint64(0x165667B19E3779F9))
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def split(
    text: npt.NDArray[np.uint32], classes: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the hash and length, in characters, of every word without punctuation; skip empty words."""
    hashes = np.empty(len(text), np.uint64)
    lengths = np.empty(len(text), np.int64)
    count = 0
    length = 0
    hashed = WORD_SEED
    for i in range(len(text) + 1):
        kind = class_of(classes, text[i]) if i < len(text) else SPACE
        if kind & SPACE:
            if length:
                hashes[count] = mix(hashed, np.uint64(length))
                lengths[count] = length
                count += 1
                length = 0
                hashed = WORD_SEED
        elif not kind & _PUNCTUATION:
            hashed = fnv_step(hashed, text[i])
            length += 1
    return hashes[:count].copy(), lengths[:count].copy()
