"""CiteWorth §3: suitable papers are considered, fields are balanced, small corpora get all three sets, and people can judge a sheet."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.citeworth.dataset import SPLITS
from s2corpus.datasets.citeworth.rules import (
    CiteworthPaperOutcome,
    CiteworthParagraphOutcome,
    CiteWorthParams,
    classify_paper,
    classify_paragraph,
)
from s2corpus.datasets.job import Job
from s2corpus.datasets.source import SnapshotPaper, SnapshotSource
from s2corpus.datasets.spec import DatasetSpec
from s2corpus.storage.lake import open_lake
from tests.snapshots import write_snapshot
from tests.unit.datasets.small import PARAMS as SMALL
from tests.unit.datasets.small import content, papers

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
    return classify_paper(PARAMS, SnapshotPaper({**METADATA, **changes}, {}, {"pdf": PARSE}))


def test_primary_field_of_several_decides() -> None:
    assert outcome(mag_field_of_study=["Medicine", "Sociology"]) is CiteworthPaperOutcome.CONSIDERED
    assert outcome(mag_field_of_study=["Sociology", "Medicine"]) is CiteworthPaperOutcome.OTHER_FIELD
    assert outcome(mag_field_of_study=[]) is CiteworthPaperOutcome.NO_FIELDS_OF_STUDY


@pytest.mark.parametrize("name", ["venue", "journal", "arxiv_id", "acl_id", "pubmed_id", "pmc_id"])
def test_archive_id_proves_a_venue(name: str) -> None:
    assert outcome(**{"journal": None, name: "x"}) is CiteworthPaperOutcome.CONSIDERED


def test_paper_without_venue_and_ids_is_dropped() -> None:
    assert outcome(journal=None) is CiteworthPaperOutcome.NO_VENUE


def make(folder: Path, **params: Any) -> Job:
    """Build the dataset of the snapshot in a folder."""
    source = SnapshotSource(open_lake(str(next((folder / "snapshots").glob("real-*")))))
    spec = DatasetSpec(name="citeworth", dataset="citeworth", params={**SMALL["citeworth"], **params})
    job = Job(spec, source, open_lake(str(folder)))
    runner.make(job)
    return job


@pytest.fixture
def small(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Job]:
    write_snapshot(tmp_path, papers()[: request.param], files=2)
    yield make(tmp_path)


def sizes(job: Job) -> dict[str, int]:
    metrics = orjson.loads(job.lake.get(f"{job.prefix}/stats.json")[0])["metrics"]
    return {split: int(metrics[f"sentences.{split}"]) for split in SPLITS} | {"tokens": int(metrics["tokens"])}


@pytest.mark.parametrize("small", [3, 6], indirect=True)
def test_small_corpus_has_all_three_sets(small: Job) -> None:
    assert all(sizes(small)[split] for split in SPLITS)


@pytest.mark.parametrize("small", [2], indirect=True)
def test_too_small_corpus_names_missing_sets(small: Job, caplog: pytest.LogCaptureFixture) -> None:
    assert sizes(small)["dev"] == 0 or sizes(small)["test"] == 0
    warnings = [record.getMessage() for record in caplog.get_records("setup")]
    assert any("the sample has fewer papers than splits" in warning for warning in warnings)
    card = small.lake.get(f"{small.prefix}/README.md")[0].decode()
    missing = [split for split in SPLITS if not sizes(small)[split]]
    assert missing and all(f"There is no {split} set: papers are not divided" in card for split in missing)


@pytest.mark.parametrize("small", [3], indirect=True)
def test_tokens_are_words_and_punctuation_marks(small: Job) -> None:
    """Check that `We measured x with y in study 0 of z .` has eleven tokens, as words and punctuation marks are counted in Table 2."""
    assert sizes(small)["tokens"] == 3 * 3 * 4 * 11


def test_citeworth_is_balanced_and_split_by_papers(made: dict[str, Job]) -> None:
    splits: dict[str, set[str]] = {}
    fields: dict[str, int] = {}
    sentences = 0
    for path, data in content(made["citeworth"], ".jsonl.gz").items():
        for line in gzip.decompress(data).splitlines():
            value = orjson.loads(line)
            splits.setdefault(path.split("/")[1], set()).add(value["paper_id"])
            fields[value["mag_field_of_study"][0]] = fields.get(value["mag_field_of_study"][0], 0) + 1
            sentences += len(value["samples"])
            assert [s["label"] for s in value["samples"]] == ["check-worthy"] * 3 + ["non-check-worthy"]
            assert all("[" not in s["text"] for s in value["samples"])
    assert len(set(fields.values())) == 1 and len(fields) == 3
    assert (
        not splits["train"] & splits["dev"]
        and not splits["train"] & splits["test"]
        and not splits["dev"] & splits["test"]
    )
    assert sentences == 60 * 3 * 4
    assert abs(len(splits["train"]) - 48) <= 1


def lines(job: Job) -> list[dict[str, Any]]:
    """Return the paragraphs of all sets."""
    return [
        orjson.loads(line) for data in content(job, ".jsonl.gz").values() for line in gzip.decompress(data).splitlines()
    ]


def sheet(job: Job, name: str) -> list[dict[str, str]]:
    (data,) = content(job, name).values()
    return list(csv.DictReader(data.decode().splitlines()))


@pytest.mark.parametrize("naive", [False, True])
def test_sheet_has_sentences_of_both_labels_without_their_labels(naive: bool, tmp_path: Path) -> None:
    """Check the sheet of §3.3: 500 citing and 500 other sentences (here 7) in random order."""
    write_snapshot(tmp_path, papers(), files=2)
    job = make(tmp_path, sheet_sentences=7, naive=naive)
    rows, keys = sheet(job, "sheet.csv"), sheet(job, "sheet_key.csv")
    assert [list(row) for row in rows] == [["item", "sentence", "extracted_correct", "markers_removed"]] * 14
    assert [row["item"] for row in rows] == [row["item"] for row in keys] == sorted({row["item"] for row in rows})
    labels = [row["label"] for row in keys]
    assert Counter(labels) == {"check-worthy": 7, "non-check-worthy": 7} and labels != sorted(labels)
    assert {row["method"] for row in keys} == {"naive" if naive else "citeworth"}
    of = {(line["paper_id"], str(line["section_index"])): line for line in lines(job)}
    for row, origin in zip(rows, keys, strict=True):
        samples = of[origin["paper_id"], origin["section_index"]]["samples"]
        assert (row["sentence"], origin["label"]) in {(" ".join(s["text"].split()), s["label"]) for s in samples}


def test_dataset_may_omit_the_sheet(tmp_path: Path) -> None:
    write_snapshot(tmp_path, papers()[:6], files=1)
    assert not content(make(tmp_path, sheet_sentences=0), "sheet")


def test_baseline_removes_only_the_spans() -> None:
    """Check §3.3: the baseline leaves brackets, authors and short sentences, and drops nothing."""
    text = "It was shown by Lee (2010). See [1, 2]. frogs sang"
    spans = [
        {"start": 21, "end": 25, "text": "2010", "ref_id": "BIBREF0"},
        {"start": 33, "end": 34, "text": "1", "ref_id": "BIBREF1"},
    ]
    given = {"section": "Introduction", "text": text, "cite_spans": spans}
    outcome, samples = classify_paragraph(CiteWorthParams(naive=True), given)
    assert (
        outcome is CiteworthParagraphOutcome.KEPT
        and classify_paragraph(CiteWorthParams(), given)[0] is not CiteworthParagraphOutcome.KEPT
    )
    assert [(s["text"], s["label"]) for s in samples] == [
        ("It was shown by Lee ().", "check-worthy"), ("See [, 2]. frogs sang", "check-worthy"),
    ]  # fmt: skip
