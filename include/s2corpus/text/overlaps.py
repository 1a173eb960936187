"""Find the word n-grams that a text shares with benchmarks (GPT-3, arXiv:2005.14165, Appendix C: 13 words)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from s2corpus.errors import UserError
from s2corpus.text import minhash, word_hashes

NGRAM_WORDS = 13
_COLUMNS = {
    "id": pa.string(), "set": pa.string(), "split": pa.string(), "benchmark": pa.string(), "ngrams": pa.int64(), "share": pa.float64(),
}  # fmt: skip
SCHEMA = pa.schema([pa.field(name, type_, nullable=False) for name, type_ in _COLUMNS.items()])
"""Schema of `overlaps.parquet`: one row for each document and benchmark with common n-grams.

`ngrams` is the number of distinct common n-grams. `share` is their share of the benchmark's n-grams.
"""


class Benchmarks:
    """The n-grams of some benchmarks. Items with fewer words than an n-gram are skipped."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        """Read the benchmarks. `contents` maps a name to JSON lines (all strings are used) or to lines of text.

        Raises:
            UserError: a benchmark has no item that is long enough.
        """
        self._sets: dict[str, minhash.Hashes] = {}
        for name, content in sorted(contents.items()):
            items = [
                minhash.hash_shingles(item, NGRAM_WORDS) for item in _items(content) if _words(item) >= NGRAM_WORDS
            ]
            if not items:
                raise UserError(f"benchmark {name}: no item of {NGRAM_WORDS} words or more")
            self._sets[name] = np.unique(np.concatenate(items))

    def overlaps(self, text: str) -> Iterator[tuple[str, int, float]]:
        """Yield (benchmark, number of distinct common n-grams, their share of the benchmark's) for each overlap."""
        own = np.unique(minhash.hash_shingles(text, NGRAM_WORDS))
        for name, theirs in self._sets.items():
            if both := len(np.intersect1d(own, theirs, assume_unique=True)):
                yield name, both, both / len(theirs)


def _words(text: str) -> int:
    return len(word_hashes.hash_words(text)[0])


def _items(content: bytes) -> Iterator[str]:
    """Yield the strings of every JSON value, or the line itself if it is not JSON."""
    for line in content.splitlines():
        try:
            yield from _strings(orjson.loads(line))
        except orjson.JSONDecodeError:
            yield line.decode("utf-8", "replace")


def _strings(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
