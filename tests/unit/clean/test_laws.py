"""Laws of cleaning: the fast rules decide as the direct implementation does, and a document's decision depends only on the document."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean_s2ag, clean_s2orc
from s2corpus.text.documents import Document, Outcome
from s2corpus.text.files import document_of
from s2corpus.text.layout import Unit
from s2corpus.text.unigrams import Unigrams, parse_unigrams
from tests.unit.clean import straightforward
from tests.unit.clean.conftest import GERMAN, english
from tests.unit.clean.jats import documents
from tests.unit.clean.variants import variants


@pytest.fixture(scope="module")
def counts(shared_data: Path) -> bytes:
    return gzip.decompress((shared_data / "unigrams" / "count_1w.txt.gz").read_bytes())


@pytest.fixture(scope="module")
def real(shared_data: Path) -> list[dict[str, Any]]:
    """Return more than 290 documents: complete articles, cut articles, articles in mixed languages, and articles with OCR noise."""
    found = list(variants(documents(shared_data / "jats")[::2]))[:320]
    assert len(found) > 290
    return found


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["card", "recipe-2024"])
def test_decisions_equal_those_of_a_direct_implementation(
    counts: bytes, real: list[dict[str, Any]], profile: str
) -> None:
    rules = CleanRules.model_validate({"profile": profile, "unigrams": {"uri": "x", "sha256": "0" * 64}})
    unigrams = parse_unigrams("list", counts)
    perplexity = straightforward.Perplexity(
        {word: int(count) for word, count in (line.split("\t") for line in counts.decode().splitlines())}
    )
    outcomes: Counter[Outcome] = Counter()
    for document in real:
        if profile == "card":
            document = {**document, "body": [unit for unit in document["body"] if unit["text"]]}
        decision = clean_s2orc(document_of(document, document["id"]), rules, unigrams)
        outcomes[decision.outcome] += 1
        if profile == "card":
            assert (decision.outcome, decision.text) == straightforward.card(document, perplexity), document["id"]
        else:
            kept, text = straightforward.recipe(document, perplexity)
            assert (decision.outcome is Outcome.KEPT, decision.text) == (kept, text), document["id"]
    assert len([n for n in outcomes.values() if n > 2]) >= 5  # The documents do reach the rules.


units = st.builds(
    Unit,
    st.sampled_from([None, "A", "A::B", "C"]),
    st.sampled_from(
        ["", "EQUATION", english(120, 1), english(130, 2), english(110, 3), GERMAN, "xqz vvkt wqx", "l1 " * 60]
    ),
)
made = st.builds(
    Document,
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
def test_only_kept_documents_have_text(unigrams: Unigrams, document, profile, decide) -> None:  # type: ignore[no-untyped-def]
    decision = decide(document, rules_of(profile), unigrams)
    assert isinstance(decision.outcome, Outcome)
    assert (decision.text is not None) == (decision.outcome is Outcome.KEPT)
    tuned = decide(document, rules_of(profile, evaluate_all=True), unigrams)
    assert (tuned.outcome, tuned.text) == (decision.outcome, decision.text)
