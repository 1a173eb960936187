"""Compute quality signals of a document, for later filters by users of the corpus.

Names and definitions are from RedPajama-v2 and Gopher where these exist. They do not influence cleaning. White space separates
words. They are normalized as in RedPajama-v2: lower case, without ASCII punctuation, empty words removed.
Sources: RedPajama-v2 (arXiv:2411.12372, Table 5 and its `quality_signals` code), Gopher (arXiv:2112.11446, Table A1),
C4 (arXiv:1910.10683).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from s2corpus.compiled import njit
from s2corpus.text import word_hashes
from s2corpus.text.word_hashes import ALPHA, DIGIT, SPACE, UPPER, WORD_SEED, class_of, find_item, fnv_step, mix

STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
"""Gopher, Appendix A: running English text contains at least two of these words"""
TOP_NGRAMS = (2, 3, 4)
REPEATED_NGRAMS = (5, 6, 7, 8, 9, 10)
"""Gopher, Table A1: the orders with limits on the most frequent n-gram, and on all repeated n-grams"""

_BASIC_NAMES = (
    "num_chars",
    "num_lines",
    "num_words",
    "rps_doc_word_count",
    "rps_doc_mean_word_length",
    "rps_doc_frac_unique_words",
    "rps_doc_stop_word_fraction",
    "rps_doc_frac_all_caps_words",
    "rps_doc_frac_no_alph_words",
    "rps_doc_symbol_to_word_ratio",
    "rps_doc_frac_lines_end_with_ellipsis",
    "frac_digits",
    "frac_upper",
    "frac_lines_repeated",
    "frac_chars_lines_repeated",
    "frac_lines_of_numbers",
)
NAMES = (
    *_BASIC_NAMES,
    *(f"rps_doc_frac_chars_top_{n}gram" for n in TOP_NGRAMS),
    *(f"rps_doc_frac_chars_dupe_{n}grams" for n in REPEATED_NGRAMS),
)
"""all signal names; signals with `num_` or `_count` are integers, the others are shares or means"""


def compute_signals(text: str) -> dict[str, float]:
    """Return every signal of `NAMES`: counts, means in characters, shares from 0 to 1 (0 if the denominator is 0).

    - `rps_doc_word_count`, `num_words`: normalized words; words as written.
    - `rps_doc_symbol_to_word_ratio`: `#`, `...` and `…` divided by words as written.
    - `rps_doc_frac_all_caps_words`, `rps_doc_frac_no_alph_words`: share of the words as written.
    - `frac_digits`, `frac_upper`: share of the characters that are not white space.
    - `frac_lines_repeated`, `frac_chars_lines_repeated`: lines that occurred before, and their characters (Gopher: duplicate lines).
    - `frac_lines_of_numbers`: lines of four or more words, more than half of them without a letter: remains of tables.
    - `rps_doc_frac_chars_top_<n>gram`: characters of all occurrences of the most frequent n-gram, if it occurs at least twice.
    - `rps_doc_frac_chars_dupe_<n>grams`: characters of words in an n-gram that occurred before.
    """
    written = word_hashes.code_points(text)
    classes = word_hashes.classes()
    values = np.zeros(len(NAMES))
    _fill_character_signals(written, classes, values)
    hashes, lengths = word_hashes.hash_words(text)
    _fill_word_signals(hashes, lengths, _stop_words(), values)
    _fill_ngram_signals(hashes, lengths, values)
    return dict(zip(NAMES, values.tolist(), strict=True))


@cache
def _stop_words() -> npt.NDArray[np.uint64]:
    return np.sort(word_hashes.hash_words(" ".join(STOP_WORDS))[0])


@njit(cache=True)
def _table(rows: int) -> npt.NDArray[np.int32]:
    size = 16
    while size < 2 * rows:
        size *= 2
    return np.zeros(size, np.int32)


@njit(cache=True)
def _fill_character_signals(
    text: npt.NDArray[np.uint32], classes: npt.NDArray[np.uint8], values: npt.NDArray[np.float64]
) -> None:
    visible = digits = upper = words = caps = wordless = symbols = 0
    lines = ellipses = of_numbers = 0
    line_hashes = np.empty(len(text), np.uint64)
    line_lengths = np.empty(len(text), np.int64)
    start = 0
    dot = np.uint32(46)
    while start <= len(text):
        end = start
        hashed = WORD_SEED
        line_words = line_wordless = line_chars = 0
        dots = 0
        last = np.uint32(0)
        while True:  # each iteration reads one word
            while end < len(text) and text[end] != np.uint32(10) and class_of(classes, text[end]) & SPACE:
                end += 1
            if end >= len(text) or text[end] == np.uint32(10):
                break
            letters = uppers = dots = 0
            while end < len(text):
                code = text[end]
                kind = class_of(classes, code)
                if kind & SPACE:
                    break
                hashed = fnv_step(hashed, code)
                line_chars += 1
                if kind & ALPHA:
                    letters += 1
                    if kind & UPPER:
                        uppers += 1
                elif kind & DIGIT:
                    digits += 1
                if code == np.uint32(35) or code == np.uint32(0x2026):
                    symbols += 1
                last = code
                dots = dots + 1 if code == dot else 0
                if dots and dots % 3 == 0:
                    symbols += 1
                end += 1
            hashed = fnv_step(hashed, np.uint32(32))
            upper += uppers
            line_words += 1
            if letters == 0:
                line_wordless += 1
            elif uppers == letters:
                caps += 1
        if line_words:
            line_hashes[lines] = hashed
            line_lengths[lines] = line_chars
            lines += 1
            words += line_words
            wordless += line_wordless
            visible += line_chars
            if last == np.uint32(0x2026) or dots >= 3:
                ellipses += 1
            if line_words >= 4 and 2 * line_wordless > line_words:
                of_numbers += 1
        start = end + 1
    repeated = repeated_chars = 0
    table = _table(lines)
    for i in range(lines):
        at = find_item(table, line_hashes, line_hashes[i])
        if table[at]:
            repeated += 1
            repeated_chars += line_lengths[i]
        else:
            table[at] = i + 1
    # The index is the position in `NAMES`.
    values[0] = len(text)
    values[1] = lines
    values[2] = words
    values[7] = caps / max(words, 1)
    values[8] = wordless / max(words, 1)
    values[9] = symbols / max(words, 1)
    values[10] = ellipses / max(lines, 1)
    values[11] = digits / max(visible, 1)
    values[12] = upper / max(visible, 1)
    values[13] = repeated / max(lines, 1)
    values[14] = repeated_chars / max(visible, 1)
    values[15] = of_numbers / max(lines, 1)


@njit(cache=True)
def _fill_word_signals(
    hashes: npt.NDArray[np.uint64],
    lengths: npt.NDArray[np.int64],
    stop_words: npt.NDArray[np.uint64],
    values: npt.NDArray[np.float64],
) -> None:
    table = _table(len(hashes))
    unique = stops = characters = 0
    for i in range(len(hashes)):
        at = find_item(table, hashes, hashes[i])
        if table[at] == 0:
            table[at] = i + 1
            unique += 1
        for stop in stop_words:
            if stop == hashes[i]:
                stops += 1
        characters += lengths[i]
    words = max(len(hashes), 1)
    values[3] = len(hashes)
    values[4] = characters / words
    values[5] = unique / words
    values[6] = stops / words


@njit(cache=True)
def _fill_ngram_signals(
    hashes: npt.NDArray[np.uint64], lengths: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
) -> None:
    """Compute the signals of n-grams for n from 2 to 10.

    An n-gram of n + 1 words can only repeat where its first n words repeat, so all other positions are dropped after each n.
    """
    positions = np.empty(len(hashes), np.int64)
    keys = np.empty(len(hashes), np.uint64)
    total = 0
    for i in range(len(hashes)):
        positions[i], keys[i] = i, hashes[i]
        total += lengths[i]
    total = max(total, 1)
    counts = np.zeros(len(hashes), np.int64)
    left = len(hashes)
    for n in range(2, 11):
        while left and positions[left - 1] > len(hashes) - n:  # the positions are in ascending order
            left -= 1
        positions, keys = positions[:left], keys[:left]
        for i in range(left):
            keys[i] = mix(keys[i], hashes[positions[i] + n - 1])
        table = _table(left)
        first = np.empty(left, np.int64)
        for i in range(left):
            counts[i] = 0
        characters = until = best = 0
        for i in range(left):
            at = find_item(table, keys, keys[i])
            seen = table[at] != 0
            if not seen:
                table[at] = i + 1
            first[i] = table[at] - 1
            counts[first[i]] += 1
            if seen:
                start = positions[i]
                for word in range(max(start, until), start + n):
                    characters += lengths[word]
                until = start + n
        if n <= 4:
            for i in range(left):
                if counts[i] > counts[best]:
                    best = i
            if left and counts[best] >= 2:
                repeated = 0
                for word in range(positions[best], positions[best] + n):
                    repeated += lengths[word]
                values[14 + n] = counts[best] * repeated / total
        else:
            values[14 + n] = characters / total
        kept = 0
        for i in range(left):
            if counts[first[i]] >= 2:
                positions[kept], keys[kept] = positions[i], keys[i]
                kept += 1
        left = kept
