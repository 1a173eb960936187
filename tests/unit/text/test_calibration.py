"""The threshold of the embedded list drops the same share of real sections as the card's list with its own threshold."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.text.calibration import calibrate, section_texts
from s2corpus.text.input_files import read_document
from s2corpus.text.unigrams import (
    CARD_THRESHOLD,
    WORDFREQ_THRESHOLD,
    Unigrams,
    log_probability,
    parse_unigrams,
    wordfreq_unigrams,
)
from tests.unit.clean.jats import documents

WORDS = Unigrams.from_counts("words", {"common": 900, "rare": 99, "rarest": 1})
TEXTS = ["common", "common rare", "rare", "rare rarest", "rarest"]


@pytest.mark.parametrize(("threshold", "dropped"), [(-20.0, 0), (-5.0, 2), (-3.0, 3), (0.0, 5)])
def test_calibration_on_the_same_list_gives_its_threshold(threshold: float, dropped: int) -> None:
    found = calibrate(TEXTS, WORDS, WORDS, threshold)
    assert (found.dropped, found.dropped_at_threshold, found.both) == (dropped, dropped, dropped)


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(-20.0, -10.47), (-9.0, -8.31), (-5.0, -4.99), (-3.0, -2.54), (-1.0, -0.95), (0.0, 0.35)],
)
def test_threshold_is_between_dropped_and_other_texts(threshold: float, expected: float) -> None:
    """Check thresholds between two texts.

    The means of the texts are -0.15, -1.74, -3.34, -6.65 and -9.97; below and above all of them, the threshold is half
    a bit away.
    """
    assert calibrate(TEXTS, WORDS, WORDS, threshold).threshold == expected


def test_text_exactly_at_the_threshold_is_not_dropped() -> None:
    mean = log_probability("rare", WORDS)
    found = calibrate(TEXTS, WORDS, WORDS, mean)
    assert (found.dropped, found.both) == (2, 2)


def test_threshold_has_the_necessary_decimals() -> None:
    close = Unigrams.from_counts("close", {"one": 1_000_000, "two": 1_000_001, "three": 1_000_002})
    reference = Unigrams.from_counts("reference", {"one": 1, "two": 900, "three": 900})
    found = calibrate(["one", "two", "three"], reference, close, -5.0)
    one, two = (log_probability(word, close) for word in ("one", "two"))
    assert found.threshold == (one + two) / 2 and one < found.threshold < two
    assert (found.sections, found.dropped, found.dropped_at_threshold, found.both) == (3, 1, 1, 1)


def test_calibration_reports_common_drops_and_quantiles() -> None:
    other = Unigrams.from_counts("other", {"common": 1, "rare": 999, "rarest": 99_000})
    found = calibrate(TEXTS, WORDS, other, -5.0)
    assert (found.dropped, found.dropped_at_threshold, found.both) == (2, 2, 0)
    means = sorted(log_probability(text, other) for text in TEXTS * 20)
    assert calibrate(TEXTS * 20, WORDS, other, -5.0).own_quantiles == (
        means[1],
        means[5],
        means[50],
        means[95],
        means[99],
    )


def test_calibration_without_texts_is_an_error() -> None:
    with pytest.raises(ValueError, match="no sections"):
        calibrate([], WORDS, WORDS, -20)


@pytest.mark.long
def test_embedded_threshold_equals_calibration_on_real_papers(shared_data: Path) -> None:
    card = parse_unigrams("card", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    raw = [d for folder in ("plos", "elife") for d in documents(shared_data / "jats" / folder)]
    texts = section_texts(read_document(document, document["id"]) for document in raw)
    found = calibrate(texts, card, wordfreq_unigrams(), CARD_THRESHOLD)
    assert found.threshold == WORDFREQ_THRESHOLD
    assert found.dropped == found.dropped_at_threshold
    assert found.both > 0.9 * found.dropped
