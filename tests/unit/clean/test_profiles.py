"""The rules of a profile are named objects: each rule has an outcome and thresholds, and a spec can set only these thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from s2corpus.rules.clean import IGNORED_BY_RECIPE
from s2corpus.snapshot.manifest import list_rules
from s2corpus.spec import CleanRules, ReleaseSpec, UnigramRules
from s2corpus.text.clean import PROFILES
from s2corpus.text.documents import CleanOutcome

LIST = UnigramRules(uri="s3://lists/words.csv", sha256="0" * 64)


def honoured(profile: str) -> set[str]:
    return {name for rules in PROFILES[profile].values() for name in rules.thresholds}


def test_every_outcome_belongs_to_a_rule() -> None:
    given = {rule.outcome for sets in PROFILES.values() for rules in sets.values() for rule in rules.rules}
    assert given | {CleanOutcome.KEPT} == set(CleanOutcome)


def test_every_threshold_of_a_rule_is_a_spec_field() -> None:
    assert all(honoured(profile) <= set(CleanRules.model_fields) for profile in PROFILES)


def test_recipe_ignores_thresholds_that_only_the_card_applies() -> None:
    assert honoured("card") - honoured("recipe-2024") == set(IGNORED_BY_RECIPE) - {"layout"}, "which is no threshold"


@pytest.mark.parametrize(
    "given",
    [{"min_words": 300}, {"min_year": 2000}, {"max_top_share": 0.1}, {"min_log_prob": -18.0}, {"layout": "template"}],
)
def test_profile_refuses_thresholds_that_it_ignores(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=f"{next(iter(given))}: .* given; profile recipe-2024 ignores this field"):
        CleanRules(profile="recipe-2024", unigrams=LIST, **given)
    assert CleanRules(profile="card", unigrams=LIST, **given)


def test_manifest_lists_no_ignored_threshold(tmp_path: Path) -> None:
    def stated(profile: str) -> set[str]:
        spec = ReleaseSpec(name="s", clean=CleanRules(profile=profile, unigrams=LIST))  # type: ignore[arg-type]  # pydantic checks the profile
        return {rule.name.removeprefix("clean.") for rule in list_rules(spec) if rule.name.startswith("clean.")}

    assert stated("card") - stated("recipe-2024") == set(IGNORED_BY_RECIPE)
