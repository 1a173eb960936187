"""CiteWorth §3.1 and §3.2: only suitable papers are considered, and small corpora get all three sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.citeworth.dataset import SPLITS
from s2corpus.datasets.citeworth.rules import CiteworthPaperOutcome, CiteWorthParams, paper_outcome
from s2corpus.datasets.job import Job
from s2corpus.datasets.source import SnapshotPaper, SnapshotSource
from s2corpus.datasets.spec import DatasetSpec
from s2corpus.storage.lake import open_lake
from tests.snapshots import write_snapshot
from tests.unit.datasets.test_datasets import papers

SENTENCE = "Frogs are common in the north [1]."
PARSE: dict[str, Any] = {
    "body_text": [{"section": "Introduction", "text": SENTENCE, "ref_spans": [], "section_path": "Introduction",
                   "cite_spans": [{"start": 30, "end": 33, "text": "[1]", "ref_id": "BIBREF0"}]}],
    "bib_entries": {"BIBREF0": {}}, "ref_entries": {"FIGREF0": {}},
}  # fmt: skip
METADATA: dict[str, Any] = {
    "paper_id": "p", "abstract": "We saw frogs.", "venue": None, "journal": "Frogs", "inbound_citations": ["q"],
    "arxiv_id": None, "acl_id": None, "pubmed_id": None, "pmc_id": None, "mag_field_of_study": ["Biology"],
}  # fmt: skip
PARAMS = CiteWorthParams(min_citations=1)


def outcome(**changes: Any) -> CiteworthPaperOutcome:
    return paper_outcome(PARAMS, SnapshotPaper({**METADATA, **changes}, {}, {"pdf": PARSE}))


def test_primary_field_of_several_decides() -> None:
    assert outcome(mag_field_of_study=["Medicine", "Sociology"]) is CiteworthPaperOutcome.CONSIDERED
    assert outcome(mag_field_of_study=["Sociology", "Medicine"]) is CiteworthPaperOutcome.OTHER_FIELD
    assert outcome(mag_field_of_study=[]) is CiteworthPaperOutcome.NO_FIELDS_OF_STUDY


@pytest.mark.parametrize("name", ["venue", "journal", "arxiv_id", "acl_id", "pubmed_id", "pmc_id"])
def test_archive_id_proves_a_venue(name: str) -> None:
    assert outcome(**{"journal": None, name: "x"}) is CiteworthPaperOutcome.CONSIDERED


def test_paper_without_venue_and_ids_is_dropped() -> None:
    assert outcome(journal=None) is CiteworthPaperOutcome.NO_VENUE


@pytest.fixture
def small(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Job]:
    write_snapshot(tmp_path, papers()[: request.param], files=2)
    params = {"fields": ["Biology", "Medicine", "Computer Science"], "min_citations": 3}
    source = SnapshotSource(open_lake(str(next((tmp_path / "snapshots").glob("real-*")))))
    job = Job(DatasetSpec(name="citeworth", dataset="citeworth", params=params), source, open_lake(str(tmp_path)))
    runner.make(job)
    yield job


def sizes(job: Job) -> dict[str, int]:
    import orjson

    metrics = orjson.loads(job.lake.get(f"{job.prefix}/stats.json")[0])["metrics"]
    return {split: int(metrics[f"sentences.{split}"]) for split in SPLITS} | {"tokens": int(metrics["tokens"])}


@pytest.mark.parametrize("small", [3, 6], indirect=True)
def test_small_corpus_has_all_three_sets(small: Job) -> None:
    assert all(sizes(small)[split] for split in SPLITS)


@pytest.mark.parametrize("small", [2], indirect=True)
def test_too_small_corpus_says_which_sets_are_missing(small: Job, caplog: pytest.LogCaptureFixture) -> None:
    assert sizes(small)["dev"] == 0 or sizes(small)["test"] == 0
    warnings = [record.getMessage() for record in caplog.get_records("setup")]
    assert any("the sample has fewer papers than there are sets" in warning for warning in warnings)


@pytest.mark.parametrize("small", [3], indirect=True)
def test_tokens_are_words_and_punctuation_marks(small: Job) -> None:
    """Check that `We measured x with y in study 0 of z .` has eleven tokens, as words and punctuation marks are counted in Table 2."""
    assert sizes(small)["tokens"] == 3 * 3 * 4 * 11
