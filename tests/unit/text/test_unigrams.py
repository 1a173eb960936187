"""Log probability is the mean log2 of each word's share; unknown words count as if they occurred √V + 1 times."""

from __future__ import annotations

import gzip
import hashlib
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2corpus.errors import UserError
from s2corpus.text import unigrams
from s2corpus.text.unigrams import (
    Unigrams,
    _parse_ascii_list,
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
        ("cat sat", -3.0),
        ("the cat", (math.log2(6 / 8) - 3) / 2),
        ("zebra", UNKNOWN),
        ("cat.", (-3 + UNKNOWN) / 2),  # Punctuation is a separate word.
        ("", 0.0),
        ("  ", 0.0),
    ],
)
def test_log_probability_is_mean_log2_share(text: str, expected: float) -> None:
    assert log_probability(text, LIST) == pytest.approx(expected)


@pytest.mark.parametrize("size", [1, 2, 3, 40, 500])
def test_every_word_of_a_list_has_its_share(size: int) -> None:
    """Check short and long words, ASCII and others; long words differ in their first letter."""
    words = [f"{'x' * (n % 7 * 20)}{n}{'é' if n % 5 == 4 else ''}{'y' * (n % 3 * 60)}" for n in range(size)]
    found = Unigrams.from_counts("many", {word: n + 1 for n, word in enumerate(words)})
    total = size * (size + 1) / 2
    for n, word in enumerate(words):
        assert log_probability(word.upper() if word.isascii() else word, found) == pytest.approx(
            math.log2((n + 1) / total)
        )
        assert log_probability(f"q{word}", found) == pytest.approx(found.unknown)


def test_log_probabilities_of_several_texts_are_computed() -> None:
    assert log_probabilities(["cat", "", "cat"], LIST) == [-3.0, 0.0, -3.0]


def shares(words: Unigrams) -> dict[object, float]:
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
    assert (shares(found), found.unknown) == (shares(LIST), LIST.unknown)


@pytest.mark.parametrize("most", [len(CSV) - 1, len(CSV), len(CSV) + 1])
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
        assert len(shares(parse_unigrams("list", pack(CSV)))) == 3


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"word,count\nthe,6\ncat,1\n", {"the": 6, "cat": 1}),
        (b"the\t6\ncat\t1", {"the": 6, "cat": 1}),
        (b"the,6\r\ncat,1\r\n", {"the": 6, "cat": 1}),
        (b"the,6\nth\xc3\xa9,1\n", None),
        (b"the,9\n!,1\n~,1048\n", {"the": 9, "!": 1, "~": 1048}),
        (b"the,6\ncat,0\n", None),
        (b"", None),
    ],
)
def test_plain_word_list_is_read_at_once(content: bytes, expected: dict[str, int] | None) -> None:
    found = _parse_ascii_list(content)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert shares(Unigrams("list", found, -20.0)) == shares(Unigrams.from_counts("list", expected))


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"th\xc3\xa9o,12\n",
        b"nothing,0\n",
        b" cat ,7\n",
        b"a,b,3\n",
        b"a,b\t3\n",
        b"\n",
        b"cat,two\n",
        b"cat,9\n",
        b",5\n",
        b"x\x0by,4\n",
        b"cat,07\n",
        b"cat,1234567890123456789\n",
        b"cat\t3,\n",
        b"cat,",
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_irregular_line_does_not_change_other_words(odd: bytes, first: bool) -> None:
    """Check lists with one irregular line.

    Lists of only plain lines are parsed in one pass, others line by line; a word has the same share in both.
    """
    plain = b"the,6\ncat,1\nsat,1\n"
    expected = {}
    for line in ((odd + plain) if first else (plain + odd)).decode().splitlines():
        word, _, count = line.strip().partition("\t" if "\t" in line else ",")
        if count.isdecimal() and int(count):
            expected[word] = int(count)
    found = parse_unigrams("list", odd + plain if first else plain + odd)
    assert shares(found) == shares(Unigrams.from_counts("list", expected))


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


def test_published_word_list_of_the_card_is_read(shared_data: Path) -> None:
    found = parse_unigrams("1T", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    assert np.count_nonzero(found.table.hashes) == 333_333
    assert log_probability("the", found) == pytest.approx(-4.668, abs=1e-3)
    assert found.unknown == pytest.approx(-29.9215, abs=1e-3)


def test_embedded_word_list_has_the_same_scale(shared_data: Path) -> None:
    card = parse_unigrams("1T", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    assert wordfreq_unigrams().unknown == pytest.approx(card.unknown, abs=0.1)
    assert log_probability("the", wordfreq_unigrams()) == pytest.approx(log_probability("the", card), abs=0.5)
