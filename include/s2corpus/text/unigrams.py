"""Compute how probable a text's words are: the mean log2 of each word's share in a list of word counts (S2 V2 card)."""

from __future__ import annotations

import gzip
import hashlib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import blingfire

from s2corpus.errors import UserError

_CARD_TOKENS = 588_124_220_187
"""sum of the counts in the card's list; wordfreq's shares are scaled to it, so that the count of an unlisted word, √V + 1, is comparable"""
_MAX_LIST_BYTES = 256_000_000


@dataclass(frozen=True)
class Unigrams:
    """A word list: lowercase word → log2 of its share."""

    name: str
    shares: Mapping[str, float]
    unknown: float
    """log2 of the share of an unlisted word, as if counted √V + 1 times; V is the number of listed words"""

    @classmethod
    def from_counts(cls, name: str, counts: Mapping[str, int]) -> Unigrams:
        """Return the list for a mapping of word → count; counts are at least 1."""
        total = math.log2(sum(counts.values()))
        shares = {word: math.log2(count) - total for word, count in counts.items()}
        return cls(name, shares, math.log2(math.sqrt(len(counts)) + 1) - total)


def parse_unigrams(name: str, content: bytes, sha256: str | None = None) -> Unigrams:
    """Return a word list from the bytes of a file.

    The file is CSV `word,count` or `word TAB count` per line, optionally gzipped. Lines without a numeric count (the CSV header) are
    skipped.

    Raises:
        UserError: the checksum differs, the file is too large, or no line has the format.
    """
    if sha256 is not None and (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise UserError(
            f"unigram list {name}: SHA-256 is {found}, expected {sha256}; fetch it again or correct the spec"
        )
    if content[:2] == b"\x1f\x8b":
        content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(_MAX_LIST_BYTES + 1)
    if len(content) > _MAX_LIST_BYTES:
        raise UserError(
            f"unigram list {name}: more than {_MAX_LIST_BYTES:,} bytes; expected a list of words with counts"
        )
    counts = {}
    for line in content.decode("utf-8", "replace").splitlines():
        word, _, count = line.strip().partition("\t" if "\t" in line else ",")
        if count.isdecimal() and int(count) > 0:
            counts[word] = int(count)
    if not counts:
        raise UserError(f"unigram list {name}: no line has the form `word,count` or `word TAB count`")
    return Unigrams.from_counts(name, counts)


@cache
def wordfreq_unigrams() -> Unigrams:
    """Return the built-in default: wordfreq's English list, with shares scaled to counts (profile `card-wordfreq`)."""
    import wordfreq  # slow; other lists do not need it

    shares = wordfreq.get_frequency_dict("en", wordlist="large")
    counts = {word: max(1, round(share * _CARD_TOKENS)) for word, share in shares.items()}
    return Unigrams.from_counts("wordfreq", counts)


def log_probability(text: str, unigrams: Unigrams) -> float:
    """Return the mean log2 probability of the words of `text`, or 0 for a text without words.

    blingfire separates the words, which are then lowercased. Words that are not ASCII are added last: the order determines the
    last digits of the sum, and `sum` rounds differently since Python 3.12.
    """
    words = blingfire.text_to_words(text.encode("utf-8", "ignore").decode()).split()
    words.sort(key=str.isascii, reverse=True)
    total = 0.0
    for word in words:
        total += unigrams.shares.get(word.lower(), unigrams.unknown)
    return total / len(words) if words else 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of a calibration over sections of texts."""

    sections: int
    dropped: int
    """number dropped by the reference list at its threshold"""
    threshold: float
    """threshold at which the other list drops the same number"""
    dropped_at_threshold: int
    """number dropped by the other list at that threshold"""
    both: int
    """number of sections that both lists drop"""
    own_quantiles: tuple[float, ...]
    """the other list's means at 1, 5, 50, 95 and 99 %"""


def calibrate(texts: Sequence[str], reference: Unigrams, other: Unigrams, threshold: float) -> Calibration:
    """Return the threshold for `other` that drops the same share of `texts` as `reference` does below `threshold`.

    It is the midpoint between the means of the last dropped text and the first kept text. It is rounded to two decimals
    unless rounding changes the dropped texts. `texts` is not empty.
    """
    reference_means = [log_probability(text, reference) for text in texts]
    other_means = [log_probability(text, other) for text in texts]
    dropped = sum(mean < threshold for mean in reference_means)
    ranked = sorted(other_means)
    last_dropped = ranked[dropped - 1] if dropped else ranked[0] - 1
    first_kept = ranked[dropped] if dropped < len(ranked) else ranked[-1] + 1
    middle = (last_dropped + first_kept) / 2
    chosen = round(middle, 2) if last_dropped < round(middle, 2) <= first_kept else middle
    return Calibration(
        sections=len(texts),
        dropped=dropped,
        threshold=chosen,
        dropped_at_threshold=sum(mean < chosen for mean in other_means),
        both=sum(a < threshold and b < chosen for a, b in zip(reference_means, other_means, strict=True)),
        own_quantiles=tuple(ranked[int(len(ranked) * share)] for share in (0.01, 0.05, 0.5, 0.95, 0.99)),
    )
