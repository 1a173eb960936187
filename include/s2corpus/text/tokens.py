"""Sum the log shares of a text's words.

The words are blingfire's, in lower case. They are looked up in a hash table without a Python object for each word.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import blingfire
import numpy as np

from s2corpus.compiled import njit
from s2corpus.text.word_hashes import FNV, finished, step

_TEXT_TO_WORDS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
    ("TextToWords", blingfire.blingfire)
)


@dataclass(frozen=True, slots=True)
class ShareTable:
    """log2 shares of words by 64-bit hash, with open addressing. Words that are not ASCII are looked up by name."""

    hashes: np.ndarray
    """uint64; the length is a power of two; 0 marks an empty slot"""
    shares: np.ndarray
    """float64"""
    other: Mapping[str, float]
    unknown: float

    @classmethod
    def from_shares(cls, log_shares: Mapping[str, float], unknown: float) -> ShareTable:
        """Return the table for a mapping of lowercase word → log2 share."""
        ascii_ones, other = log_shares, {}
        if not (joined := "\n".join(log_shares)).isascii():
            ascii_ones = {word: share for word, share in log_shares.items() if word.isascii()}
            other = {word: share for word, share in log_shares.items() if not word.isascii()}
            joined = "\n".join(ascii_ones)
        blob = np.frombuffer(joined.encode() or b"\n", np.uint8)
        values = np.fromiter(ascii_ones.values(), np.float64, len(ascii_ones))
        size = 1 << (max(len(ascii_ones), 1) * 2 - 1).bit_length()
        hashes, shares = _table(blob, values, size)
        return cls(hashes, shares, other, unknown)


def counted_lines(lines: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (hashes, counts int64) in the format of `ShareTable`, or None without lines or if a line has another format.

    A line is an ASCII word, a tab or comma that is not part of the word, a count above 0, and LF. The last line needs LF too.
    If a word occurs twice, the last count is used.
    """
    size = 1 << (max(lines.count(b"\n"), 1) * 2 - 1).bit_length()
    plain, hashes, counts = _counted_lines(np.frombuffer(lines, np.uint8), size)
    return (hashes, counts) if plain else None


