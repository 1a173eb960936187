"""Words as the S2 V2 card counts them: what white space separates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow as pa


def top_words(words: Iterable[str], n: int) -> list[tuple[str, int]]:
    """The `n` most frequent words with their counts, case-sensitive; of equally frequent ones the first to appear."""
    return Counter(words).most_common(n)


def top_word(text: str) -> tuple[str, int] | None:
    """The most frequent word of a text and its count; the first to appear on a tie; none of a blank text."""
    return next(iter(top_words(text.split(), 1)), None)


def word_counts(texts: pa.Array) -> pa.Array:
    """Words of every string of an array (int64); null for null."""
    return pa.array([None if t is None else len(t.split()) for t in texts.to_pylist()], pa.int64())
