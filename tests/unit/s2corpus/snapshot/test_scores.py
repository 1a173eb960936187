"""SPEC §8.13: `tables/scores` has a row for each document that cleaning decided about, with the values of the other tables."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from s2corpus.text.signals import NAMES
from tests.unit.s2corpus.snapshot.test_removed import publish, read


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("scores") / "plain")


def by_document(rows: list[dict[str, Any]], id_: str = "paper_id") -> dict[tuple[str, str], dict[str, Any]]:
    return {(row[id_], row["set"]): row for row in rows}


def test_published_documents_have_their_signals_and_metadata(snapshot: Path) -> None:
    scores = by_document(read(snapshot, "tables/scores"))
    documents = by_document(read(snapshot, "documents"), "id")
    assert {key for key, row in scores.items() if row["outcome"] in ("train", "valid")} == set(documents)
    for key, document in documents.items():
        for name in ("title", "year", "license", "fields_of_study", "log_prob", "removed_words"):
            assert scores[key][name] == document[name], name
        for name in NAMES:  # in single precision
            assert scores[key][name] == pytest.approx(document[name], rel=1e-6), name
        sections = scores[key]["section_log_probs"] or []
        assert sections == pytest.approx(document["section_log_probs"] or [], rel=1e-6)
        assert scores[key]["outcome"] == document["split"]
        assert scores[key]["source"] == (document["parse_kind"] or document["abstract_source"])


def test_removed_documents_and_parts_have_their_rules(snapshot: Path) -> None:
    scores = by_document(read(snapshot, "tables/scores"))
    removed = read(snapshot, "tables/removed")
    documents = by_document([row for row in removed if row["kind"] == "document"])
    outcomes = Counter(row["outcome"] for row in scores.values())
    assert Counter(row["rule"] for row in documents.values()) == outcomes - Counter(train=10**6, valid=10**6)
    assert outcomes["clean.before_min_year"] > 1 and outcomes["train"] > 1
    for key, row in scores.items():
        parts = [part for part in removed if (part["paper_id"], part["set"]) == key and part["kind"] != "document"]
        assert row["rules"] == sorted({part["rule"] for part in parts})
        if key[1] == "s2orc":
            assert row["removed_words"] == sum(part["words"] or 0 for part in parts)
        if key in documents:
            assert all(row[name] is None for name in NAMES)
