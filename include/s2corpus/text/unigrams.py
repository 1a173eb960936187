"""Compute how probable a text's words are: the mean log2 of each word's share in a list of word counts (S2 V2 card)."""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from s2corpus.errors import UserError
from s2corpus.text.tokens import ShareTable, parse_counted_lines, sum_shares

CARD_THRESHOLD = -20.0
"""mean log2 probability below which a section is removed, and at or below which an abstract is dropped (S2 V2 card)"""
WORDFREQ_THRESHOLD = -19.82
"""the threshold for wordfreq's list; it drops the same share of sections as `CARD_THRESHOLD` does with the card's list (docs/quality.md)"""

_CARD_TOKENS = 588_124_220_187
"""sum of the counts in the card's list; wordfreq's shares are scaled to it, so that the count of an unlisted word, √V + 1, is comparable"""
_MAX_LIST_BYTES = 256_000_000


@dataclass(frozen=True)
class Unigrams:
    """A word list: lowercase words with log2 of their share, and the share of unlisted words."""

    name: str
    table: ShareTable
    threshold: float
    """mean below which text is improbable according to this list"""

    @property
    def unknown(self) -> float:
        """log2 of the share of an unlisted word, as if counted √V + 1 times; V is the number of listed words."""
        return self.table.unknown

    @classmethod
    def from_counts(cls, name: str, counts: Mapping[str, int], threshold: float = CARD_THRESHOLD) -> Unigrams:
        """Return the list for a mapping of word → count; counts are at least 1."""
        shares, unknown = _log_shares(list(counts.values()))
        return cls(name, ShareTable.from_shares(dict(zip(counts, shares.tolist(), strict=True)), unknown), threshold)


def _log_shares(counts: list[int]) -> tuple[np.ndarray, float]:
    """Return log2 of each word's share, and log2 of an unlisted word's share."""
    total = math.log2(sum(counts))
    shares = np.fromiter(map(math.log2, counts), np.float64, len(counts)) - total
    return shares, math.log2(math.sqrt(len(counts)) + 1) - total


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
    if plain := _parse_ascii_list(content):
        return Unigrams(name, plain, CARD_THRESHOLD)
    counts = {}
    for line in content.decode("utf-8", "replace").splitlines():
        word, _, count = line.strip().partition("\t" if "\t" in line else ",")
        if count.isdecimal() and int(count) > 0:
            counts[word] = int(count)
    if not counts:
        raise UserError(f"unigram list {name}: no line has the form `word,count` or `word TAB count`")
    return Unigrams.from_counts(name, counts)


def _parse_ascii_list(content: bytes) -> ShareTable | None:
    """Return the table if every line is an ASCII word and a count, otherwise None. A header line is skipped.

    This parses all lines in one batch.
    """
    header, _, rest = content.partition(b"\n")
    lines = rest if re.fullmatch(rb"[A-Za-z_]++[\t,][A-Za-z_]++\r?", header) else content
    counted = parse_counted_lines(lines if lines.endswith(b"\n") else lines + b"\n")
    if counted is None:
        return None
    hashes, counts = counted
    listed = np.flatnonzero(hashes)
    shares = np.zeros(len(hashes), np.float64)
    shares[listed], unknown = _log_shares(counts[listed].tolist())
    return ShareTable(hashes, shares, {}, unknown)


@cache
def wordfreq_unigrams() -> Unigrams:
    """Return the built-in default: wordfreq's English list, with shares scaled to counts (profile `card-wordfreq`)."""
    import wordfreq  # slow; other lists do not need it

    shares = wordfreq.get_frequency_dict("en", wordlist="large")
    counts = {word: max(1, round(share * _CARD_TOKENS)) for word, share in shares.items()}
    return Unigrams.from_counts("wordfreq", counts, WORDFREQ_THRESHOLD)


def log_probability(text: str, unigrams: Unigrams) -> float:
    """Return the mean log2 probability of the words of `text`, or 0 for a text without words.

    blingfire separates the words, which are then lowercased.
    """
    return log_probabilities([text], unigrams)[0]


def log_probabilities(texts: Sequence[str], unigrams: Unigrams) -> list[float]:
    """Return the `log_probability` of each text."""
    return [total / words if words else 0.0 for total, words in sum_shares(texts, unigrams.table)]
