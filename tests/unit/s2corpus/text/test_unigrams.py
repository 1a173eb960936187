"""Log probability is the mean log2 of each word's share in a list; unknown words count √V + 1 times (SPEC §8.7, §8.10)."""

from __future__ import annotations

import gzip
import hashlib
import math
from collections.abc import Callable
from pathlib import Path

import blingfire
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.errors import UserError
from s2corpus.text import unigrams
from s2corpus.text.tokens import ShareTable
from s2corpus.text.unigrams import (
    Unigrams,
    log_probabilities,
    log_probability,
    parse_unigrams,
    wordfreq_unigrams,
)

COUNTS = {"the": 6, "cat": 1, "sat": 1}  # V = 3, 8 words in total
LIST = Unigrams.from_counts("three words", COUNTS)
UNKNOWN = math.log2((math.sqrt(3) + 1) / 8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the", math.log2(6 / 8)),
        ("The", math.log2(6 / 8)),  # lower-cased
        ("the cat", (math.log2(6 / 8) - 3) / 2),
        ("zebra", UNKNOWN),
        ("cat.", (-3 + UNKNOWN) / 2),  # Punctuation is a separate word.
        ("  ", 0.0),
    ],
)
def test_log_probability_is_mean_log2_share(text: str, expected: float) -> None:
    assert log_probability(text, LIST) == pytest.approx(expected)


WORDS = [
    "a", "A", "b", "B", "Z", "z", "[", "@", "{", "`", "...", "ab", "aB", "é", "É", "ж", "中", "\u212a", "k", "x" * 150, "y" + "x" * 149,
]  # fmt: skip
SEPARATORS = [" ", "\n", "\t", "\x00", "\x1c", "\x1f", "\x7f", "\x85", "\u2003", "\ud800"]
"""characters that blingfire replaces or ignores"""
LISTED = st.dictionaries(st.sampled_from(sorted({word.lower() for word in WORDS})), st.integers(-30, -1).map(float))


@given(LISTED, st.lists(st.lists(st.sampled_from(WORDS + SEPARATORS)).map("".join), max_size=4))
def test_log_probabilities_use_words_of_blingfire(shares: dict[str, float], texts: list[str]) -> None:
    """Words are looked up in lower case; the Kelvin sign becomes an ASCII letter."""
    words = Unigrams("list", ShareTable.from_shares(shares, -50.0), -20.0)
    for text, found in zip(texts, log_probabilities(texts, words), strict=True):
        readable = text.encode("utf-8", "ignore").decode()
        given_ = blingfire.text_to_words(readable).partition("\0")[0].lower().split() if readable.strip() else []
        assert found == (sum(shares.get(word, -50.0) for word in given_) / len(given_) if given_ else 0.0)


@given(st.dictionaries(st.text("abcdé", min_size=1, max_size=5), st.integers(1, 99), min_size=1, max_size=70))
def test_every_listed_word_has_its_share(counts: dict[str, int]) -> None:
    words, total = Unigrams.from_counts("list", counts), sum(counts.values())
    assert len(words.table.hashes) <= 4 * max(len(counts), 1)
    for word in {*counts, "d", "ad", "ddddd"}:
        share = counts[word] / total if word in counts else (math.sqrt(len(counts)) + 1) / total
        assert log_probability(word, words) == pytest.approx(math.log2(share))


def read_shares(words: Unigrams) -> dict[object, float]:
    """Return shares by the hash of a word; words that are not ASCII are keyed by the word."""
    listed = np.flatnonzero(words.table.hashes)
    by_hash = zip(words.table.hashes[listed].tolist(), words.table.shares[listed].tolist(), strict=True)
    return {**dict(by_hash), **words.table.other}


CSV = b"word,count\nthe,6\ncat,1\nsat,1\n"


@pytest.mark.parametrize(
    "content", [CSV, b"the\t6\ncat\t1\nsat\t1", gzip.compress(CSV, mtime=0), b"cat,1\r\nsat,1\r\nthe,6\r\n"]
)
def test_word_list_is_csv_or_tsv_plain_or_gzipped(content: bytes) -> None:
    found = parse_unigrams("list", content, hashlib.sha256(content).hexdigest())
    assert (read_shares(found), found.unknown, found.threshold) == (read_shares(LIST), LIST.unknown, -20.0)


@pytest.mark.parametrize("most", [len(CSV) - 1, len(CSV)])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_word_list_is_limited_to_256_megabytes(
    most: int, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert unigrams._MAX_LIST_BYTES == 256_000_000
    monkeypatch.setattr(unigrams, "_MAX_LIST_BYTES", most)
    if most < len(CSV):
        with pytest.raises(UserError, match=f"more than {most} bytes"):
            parse_unigrams("list", pack(CSV))
    else:
        assert len(read_shares(parse_unigrams("list", pack(CSV)))) == 3


@pytest.mark.parametrize(
    "odd",
    [
        b"", b"th\xc3\xa9o,12\n", b"nothing,0\n", b" cat ,7\n", b"a,b,3\n", b"a,b\t3\n", b"\n", b"cat,two\n", b"cat,9\n", b",5\n",
        b"x\x0by,4\n", b"cat,07\n", b"cat,1234567890123456789\n", b"cat,123456789012345678\n", b"cat\t3,\n", b"cat,", b"!,1\n~,1048\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_irregular_line_does_not_change_other_words(odd: bytes, first: bool) -> None:
    """Lists of only plain lines are parsed in one pass, others line by line; a word has the same share in both."""
    plain = b"the,6\ncat,1\nsat,1\n"
    content = odd + plain if first else plain + odd
    expected = {}
    for line in content.decode().splitlines():
        word, _, count = line.strip().partition("\t" if "\t" in line else ",")
        if count.isdecimal() and int(count):
            expected[word] = int(count)
    assert read_shares(parse_unigrams("list", content)) == read_shares(Unigrams.from_counts("list", expected))


@pytest.mark.parametrize(
    ("content", "sha256", "message"),
    [
        (CSV, "0" * 64, "SHA-256 is"),
        (b"nothing here", None, "no line has the form"),
        (b"", None, "no line has the form"),
    ],
)
def test_wrong_word_list_is_refused(content: bytes, sha256: str | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_unigrams("list", content, sha256)


def test_embedded_word_list_has_the_cards_scale(shared_data: Path) -> None:
    card = parse_unigrams("1T", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    assert np.count_nonzero(card.table.hashes) == 333_333
    assert log_probability("the", card) == pytest.approx(-4.668, abs=1e-3)
    assert card.unknown == pytest.approx(-29.9215, abs=1e-3)
    assert wordfreq_unigrams().unknown == pytest.approx(card.unknown, abs=0.1)
    assert log_probability("the", wordfreq_unigrams()) == pytest.approx(log_probability("the", card), abs=0.5)
