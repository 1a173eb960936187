"""Laws of cleaning: every document has one outcome, and text only if it is kept (SPEC §8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import CleanedDocument, CleanOutcome
from s2corpus.text.layout import Unit
from s2corpus.text.unigrams import Unigrams
from tests.unit.clean.conftest import GERMAN, english

units = st.builds(
    Unit,
    st.sampled_from([None, "A", "A::B", "C"]),
    st.sampled_from(
        ["", "EQUATION", english(120, 1), english(130, 2), english(110, 3), GERMAN, "xqz vvkt wqx", "l1 " * 60]
    ),
)
made = st.builds(
    CleanedDocument,
    paper_id=st.just("p"),
    title=st.sampled_from([None, "", "A significant title"]),
    abstract=st.sampled_from([None, "", english(60, 4), GERMAN]),
    date=st.sampled_from([None, "1969", "1970", "2022-12"]),
    body=st.none() | st.lists(units, max_size=9).map(tuple),
    open_access=st.booleans(),
)
profiles = st.sampled_from(["card", "recipe-2024"])


def rules_of(profile: str, **more: Any) -> CleanRules:
    return CleanRules.model_validate({"profile": profile, "unigrams": {"uri": "x", "sha256": "0" * 64}, **more})


@given(made, profiles, st.sampled_from([clean_s2orc, clean_s2ag]))
@settings(max_examples=80)
def test_only_kept_documents_have_text(
    unigrams: Unigrams, document: Any, profile: str, decide: Callable[..., Any]
) -> None:
    decision = decide(document, rules_of(profile), unigrams)
    assert isinstance(decision.outcome, CleanOutcome)
    assert (decision.text is not None) == (decision.outcome is CleanOutcome.KEPT)
    tuned = decide(document, rules_of(profile, evaluate_all=True), unigrams)
    assert (tuned.outcome, tuned.text) == (decision.outcome, decision.text)
