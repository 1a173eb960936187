"""Sentence splitting of scientific text: spans are correct, and gold sentences of real papers are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.text.sentences import sentence_spans
from tests.gold_sentences import gold, measure

CASES = [
    ["See Fig. 2 for details.", "It is clear."],
    ["Smith et al. (2010) found it.", "So did Lee et al. in Spain."],
    ["It grew by 3.5 mm in E. coli and S. cerevisiae.", "Then it stopped."],
    ["This was shown before. [12]", "However, it failed."],
    ["This was shown before.[7,13]", "The rest follows."],
    ["This was shown. [40], [41]", "A lifting scheme follows."],
    ["It was shown by Gold et al. [16] using softassign."],
    ["We reached a flux of 3 mol s−1.", "[7] also consider functions."],
    ["Dr. Kass accepted.", "Prof. Lee did not."],
    ["The voltage is 1.2 V vs. Mg, i.e. low.", "Eq. (3) says so, cf. Sec. 2."],
    ["Held for 2 hr.", "Addition of salt stopped it."],
    ["It follows (see Figs. 10, 18C–E).", "nSyT::GFP localizes there."],
    ["i) It melts.", "ii) It boils."],
    ["No. 5 was best.", "Is it so?", "Yes!", "“It is so.”", "We agree."],
    ["It was sold in the U.S.", "The price fell."],
    ["They were fed yes/no.", "Then they slept."],
    ["Patients had classical RA.", "10 of them recovered."],
    ["Studies by Yu J., et al. have reported it."],
    # A citation mark after a full stop begins the next sentence only if that sentence continues in lower case.
    ["This was shown.", "[7] also consider it."],
    ["This was shown, [7] and also considered."],
    ["This was shown! [7] so it was."],
    ["It was shown by Yu et al. [7] also for oxen."],
    ["It was shown in Fig. [7] also for oxen."],
    ["It was shown by A. [7] also for oxen."],
    ["It was shown in the U.S. [7] also for oxen."],
    ["It was shown.[7] also for oxen."],
    # strings that begin no sentence, and strings that do
    ["The price of p. falls."],
    ["It was (as is known.) so."],
    ["It was … so."],
    ["A run is s1, . . . , sn.", "It ends."],
    ["A run is ⟨s0, a1, . . .⟩ and it ends.", "It stops."],
    ["We use C#.", ".NET is old."],
    ["It was … 12 of them."],
    ["It was ...", "12 of them."],
    ["It was ...", "Then it was not."],
    ["It was?", "12 of them were."],
    ["It was.", "α-helices form."],
    ["It was.", "p53 is known."],
    ["It was.", "(ii) It was not."],
    ["It was. , so."],
    ["It was. = 3."],
    # labels, numbers, initials
    ["See Fig. A for it."],
    ["See it in S8 Fig.", "In all it grows."],
    ["Pages pp. 3 and vol. IV. and no. 7 of it."],
    ["He said no.", "Then he went."],
    ["He met A. B. Lee."],
    ["He lived in Plan B.", "The end."],
    ["He wrote to Lee, A. The end."],
    ["It is of Smith Inc. Lee."],
    ["It is of Smith Inc.", "The end."],
    ["It was 5 cm. 12 of them were."],
    ["They were cats.", "12 of them were."],
    ["It was for DNA.", "12 of them were."],
    # list labels, run-in headings, formulas, full stops after white space (as real parses print them)
    ["a. We did."],
    ["iv. We did.", "It was so."],
    ["Ablation study", "We start with it."],
    ["Setup:", "The server starts."],
    ["In The Netherlands we live."],
    ["Vitamin A is good."],
    ["It is EQUATION", "Here we stop."],
    ["It is EQUATION where x is 1."],
    ["It was shown by Brown et al . (2010) in frogs."],
    ["It was shown in Fig . 2 for frogs ."],
    ["It was the cat.", "He left."],
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0][:30])
def test_text_is_split_into_these_sentences(case: list[str]) -> None:
    text = " ".join(case)
    assert [text[start:end] for start, end in sentence_spans(text)] == case


TEXT = st.text(st.sampled_from("aBc.?! \n\t[]()12,;é\u0000\u2028“”…Fig"), max_size=80) | st.text(max_size=80)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("He met A. B. The end.", [0]),
        ("He met A.  B. The end.", [0]),
        ("He met A.   B. The end.", [0, 15]),  # Only three characters before an initial are examined.
        ("He saw plan B. The end.", [0, 15]),
        (", B. The end.", [0]),
        ("B. The end.", [0, 3]),
    ],
)
def test_initial_in_a_list_of_names_does_not_end_a_sentence(text: str, starts: list[int]) -> None:
    assert [start for start, _ in sentence_spans(text)] == starts


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
