"""Words are separated by white space, and the most frequent word is the first to appear (SPEC §8.5, §8.9)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text.words import count_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat and the dog", ("the", 2)),
        ("The the", ("The", 1)),  # Case matters.
        ("b a b a", ("b", 2)),  # In a tie, the first word to appear counts.
        ("cell, cell cell,", ("cell,", 2)),  # Punctuation belongs to the word.
        ("a\u00a0b\u2003a", ("a", 2)),  # Every kind of white space separates.
        ("  ", None),
        ("", None),
    ],
)
def test_top_word_is_the_first_most_frequent(text: str, expected: tuple[str, int] | None) -> None:
    assert count_words(text).top[:1] == ((expected,) if expected else ())


@given(
    st.text(st.sampled_from("ab é\u0301\u2003\u3000\u1680\x85\xa0\x1c\n\u200b\u2028\u205f中\U0001f600\x00")) | st.text()
)
def test_counting_equals_splitting(text: str) -> None:
    words = text.split()
    found = count_words(text)
    assert (found.count, list(found.top)) == (len(words), Counter(words).most_common(2))


def test_every_character_separates_words_as_in_split() -> None:
    text = "a".join(chr(n) for n in range(0x10000) if not 0xD800 <= n < 0xE000)
    assert count_words(text).count == len(text.split())


def test_many_and_long_words_are_compared_completely() -> None:
    """A hash that forgot the first characters would treat these words as one."""
    words = [letter + "a" * size for letter in "bcd" for size in (30, 40, 70, 150)] + [f"w{n}" for n in range(600)]
    assert count_words(" ".join([*words, words[5]])).top == ((words[5], 2), (words[0], 1))
