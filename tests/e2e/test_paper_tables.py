"""The S2ORC paper's tables for the sample's snapshot equal the numbers computed from the sample's truth."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, groupby
from typing import Any

import duckdb
import orjson
import pytest

from devtools.sample.truth import PaperTruth, Truth
from s2corpus.evaluation.sample import EvaluationTask
from s2corpus.evaluation.sample import sampled as drawn
from s2corpus.papers.licences import to_spdx
from s2corpus.pipeline.quality import read_metrics
from s2corpus.pipeline.run import Run
from s2corpus.rules import EvaluationRules
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.texts import ENTRIES, FILTERED

pytestmark = pytest.mark.slow
Table = dict[str, list[Any]]


@pytest.fixture(scope="module")
def tables(sampled: tuple[Run, Truth]) -> dict[str, Table]:
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


def test_table_of_filters_equals_the_truth(sampled: tuple[Run, Truth], tables: dict[str, Table]) -> None:
    outcomes = Counter(paper.filtered for paper in sampled[1].papers)
    strays = [pdf for pdf in sampled[1].pdfs if pdf.paper is None and pdf.selection == "selected"]
    outcomes["no_authors"] += len(strays)  # A page that belongs to no paper.
    labels = {
        "No title": "no_title", "No authors": "no_authors", "Too few characters of text": "short_text",
        "Not English": "not_english", "Suppressed": "suppressed", "Kept": "kept",
    }  # fmt: skip
    assert {label: row[0] for label, row in tables["filters"].items()} == {
        label: outcomes[word] for label, word in labels.items()
    }
    assert tables["filters"]["Not English"][2] == pytest.approx(15.2 / 176.6, abs=1e-4), "the paper's own"


def test_table_of_sources_equals_the_truth(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
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


Lines = Callable[[str], Iterator[Any]]


@pytest.fixture(scope="module")
def lines(sampled: tuple[Run, Truth]) -> Lines:
    """Return a function that reads the lines of a folder of `corpus/`."""

    def read(folder: str) -> Iterator[Any]:
        for entry in sampled[0].lake.list(f"snapshots/{sampled[0].snapshot_id}/corpus/{folder}/"):
            yield from map(orjson.loads, gzip.decompress(sampled[0].lake.get(entry.key)[0]).splitlines())

    return read


@pytest.mark.parametrize(("column", "kind"), list(enumerate(("pdf", "latex", "jats", "elsevier"))))
def test_counts_of_parse_parts_equal_the_published_parses(
    tables: dict[str, Table], lines: Lines, kept: list[PaperTruth], column: int, kind: str
) -> None:
    def mean(values: Iterable[int], parses: list[Any]) -> float:
        return round(sum(values) / len(parses), 2)

    closed = list(lines(f"{kind}_parses"))
    mine = [parse for parse in closed if parse["body_text"]]
    assert len(mine) == sum(kind in paper.fulltexts for paper in full(kept))
    assert len(closed) == sum(kind in paper.fulltexts for paper in kept)
    expected: dict[str, float] = {"Full texts": len(mine)}
    for part, name in (("abstract", "abstract"), ("body", "body_text")):
        spans = [len([span for p in parse[name] for span in p["cite_spans"] if span["ref_id"]]) for parse in mine]
        expected |= {f"Paragraphs ({part})": mean((len(parse[name]) for parse in mine), mine)}
        expected |= {f"Inline cite spans ({part})": mean(spans, mine)}
    for of, label in ((mine, ""), (closed, " (All)")):
        entries = [[entry["link"] for entry in parse["bib_entries"].values()] for parse in of]
        expected |= {f"Bibliography entries{label}": mean(map(len, entries), of)}
        expected |= {f"Linked bib. entries{label}": mean((len([e for e in es if e]) for es in entries), of)}
    assert {label: row[column] for label, row in tables["parses"].items()} == expected


def test_flat_tables_equal_the_counts_of_parses(sampled: tuple[Run, Truth], tables: dict[str, Table]) -> None:
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


def test_table_of_fields_equals_the_truth(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    papers, texts = (Counter(paper.field or "n/a" for paper in of) for of in (kept, full(kept)))
    rows = {label: row for label, row in tables["fields"].items() if label != "more than one field"}
    assert {label: row[0] for label, row in rows.items() if row[0]} == papers
    assert {label: row[3] for label, row in rows.items() if row[3]} == texts
    assert sum(row[0] for row in rows.values()) == len(kept)
    assert rows["Medicine"][2] == pytest.approx(12.8 / 81.1, abs=1e-6), "the paper's own"


def test_tables_of_citations_and_tokens_equal_the_published_parses(
    tables: dict[str, Table], lines: Lines, kept: list[PaperTruth], sampled: tuple[Run, Truth]
) -> None:
    pairs = {(paper.key, entry.links_to) for paper in kept for entry in paper.bibliography if entry.links_to}
    papers = {row["paper_id"]: row for row in lines("metadata")}
    mentioned, tokens = set(), {}
    for kind in reversed(sampled[0].spec.clean.text_from):  # the first kind gives the tokens
        for parse in lines(f"{kind}_parses"):
            paper, links = parse["paper_id"], {key: entry["link"] for key, entry in parse["bib_entries"].items()}
            spans = [
                span for p in (*parse["abstract"], *parse["body_text"]) for span in p["cite_spans"] if span["ref_id"]
            ]
            mentioned |= {(paper, links[span["ref_id"]]) for span in spans}
            if parse["body_text"]:
                tokens[paper] = sum(len(p["text"].split()) for p in parse["body_text"])
    mentioned = {(paper, cited) for paper, cited in mentioned if cited in papers[paper]["outbound_citations"]}
    assert [row[0] for row in tables["citations"].values()] == [len(pairs), len(mentioned)]
    assert tables["tokens"]["Body text"][:2] == [sum(tokens.values()), len(full(kept))]
    # SPEC §5.6: PDFs vote if no record has an abstract.
    told = [paper for paper in kept if paper.abstract_delivered or (paper.open_access and paper.pdfs)]
    abstracts = [len(paper.abstract.split()) for paper in told if paper.abstract]
    assert tables["tokens"]["Abstracts"][:2] == [sum(abstracts), len(abstracts)]


def test_tables_of_years_and_licenses_equal_the_truth(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    years = Counter(paper.date[:4] if paper.date else "n/a" for paper in kept)
    assert {label: row[0] for label, row in tables["years"].items()} == years
    licences = Counter(to_spdx(paper.licence) for paper in full(kept))
    assert {label: row[0] for label, row in tables["licences"].items()} == licences


IDENTIFIERS = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
MISSED = {
    "splitting": 2,  # another paper's record that names its DOI by mistake
    "record-train": 1,  # two records of different years
    "twin-again": 1,  # Its PDF is assigned to the earlier paper with its title.
    "editorial": 1,  # A title that is too uninformative alone.
}
"""Pairs of records that only identifiers join, by paper."""
WRONG = {"twin-again": 2, "doi-typo": 2}
"""Pairs that only identifiers separate: a paper printed twice, and a record with a typing error in its DOI."""


def test_gold_counts_equal_the_truth(sampled: tuple[Run, Truth], tables: dict[str, Table]) -> None:
    """Check the counts of the gold evaluation.

    Known pairs are those that share an identifier in records and PDFs, counted here pair by pair. Missed and wrong
    pairs are listed by case above.
    """
    run, truth = sampled
    metrics = read_metrics(run)

    def counts(stage: str, measure: str) -> list[float]:
        return [metrics[stage].get(f"gold.{measure}.{name}", 0) for name in ("known", "found", "said", "right")]

    rows = run.table(MEMBERS).read(["paper_id", "kind", "title", *IDENTIFIERS]).to_pylist()
    rows = sorted((row for row in rows if row["title"]), key=lambda row: str(row["paper_id"]))
    pairs = [pair for _, mine in groupby(rows, key=lambda row: row["paper_id"]) for pair in combinations(mine, 2)]
    known = sum(any(one[name] and one[name] == other[name] for name in IDENTIFIERS) for one, other in pairs)
    found = known - sum(MISSED.values())
    assert counts("cluster", "clusters") == [known, found, found + sum(WRONG.values()), found]

    given = {(name, row[name]) for row in rows if row["kind"] != "pdf" for name in ("doi", "arxiv_id") if row[name]}
    printed = [
        pdf
        for pdf in truth.pdfs
        if pdf.seen and pdf.selection == "selected" and given & {("doi", pdf.doi), ("arxiv_id", pdf.arxiv_id)}
    ]
    assert counts("cluster", "titles") == [len(printed)] * 4, "every title that is printed is read"

    papers = run.table(PAPERS).read(["paper_id", *IDENTIFIERS[:4]]).to_pylist()
    kept = {
        row["paper_id"]
        for row in run.table(FILTERED).read(["paper_id", "outcome"]).to_pylist()
        if row["outcome"] == "kept"
    }
    named = {(name, row[name]) for row in papers if row["paper_id"] in kept for name in IDENTIFIERS[:4] if row[name]}
    entries = run.table(ENTRIES).read(["paper_id", "title", *IDENTIFIERS[:4]]).to_pylist()
    linked_by_id = [
        entry
        for entry in entries
        if entry["paper_id"] in kept and entry["title"] and named & {(name, entry[name]) for name in IDENTIFIERS[:4]}
    ]
    n = len(linked_by_id)
    assert counts("link", "links") == [n] * 4, "each title leads to the paper that its identifier names"
    assert counts("assemble", "xml_title") == [0, 0, 0, 0], "no paper of the sample has a PDF and a publisher's XML"
    shown_there = {label: row for label, row in tables["gold"].items() if row[0]}
    assert [row[0] for row in shown_there.values()] == [known, n, len(printed)]


def test_evaluation_sample_has_every_kind_of_link(sampled: tuple[Run, Truth]) -> None:
    items = drawn(sampled[0], EvaluationRules())
    assert {item.task for item in items} == set(EvaluationTask)
    cited = [item.cited_paper_id for item in items if item.task is not EvaluationTask.CLUSTERS]
    assert len(cited) == len(set(cited)) > 30