def words_of(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the words that blingfire finds in the texts, and the end offset of each text's words (int64).

    The words are UTF-8 bytes (uint8), separated by spaces. A text can have no words.
    """
    given = [text.encode("utf-8", "ignore") for text in texts]
    out = np.empty(3 * sum(map(len, given)) + 1, np.uint8)  # the size that blingfire's own wrapper allocates
    start, end = out.ctypes.data, 0
    ends = np.empty(len(given), np.int64)
    for number, text in enumerate(given):
        length = _TEXT_TO_WORDS(text, len(text), start + end, 3 * len(text))
        if 0 < length <= 3 * len(text):
            end += length
        ends[number] = end
    return out[:end], ends


def summed_shares(texts: Sequence[str], table: ShareTable) -> list[tuple[float, int]]:
    """Return the sum of the log2 shares and the number of words of each text."""
    data, ends = words_of(texts)
    totals, counts, others = _summed(data, ends, table.hashes, table.shares, table.unknown)
    sums, words, given = totals.tolist(), counts.tolist(), data.tobytes()
    for number, start, end in others.tolist():
        for word in given[start:end].decode("utf-8", "ignore").lower().split():
            sums[number] += table.other.get(word) or _of_ascii(word, table)
            words[number] += 1
    return list(zip(sums, words, strict=True))


def _of_ascii(word: str, table: ShareTable) -> float:
    """Return the share of a word that may have become ASCII by lowercasing (the Kelvin sign's k)."""
    if not word.isascii():
        return table.unknown
    return float(_lookup(_hash(np.frombuffer(word.encode(), np.uint8)), table.hashes, table.shares, table.unknown))


@njit(cache=True, nogil=True)
def _hash(word: np.ndarray) -> np.uint64:
    value = FNV
    for byte in word:
        value = step(value, byte)
    return finished(value)


@njit(cache=True, nogil=True)
def _lookup(key: np.uint64, hashes: np.ndarray, shares: np.ndarray, unknown: float) -> float:
    """Return the share of a word. With several `return` statements, numba would count array references for every word."""
    mask = np.uint64(len(hashes) - 1)
    at = key & mask
    while hashes[at] != 0 and hashes[at] != key:
        at = (at + np.uint64(1)) & mask
    return shares[at] if hashes[at] != 0 else unknown


@njit(cache=True, nogil=True)
def _table(blob: np.ndarray, values: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the hash table of the words in `blob`, which newlines separate."""
    hashes = np.zeros(size, np.uint64)
    shares = np.zeros(size, np.float64)
    mask = np.uint64(size - 1)
    start = 0
    for word in range(len(values)):
        end = start
        while end < len(blob) and blob[end] != 10:
            end += 1
        key = _hash(blob[start:end])
        at = key & mask
        while hashes[at] != 0 and hashes[at] != key:
            at = (at + np.uint64(1)) & mask
        hashes[at] = key
        shares[at] = values[word]
        start = end + 1
    return hashes, shares


@njit(cache=True, nogil=True)
def _counted_lines(lines: np.ndarray, size: int) -> tuple[bool, np.ndarray, np.ndarray]:
    """Return whether every line is `word TAB count` or `word,count`, and the table.

    Counts have at most 18 digits, and the first digit is not 0.
    """
    hashes = np.zeros(size, np.uint64)
    counts = np.zeros(size, np.int64)
    mask = np.uint64(size - 1)
    i = 0
    while i < len(lines):
        start = i
        value = FNV
        while 33 <= lines[i] <= 126 and lines[i] != 44:
            value = step(value, lines[i])
            i += 1
        if i == start or (lines[i] != 9 and lines[i] != 44) or not 49 <= lines[i + 1] <= 57:
            return False, hashes, counts
        i += 1
        digits = i
        count = np.int64(0)
        while 48 <= lines[i] <= 57 and i - digits < 18:
            count = count * 10 + np.int64(lines[i] - np.uint8(48))
            i += 1
        if lines[i] == 13:
            i += 1
        if lines[i] != 10:
            return False, hashes, counts
        i += 1
        key = finished(value)
        at = key & mask
        while hashes[at] != 0 and hashes[at] != key:
            at = (at + np.uint64(1)) & mask
        hashes[at] = key
        counts[at] = count
    return i > 0, hashes, counts


@njit(cache=True, nogil=True)
def _summed(
    data: np.ndarray, ends: np.ndarray, hashes: np.ndarray, shares: np.ndarray, unknown: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sum and number of each text's ASCII words, and (text, start, end) of the other words. A zero byte ends a text.

    All words of a text are hashed before the first lookup, so that the CPU fetches the table's slots in parallel.
    """
    totals = np.zeros(len(ends), np.float64)
    counts = np.zeros(len(ends), np.int64)
    others = np.empty((len(data) // 2 + 1, 3), np.int64)
    keys = np.empty(len(data) // 2 + 1, np.uint64)
    found = 0
    start = 0
    for text in range(len(ends)):
        words = 0
        value = FNV
        ascii_only = True
        for i in range(start, ends[text] + 1):
            byte = data[i] if i < ends[text] else np.uint8(32)
            if byte <= 32 and (byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31 or byte == 0):
                if i > start:
                    if ascii_only:
                        keys[words] = finished(value)
                        words += 1
                    else:
                        others[found, 0], others[found, 1], others[found, 2] = text, start, i
                        found += 1
                if byte == 0:
                    break
                start = i + 1
                value = FNV
                ascii_only = True
            elif byte >= 128:
                ascii_only = False
            else:
                value = step(value, byte | np.uint8(32) if 65 <= byte <= 90 else byte)
        start = ends[text]
        counts[text] = words
        for word in range(words):
            totals[text] += _lookup(keys[word], hashes, shares, unknown)
    return totals, counts, others[:found]
