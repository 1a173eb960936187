"""The Elsevier OA CC-BY corpus (Kershaw and Koeling 2020, §3): its keys, its clean sentences, its sample, and how it is loaded."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus_datasets import runner
from s2corpus_datasets.elsevier.article import ARTICLE, build_article, build_row
from s2corpus_datasets.job import Job
from s2corpus_datasets.protocol import DatasetBlocked
from s2corpus_datasets.source import SnapshotPaper
from tests.unit.s2corpus_datasets import conftest
from tests.unit.s2corpus_datasets.conftest import PIECE, build_unchecked, content, job, make, outcomes, papers, rows

GIVEN = {
    "docId": "S0140673618300101",
    "metadata": {
        "title": "T", "authors": [{"first": "A. B.", "initial": "A.B.", "last": "Lee", "email": "lee@example.org"}], "issn": "01406736",
        "volume": "391", "firstpage": "1", "lastpage": "9", "pub_year": 2018, "doi": "10.1016/S0140-6736(18)30010-1", "pmid": "1",
        "openaccess": "Full", "subjareas": ["MEDI"], "keywords": ["frogs", "ponds"], "asjc": [2700],
    },
    "abstract": [{"sentence": "We saw frogs.", "startOffset": 0, "endOffset": 13}],
    "author_highlights": [{"sentence": "Frogs are loud.", "startOffset": 0, "endOffset": 15}],
    "bib_entries": {
        "bib1": {
            "title": "Toads", "authors": [{"first": "C.", "initial": "C.", "last": "Roy"}], "issn": "12345678", "volume": "2",
            "firstpage": "3", "lastpage": "4", "pub_year": 2010, "doi": "10.1000/x", "pmid": "2",
        },
    },
    "body_text": [
        {"sentence": "We saw it  [1].", "secId": "s1", "startOffset": 3, "endOffset": 18, "title": "Frogs",
         "refoffsets": {"bib1": {"startOffset": 11, "endOffset": 14}}, "parents": [{"id": "s0", "title": "Results"}]},
        {"sentence": "<b>x</b>", "secId": "s1", "startOffset": 19, "endOffset": 27, "title": "Frogs", "refoffsets": {}, "parents": []},
    ],
    "other": {"kept": None},
}  # fmt: skip
METADATA: dict[str, Any] = {
    **conftest.METADATA,
    "authors": [{"first": "Ada", "middle": [], "last": "Lovelace"}, {"first": "Alan", "middle": ["M"], "last": "Turing"}],
}  # fmt: skip
KNOWN: dict[str, Any] = {"pages": "1-9", "volume": "2", "subjects": ["subfields/1702", "2713", "Physiology", "cs.CL"]}
PARSE: dict[str, Any] = {
    "body_text": [], "bib_entries": {}, "keywords": ["frogs", "ponds"], "issn": "1932-6203",
    "authors": [{"first": "Ada", "last": "Lovelace"}, {"first": "Alan", "last": "Turing"}], "emails": ["ada@example.org", None],
}  # fmt: skip


@pytest.mark.parametrize(
    ("subjects", "asjc", "areas"),
    [
        (["subfields/1702", "2713", "cs.CL"], [1702, 2713], ["COMP", "MEDI"]),
        (["General Medicine", "Archaeology"], [1204, 2700, 3302], ["ARTS", "MEDI", "SOCI"]),
        (["Electrical and Electronic Engineering", "Ecology, Evolution, Behavior and Systematics"], [1105, 2208], ["AGRI", "ENGI"]),
        (["MEDI", "fields/17"], [1700], ["COMP", "MEDI"]),
        (["Frogs"], None, ["AGRI"]),
    ],
)  # fmt: skip
def test_asjc_codes_come_from_codes_and_names(subjects: list[str], asjc: list[int] | None, areas: list[str]) -> None:
    """Names are from the Scopus source list; Crossref writes "General" for "(all)". Without ASJC, the field of study decides."""
    article, _, _ = build_article(SnapshotPaper(METADATA, {**KNOWN, "subjects": subjects}), PARSE, 0.2)
    assert (article["metadata"].get("asjc"), article["metadata"]["subjareas"]) == (asjc, areas)


def test_issn_is_that_of_the_full_text_or_of_the_records() -> None:
    for parse, issn in ((PARSE, "1932-6203"), ({**PARSE, "issn": None}, "0028-0836")):
        article, _, _ = build_article(
            SnapshotPaper(METADATA, {**KNOWN, "issns": ["0028-0836", "1476-4687"]}), parse, 0.2
        )
        assert article["metadata"]["issn"] == issn


def test_keywords_are_those_of_the_publisher() -> None:
    article, _, _ = build_article(SnapshotPaper(METADATA, KNOWN), PARSE, 0.2)
    found = article["metadata"]
    assert found["keywords"] == ["frogs", "ponds"]
    assert [author.get("email") for author in found["authors"]] == ["ada@example.org", None]


@pytest.mark.parametrize("value", [None, 7, [7, None, "x", []], {"a": {"authors": 7, "pub_year": 1 << 70}}])
@pytest.mark.parametrize("key", ["docId", "metadata", "abstract", "bib_entries", "body_text", "author_highlights"])
def test_odd_delivered_value_becomes_null(key: str, value: object) -> None:
    (row,) = pa.Table.from_pylist([build_row(GIVEN)], ARTICLE).to_pylist()
    assert row["metadata"]["keywords"] == ["frogs", "ponds"] and row["bib_entries"][0]["ref_id"] == "bib1"
    assert row["body_text"][0]["refoffsets"] == [{"ref_id": "bib1", "startOffset": 11, "endOffset": 14}]
    assert pa.Table.from_pylist([build_row({**GIVEN, key: value})], ARTICLE).num_rows == 1


def test_parameter_keep_all_writes_all_articles(tmp_path: Path) -> None:
    job = make(tmp_path, "elsevier", papers(), keep_all=True)
    assert len(content(job, "/articles/")) == 60
    assert outcomes(job, "sample") == {"in": 60, "sampled": 9, "kept_by_keep_all": 51}


def test_articles_in_elseviers_form_are_sampled_once(made: dict[str, Job]) -> None:
    index = rows(made["elsevier"], "index/")
    sampled = [row["sampled_for"] for row in index]
    assert len(index) == 9, "the corpus is the balanced sample"
    assert Counter(sampled) == {"Medicine": 3, "Agricultural and Biological Sciences": 3, "Computer Science": 3}


def test_lost_or_changed_article_blocks_publishing(lake: Path, made: dict[str, Job], tmp_path: Path) -> None:
    one = job(lake, "elsevier", tmp_path)
    shards = build_unchecked(one)
    for row in rows(one, "index/"):
        article = one.lake.get(f"{one.prefix}/{row['file']}")[0]
        assert (row["bytes"], row["sha256"]) == (len(article), hashlib.sha256(article).hexdigest())
    first, second, *_ = rows(one, "index/")
    Path(one.lake.uri(f"{one.prefix}/{first['file']}")).unlink()
    one.lake.put(f"{one.prefix}/{second['file']}", b"{}")
    with pytest.raises(DatasetBlocked, match="articles_match_index: 2"):
        runner.check(one)
    assert one.published() is None
    runner.write(one, shards)
    runner.check(one)
    assert content(one) == content(made["elsevier"])


@given(st.lists(st.tuples(PIECE, PIECE, st.sampled_from(["A", "A::B", "C", ""])), min_size=1, max_size=5))
def test_offsets_of_elseviers_form_are_exact(drawn: list[tuple[str, str, str]]) -> None:
    body: list[dict[str, Any]] = []
    for one, two, path in drawn:
        text = (one + two).strip()
        at = text.find("[1]")
        spans = [{"start": at, "end": at + 3, "text": "[1]", "ref_id": "BIBREF0"}] if at >= 0 else []
        body.append({"section": path.split("::")[-1], "section_path": path, "text": text, "cite_spans": spans})
    parse = {"body_text": body, "bib_entries": {"BIBREF0": {"title": "T", "authors": [], "year": None}}}
    metadata = {**METADATA, "doi": "10.1016/S0140-6736(18)30010-1", "abstract": "One. Two."}
    article, number_, removed = build_article(SnapshotPaper(metadata, {**KNOWN, "subjects": []}), parse, 0.2)
    whole = "\n".join(paragraph["text"] for paragraph in body)
    assert article["docId"] == "S0140673618300101" and number_ == len(article["body_text"]) and not removed
    for sentence in article["body_text"]:
        assert whole[sentence["startOffset"] : sentence["endOffset"]] == sentence["sentence"]
        for place in sentence["refoffsets"].values():
            assert sentence["sentence"][place["startOffset"] : place["endOffset"]] == "[1]"
    assert sum(len(s["sentence"].replace(" ", "")) for s in article["body_text"]) == len("".join(whole.split()))
    for sentence in article["abstract"]:
        assert "One. Two."[sentence["startOffset"] : sentence["endOffset"]] == sentence["sentence"]
