"""Every document has one outcome in every profile and set, and text only if it is kept (SPEC §8).

Each threshold of the card is checked from both sides, each tie, and each empty input. A spec sets only thresholds that
its profile applies.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from s2corpus.outcomes import CleanOutcome
from s2corpus.spec import CleanRules
from s2corpus.text.clean import PROFILES
from s2corpus.text.documents import Set
from s2corpus.text.unigrams import log_probability
from tests.unit.s2corpus.stages.clean import samples
from tests.unit.s2corpus.stages.clean.samples import GERMAN, NOISE, decide, english, make_rules, paper

ABSTRACT = f"{english(60, 1)} mitosis mitosis mitosis"
NAMES = ["card", "recipe-2024"]
SENTENCES = samples.split_evenly(600, 5, ".")


@pytest.mark.parametrize("profile", NAMES)
def test_measured_values_of_title_and_abstract_equal_definitions(profile: str) -> None:
    found = decide(paper(abstract=ABSTRACT), "s2ag", make_rules(profile))
    assert (found.outcome, found.language, found.words) == ("kept", "en", 63)
    assert (found.top_word, found.top_share) == ("mitosis", 3 / (63 + 4))
    assert found.log_prob == log_probability(ABSTRACT, samples.unigrams()) < 0


@pytest.mark.parametrize(("profile", "top_of"), [("card", 5 * 152), ("recipe-2024", 784)])
def test_measured_values_of_full_text_equal_definitions(profile: str, top_of: int) -> None:
    """Improbable paragraphs count as words, with their headers. The card counts the top word after their removal."""
    body = [*((None, f"{english(150, n)} mitosis mitosis.") for n in range(5)), ("Residue", NOISE), ("Anhang", GERMAN)]
    found = decide(paper(body), rules=make_rules(profile))
    assert (found.outcome, found.words, found.paragraphs, found.removed_sections) == ("kept", 784, 5, 2)
    assert (found.top_word, found.top_share) == ("mitosis", 5 / top_of)
    assert found.language == "en"
    assert found.log_prob == log_probability(f"Residue\n{NOISE}", samples.unigrams())


UNITS = st.tuples(
    st.sampled_from([None, "A", "A::B", "C"]),
    st.sampled_from(
        ["", "EQUATION", english(120, 1), english(130, 2), english(110, 3), GERMAN, "xqz vvkt wqx", "l1 " * 60]
    ),
)
DOCUMENTS = st.builds(
    paper, title=st.sampled_from([None, "", "A significant title"]), abstract=st.sampled_from([None, "", english(60, 4), GERMAN]),
    date=st.sampled_from([None, "1969", "1970", "2022-12"]), body=st.none() | st.lists(UNITS, max_size=9), open_access=st.booleans(),
)  # fmt: skip


@given(DOCUMENTS, st.sampled_from(NAMES), st.sampled_from(["s2orc", "s2ag"]))
@settings(max_examples=80)
def test_only_kept_documents_have_text(document: Any, profile: str, set_: Set) -> None:
    decision = decide(document, set_, make_rules(profile))
    assert isinstance(decision.outcome, CleanOutcome)
    assert (decision.text is not None) == (decision.outcome is CleanOutcome.KEPT)


def test_every_outcome_belongs_to_a_rule() -> None:
    given = {rule.outcome for sets in PROFILES.values() for rules in sets.values() for rule in rules.rules}
    assert given | {CleanOutcome.KEPT} == set(CleanOutcome)


@pytest.mark.parametrize("given", [{"min_words": 300}, {"layout": "template"}])
def test_profile_refuses_thresholds_that_it_ignores(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=f"{next(iter(given))}: .* given; profile recipe-2024 ignores this field"):
        make_rules("recipe-2024", **given)
    assert make_rules("card", **given)


def test_profile_needs_its_word_list() -> None:
    with pytest.raises(ValidationError, match="profile card needs unigrams"):
        CleanRules(profile="card")


def test_order_of_full_texts_is_completed() -> None:
    found = CleanRules()  # The S2ORC corpus is PDFs.
    assert found.text_from == ("pdf", "latex", "jats", "elsevier")
    assert make_rules(text_from="latex").text_from == ("latex", "pdf", "jats", "elsevier")
    assert make_rules(text_from=["jats", "latex"]).text_from == ("jats", "latex", "pdf", "elsevier")
    with pytest.raises(ValidationError, match="text_from"):
        make_rules(text_from=7)


@pytest.mark.parametrize(
    ("set_", "fields", "expected"),
    [
        ("s2orc", {}, "kept"), ("s2orc", {"title": " \n", "abstract": None}, "no_title"),
        ("s2orc", {"body": None, "open_access": False}, "no_parse"), ("s2orc", {"open_access": False, "title": None}, "closed"),
        ("s2orc", {"date": "1969-12-31", "paragraphs": 4}, "before_min_year"), ("s2orc", {"words": 499, "date": None}, "short"),
        ("s2orc", {"body": []}, "not_english"), ("s2ag", {}, "kept"), ("s2ag", {"abstract": "  "}, "no_abstract"),
        ("s2ag", {"title": None}, "title_not_english"), ("s2ag", {"abstract": english(49), "date": None}, "abstract_short"),
    ],
)  # fmt: skip
def test_document_has_the_outcome_of_its_first_failed_rule(set_: Set, fields: dict[str, Any], expected: str) -> None:
    assert decide(paper(**fields), set_).outcome == expected


def test_formulas_have_no_language() -> None:
    assert decide(paper([("A", "EQUATION"), ("B", "EQUATION .")])).outcome == "not_english"


def test_placeholders_of_formulas_change_only_the_text() -> None:
    body = [
        *SENTENCES, ("Model", f"So EQUATION, {english(60, 9)}"), ("Model", "EQUATION ."), ("EQUATION", "EQUATION " * 300),
    ]  # fmt: skip
    removed, kept = (decide(paper(body), rules=make_rules(formulas=value)) for value in ("remove", "placeholder"))
    assert removed.text is not None and kept.text is not None
    assert removed.text.endswith(f"\n\nModel\nSo , {english(60, 9)}\n\nEQUATION")
    assert kept.text == removed.text.replace("So ,", "So EQUATION,")
    assert replace(kept, text=removed.text) == removed


@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_spec_can_keep_unknown_years(set_: Set) -> None:
    assert decide(paper(date=None), set_, make_rules(unknown_year="keep")).outcome == "kept"


@pytest.mark.parametrize(
    ("status", "outcome"), [("retracted", "retracted"), ("withdrawn", "withdrawn"), ("corrected", "kept")]
)
@pytest.mark.parametrize("profile", ["card", "recipe-2024"])
@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_spec_can_exclude_retracted_papers(set_: Set, profile: str, status: str, outcome: str) -> None:
    document = paper(SENTENCES, abstract=f"{english(60, 1)} x y", editorial=status)
    assert decide(document, set_, make_rules(profile, editorial="exclude")).outcome == outcome
    assert decide(document, set_, make_rules(profile)).outcome == "kept"
