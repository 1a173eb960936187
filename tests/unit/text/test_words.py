"""Words are what white space separates."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.text import top_word, word_counts
from s2corpus.text.words import count_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat and the dog", ("the", 2)),
        ("The the", ("The", 1)),  # case matters
        ("b a b a", ("b", 2)),  # a tie goes to the first to appear
        ("cell, cell cell,", ("cell,", 2)),  # punctuation belongs to the word
        ("a\u00a0b\u2003a", ("a", 2)),  # every white space separates
        ("  ", None),
        ("", None),
    ],
)
def test_top_word(text: str, expected: tuple[str, int] | None) -> None:
    assert top_word(text) == expected


def test_word_counts_of_an_array() -> None:
    assert word_counts(pa.array(["a b", "", None, " x\ty\n"])).to_pylist() == [2, 0, None, 2]


@given(
    st.text(st.sampled_from("ab é\u0301\u2003\u3000\u1680\x85\xa0\x1c\n\u200b\u2028\u205f中\U0001f600\x00")) | st.text()
)
@settings(deadline=None)
def test_counting_equals_splitting(text: str) -> None:
    words = text.split()
    found = count_words(text)
    assert (found.count, list(found.top)) == (len(words), Counter(words).most_common(2))


def test_every_character_separates_words_or_does_not_as_in_splitting() -> None:
    text = "a".join(chr(n) for n in range(0x10000) if not 0xD800 <= n < 0xE000)
    assert count_words(text).count == len(text.split())
