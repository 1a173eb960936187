"""The embedded list's threshold drops the share of real sections that the card's list drops at its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.text.calibration import calibrate, section_texts
from s2corpus.text.files import document_of
from s2corpus.text.unigrams import CARD_THRESHOLD, WORDFREQ_THRESHOLD, Unigrams, parse_unigrams, wordfreq_unigrams
from tests.unit.clean.jats import documents

WORDS = Unigrams.of_counts("words", {"common": 900, "rare": 99, "rarest": 1})
TEXTS = ["common", "common rare", "rare", "rare rarest", "rarest"]


@pytest.mark.parametrize(("threshold", "dropped"), [(-20.0, 0), (-5.0, 2), (-3.0, 3), (0.0, 5)])
def test_a_list_calibrated_on_itself_drops_what_it_drops(threshold: float, dropped: int) -> None:
    found = calibrate(TEXTS, WORDS, WORDS, threshold)
    assert (found.dropped, found.dropped_at_threshold, found.both) == (dropped, dropped, dropped)


def test_no_texts_cannot_be_calibrated_on() -> None:
    with pytest.raises(ValueError, match="no sections"):
        calibrate([], WORDS, WORDS, -20)


@pytest.mark.slow
def test_the_embedded_threshold_is_what_plos_and_elife_give(shared_data: Path) -> None:
    card = parse_unigrams("card", (shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())
    raw = [d for folder in ("plos", "elife") for d in documents(shared_data / "jats" / folder)]
    texts = section_texts(document_of(document, document["id"]) for document in raw)
    found = calibrate(texts, card, wordfreq_unigrams(), CARD_THRESHOLD)
    assert found.threshold == WORDFREQ_THRESHOLD
    assert found.dropped == found.dropped_at_threshold
    assert found.both > 0.9 * found.dropped
