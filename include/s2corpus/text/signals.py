"""Compute quality signals and section types of a document, for later filters by users of the corpus.

Names and definitions are from RedPajama-v2 and Gopher where these exist. They do not influence cleaning. White space separates
words. They are normalized as in RedPajama-v2: lower case, without ASCII punctuation, empty words removed.
Sources: RedPajama-v2 (arXiv:2411.12372, Table 5 and its `quality_signals` code), Gopher (arXiv:2112.11446, Table A1),
C4 (arXiv:1910.10683). Words of headings identify the sections (IMRaD and related sections).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from s2corpus.text import word_hashes
from s2corpus.text.word_hashes import ALPHA, DIGIT, SPACE, UPPER

STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
"""Gopher, Appendix A: running English text contains at least two of these words"""
TOP_NGRAMS = (2, 3, 4)
REPEATED_NGRAMS = (5, 6, 7, 8, 9, 10)
"""Gopher, Table A1: the orders with limits on the most frequent n-gram, and on all repeated n-grams"""
_HEADINGS = {
    "abstract": ("abstract", "summary"),
    "introduction": ("introduction", "motivation"),
    "background": ("background", "preliminaries", "theory"),
    "related_work": ("related work", "related works", "prior work", "previous work", "literature review"),
    "methods": (
        "method", "methods", "methodology", "materials and methods", "methods and materials", "patients and methods",
        "experimental section", "experimental", "experimental setup", "model", "approach", "study design",
    ),
    "results": ("results", "results and discussion", "findings", "experiments", "evaluation", "experimental results"),
    "discussion": ("discussion", "results and discussion", "discussion and conclusion", "discussion and conclusions"),
    "limitations": ("limitations", "strengths and limitations", "study limitations"),
    "conclusion": (
        "conclusion", "conclusions", "concluding remarks", "discussion and conclusion", "discussion and conclusions",
        "conclusion and future work", "conclusions and future work",
    ),
    "future_work": ("future work", "outlook", "conclusion and future work", "conclusions and future work"),
}  # fmt: skip
"""type → normalized headings. The headings are from papers in PMC and arXiv; the types are from Dr. Inventor and IMRaD."""
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.)]?\s+")
_NOT_WORD = re.compile(r"[^a-z]+")
_LONGEST = 60


class SignalRow(TypedDict):
    """The quality signals."""

    num_chars: Annotated[int, "number of code points"]
    num_lines: Annotated[int, "number of lines with words"]
    num_words: Annotated[int, "number of words between white space"]
    rps_doc_word_count: Annotated[int, "number of normalized words"]
    rps_doc_mean_word_length: Annotated[float, "mean length of normalized words, characters"]
    rps_doc_frac_unique_words: Annotated[float, "share of distinct words"]
    rps_doc_stop_word_fraction: Annotated[float, "stop words per word"]
    rps_doc_frac_all_caps_words: Annotated[float, "share of words in capitals"]
    rps_doc_frac_no_alph_words: Annotated[float, "share of words without letters"]
    rps_doc_symbol_to_word_ratio: Annotated[float, "`#`, `...` and `…` per word"]
    rps_doc_frac_lines_end_with_ellipsis: Annotated[float, "share of lines that end with an ellipsis"]
    frac_digits: Annotated[float, "share of digits among characters other than white space"]
    frac_upper: Annotated[float, "share of capitals among characters other than white space"]
    frac_lines_repeated: Annotated[float, "share of repeated lines"]
    frac_chars_lines_repeated: Annotated[float, "share of characters in repeated lines"]
    frac_lines_of_numbers: Annotated[float, "share of lines that are mostly numbers"]
    rps_doc_frac_chars_top_2gram: Annotated[float, "share of characters in the most frequent 2-gram"]
    rps_doc_frac_chars_top_3gram: Annotated[float, "share of characters in the most frequent 3-gram"]
    rps_doc_frac_chars_top_4gram: Annotated[float, "share of characters in the most frequent 4-gram"]
    rps_doc_frac_chars_dupe_5grams: Annotated[float, "share of characters in repeated 5-grams"]
    rps_doc_frac_chars_dupe_6grams: Annotated[float, "share of characters in repeated 6-grams"]
    rps_doc_frac_chars_dupe_7grams: Annotated[float, "share of characters in repeated 7-grams"]
    rps_doc_frac_chars_dupe_8grams: Annotated[float, "share of characters in repeated 8-grams"]
    rps_doc_frac_chars_dupe_9grams: Annotated[float, "share of characters in repeated 9-grams"]
    rps_doc_frac_chars_dupe_10grams: Annotated[float, "share of characters in repeated 10-grams"]


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
    lines = list(filter(None, map(str.split, text.split("\n"))))
    hashes, lengths = word_hashes.hash_words(text)
    words = _number(hashes)
    kinds = word_hashes.find_classes(word_hashes.code_points(text))
    is_letter, is_visible = (kinds & ALPHA) > 0, (kinds & SPACE) == 0
    is_upper = is_letter & ((kinds & UPPER) > 0)
    starts = np.flatnonzero(is_visible & ~np.concatenate([[False], is_visible[:-1]]))
    wordless = ~_any(is_letter, starts)
    is_caps = ~wordless & ~_any(is_letter & ~is_upper, starts)
    of_numbers = repeated = repeated_chars = at = 0
    seen: set[str] = set()
    for line in lines:
        n_wordless, at = int(np.count_nonzero(wordless[at : at + len(line)])), at + len(line)
        of_numbers += len(line) >= 4 and 2 * n_wordless > len(line)
        if (joined := " ".join(line)) in seen:
            repeated += 1
            repeated_chars += len(joined) - len(line) + 1
        seen.add(joined)
    ellipses = sum(line[-1].endswith(("...", "…")) for line in lines)
    symbols = text.count("#") + text.count("…") + text.count("...")
    stop_words = np.count_nonzero(hashes == _stop_words())
    visible = max(int(np.count_nonzero(is_visible)), 1)
    n_lines, n_written, n_words = max(len(lines), 1), max(len(starts), 1), max(len(hashes), 1)
    found = {
        "num_chars": len(text),
        "num_lines": len(lines),
        "num_words": len(starts),
        "rps_doc_word_count": len(hashes),
        "rps_doc_mean_word_length": int(lengths.sum()) / n_words,
        "rps_doc_frac_unique_words": (int(words.max(initial=-1)) + 1) / n_words,
        "rps_doc_stop_word_fraction": stop_words / n_words,
        "rps_doc_frac_all_caps_words": np.count_nonzero(is_caps) / n_written,
        "rps_doc_frac_no_alph_words": np.count_nonzero(wordless) / n_written,
        "rps_doc_symbol_to_word_ratio": symbols / n_written,
        "rps_doc_frac_lines_end_with_ellipsis": ellipses / n_lines,
        "frac_digits": np.count_nonzero(kinds & DIGIT) / visible,
        "frac_upper": np.count_nonzero(is_upper) / visible,
        "frac_lines_repeated": repeated / n_lines,
        "frac_chars_lines_repeated": repeated_chars / visible,
        "frac_lines_of_numbers": of_numbers / n_lines,
    }
    return {name: float(value) for name, value in (found | _compute_ngram_signals(words, lengths)).items()}


@cache
def _stop_words() -> npt.NDArray[np.uint64]:
    return word_hashes.hash_words(" ".join(STOP_WORDS))[0][:, np.newaxis]


def _number(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return a number for each value, from 0 in the order of first occurrence. Equal values have equal numbers."""
    found: npt.NDArray[np.int64] = pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
    return found


