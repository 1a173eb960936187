"""Every document has one outcome in every profile and set, and text only if it is kept (SPEC §8).

The measured values equal their definitions. A spec sets only thresholds that its profile applies.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from s2corpus.rules import IGNORED_BY_RECIPE
from s2corpus.snapshot.manifest import list_rules
from s2corpus.spec import CleanRules, ReleaseSpec
from s2corpus.text.clean import PROFILES, clean
from s2corpus.text.documents import CleanOutcome, Set
from s2corpus.text.unigrams import log_probability
from tests.unit.s2corpus.stages.clean.samples import GERMAN, decide, english, make_rules, paper, split_evenly, unigrams

ABSTRACT = f"{english(60, 1)} mitosis mitosis mitosis"
NAMES = ["card", "recipe-2024"]


@pytest.mark.parametrize("profile", NAMES)
def test_measured_values_of_title_and_abstract_equal_definitions(profile: str) -> None:
    found = decide(paper(abstract=ABSTRACT), "s2ag", make_rules(profile))
    assert (found.outcome, found.language, found.words) == ("kept", "en", 63)
    assert (found.top_word, found.top_share) == ("mitosis", 3 / (63 + 4))
    assert found.log_prob == log_probability(ABSTRACT, unigrams()) < 0


@pytest.mark.parametrize("profile", NAMES)
def test_measured_values_of_full_text_equal_definitions(profile: str) -> None:
    texts = [f"{english(150, n)} mitosis mitosis." for n in range(5)]
    improbable, whole = "xqz vvkt wqx zzjh.", profile == "recipe-2024"
    body = [*((None, text) for text in texts), ("Residue", improbable), ("Anhang", GERMAN)]
    found = decide(paper(body), rules=make_rules(profile, evaluate_all=True))
    pieces = [*texts, f"Residue\n{improbable}", f"Anhang\n{GERMAN}"]
    sections = pieces if whole else ["\n".join(texts), *pieces[5:]]
    words = [word for piece in pieces for word in piece.split()]
    assert (found.outcome, found.words) == ("kept", len(words))
    means = [log_probability(section, unigrams()) for section in sections]
    assert found.log_prob == pytest.approx(min(means))
    gone = sum(mean < -20 for mean in means)
    assert (found.removed_sections, found.paragraphs) == (gone, 7 - gone) and gone > 0
    kept = words if whole else [word for text in texts for word in text.split()]
    word, count = Counter(kept).most_common(1)[0]
    if whole or gone == 2:
        assert (found.top_word, found.top_share) == (word, count / len(kept))
    votes = found.language_votes or {}
    assert (found.language, votes["en"], votes["de"]) == ("en", 5, 1)


UNITS = st.tuples(
    st.sampled_from([None, "A", "A::B", "C"]),
    st.sampled_from(
        ["", "EQUATION", english(120, 1), english(130, 2), english(110, 3), GERMAN, "xqz vvkt wqx", "l1 " * 60]
    ),
)
DOCUMENTS = st.builds(
    paper,
    title=st.sampled_from([None, "", "A significant title"]),
    abstract=st.sampled_from([None, "", english(60, 4), GERMAN]),
    date=st.sampled_from([None, "1969", "1970", "2022-12"]),
    body=st.none() | st.lists(UNITS, max_size=9),
    open_access=st.booleans(),
)


@given(DOCUMENTS, st.sampled_from(NAMES), st.sampled_from(["s2orc", "s2ag"]))
@settings(max_examples=80)
def test_only_kept_documents_have_text(document: Any, profile: str, set_: Set) -> None:
    """Evaluating all rules changes no decision."""
    decision = decide(document, set_, make_rules(profile))
    assert isinstance(decision.outcome, CleanOutcome)
    assert (decision.text is not None) == (decision.outcome is CleanOutcome.KEPT)
    tuned = decide(document, set_, make_rules(profile, evaluate_all=True))
    assert (tuned.outcome, tuned.text) == (decision.outcome, decision.text)
    assert tuned.words is not None and (set_ == "s2ag" or tuned.removed_sections is not None)


def test_every_outcome_belongs_to_a_rule() -> None:
    given = {rule.outcome for sets in PROFILES.values() for rules in sets.values() for rule in rules.rules}
    assert given | {CleanOutcome.KEPT} == set(CleanOutcome)


class Recorder:
    """Rules that record the names of the fields that are read."""

    def __init__(self, rules: CleanRules) -> None:
        self.rules, self.read = rules, set[str]()

    def __getattr__(self, name: str) -> object:
        self.read.add(name)
        return getattr(self.rules, name)


def test_recipe_reads_no_threshold_that_it_ignores() -> None:
    read = {}
    for profile in NAMES:
        recorder: Any = Recorder(make_rules(profile, evaluate_all=True))
        for set_ in ("s2orc", "s2ag"):
            for date in ("2011", None):
                clean(set_, paper(split_evenly(600, 5, "."), date=date), recorder, unigrams())
        read[profile] = recorder.read
    assert read["card"] - read["recipe-2024"] == set(IGNORED_BY_RECIPE)


@pytest.mark.parametrize(
    "given",
    [{"min_words": 300}, {"min_year": 2000}, {"max_top_share": 0.1}, {"min_log_prob": -18.0}, {"layout": "template"}],
)
def test_profile_refuses_thresholds_that_it_ignores(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=f"{next(iter(given))}: .* given; profile recipe-2024 ignores this field"):
        make_rules("recipe-2024", **given)
    assert make_rules("card", **given)


def test_profile_needs_its_word_list() -> None:
    with pytest.raises(ValidationError, match="profile card needs unigrams"):
        CleanRules(profile="card")


def test_order_of_full_texts_is_completed() -> None:
    assert make_rules(text_from="latex").text_from == ("latex", "pdf", "jats", "elsevier")
    assert make_rules(text_from=["jats", "latex"]).text_from == ("jats", "latex", "pdf", "elsevier")
    with pytest.raises(ValidationError, match="text_from"):
        make_rules(text_from=7)


def test_manifest_lists_no_ignored_threshold() -> None:
    def list_fields(profile: str) -> set[str]:
        spec = ReleaseSpec(name="s", clean=make_rules(profile))
        return {name.removeprefix("clean.") for name in list_rules(spec) if name.startswith("clean.")}

    assert list_fields("card") - list_fields("recipe-2024") == set(IGNORED_BY_RECIPE)
