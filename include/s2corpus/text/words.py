"""Count words as the S2 V2 card does: separated by white space, as in `str.split`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2corpus.compiled import njit
from s2corpus.text.word_hashes import FNV, finalize, find_item, fnv_step


@dataclass(frozen=True, slots=True)
class Words:
    """The number of words in a text, and its two most frequent words with counts. On a tie, the first word wins."""

    count: int
    top: tuple[tuple[str, int], ...]
    """at most two, most frequent first"""


def count_words(text: str) -> Words:
    """Count the words of a text, case-sensitive.

    The result equals `Counter(text.split()).most_common(2)`, without a Python object for each word.
    """
    data = text.encode("utf-8", "surrogatepass")
    words, first, second = _count_words(np.frombuffer(data, np.uint8))
    top = tuple(
        (data[start:end].decode("utf-8", "surrogatepass"), count) for start, end, count in (first, second) if count
    )
    return Words(words, top)


@njit(cache=True, nogil=True)
def _space_length(data: np.ndarray, i: int | np.int64) -> int:
    """Return the byte length of the white space character at `i` (`str.isspace` in UTF-8), or 0.

    In UTF-8, one byte follows 0xC2, and two bytes follow 0xE1 to 0xE3.
    """
    size = 0  # a single `return`: with several, numba counts references to the array in this hot loop
    byte = data[i]
    if byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31:
        size = 1
    elif byte == 0xC2:
        if data[i + 1] == 0x85 or data[i + 1] == 0xA0:
            size = 2
    elif 0xE1 <= byte <= 0xE3:
        middle, last = data[i + 1], data[i + 2]
        if byte == 0xE1:
            spaced = middle == 0x9A and last == 0x80
        elif byte == 0xE3:
            spaced = middle == 0x80 and last == 0x80
        elif middle == 0x80:
            spaced = 0x80 <= last <= 0x8A or last == 0xA8 or last == 0xA9 or last == 0xAF
        else:
            spaced = middle == 0x81 and last == 0x9F
        if spaced:
            size = 3
    return size


@njit(cache=True, nogil=True)
def _count_words(data: np.ndarray) -> tuple[int, tuple[int, int, int], tuple[int, int, int]]:
    """Return the number of words, and (start, end, count) of the two most frequent words.

    The words are counted by 64-bit hash in an open-addressing table. The table starts small and grows with the number of distinct
    words, so that it fits into the CPU cache.
    """
    size = 1024
    slots = np.zeros(size, np.int32)  # 1 + index of a distinct word; 0 marks an empty slot
    hashes = np.empty(len(data) // 2 + 1, np.uint64)  # hashes of the distinct words
    starts = np.empty(len(hashes), np.int32)
    ends = np.empty(len(hashes), np.int32)
    counts = np.empty(len(hashes), np.int32)
    words = 0
    distinct = 0
    i = np.int64(0)
    while i < len(data):
        byte = data[i]
        if byte <= 32 or 0xC2 <= byte <= 0xE3:
            skip = _space_length(data, i)
            if skip:
                i += skip
                continue
        start = i
        value = FNV
        while i < len(data):
            byte = data[i]
            if (byte <= 32 or 0xC2 <= byte <= 0xE3) and _space_length(data, i):
                break
            value = fnv_step(value, byte)
            i += 1
        value = finalize(value)
        words += 1
        at = find_item(slots, hashes, value)
        if slots[at] != 0:
            counts[slots[at] - 1] += 1
            continue
        hashes[distinct], starts[distinct], ends[distinct], counts[distinct] = value, start, i, 1
        distinct += 1
        slots[at] = distinct
        if 2 * distinct > size:
            size *= 4
            slots = np.zeros(size, np.int32)
            for word in range(distinct):
                slots[find_item(slots, hashes, hashes[word])] = word + 1
    first = (0, 0, 0)
    second = (0, 0, 0)
    for word in range(distinct):
        if counts[word] > first[2]:
            second = first
            first = (starts[word], ends[word], counts[word])
        elif counts[word] > second[2]:
            second = (starts[word], ends[word], counts[word])
    return words, first, second
