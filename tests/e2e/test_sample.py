"""SPEC §1: the release of the complete sample equals the sample's truth, and so do the S2ORC paper's tables of its snapshot.

Each kind of error lowers its own row of the comparison.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson
import pyarrow as pa
import pytest

from devtools.sample import Truth, compare
from devtools.sample.compare import TABLES, _paper_ids
from devtools.sample.truth import PaperTruth
from s2corpus.papers.licences import to_spdx
from s2corpus.pipeline.run import Run
from s2corpus.tables import schema

pytestmark = pytest.mark.slow
Tables = dict[str, pa.Table]
Shown = dict[str, dict[str, list[Any]]]
"""tables of the paper: label → values"""
Lines = Callable[[str], Iterator[Any]]
PARAGRAPH = {"section": "Mice", "section_path": "Methods::Mice", "cite_spans": [{"ref_id": "BIBREF0"}]}


@pytest.fixture(scope="module")
def tables(sampled: tuple[Run, Truth]) -> Tables:
    return {name: sampled[0].table(schema.TABLES[name]).read() for name in TABLES}


def test_release_equals_the_truth(sampled: tuple[Run, Truth], tables: Tables) -> None:
    comparison = compare(sampled[1], tables)
    assert [miss for row in comparison.rows for miss in row.misses] == []
    assert all(row.expected > 0 for row in comparison.rows)
    assert comparison.text_f1 > 0.995
    assert "selection" in str(comparison) and "100%" in str(comparison)


def parse(**changes: Any) -> bytes:
    body = [{**PARAGRAPH, **changes}]
    return orjson.dumps({"body_text": body, "back_matter": [], "bib_entries": {"BIBREF0": {}}})


MISTAKES: list[tuple[str, str, str, Any, Callable[[dict[str, Any]], object]]] = [
    ("selection", "selections", "outcome", "unreadable", lambda r: r["outcome"] == "selected"),
    ("clusters", "clusters", "paper_id", "id-other", lambda r: r["record_id"].startswith("arxiv:")),
    ("title", "papers", "title", "Something else", lambda r: r["paper"] == "regular-00"),
    ("citations name an entry", "fulltexts", "parse", parse(cite_spans=[{"ref_id": None}]), lambda r: r["paper"] == "regular-00"),
    ("section: the innermost head", "fulltexts", "parse", parse(section="Methods::Mice"), lambda r: r["paper"] == "regular-00"),
    ("open access", "papers", "open_access", True, lambda r: r["paper"] == "closed"),
    ("conflicts of DOIs", "edges", "taken", True, lambda r: not r["taken"]),
    ("filter", "filtered", "outcome", "kept", lambda r: r["paper"] == "german"),
    ("citations found", "links", "cited_paper_id", None, lambda r: r["paper"] == "regular-00" and r["cited_paper_id"]),
    ("clean: s2ag", "documents", "outcome", "abstract_short", lambda r: r["set"] == "s2ag" and r["outcome"] == "kept"),
    ("split", "splits", "split", "train", lambda r: r["paper"] == "twin-again"),
]  # fmt: skip


def test_each_mistake_lowers_its_own_row(sampled: tuple[Run, Truth], tables: Tables) -> None:
    keys = {paper_id: key for key, paper_id in _paper_ids(sampled[1], tables).items()}
    for what, table, column, value, where in MISTAKES:
        rows = tables[table].to_pylist()
        wrong = next(row for row in rows if where({**row, "paper": keys.get(row.get("paper_id"))}))
        wrong[column] = value
        changed = tables | {table: pa.Table.from_pylist(rows, tables[table].schema)}
        assert compare(sampled[1], changed).share(what) < 1, what


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
    assert {label: row[0] for label, row in shown["sources"].items()} == expected
    assert {label: row[1] for label, row in shown["sources"].items()} == {
        label: share(n, len(kept)) for label, n in expected.items()
    }
    assert shown["sources"]["Papers w/ full text from LaTeX"][0] > 0
    assert shown["sources"]["Papers w/ DOIs"][2] == pytest.approx(52.2 / 81.1, abs=1e-6), "the paper's own"


@pytest.fixture(scope="module")
def lines(sampled: tuple[Run, Truth]) -> Lines:
    """Return a function that reads the lines of a folder of `corpus/`."""

    def read(folder: str) -> Iterator[Any]:
        for entry in sampled[0].lake.list(f"snapshots/{sampled[0].snapshot_id}/corpus/{folder}/"):
            yield from map(orjson.loads, gzip.decompress(sampled[0].lake.get(entry.key)[0]).splitlines())

    return read


@pytest.mark.parametrize(("column", "kind"), list(enumerate(("pdf", "latex", "jats", "elsevier"))))
def test_counts_of_parse_parts_equal_the_published_parses(
    shown: Shown, lines: Lines, kept: list[PaperTruth], column: int, kind: str
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
    assert {label: row[column] for label, row in shown["parses"].items()} == expected


def test_table_of_fields_equals_the_truth(shown: Shown, kept: list[PaperTruth]) -> None:
    papers, texts = (Counter(paper.field or "n/a" for paper in of) for of in (kept, full(kept)))
    rows = {label: row for label, row in shown["fields"].items() if label != "more than one field"}
    assert {label: row[0] for label, row in rows.items() if row[0]} == papers
    assert {label: row[3] for label, row in rows.items() if row[3]} == texts
    assert sum(row[0] for row in rows.values()) == len(kept)
    assert rows["Medicine"][2] == pytest.approx(12.8 / 81.1, abs=1e-6), "the paper's own"


def test_tables_of_citations_and_tokens_equal_the_published_parses(
    shown: Shown, lines: Lines, kept: list[PaperTruth], sampled: tuple[Run, Truth]
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
    assert [row[0] for row in shown["citations"].values()] == [len(pairs), len(mentioned)]
    assert shown["tokens"]["Body text"][:2] == [sum(tokens.values()), len(full(kept))]
    # SPEC §5.6: PDFs vote if no record has an abstract.
    told = [paper for paper in kept if paper.abstract_delivered or (paper.open_access and paper.pdfs)]
    abstracts = [len(paper.abstract.split()) for paper in told if paper.abstract]
    assert shown["tokens"]["Abstracts"][:2] == [sum(abstracts), len(abstracts)]


def test_tables_of_years_and_licenses_equal_the_truth(shown: Shown, kept: list[PaperTruth]) -> None:
    years = Counter(paper.date[:4] if paper.date else "n/a" for paper in kept)
    assert {label: row[0] for label, row in shown["years"].items()} == years
    licences = Counter(to_spdx(paper.licence) for paper in full(kept))
    assert {label: row[0] for label, row in shown["licences"].items()} == licences
