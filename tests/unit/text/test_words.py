"""Words are what white space separates."""

from __future__ import annotations

import pyarrow as pa
import pytest

from s2corpus.text import top_word, word_counts


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
