"""The threshold of the embedded list drops the same share of sections as the card's list with its own threshold (SPEC §8.10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.text.files import read_document, section_texts
from s2corpus.text.unigrams import (
    CARD_THRESHOLD,
    WORDFREQ_THRESHOLD,
    Unigrams,
    calibrate,
    log_probability,
    parse_unigrams,
    wordfreq_unigrams,
)
from tests.unit.s2corpus.stages.clean.jats import documents

WORDS = Unigrams.from_counts("words", {"common": 900, "rare": 99, "rarest": 1})
TEXTS = ["common", "common rare", "rare", "rare rarest", "rarest"]
"""Their means are -0.15, -1.74, -3.34, -6.65 and -9.97."""


@pytest.mark.parametrize(
    ("threshold", "dropped", "expected"),
    [
        (-20.0, 0, -10.47),  # Below and above all texts, the threshold is half a bit away.
        (-9.0, 1, -8.31),
        (-5.0, 2, -4.99),
        (log_probability("rare", WORDS), 2, -4.99),  # A text at the threshold is not dropped.
        (-3.0, 3, -2.54),
        (0.0, 5, 0.35),
    ],
)
def test_threshold_is_between_dropped_and_other_texts(threshold: float, dropped: int, expected: float) -> None:
    found = calibrate(TEXTS, WORDS, WORDS, threshold)
    assert (found.dropped, found.dropped_at_threshold, found.both) == (dropped, dropped, dropped)
    assert (found.sections, found.threshold) == (5, expected)


def test_threshold_has_the_necessary_decimals() -> None:
    close = Unigrams.from_counts("close", {"one": 1_000_000, "two": 1_000_001, "three": 1_000_002})
    reference = Unigrams.from_counts("reference", {"one": 1, "two": 900, "three": 900})
    found = calibrate(["one", "two", "three"], reference, close, -5.0)
    one, two = (log_probability(word, close) for word in ("one", "two"))
    assert found.threshold == (one + two) / 2 and one < found.threshold < two
    assert (found.sections, found.dropped, found.dropped_at_threshold, found.both) == (3, 1, 1, 1)


def test_calibration_reports_common_drops_and_quantiles() -> None:
    other = Unigrams.from_counts("other", {"common": 1, "rare": 999, "rarest": 99_000})
    found = calibrate(TEXTS * 20, WORDS, other, -5.0)
    assert (found.dropped, found.dropped_at_threshold, found.both) == (40, 40, 0)
    means = sorted(log_probability(text, other) for text in TEXTS * 20)
    assert found.own_quantiles == tuple(means[at] for at in (1, 5, 50, 95, 99))


def test_calibration_without_texts_is_an_error() -> None:
    with pytest.raises(ValueError, match="no sections"):
        calibrate([], WORDS, WORDS, -20)


def test_sections_without_paragraphs_are_not_calibrated() -> None:
    body = [{"section": "A::B", "text": "one"}, {"section": "C", "text": None}, {"section": "D", "text": "two"}]
    found = [read_document({"id": "1", "body": body}, "here"), read_document({"id": "2"}, "here")]
    assert section_texts(found) == ["B\none", "D\ntwo"]


@pytest.mark.long
def test_embedded_threshold_equals_calibration_on_real_papers(shared_data: Path) -> None:
    card = parse_unigrams("card", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    raw = [d for folder in ("plos", "elife") for d in documents(shared_data / "jats" / folder)]
    texts = section_texts(read_document(document, document["id"]) for document in raw)
    found = calibrate(texts, card, wordfreq_unigrams(), CARD_THRESHOLD)
    assert found.threshold == WORDFREQ_THRESHOLD
    assert found.dropped == found.dropped_at_threshold
    assert found.both > 0.9 * found.dropped
