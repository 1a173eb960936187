"""The Elsevier OA CC-BY corpus (Kershaw and Koeling 2020, §3): its keys, its clean sentences, its sample, and how it is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.elsevier.article import SUBJECTS, article_of, subject_of_field, subjects_of
from s2corpus.datasets.elsevier.rows import ARTICLE, build_row
from s2corpus.datasets.job import Job
from s2corpus.datasets.pretraining import Pretraining, PretrainingParams
from s2corpus.datasets.protocol import Made
from s2corpus.datasets.source import SnapshotPaper, SnapshotSource
from s2corpus.datasets.spec import DatasetSpec
from s2corpus.sources.fields_of_study import FIELDS
from s2corpus.storage.lake import open_lake
from s2corpus.text.sentences import is_prose
from tests.snapshots import write_snapshot
from tests.unit.datasets.test_datasets import GIVEN, papers

METADATA: dict[str, Any] = {
    "paper_id": "p", "doi": "10.1371/journal.pone.1", "title": "T", "abstract": None, "year": 2020, "journal": "J", "venue": None,
    "pubmed_id": None, "authors": [{"first": "Ada", "middle": [], "last": "Lovelace", "suffix": ""},
                                   {"first": "Alan", "middle": ["M"], "last": "Turing", "suffix": ""}],
}  # fmt: skip
KNOWN: dict[str, Any] = {"pages": "1-9", "volume": "2", "subjects": ["subfields/1702", "2713", "Physiology", "cs.CL"]}
PARSE: dict[str, Any] = {
    "body_text": [], "bib_entries": {}, "keywords": ["frogs", "ponds"], "issn": "1932-6203",
    "authors": [{"first": "Ada", "last": "Lovelace"}, {"first": "Alan", "last": "Turing"}], "emails": ["ada@example.org", None],
}  # fmt: skip


def body(*sentences: str) -> dict[str, Any]:
    return {**PARSE, "body_text": [{"section": "Aims", "text": sentence, "cite_spans": []} for sentence in sentences]}


def test_keywords_are_the_publishers_and_not_subjects() -> None:
    article, _, _ = article_of(SnapshotPaper(METADATA, KNOWN), PARSE, 0.2)
    found = article["metadata"]
    assert found["keywords"] == ["frogs", "ponds"] and found["issn"] == "1932-6203"
    assert found["asjc"] == [1702, 2713] and found["subjareas"] == ["COMP", "MEDI"]
    assert [author.get("email") for author in found["authors"]] == ["ada@example.org", None]


def test_key_without_a_value_is_left_out() -> None:
    article, _, _ = article_of(
        SnapshotPaper(METADATA, {**KNOWN, "subjects": None}), {"body_text": [], "bib_entries": {}}, 0.2
    )
    assert not {"keywords", "issn", "asjc", "subjareas", "pmid"} & article["metadata"].keys()


@pytest.mark.parametrize(
    "text", ["EQUATION", "EQUATION.", "(EQUATION)", "EQUATION, EQUATION.", "(12)", "3.14", "= 0.", "…", ""]
)
def test_sentence_without_words_is_no_prose(text: str) -> None:
    assert not is_prose(text)


@pytest.mark.parametrize("text", ["We have EQUATION.", "EQUATIONS hold.", "É.", "where EQUATION", "x = 1."])
def test_sentence_with_words_is_prose(text: str) -> None:
    assert is_prose(text)


def test_formulas_are_removed_and_not_counted() -> None:
    article, number, removed = article_of(
        SnapshotPaper(METADATA, KNOWN), body("We saw frogs.", "EQUATION", "(12)", "They sang."), 0.2
    )
    assert [sentence["sentence"] for sentence in article["body_text"]] == ["We saw frogs.", "They sang."]
    assert (number, removed) == (4, 2)
    last = article["body_text"][1]
    assert (last["startOffset"], last["endOffset"]) == (28, 38), "offsets are those of the complete text"


def test_pretraining_lines_have_words() -> None:
    paper = SnapshotPaper(
        {**METADATA, "mag_field_of_study": None},
        {},
        {"pdf": body("We saw very many frogs here. EQUATION. (12). They sang.")},
    )
    rows = list(Pretraining().rows(PretrainingParams(), paper, Made()))
    assert [row["text"] for row in rows] == ["We saw very many frogs here.\nThey sang."]


def test_strata_have_names_of_asjc_only() -> None:
    assert all(subject_of_field(field) in SUBJECTS for field in FIELDS) and subject_of_field("x") is None
    assert subjects_of({"metadata": {"asjc": [1702], "subjareas": ["MEDI"]}}) == ["Computer Science", "Medicine"]


def test_delivered_article_fits_the_rows() -> None:
    (row,) = pa.Table.from_pylist([build_row(GIVEN)], ARTICLE).to_pylist()
    assert (
        row["metadata"]["keywords"] == ["frogs", "ponds"]
        and row["metadata"]["authors"][0]["email"] == "lee@example.org"
    )
    assert row["body_text"][0]["refoffsets"] == [{"ref_id": "bib1", "startOffset": 11, "endOffset": 14}]
    assert row["bib_entries"][0]["ref_id"] == "bib1" and row["author_highlights"][0]["sentence"] == "Frogs are loud."


@pytest.mark.parametrize(
    "value", [None, 7, True, "x", [7, None, "x", []], {"a": 7}, {"a": {"authors": 7, "pub_year": 1 << 70}}]
)
@pytest.mark.parametrize("key", ["docId", "metadata", "abstract", "bib_entries", "body_text", "author_highlights"])
def test_odd_delivered_value_becomes_null(key: str, value: object) -> None:
    assert pa.Table.from_pylist([build_row({**GIVEN, key: value})], ARTICLE).num_rows == 1


def make(folder: Path, **params: Any) -> Job:
    write_snapshot(folder, papers(), files=3)
    source = SnapshotSource(open_lake(str(next((folder / "snapshots").glob("real-*")))))
    spec = DatasetSpec(name="elsevier", dataset="elsevier", params={"min_sentences": 3, "per_subject": 3, **params})
    job = Job(spec, source, open_lake(str(folder)))
    runner.make(job)
    return job


def test_hugging_face_loads_the_articles(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    job = make(tmp_path)
    folder = tmp_path / job.prefix
    loaded = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    files = {path.stem: orjson.loads(path.read_bytes()) for path in (folder / "articles").iterdir()}
    assert len(loaded) == len(files) == 9
    for row in loaded:
        article = files[row["docId"]]
        assert [s["sentence"] for s in row["body_text"]] == [s["sentence"] for s in article["body_text"]]
        assert row["metadata"]["title"] == article["metadata"]["title"]
    index = datasets.load_dataset(str(folder), "index", split="train", cache_dir=str(tmp_path / "cache"))
    assert sorted(index["file"]) == sorted(f"articles/{name}.json" for name in files)


def test_switch_keeps_all_articles(tmp_path: Path) -> None:
    job = make(tmp_path, keep_all=True)
    assert len(list((tmp_path / job.prefix / "articles").iterdir())) == 60
    outcomes = {
        row["outcome"]: row["count"]
        for row in orjson.loads(job.lake.get(f"{job.prefix}/stats.json")[0])["funnel"]
        if row["step"] == "sample"
    }
    assert outcomes == {"in": 60, "sampled": 9, "kept_by_keep_all": 51}
