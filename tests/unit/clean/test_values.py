"""The values behind a decision, for every profile and set, equal their definitions; thresholds are checked at their exact limits."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import CleanedDocument
from s2corpus.text.layout import Unit
from s2corpus.text.unigrams import Unigrams, log_probability
from tests.unit.clean.conftest import GERMAN, english

TITLE, ABSTRACT = "Significant results about something", f"{english(60, 1)} mitosis mitosis mitosis"
PROFILES: list[dict[str, Any]] = [{}, {"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}}]


@pytest.mark.parametrize("profile", PROFILES, ids=["card", "recipe"])
def test_measured_values_of_title_and_abstract_equal_definitions(profile: dict[str, Any], unigrams: Unigrams) -> None:
    rules = CleanRules.model_validate(profile)
    found = clean_s2ag(CleanedDocument("p", TITLE, ABSTRACT, "2011", None, sources=("Medline",)), rules, unigrams)
    assert (found.outcome, found.language, found.words) == ("kept", "en", 63)
    assert (found.top_word, found.top_share) == ("mitosis", 3 / (63 + 4))
    assert found.log_prob == log_probability(ABSTRACT, unigrams) < 0


@pytest.mark.parametrize("profile", PROFILES, ids=["card", "recipe"])
def test_measured_values_of_full_text_equal_definitions(profile: dict[str, Any], unigrams: Unigrams) -> None:
    rules = CleanRules.model_validate({**profile, "evaluate_all": True})
    texts = [f"{english(150, n)} mitosis mitosis." for n in range(5)]
    improbable, german = "xqz vvkt wqx zzjh.", f"{GERMAN}"
    units = [*((None, text) for text in texts), ("Residue", improbable), ("Anhang", german)]
    document = CleanedDocument("p", TITLE, ABSTRACT, "2011", tuple(Unit(*unit) for unit in units))
    found = clean_s2orc(document, rules, unigrams)
    pieces = [*texts, f"Residue\n{improbable}", f"Anhang\n{german}"]
    means = [log_probability("\n".join(texts) if not profile else texts[0], unigrams)]
    means += [log_probability(piece, unigrams) for piece in pieces[1 if profile else 5 :]]
    words = [word for piece in pieces for word in piece.split()]
    assert (found.outcome, found.words) == ("kept", len(words))
    assert found.log_prob == pytest.approx(min(means))
    gone = sum(mean < -20 for mean in means)
    assert found.removed_sections == gone > 0
    assert found.paragraphs == 7 - gone
    kept = words if profile else [word for text in texts for word in text.split()]
    word, count = Counter(kept).most_common(1)[0]
    if profile or gone == 2:
        assert (found.top_word, found.top_share) == (word, count / len(kept))
    assert found.language == "en" and found.language_votes is not None
    assert found.language_votes["en"] == 5 and found.language_votes["de"] == 1


@pytest.mark.parametrize(("least", "outcome"), [(0, "kept"), (1e-9, "few_paragraphs")])
def test_section_exactly_at_the_threshold_is_not_removed(least: float, outcome: str, unigrams: Unigrams) -> None:
    text = english(600, 1)
    document = CleanedDocument("p", TITLE, ABSTRACT, "2011", tuple(Unit(None, text) for _ in range(5)))
    mean = log_probability("\n".join([text] * 5), unigrams)
    assert clean_s2orc(document, CleanRules(min_log_prob=mean + least), unigrams).outcome == outcome


@pytest.mark.parametrize(("least", "outcome"), [(0, "abstract_improbable"), (-1e-9, "kept")])
def test_abstract_exactly_at_the_threshold_is_dropped(least: float, outcome: str, unigrams: Unigrams) -> None:
    mean = log_probability(ABSTRACT, unigrams)
    document = CleanedDocument("p", "Mitosis and meiosis of small cells", ABSTRACT, "2011", None)
    assert clean_s2ag(document, CleanRules(min_log_prob=mean + least), unigrams).outcome == outcome
