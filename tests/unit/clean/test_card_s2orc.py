"""The S2 V2 card's rules for full texts: each threshold from both sides, each tie, each empty input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean_s2orc
from s2corpus.text.documents import CleanedDocument
from s2corpus.text.tokens import ShareTable
from s2corpus.text.unigrams import Unigrams
from tests.unit.clean.conftest import GERMAN, english

Paper = Callable[..., CleanedDocument]
NOISE = "xqz vvkt wqx zzjh pqk"  # words that no list contains


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "kept"),
        ({"title": None}, "no_title"),
        ({"title": " \n"}, "no_title"),
        ({"abstract": None}, "no_abstract"),
        ({"abstract": ""}, "no_abstract"),
        ({"open_access": False}, "closed"),
        ({"open_access": False, "title": None}, "closed"),  # The first matching rule decides.
        ({"title": None, "abstract": None}, "no_title"),
        ({"date": None}, "no_year"),
        ({"date": "1970"}, "kept"),
        ({"date": "1970-01-01"}, "kept"),
        ({"date": "1969-12-31"}, "before_min_year"),
        ({"date": "1969"}, "before_min_year"),
        ({"words": 500}, "kept"),
        ({"words": 499}, "short"),
        ({"words": 499, "date": None}, "short"),
        ({"paragraphs": 5}, "kept"),
        ({"paragraphs": 4}, "few_paragraphs"),
        ({"paragraphs": 4, "date": "1950"}, "before_min_year"),
        ({"body": []}, "not_english"),
        ({"body": [("Only a head", None)]}, "not_english"),
        ({"body": [("A", "EQUATION"), ("B", "EQUATION .")]}, "not_english"),
    ],
)
def test_document_has_the_outcome_of_its_first_failed_rule(
    paper: Paper, card: CleanRules, unigrams: Unigrams, fields: dict[str, Any], expected: str
) -> None:
    assert clean_s2orc(paper(**fields), card, unigrams).outcome == expected


def test_paper_without_parse_is_dropped(card: CleanRules, unigrams: Unigrams) -> None:
    document = CleanedDocument("p", "Title", "Abstract", "2011", None, open_access=False)
    assert clean_s2orc(document, card, unigrams).outcome == "no_parse"


@pytest.mark.parametrize(
    ("english_paragraphs", "german_paragraphs", "expected"),
    [(5, 0, "kept"), (5, 4, "kept"), (5, 5, "not_english"), (5, 6, "not_english"), (0, 5, "not_english")],
)
def test_language_is_that_of_most_paragraphs(
    paper: Paper, card: CleanRules, unigrams: Unigrams, english_paragraphs: int, german_paragraphs: int, expected: str
) -> None:
    body = [(None, english(110, i)) for i in range(english_paragraphs)] + [(None, GERMAN)] * german_paragraphs
    assert clean_s2orc(paper(body), card, unigrams).outcome == expected


def test_formulas_do_not_vote_on_the_language(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    body = [(None, english(100, i)) for i in range(5)] + [(None, "EQUATION"), (None, "")] * 9
    assert clean_s2orc(paper(body), card, unigrams).outcome == "kept"


@pytest.mark.parametrize(("equations", "expected"), [(0, "short"), (1, "kept")])
def test_words_are_counted_before_removal(
    paper: Paper, card: CleanRules, unigrams: Unigrams, equations: int, expected: str
) -> None:
    body = [("Head", english(100, i)) for i in range(4)] + [("Head", english(98, 4))]  # 498 words and one header
    body += [("Head", "EQUATION")] * equations
    assert clean_s2orc(paper(body), card, unigrams).outcome == expected


def test_improbable_section_is_removed_with_its_paragraphs(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    good = [("Results", english(100, i)) for i in range(5)]
    decision = clean_s2orc(paper([*good[:3], ("Residue", NOISE), *good[3:]]), card, unigrams)
    assert decision.outcome == "kept"
    assert (decision.paragraphs, decision.removed_sections) == (5, 1)
    assert decision.text is not None
    assert "Residue" not in decision.text
    assert NOISE not in decision.text


def test_paragraphs_of_removed_sections_do_not_count(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    body = [("Results", english(150, i)) for i in range(4)] + [("Residue", NOISE)]
    assert clean_s2orc(paper(body), card, unigrams).outcome == "few_paragraphs"


def test_section_is_judged_as_a_whole(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    body = [("Results", english(110, i)) for i in range(4)] + [("Results", english(60, 9)), ("Results", NOISE)]
    assert clean_s2orc(paper(body), card, unigrams).paragraphs == 6


def test_section_without_paragraphs_is_not_removed(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    body = [("Xqzvvk::Results", english(100, i)) for i in range(5)]
    decision = clean_s2orc(paper(body), card, unigrams)
    assert decision.removed_sections == 0
    assert decision.text is not None
    assert decision.text.split("\n\n")[2] == "Xqzvvk"


@pytest.mark.parametrize(("threshold", "outcome"), [(-16.0, "kept"), (-15.0, "few_paragraphs")])
def test_section_at_the_threshold_is_not_removed(paper: Paper, threshold: float, outcome: str) -> None:
    halves = Unigrams(
        "halves", ShareTable.from_shares({}, -16.0), threshold=threshold
    )  # Every word has log probability −16.
    assert clean_s2orc(paper(), CleanRules(), halves).outcome == outcome


def test_spec_sets_the_threshold(paper: Paper, unigrams: Unigrams) -> None:
    assert clean_s2orc(paper(), CleanRules(min_log_prob=0.0), unigrams).outcome == "few_paragraphs"


@pytest.mark.parametrize(
    ("times", "word", "expected"),
    [
        (74, "mitosis", "kept"),  # 74 of 1,000: below 7.5 %
        (75, "mitosis", "bad_top_word"),  # at 7.5 %
        (74, "mitosis,", "bad_top_word"),  # The word is not only letters.
        (74, "l1", "bad_top_word"),
        (74, "a", "kept"),
        (74, "naïve", "kept"),  # Any letters are allowed.
        (74, "[1]", "bad_top_word"),
    ],
)
def test_top_word_decides_by_form_and_share(
    paper: Paper, card: CleanRules, unigrams: Unigrams, times: int, word: str, expected: str
) -> None:
    body = [(None, english(200, i)) for i in range(4)] + [
        (None, english(200 - times, 4)),
        (None, " ".join([word] * times)),
    ]
    assert clean_s2orc(paper(body), card, unigrams).outcome == expected


@pytest.mark.parametrize(("first", "expected"), [("mitosis", "kept"), ("l1", "bad_top_word")])
def test_first_of_equally_frequent_words_is_the_top_word(
    paper: Paper, card: CleanRules, unigrams: Unigrams, first: str, expected: str
) -> None:
    second = {"mitosis": "l1", "l1": "mitosis"}[first]
    body = [(None, english(200, i)) for i in range(5)] + [(None, f"{first} {second} " * 30)]
    assert clean_s2orc(paper(body), card, unigrams).outcome == expected


def test_top_word_is_counted_after_removal(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    body = [("Results", english(110, i)) for i in range(5)] + [("Residue", "xqz1 " * 200)]
    decision = clean_s2orc(paper(body), card, unigrams)
    assert decision.outcome == "kept"
    assert decision.top_word != "xqz1"


def test_top_word_is_case_sensitive(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    body = [(None, english(200, i)) for i in range(5)] + [(None, "Mitosis mitosis " * 45)]
    assert clean_s2orc(paper(body), card, unigrams).outcome == "kept"


def test_text_of_kept_paper_has_title_abstract_and_blocks(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    paragraphs = [english(100, i) for i in range(5)]
    sections = ["Introduction", "Methods::Data", "Methods::Data", "Methods::Models", None]
    decision = clean_s2orc(paper(list(zip(sections, paragraphs, strict=True))), card, unigrams)
    one, two, three, four, five = paragraphs
    body = f"Introduction\n{one}\n\nMethods\n\nData\n{two}\n{three}\n\nModels\n{four}\n\n{five}"
    assert decision.text == f"A title of words\n\n{english(60, 99)}\n\n{body}"


@pytest.mark.parametrize(("layout", "after_header"), [("template", "\n"), ("template_blank", "\n\n")])
def test_layout_follows_the_template_of_the_card(
    paper: Paper, unigrams: Unigrams, layout: Literal["template", "template_blank"], after_header: str
) -> None:
    """Check the layout `[section header]⏎[paragraph]⏎⏎[paragraph]⏎⏎[section header]⏎⏎[paragraph]`.

    Its two headers have different separators, so there are two variants.
    """
    one, two, three, four, five = paragraphs = [english(100, i) for i in range(5)]
    sections = ["Introduction", "Introduction", "Methods::Data", None, None]
    document = paper(list(zip(sections, paragraphs, strict=True)))
    decision = clean_s2orc(document, CleanRules(layout=layout), unigrams)
    body = f"Introduction{after_header}{one}\n\n{two}\n\nMethods\n\nData{after_header}{three}\n\n{four}\n\n{five}"
    assert decision.text == f"A title of words\n\n{english(60, 99)}\n\n{body}"
    plain = clean_s2orc(document, CleanRules(), unigrams)
    assert (decision.words, decision.paragraphs) == (plain.words, plain.paragraphs)


def test_unevaluated_values_are_null(paper: Paper, card: CleanRules, unigrams: Unigrams) -> None:
    decision = clean_s2orc(paper(words=499), card, unigrams)
    assert (decision.outcome, decision.words, decision.language) == ("short", 499, "en")
    assert (decision.top_word, decision.log_prob, decision.paragraphs, decision.text) == (None, None, None, None)


@pytest.mark.parametrize(
    "fields", [{}, {"words": 499}, {"date": None}, {"title": None}, {"body": []}, {"paragraphs": 4}]
)
def test_evaluating_all_rules_changes_no_decision(paper: Paper, unigrams: Unigrams, fields: dict[str, Any]) -> None:
    quick = clean_s2orc(paper(**fields), CleanRules(), unigrams)
    whole = clean_s2orc(paper(**fields), CleanRules(evaluate_all=True), unigrams)
    assert (whole.outcome, whole.text) == (quick.outcome, quick.text)
    assert whole.words is not None
    assert whole.removed_sections is not None


def test_spec_can_keep_unknown_years(paper: Paper, unigrams: Unigrams) -> None:
    assert clean_s2orc(paper(date=None), CleanRules(unknown_year="keep"), unigrams).outcome == "kept"
