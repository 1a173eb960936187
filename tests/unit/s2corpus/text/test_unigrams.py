"""Log probability is the mean log2 of each word's share in a list; unknown words count √V + 1 times (SPEC §8.7, §8.10).

The threshold of the embedded list drops the same share of sections as the card's list with its own threshold.
"""

import gzip
import hashlib
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.text import unigrams
from s2corpus.text.files import read_document, section_texts
from s2corpus.text.unigrams import Unigrams, calibrate, log_probability, parse_unigrams, wordfreq_unigrams
from s2corpus_reader.layout import IMPROBABLE
from tests.jats_documents import documents

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


@pytest.mark.parametrize("text", ["\ud800cat\ud800", "cat\x00", "\x1c cat\u2003", "\u212a", "中"])
def test_words_are_those_of_blingfire(text: str) -> None:
    """Lone surrogates are ignored, and the Kelvin sign becomes an ASCII letter."""
    shares = {"cat": -1.0, "k": -1.0, "中": -1.0}
    assert log_probability(text, Unigrams("list", shares, -50.0)) == -1


def test_sum_begins_with_ascii_words() -> None:
    """The order of a sum changes its last digits, which releases contain."""
    words = Unigrams("list", {"a": 1e16, "b": -1e16, "é": 1.0}, -50.0)
    assert log_probability("é a b", words) == 1 / 3


CSV = b"word,count\nthe,6\ncat,1\nsat,1\n"


@pytest.mark.parametrize(
    "content", [CSV, b"the\t6\ncat\t1\nsat\t1", gzip.compress(CSV, mtime=0), b"cat,1\r\nsat,1\r\nthe,6\r\n"]
)
def test_word_list_is_csv_or_tsv_plain_or_gzipped(content: bytes) -> None:
    found = parse_unigrams("list", content, hashlib.sha256(content).hexdigest())
    assert (found.shares, found.unknown) == (LIST.shares, LIST.unknown)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_larger_word_list_is_refused(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unigrams, "_MAX_LIST_BYTES", len(CSV))
    assert len(parse_unigrams("list", pack(CSV)).shares) == 3
    with pytest.raises(UserError, match=f"more than {len(CSV)} bytes"):
        parse_unigrams("list", pack(CSV + b"\n"))


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        (b"th\xc3\xa9o,12\n", {"théo": 12}),
        (b"cat,two\n", {}),
        (b"cat,9\n", {"cat": 9}),  # The last count of a word is used.
    ],
)
def test_irregular_line_does_not_change_other_words(odd: bytes, expected: dict[str, int]) -> None:
    found = parse_unigrams("list", b"the,6\ncat,1\nsat,1\n" + odd)
    assert found.shares == Unigrams.from_counts("list", {**COUNTS, **expected}).shares


@pytest.mark.parametrize(
    ("content", "sha256", "message"), [(CSV, "0" * 64, "SHA-256 is"), (b"nothing here", None, "no line has the form")]
)
def test_wrong_word_list_is_refused(content: bytes, sha256: str | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_unigrams("list", content, sha256)


def test_embedded_word_list_has_the_cards_scale(shared_data: Path) -> None:
    card = parse_unigrams("1T", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    assert len(card.shares) == 333_333
    assert log_probability("the", card) == pytest.approx(-4.668, abs=1e-3)
    assert card.unknown == pytest.approx(-29.9215, abs=1e-3)
    assert wordfreq_unigrams().unknown == pytest.approx(card.unknown, abs=0.1)
    assert log_probability("the", wordfreq_unigrams()) == pytest.approx(log_probability("the", card), abs=0.5)


WORDS = Unigrams.from_counts("words", {"common": 900, "rare": 99, "rarest": 1})
TEXTS = ["common", "common rare", "rare", "rare rarest", "rarest"]
"""Their means are -0.15, -1.74, -3.34, -6.65 and -9.97."""


@pytest.mark.parametrize(
    ("threshold", "dropped", "expected"),
    [
        (-20.0, 0, -10.47),  # Below and above all texts, the threshold is half a bit away.
        (log_probability("rare", WORDS), 2, -4.99),  # A text at the threshold is not dropped.
        (0.0, 5, 0.35),
    ],
)
def test_threshold_is_between_dropped_and_other_texts(threshold: float, dropped: int, expected: float) -> None:
    found = calibrate(TEXTS, WORDS, WORDS, threshold)
    assert (found.dropped, found.dropped_at_threshold, found.both) == (dropped, dropped, dropped)
    assert (found.sections, found.threshold) == (5, expected)


@pytest.mark.long
def test_embedded_threshold_equals_calibration_on_real_papers(shared_data: Path) -> None:
    card = parse_unigrams("card", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    raw = [d for folder in ("plos", "elife") for d in documents(shared_data / "jats" / folder)]
    texts = section_texts(read_document(document, document["id"]) for document in raw)
    found = calibrate(texts, card, wordfreq_unigrams(), IMPROBABLE["card"])
    assert found.threshold == IMPROBABLE["card-wordfreq"]
    assert found.dropped == found.dropped_at_threshold
    assert found.both > 0.9 * found.dropped
