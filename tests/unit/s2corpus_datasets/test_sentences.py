"""Sentence splitting of scientific text: spans are correct, and gold sentences of real papers are found."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus_datasets.sentences import sentence_spans
from tests.gold_sentences import gold, measure

CASES = [
    line.split(" | ")
    for line in Path(__file__).with_name("sentences.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0][:30])
def test_text_is_split_into_these_sentences(case: list[str]) -> None:
    text = " ".join(case)
    assert [text[start:end] for start, end in sentence_spans(text)] == case


TEXT = st.text(st.sampled_from("aBc.?! \n\t[]()12,;é\u0000\u2028“”…Fig"), max_size=80) | st.text(max_size=80)


@given(TEXT)
def test_sentence_spans_cover_all_text_in_order(text: str) -> None:
    spans = sentence_spans(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip(), "only white space lies between sentences"
        assert text[start:end].strip() == text[start:end]
        at = end
    assert not text[at:].strip()


@pytest.mark.usefixtures("shared_data")
def test_gold_sentences_of_real_papers_are_found() -> None:
    texts = gold()
    figures = measure(lambda text: [start for start, _ in sentence_spans(text)], texts)
    assert figures.sentences >= 300
    assert figures.whole >= 0.98
    apart = measure(lambda text: [start for start, _ in sentence_spans(text)], [text for text in texts if text.apart])
    assert apart.whole >= 0.95
