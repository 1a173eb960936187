"""The filter applies its rules in order, and the first match decides whether a paper is kept (S2ORC §2.5)."""

from __future__ import annotations

import pytest

from s2corpus.papers.filter import FilterOutcome, decide
from s2corpus.rules.filter import FilterRules

ENGLISH = (
    "We present a large corpus of scientific papers with full text, citations and references, and show how it was made."
)
GERMAN = "Wir stellen eine große Sammlung wissenschaftlicher Arbeiten mit Volltext und Zitaten vor und zeigen, wie sie entstand."


@pytest.mark.parametrize(
    ("title", "authors", "text", "suppressed", "outcome"),
    [
        ("T", 1, ENGLISH, {"p"}, FilterOutcome.SUPPRESSED),
        (None, 0, "", {"p"}, FilterOutcome.SUPPRESSED),
        (None, 0, "", set(), FilterOutcome.NO_TITLE),
        ("", 1, ENGLISH, set(), FilterOutcome.NO_TITLE),
        ("T", 0, "", set(), FilterOutcome.NO_AUTHORS),
        ("T", 1, ENGLISH[:99], set(), FilterOutcome.SHORT_TEXT),
        ("T", 1, ENGLISH[:100], set(), FilterOutcome.KEPT),
        ("T", 1, GERMAN, set(), FilterOutcome.NOT_ENGLISH),
        ("T", 1, ENGLISH, {"another"}, FilterOutcome.KEPT),
        ("T", 1, " " * 100, set(), FilterOutcome.NOT_ENGLISH),  # Blank text is not English.
    ],
)
def test_first_matching_rule_decides(
    title: str | None, authors: int, text: str, suppressed: set[str], outcome: FilterOutcome
) -> None:
    found = decide(["p", "10.18653/v1/x"], suppressed, FilterRules(), title=title, author_count=authors, text=text)
    assert found.outcome is outcome and found.characters == len(text)
    assert (found.english is not None) == (outcome in (FilterOutcome.KEPT, FilterOutcome.NOT_ENGLISH))


def test_cld2_decides_if_set_and_reports_disagreement_with_cld3() -> None:
    pytest.importorskip("pycld2")
    said = [
        decide({"p"}, set(), FilterRules(language=asked), title="T", author_count=1, text=text)
        for text in (ENGLISH, GERMAN)
        for asked in ("cld3", "cld2")
    ]
    assert [found.outcome for found in said] == [FilterOutcome.KEPT] * 2 + [FilterOutcome.NOT_ENGLISH] * 2
    assert [found.disputed for found in said] == [None, False, None, False]
    half = decide(
        {"p"},
        set(),
        FilterRules(language="cld2"),
        title="T",
        author_count=1,
        text=f"{ENGLISH} {ENGLISH}\x00\x85\ufffe {GERMAN}",
    )
    assert half.english is not None and 0.5 < half.english < 0.9, (
        "CLD2 gives the share of the text, CLD3 a probability of its choice"
    )
    assert half.outcome is FilterOutcome.NOT_ENGLISH


def test_text_at_the_limits_is_kept() -> None:
    said = decide({"p"}, set(), FilterRules(), title="T", author_count=1, text=ENGLISH)
    assert said.english is not None and said.disputed is None
    for most, outcome in ((said.english, FilterOutcome.KEPT), (said.english + 1e-9, FilterOutcome.NOT_ENGLISH)):
        assert (
            decide({"p"}, set(), FilterRules(min_english=most), title="T", author_count=1, text=ENGLISH).outcome
            is outcome
        )
    for least, outcome in ((len(ENGLISH), FilterOutcome.KEPT), (len(ENGLISH) + 1, FilterOutcome.SHORT_TEXT)):
        found = decide({"p"}, set(), FilterRules(min_characters=least), title="T", author_count=1, text=ENGLISH)
        assert found.outcome is outcome
