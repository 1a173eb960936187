"""Quality signals equal a slow implementation of their definitions, and known values on small texts."""

from __future__ import annotations

import string
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2corpus.text.signals import NAMES, REPEATED_NGRAMS, STOP_WORDS, TOP_NGRAMS, compute_signals, list_section_types

WORDS = st.sampled_from([
    "the", "of", "Gene", "gene,", "DNA", "12", "3.5", "-", "#1", "...", "é", "ab", "with", "x…", "𝒜", "日本", "𠀀", "a..b", "\u2003",
])  # fmt: skip
LINES = st.lists(WORDS, max_size=12).map(" ".join)
TEXTS = st.lists(LINES, max_size=8).map("\n".join)


def slowly(text: str) -> dict[str, float]:
    """Compute all signals directly from their definitions."""
    written = text.split()
    lines = [line.split() for line in text.split("\n") if line.strip()]
    words = [
        w for w in (word.translate(str.maketrans("", "", string.punctuation)) for word in text.lower().split()) if w
    ]
    total = sum(map(len, words))
    visible = "".join(written)
    repeated = [line for number, line in enumerate(lines) if line in lines[:number]]
    symbols = visible.count("#") + visible.count("…") + sum(word.count("...") for word in written)
    of_numbers = [line for line in lines if len(line) > 3 and 2 * sum(map(_no_letter, line)) > len(line)]

    def share(part: float, whole: float) -> float:
        return part / max(whole, 1)

    found = {
        "num_chars": len(text),
        "num_lines": len(lines),
        "num_words": len(written),
        "rps_doc_word_count": len(words),
        "rps_doc_mean_word_length": share(total, len(words)),
        "rps_doc_frac_unique_words": share(len(set(words)), len(words)),
        "rps_doc_stop_word_fraction": share(sum(word in STOP_WORDS for word in words), len(words)),
        "rps_doc_frac_all_caps_words": share(sum(map(_capitals, written)), len(written)),
        "rps_doc_frac_no_alph_words": share(sum(map(_no_letter, written)), len(written)),
        "rps_doc_symbol_to_word_ratio": share(symbols, len(written)),
        "rps_doc_frac_lines_end_with_ellipsis": share(sum(x[-1].endswith(("...", "…")) for x in lines), len(lines)),
        "frac_digits": share(sum(map(str.isdigit, visible)), len(visible)),
        "frac_upper": share(sum(map(str.isupper, visible)), len(visible)),
        "frac_lines_repeated": share(len(repeated), len(lines)),
        "frac_chars_lines_repeated": share(sum(len("".join(line)) for line in repeated), len(visible)),
        "frac_lines_of_numbers": share(len(of_numbers), len(lines)),
    }
    for n in TOP_NGRAMS:
        ngrams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
        best, count = Counter(ngrams).most_common(1)[0] if ngrams else ((), 0)
        found[f"rps_doc_frac_chars_top_{n}gram"] = count * len("".join(best)) / total if count > 1 else 0
    for n in REPEATED_NGRAMS:
        ngrams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
        before: set[tuple[str, ...]] = set()
        inside: set[int] = set()
        for i, ngram in enumerate(ngrams):
            inside.update(range(i, i + n) if ngram in before else ())
            before.add(ngram)
        found[f"rps_doc_frac_chars_dupe_{n}grams"] = sum(len(words[i]) for i in inside) / max(total, 1)
    return found


def _no_letter(word: str) -> bool:
    return not any(map(str.isalpha, word))


def _capitals(word: str) -> bool:
    letters = [character for character in word if character.isalpha()]
    return bool(letters) and all(map(str.isupper, letters))


DOTS = st.text("a. \n…", max_size=40)
"""Runs of dots of every length, within words and at the ends of lines"""
REPEATED = st.lists(st.sampled_from(["a", "bb", "a bb ccc dddd e f", "g h i j k l m n\no", "a bb\n"]), max_size=24).map(
    " ".join
)


@settings(max_examples=150)
@given(TEXTS | REPEATED | DOTS | st.text(max_size=300))
@example("5....")
@example("a..\nb ..\nc")
@example("a...\nb ...\nc")
@example("a…\nb …\nc‥\nd‧")
@example("1 2 3 a\n1 2 3 4\n1 2 a b\n1 2 3")
@example("wait .. .")
def test_signals_equal_their_definitions(text: str) -> None:
    found = compute_signals(text)
    assert list(found) == list(NAMES)
    assert found == pytest.approx(slowly(text), abs=1e-12)


def test_headers_show_the_sections_of_a_paper() -> None:
    lines = [
        "1. Introduction",
        "Text of the introduction.",
        "II. MATERIALS AND METHODS",
        "3 Results and Discussion",
        "Funding",
    ]
    assert list_section_types(lines) == ["discussion", "introduction", "methods", "results"]
    assert list_section_types([f"{'1' * 46}. introduction"]) == ["introduction"]  # 60 characters
    assert list_section_types([f"{'1' * 47}. introduction"]) == []


def test_lines_and_words_are_compared_completely() -> None:
    """Check long lines and words. A hash that forgot the first characters would treat these as equal."""
    long = "a" * 150
    found = compute_signals(f"{long}\nb{long[1:]}\n{long}")
    assert (found["frac_lines_repeated"], found["rps_doc_frac_unique_words"]) == (1 / 3, 2 / 3)
    assert compute_signals("a b\nab\nb a")["frac_lines_repeated"] == 0


@pytest.mark.parametrize("code", [0x40, 0x5A, 0x1FFFF, 0x20000, 0x2A6DF, 0x10FFFF])
def test_every_character_has_its_class(code: int) -> None:
    """Check the class of a character. Above the planes that have letters of all kinds, only ideographs exist."""
    found = compute_signals(chr(code))
    assert found["rps_doc_frac_no_alph_words"] == (0 if chr(code).isalpha() or code > 0x20000 else 1)
    assert found["frac_upper"] == chr(code).isupper()
