"""Look up the words of a text in a table of log2 shares and sum the shares, without a Python object for each word.

blingfire separates the words, which are then lowercased.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import blingfire
import numpy as np

from s2corpus.compiled import njit
from s2corpus.text.word_hashes import FNV, finalize, find_slot, fnv_step

_TEXT_TO_WORDS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
    ("TextToWords", blingfire.blingfire)
)


@dataclass(frozen=True, slots=True)
class ShareTable:
    """A hash table: 64-bit hash of an ASCII word → log2 share. `other` contains the words that are not ASCII."""

    hashes: np.ndarray
    """uint64; the length is a power of two; 0 marks an empty slot"""
    shares: np.ndarray
    """float64"""
    other: Mapping[str, float]
    unknown: float

    @classmethod
    def from_shares(cls, log_shares: Mapping[str, float], unknown: float) -> ShareTable:
        """Return the table for a mapping of lowercase word → log2 share."""
        ascii_words = {word: share for word, share in log_shares.items() if word.isascii()}
        other = {word: share for word, share in log_shares.items() if not word.isascii()}
        blob = np.frombuffer("\n".join(ascii_words).encode() or b"\n", np.uint8)
        values = np.fromiter(ascii_words.values(), np.float64, len(ascii_words))
        return cls(*_build_table(blob, values, _table_size(len(ascii_words))), other, unknown)


def _table_size(words: int) -> int:
    """Return the size of a hash table that is at most half full: a power of two."""
    return 1 << (max(words, 1) * 2 - 1).bit_length()


def parse_counted_lines(lines: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the table (hashes, counts int64) in the format of `ShareTable`, or None if a line has another format or there is none.

    A line is an ASCII word, a tab or comma that is not part of the word, a count above 0, and LF. The last line needs LF too.
    If a word occurs twice, the last count is used.
    """
    size = _table_size(lines.count(b"\n"))
    plain, hashes, counts = _parse_counted_lines(np.frombuffer(lines, np.uint8), size)
    return (hashes, counts) if plain else None


def split_words(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the words that blingfire finds in the texts, and the end offset of each text's words (int64).

    The words are UTF-8 bytes (uint8), separated by spaces. A text can have no words.
    """
    given = [text.encode("utf-8", "ignore") for text in texts]
    out = np.empty(3 * sum(map(len, given)) + 1, np.uint8)  # the size of the buffer in blingfire's Python wrapper
    start, end = out.ctypes.data, 0
    ends = np.empty(len(given), np.int64)
    for number, text in enumerate(given):
        length = _TEXT_TO_WORDS(text, len(text), start + end, 3 * len(text))
        if 0 < length <= 3 * len(text):
            end += length
        ends[number] = end
    return out[:end], ends


def sum_shares(texts: Sequence[str], table: ShareTable) -> list[tuple[float, int]]:
    """Return the sum of the log2 shares and the number of words of each text."""
    data, ends = split_words(texts)
    totals, counts, others = _sum_ascii_shares(data, ends, table.hashes, table.shares, table.unknown)
    sums, words, given = totals.tolist(), counts.tolist(), data.tobytes()
    for number, start, end in others.tolist():
        for word in given[start:end].decode("utf-8", "ignore").lower().split():
            share = table.other.get(word)
            sums[number] += _look_up_lowercased(word, table) if share is None else share
            words[number] += 1
    return list(zip(sums, words, strict=True))


def _look_up_lowercased(word: str, table: ShareTable) -> float:
    """Return the share of a word that may have become ASCII by lowercasing (the Kelvin sign's k)."""
    if not word.isascii():
        return table.unknown
    return float(_lookup(_hash(np.frombuffer(word.encode(), np.uint8)), table.hashes, table.shares, table.unknown))


@njit(cache=True, nogil=True)
def _hash(word: np.ndarray) -> np.uint64:
    value = FNV
    for byte in word:
        value = fnv_step(value, byte)
    return finalize(value)


@njit(cache=True, nogil=True)
def _lookup(key: np.uint64, hashes: np.ndarray, shares: np.ndarray, unknown: float) -> float:
    at = find_slot(hashes, key)
    return shares[at] if hashes[at] != 0 else unknown


@njit(cache=True, nogil=True)
def _build_table(blob: np.ndarray, values: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the hash table of the words in `blob`, which newlines separate."""
    hashes = np.zeros(size, np.uint64)
    shares = np.zeros(size, np.float64)
    start = 0
    for word in range(len(values)):
        end = start
        while end < len(blob) and blob[end] != 10:
            end += 1
        key = _hash(blob[start:end])
        at = find_slot(hashes, key)
        hashes[at] = key
        shares[at] = values[word]
        start = end + 1
    return hashes, shares


@njit(cache=True, nogil=True)
def _parse_counted_lines(lines: np.ndarray, size: int) -> tuple[bool, np.ndarray, np.ndarray]:
    """Return whether every line is `word TAB count` or `word,count`, and the table.

    Counts have at most 18 digits, and the first digit is not 0.
    """
    hashes = np.zeros(size, np.uint64)
    counts = np.zeros(size, np.int64)
    i = 0
    while i < len(lines):
        start = i
        value = FNV
        while 33 <= lines[i] <= 126 and lines[i] != 44:
            value = fnv_step(value, lines[i])
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
        key = finalize(value)
        at = find_slot(hashes, key)
        hashes[at] = key
        counts[at] = count
    return i > 0, hashes, counts


@njit(cache=True, nogil=True)
def _sum_ascii_shares(
    data: np.ndarray, ends: np.ndarray, hashes: np.ndarray, shares: np.ndarray, unknown: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sum and number of each text's ASCII words, and (text, start, end) of the other words.

    Spaces separate words: blingfire replaces all other white space and control characters. A zero byte ends a text, because
    blingfire pads with zeros.

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
            if byte == 32 or byte == 0:
                if i > start:
                    if ascii_only:
                        keys[words] = finalize(value)
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
                value = fnv_step(value, byte | np.uint8(32) if 65 <= byte <= 90 else byte)
        start = ends[text]
        counts[text] = words
        for word in range(words):
            totals[text] += _lookup(keys[word], hashes, shares, unknown)
    return totals, counts, others[:found]