def _any(characters: npt.NDArray[np.bool_], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return for each word that begins at one of `starts` whether one of its characters is true."""
    return np.logical_or.reduceat(characters, starts) if len(starts) else np.zeros(0, bool)


def _compute_ngram_signals(words: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the signals of n-grams for n from 2 to 10. Equal words have equal numbers.

    An n-gram of n + 1 words can only repeat where its first n words repeat, so all other positions are dropped after each n.
    """
    found = {f"rps_doc_frac_chars_top_{n}gram": 0.0 for n in TOP_NGRAMS}
    found |= {f"rps_doc_frac_chars_dupe_{n}grams": 0.0 for n in REPEATED_NGRAMS}
    total = max(int(lengths.sum()), 1)
    positions, ngrams = np.arange(len(words)), words
    for n in (*TOP_NGRAMS, *REPEATED_NGRAMS):
        fits = positions <= len(words) - n
        positions, ngrams = positions[fits], ngrams[fits] * len(words) + words[positions[fits] + n - 1]
        if not len(positions):
            break
        ngrams = _number(ngrams)
        counts = np.bincount(ngrams)
        if n in TOP_NGRAMS and (count := int(counts.max())) >= 2:
            start = positions[ngrams == counts.argmax()][0]
            found[f"rps_doc_frac_chars_top_{n}gram"] = count * int(lengths[start : start + n].sum()) / total
        elif n in REPEATED_NGRAMS:
            again = positions[1:][ngrams[1:] <= np.maximum.accumulate(ngrams)[:-1]]
            inside = np.zeros(len(words), bool)
            inside[again[:, np.newaxis] + np.arange(n)] = True
            found[f"rps_doc_frac_chars_dupe_{n}grams"] = int(lengths[inside].sum()) / total
        is_repeated = counts[ngrams] >= 2
        positions, ngrams = positions[is_repeated], ngrams[is_repeated]
    return found


NAMES = tuple(compute_signals(""))
"""all signal names; signals with `num_` or `_count` are integers, the others are shares or means"""


def list_section_types(lines: Iterable[str]) -> list[str]:
    """Return the sorted types of the lines that are listed headings. Running text has no type."""
    short = (_NUMBER.sub("", line.lower()) for line in lines if len(line) <= _LONGEST)
    headings = {_NOT_WORD.sub(" ", line).strip() for line in short}
    return sorted(type_ for type_, names in _HEADINGS.items() if not headings.isdisjoint(names))
