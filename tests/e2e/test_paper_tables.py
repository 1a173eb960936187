"""The S2ORC paper's tables of the sample's snapshot are what the sample's truth says, number by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import duckdb
import orjson
import pytest

from s2corpus.pipeline.run import Run
from s2corpus.sample.truth import PaperTruth, Truth

pytestmark = pytest.mark.slow
Table = dict[str, list[Any]]


@pytest.fixture(scope="module")
def tables(sampled: tuple[Run, Truth]) -> dict[str, Table]:
    """Each table as label → values."""
    stats = orjson.loads(sampled[0].lake.get(f"snapshots/{sampled[0].snapshot_id}/stats.json")[0])
    return {table["name"]: {row[0]: row[1:] for row in table["rows"]} for table in stats["tables"]}


@pytest.fixture(scope="module")
def kept(sampled: tuple[Run, Truth]) -> list[PaperTruth]:
    return [paper for paper in sampled[1].papers if paper.filtered == "kept"]


def full(papers: Iterable[PaperTruth]) -> list[PaperTruth]:
    """Those with a published full text."""
    return [paper for paper in papers if paper.open_access and paper.fulltexts and paper.body]


def share(part: int, whole: int) -> float:
    return round(part / whole, 6)


def test_filters(sampled: tuple[Run, Truth], tables: dict[str, Table]) -> None:
    outcomes = Counter(paper.filtered for paper in sampled[1].papers)
    strays = [pdf for pdf in sampled[1].pdfs if pdf.paper is None and pdf.selection == "selected"]
    outcomes["no_authors"] += len(strays)  # a page that is nobody's paper
    labels = {
        "No title": "no_title", "No authors": "no_authors", "Too few characters of text": "short_text",
        "Not English": "not_english", "Suppressed": "suppressed", "Kept": "kept",
    }  # fmt: skip
    assert {label: row[0] for label, row in tables["filters"].items()} == {
        label: outcomes[word] for label, word in labels.items()
    }
    assert tables["filters"]["Not English"][2] == pytest.approx(15.2 / 176.6, abs=1e-4), "the paper's own"


def test_sources(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    def having(name: str) -> int:
        return sum(name in paper.identifiers for paper in kept)

    expected = {
        "Total papers": len(kept),
        "Papers w/ PDF": sum(paper.canonical_pdf is not None for paper in kept),
        "Papers w/ bibliographies": sum(bool(paper.bibliography) for paper in kept),
        "Papers w/ full text from PDF": sum("pdf" in paper.fulltexts for paper in full(kept)),
        "Papers w/ full text from LaTeX": sum("latex" in paper.fulltexts for paper in full(kept)),
        "Papers w/ publisher's full text": sum(bool({"jats", "elsevier"} & {*paper.fulltexts}) for paper in full(kept)),
        "Papers w/ publisher abstract": sum(paper.abstract_delivered for paper in kept),
        "Papers w/ DOIs": having("doi"),
        "Papers w/ PubMed IDs": having("pubmed_id"),
        "Papers w/ PMC IDs": having("pmc_id"),
        "Papers w/ arXiv IDs": having("arxiv_id"),
        "Papers w/ ACL IDs": having("acl_id"),
    }
    assert {label: row[0] for label, row in tables["sources"].items()} == expected
    assert {label: row[1] for label, row in tables["sources"].items()} == {
        label: share(n, len(kept)) for label, n in expected.items()
    }
    assert tables["sources"]["Papers w/ full text from LaTeX"][0] > 0
    assert tables["sources"]["Papers w/ DOIs"][2] == pytest.approx(52.2 / 81.1, abs=1e-6), "the paper's own"


_BY_HAND = {"latex": 0, "jats": 1}
"""kinds whose paragraphs the truth counts: how many display formulas stand as paragraphs of their own in each paper of the sample"""


@pytest.mark.parametrize(("column", "kind"), enumerate(("pdf", "latex", "jats", "elsevier")))
def test_what_a_parse_has(tables: dict[str, Table], kept: list[PaperTruth], column: int, kind: str) -> None:
    """Sources that say their structure give exactly the truth; PDFs are read, within what reading them loses."""
    mine = [paper for paper in full(kept) if kind in paper.fulltexts]
    closed = [paper for paper in kept if kind in paper.fulltexts]

    def mean(values: Iterable[int], papers: list[PaperTruth]) -> float:
        return round(sum(values) / len(papers), 2)

    spans = mean((len(refs) for paper in mine for p in paper.body for _, refs in p.callouts), mine)
    expected = {
        "Full texts": len(mine),
        "Paragraphs (body)": mean((len(paper.body) + _BY_HAND.get(kind, 0) for paper in mine), mine),
        "Inline cite spans (abstract)": 0.0,
        "Inline cite spans (body)": spans,
        "Bibliography entries": mean((len(paper.bibliography) for paper in mine), mine),
        "Linked bib. entries": mean((linked(paper) for paper in mine), mine),
        "Bibliography entries (All)": mean((len(paper.bibliography) for paper in closed), closed),
        "Linked bib. entries (All)": mean((linked(paper) for paper in closed), closed),
    }
    if kind == "elsevier":  # its JSON has a section's text in one piece
        del expected["Paragraphs (body)"]
    found = {label: tables["parses"][label][column] for label in expected}
    assert found["Full texts"] == expected["Full texts"]
    assert found == pytest.approx(expected, rel=0.06 if kind == "pdf" else 0)


def test_what_a_parse_has_is_what_the_flat_tables_have(sampled: tuple[Run, Truth], tables: dict[str, Table]) -> None:
    root = sampled[0].lake.uri(f"snapshots/{sampled[0].snapshot_id}/tables")
    counted = duckdb.sql(f"""
        SELECT count(*) FILTER (part = 'body') / count(DISTINCT paper_id) AS paragraphs,
          sum(len(list_filter(cite_spans, lambda s: s.ref_id IS NOT NULL))) FILTER (part = 'body') / count(DISTINCT paper_id) AS spans
        FROM '{root}/paragraphs/*.parquet' WHERE parse_kind = 'pdf'
    """).fetchone()
    assert counted is not None
    rows = tables["parses"]
    assert (rows["Paragraphs (body)"][0], rows["Inline cite spans (body)"][0]) == (
        round(counted[0], 2), round(counted[1], 2),
    )  # fmt: skip


def linked(paper: PaperTruth) -> int:
    return sum(entry.links_to is not None or entry.warning is not None for entry in paper.bibliography)


def test_fields_of_study(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    papers, texts = (Counter(paper.field or "n/a" for paper in of) for of in (kept, full(kept)))
    rows = {label: row for label, row in tables["fields"].items() if label != "more than one field"}
    assert {label: row[0] for label, row in rows.items() if row[0]} == papers
    assert {label: row[3] for label, row in rows.items() if row[3]} == texts
    assert sum(row[0] for row in rows.values()) == len(kept)
    assert rows["Medicine"][2] == pytest.approx(12.8 / 81.1, abs=1e-6), "the paper's own"


def test_citations(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    pairs = {(paper.key, entry.links_to) for paper in kept for entry in paper.bibliography if entry.links_to}
    mentioned = {
        (paper.key, paper.bibliography[index].links_to)
        for paper in full(kept)
        for paragraph in paper.body
        for _, refs in paragraph.callouts
        for index in refs
        if paper.bibliography[index].links_to
    }
    found = [row[0] for row in tables["citations"].values()]
    assert found == [len(pairs), pytest.approx(len(mentioned), rel=0.05)], "some callouts of PDFs are not read"


def test_tokens(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    bodies = [sum(len(p.text.split()) for p in paper.body) for paper in full(kept)]
    told = [
        paper
        for paper in kept
        if paper.abstract
        and (paper.abstract_delivered or all(record.startswith("scienceparse:") for record in paper.record_ids))
    ]
    abstracts = [len(paper.abstract.split()) for paper in told]
    assert tables["tokens"]["Body text"][:2] == [pytest.approx(sum(bodies), rel=0.01), len(bodies)]
    assert tables["tokens"]["Abstracts"][:2] == [sum(abstracts), len(abstracts)]


def test_years_and_licences(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    years = Counter(paper.date[:4] if paper.date else "n/a" for paper in kept)
    assert {label: row[0] for label, row in tables["years"].items()} == years
    licences = Counter(paper.licence or "NOASSERTION" for paper in full(kept))
    assert {label: row[0] for label, row in tables["licences"].items()} == licences
