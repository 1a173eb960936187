"""SPEC §1: the release of the complete sample equals the sample's truth, and so do the S2ORC paper's tables of its snapshot."""

import gzip
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

import orjson
import pyarrow as pa
import pytest

from devtools.sample import Truth, compare
from devtools.sample.compare import TABLES
from devtools.sample.truth import PaperTruth
from s2corpus.papers.licenses import to_spdx
from s2corpus.pipeline.quality import read_metrics
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import COMMON_METRICS, PIPELINE
from s2corpus.tables import schema

pytestmark = pytest.mark.slow
Tables = dict[str, pa.Table]
Shown = dict[str, dict[str, list[Any]]]
"""tables of the paper: label → values"""


@pytest.fixture(scope="module")
def tables(sampled: tuple[Run, Truth]) -> Tables:
    return {name: sampled[0].table(schema.TABLES[name]).read() for name in TABLES}


def test_release_equals_the_truth(sampled: tuple[Run, Truth], tables: Tables) -> None:
    comparison = compare(sampled[1], tables)
    assert [miss for row in comparison.rows for miss in row.misses] == []
    assert all(row.expected > 0 for row in comparison.rows)
    assert comparison.text_f1 > 0.995
    assert "selection" in str(comparison) and "100%" in str(comparison)


def test_no_file_has_a_paragraph_of_a_closed_paper(sampled: tuple[Run, Truth]) -> None:
    run = sampled[0]
    keys = [entry.key for entry in run.lake.list(f"snapshots/{run.snapshot_id}/") if entry.key.endswith(".gz")]
    texts = b"".join(gzip.decompress(run.lake.get(key)[0]) for key in keys)
    first = [(paper.open_access, paper.body[0].text.encode()) for paper in sampled[1].papers if paper.body]
    assert {is_open for is_open, text in first if text in texts} == {True} < {is_open for is_open, _ in first}


# The tables of the paper


@pytest.fixture(scope="module")
def shown(sampled: tuple[Run, Truth]) -> Shown:
    """Return each table as label → values."""
    stats = orjson.loads(sampled[0].lake.get(f"snapshots/{sampled[0].snapshot_id}/stats.json")[0])
    return {table["name"]: {row[0]: row[1:] for row in table["rows"]} for table in stats["tables"]}


@pytest.fixture(scope="module")
def kept(sampled: tuple[Run, Truth]) -> list[PaperTruth]:
    return [paper for paper in sampled[1].papers if paper.filtered == "kept"]


def full(papers: Iterable[PaperTruth]) -> list[PaperTruth]:
    """Return the papers with a published full text."""
    return [paper for paper in papers if paper.open_access and paper.fulltexts and paper.body]


def share(part: int, whole: int) -> float:
    return round(part / whole, 6)


def test_every_metric_is_declared(sampled: tuple[Run, Truth]) -> None:
    metrics = read_metrics(sampled[0])
    assert metrics.keys() == {row.name for row in PIPELINE}
    for row in PIPELINE:
        patterns = [metric.pattern for metric in (*row.metrics, *COMMON_METRICS)]
        assert [name for name in metrics[row.name] if not any(fnmatchcase(name, p) for p in patterns)] == [], row.name


def test_table_of_filters_equals_the_truth(sampled: tuple[Run, Truth], shown: Shown) -> None:
    outcomes = Counter(paper.filtered for paper in sampled[1].papers)
    strays = [pdf for pdf in sampled[1].pdfs if pdf.paper is None and pdf.selection == "selected"]
    outcomes["no_authors"] += len(strays)  # A page that belongs to no paper.
    labels = {
        "No title": "no_title", "No authors": "no_authors", "Too few characters of text": "short_text",
        "Not English": "not_english", "Suppressed": "suppressed", "Kept": "kept",
    }  # fmt: skip
    assert {label: row[0] for label, row in shown["filters"].items()} == {
        label: outcomes[word] for label, word in labels.items()
    }
    assert shown["filters"]["Not English"][2] == pytest.approx(15.2 / 176.6, abs=1e-4), "the paper's own"


def test_table_of_sources_equals_the_truth(shown: Shown, kept: list[PaperTruth]) -> None:
    def having(name: str) -> int:
        return sum(name in paper.identifiers for paper in kept)

    expected = {
        "Total papers": len(kept), "Papers w/ PDF": sum(paper.canonical_pdf is not None for paper in kept),
        "Papers w/ bibliographies": sum(bool(paper.bibliography) for paper in kept),
        "Papers w/ full text from PDF": sum("pdf" in paper.fulltexts for paper in full(kept)),
        "Papers w/ full text from LaTeX": sum("latex" in paper.fulltexts for paper in full(kept)),
        "Papers w/ publisher's full text": sum(bool({"jats", "elsevier"} & {*paper.fulltexts}) for paper in full(kept)),
        "Papers w/ publisher abstract": sum(paper.abstract_delivered for paper in kept), "Papers w/ DOIs": having("doi"),
        "Papers w/ PubMed IDs": having("pubmed_id"), "Papers w/ PMC IDs": having("pmc_id"), "Papers w/ arXiv IDs": having("arxiv_id"),
        "Papers w/ ACL IDs": having("acl_id"),
    }  # fmt: skip
    assert {label: row[0] for label, row in shown["sources"].items()} == expected
    assert {label: row[1] for label, row in shown["sources"].items()} == {
        label: share(n, len(kept)) for label, n in expected.items()
    }
    assert shown["sources"]["Papers w/ full text from LaTeX"][0] > 0
    assert shown["sources"]["Papers w/ DOIs"][2] == pytest.approx(52.2 / 81.1, abs=1e-6), "the paper's own"


def test_table_of_fields_equals_the_truth(shown: Shown, kept: list[PaperTruth]) -> None:
    papers, texts = (Counter(paper.field or "n/a" for paper in of) for of in (kept, full(kept)))
    rows = {label: row for label, row in shown["fields"].items() if label != "more than one field"}
    assert {label: row[0] for label, row in rows.items() if row[0]} == papers
    assert {label: row[3] for label, row in rows.items() if row[3]} == texts
    assert sum(row[0] for row in rows.values()) == len(kept)
    assert rows["Medicine"][2] == pytest.approx(12.8 / 81.1, abs=1e-6), "the paper's own"


def test_tables_of_years_and_licenses_equal_the_truth(shown: Shown, kept: list[PaperTruth]) -> None:
    years = Counter(paper.date[:4] if paper.date else "n/a" for paper in kept)
    assert {label: row[0] for label, row in shown["years"].items()} == years
    licenses = Counter(to_spdx(paper.license) for paper in full(kept))
    assert {label: row[0] for label, row in shown["licenses"].items()} == licenses
