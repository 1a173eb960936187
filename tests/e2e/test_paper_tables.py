"""The S2ORC paper's tables for the sample's snapshot equal the numbers computed from the sample's truth."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Shows:
    """Counts for one paper's PDF: either from its printed form or from its parse."""

    paragraphs: int
    spans: int
    entries: int
    linked: int
    tokens: int
    mentioned: frozenset[str | None]
    """the papers that the text cites"""


def shown(paper: PaperTruth) -> Shows:
    """Count what the PDF shows of the typeset paper, as S2ORC counts (SPEC §3).

    A displayed formula is a paragraph of one token. A superscript is a separate token between spaces. In a range of
    superscripts, only the two printed numbers are citations, because only ranges in brackets are expanded.
    """
    superscripts = paper.citation_style == "OTHER"
    spans, tokens = 0, paper.formulas
    mentioned: set[str | None] = set()
    for paragraph in paper.body:
        text, at = "", 0
        for callout, refs in paragraph.callouts:
            named = [int(n) - 1 for n in re.findall(r"\d+", _NUMBERS.findall(callout)[0])] if superscripts else refs
            spans += len(named)
            mentioned |= {paper.bibliography[index].links_to for index in named}
            if superscripts:
                glued = re.compile(rf"(?<=[^\W\d_]){callout}(?!\d)" if callout[0].isdigit() else re.escape(callout))
                begin = next(glued.finditer(paragraph.text, at)).start()
                text, at = text + paragraph.text[at:begin] + _NUMBERS.sub(r" \g<0> ", callout), begin + len(callout)
        tokens += len((text + paragraph.text[at:]).split())
    return Shows(
        len(paper.body) + paper.formulas,
        spans,
        len(paper.bibliography),
        linked(paper),
        tokens,
        frozenset(mentioned - {None}),
    )


_NUMBERS = re.compile(r"[\d,–]+$")
_OF_SECTIONS = "a superscript after `sections` is taken for their number"
READ_OTHERWISE: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "dated-2023-01-03": (_OF_SECTIONS, {"spans": -1}),
    "dated-2023-01-20": ("a paragraph over the end of a page becomes two", {"paragraphs": 1}),
    "improbable-section": (
        "the head `Supplementary readings` begins an annex: back matter",
        {"paragraphs": -2, "tokens": -180},
    ),
    "no-abstract": (
        "without an abstract names and affiliation below the title are text",
        {"paragraphs": 1, "tokens": 14},
    ),
    "old": ("a superscript 1 before `. Section` is no citation", {"spans": -1, "mentioned": -1}),
    "pair-other-title": ("a range over the end of a line keeps its space: `[5]– [7]`", {"tokens": 1}),
    "splitting": (_OF_SECTIONS, {"spans": -1}),
    "twin-again": ("an entry over the end of a line between title and journal becomes two", {"entries": 1}),
}
"""Papers with PDFs that are read differently from what they show: the reason, and the difference of each count."""


@pytest.fixture(scope="module")
def read(sampled: tuple[Run, Truth], kept: list[PaperTruth]) -> dict[str, Shows]:
    """Return the counts of each PDF from the published parses, by the key of its paper."""

    def lines(folder: str) -> Iterator[Any]:
        for entry in sampled[0].lake.list(f"snapshots/{sampled[0].snapshot_id}/corpus/{folder}/"):
            yield from map(orjson.loads, gzip.decompress(sampled[0].lake.get(entry.key)[0]).splitlines())

    parses = {parse["_pdf_hash"]: parse for parse in lines("pdf_parses")}
    cites = {row["paper_id"]: row["outbound_citations"] for row in lines("metadata")}
    found = {}
    for paper in full(kept):
        if "pdf" not in paper.fulltexts:
            continue
        parse = parses[paper.canonical_pdf]
        body, entries = parse["body_text"], parse["bib_entries"]
        cited = [span["ref_id"] for paragraph in body for span in paragraph["cite_spans"]]
        found[paper.key] = Shows(
            len(body), len(cited), len(entries), sum(entry["link"] is not None for entry in entries.values()),
            sum(len(paragraph["text"].split()) for paragraph in body),
            frozenset(entries[ref_id]["link"] for ref_id in cited).intersection(cites[parse["paper_id"]]),
        )  # fmt: skip
    return found


COUNTS = ("paragraphs", "spans", "entries", "linked", "tokens")


def test_each_pdf_is_parsed_as_printed_or_explained(kept: list[PaperTruth], read: dict[str, Shows]) -> None:
    other: dict[str, dict[str, int]] = {}
    for paper in kept:
        if paper.key in read:
            expected, found = shown(paper), read[paper.key]
            differs = {name: getattr(found, name) - getattr(expected, name) for name in COUNTS}
            differs["mentioned"] = len(found.mentioned) - len(expected.mentioned)
            other |= {paper.key: {name: n for name, n in differs.items() if n}} if any(differs.values()) else {}
    assert other == {key: dict(counts) for key, (_, counts) in READ_OTHERWISE.items()}


@pytest.mark.parametrize(("column", "kind"), list(enumerate(("pdf", "latex", "jats", "elsevier"))))
def test_counts_of_parse_parts_equal_the_truth(
    tables: dict[str, Table], kept: list[PaperTruth], column: int, kind: str
) -> None:
    """Check the counts exactly against the truth: what sources contain and what PDFs show, with the exceptions named above."""
    mine = [paper for paper in full(kept) if kind in paper.fulltexts]
    closed = [paper for paper in kept if kind in paper.fulltexts]

    def mean(values: Iterable[int], papers: list[PaperTruth], what: str = "") -> float:
        otherwise = sum(READ_OTHERWISE.get(paper.key, ("", {}))[1].get(what, 0) for paper in papers if kind == "pdf")
        return round((sum(values) + otherwise) / len(papers), 2)

    said = [len(refs) for paper in mine for p in paper.body for _, refs in p.callouts]
    expected = {
        "Full texts": len(mine),
        "Paragraphs (body)": mean(
            (len(paper.body) + (paper.formulas if kind != "latex" else 0) for paper in mine), mine, "paragraphs"
        ),
        "Inline cite spans (abstract)": 0.0,
        "Inline cite spans (body)": mean(
            (shown(paper).spans for paper in mine) if kind == "pdf" else said, mine, "spans"
        ),
        "Bibliography entries": mean((len(paper.bibliography) for paper in mine), mine, "entries"),
        "Linked bib. entries": mean((linked(paper) for paper in mine), mine, "linked"),
        "Bibliography entries (All)": mean((len(paper.bibliography) for paper in closed), closed, "entries"),
        "Linked bib. entries (All)": mean((linked(paper) for paper in closed), closed, "linked"),
    }
    if kind == "elsevier":  # Elsevier's JSON has the text of a section in one piece.
        del expected["Paragraphs (body)"]
    assert {label: tables["parses"][label][column] for label in expected} == expected


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


def linked(paper: PaperTruth) -> int:
    return sum(entry.links_to is not None or entry.warning is not None for entry in paper.bibliography)


def test_table_of_fields_equals_the_truth(tables: dict[str, Table], kept: list[PaperTruth]) -> None:
    papers, texts = (Counter(paper.field or "n/a" for paper in of) for of in (kept, full(kept)))
    rows = {label: row for label, row in tables["fields"].items() if label != "more than one field"}
    assert {label: row[0] for label, row in rows.items() if row[0]} == papers
    assert {label: row[3] for label, row in rows.items() if row[3]} == texts
    assert sum(row[0] for row in rows.values()) == len(kept)
    assert rows["Medicine"][2] == pytest.approx(12.8 / 81.1, abs=1e-6), "the paper's own"


def test_table_of_citations_equals_the_truth(
    tables: dict[str, Table], kept: list[PaperTruth], read: dict[str, Shows]
) -> None:
    pairs = {(paper.key, entry.links_to) for paper in kept for entry in paper.bibliography if entry.links_to}
    mentioned = {
        (paper.key, paper.bibliography[index].links_to)
        for paper in full(kept)
        for paragraph in paper.body
        for _, refs in paragraph.callouts
        for index in refs
        if paper.bibliography[index].links_to and {*paper.fulltexts} != {"pdf"}
    }
    mentioned |= {
        (paper.key, cited)
        for paper in kept
        if {*paper.fulltexts} == {"pdf"} and paper.key in read
        for cited in shown(paper).mentioned
    }
    otherwise = sum(counts.get("mentioned", 0) for _, counts in READ_OTHERWISE.values())
    assert [row[0] for row in tables["citations"].values()] == [len(pairs), len(mentioned) + otherwise]


_OF_LATEX = -4
r"""Token difference for the paper without a PDF.

`\citet` appears as its number (twice three words less), and a range as the numbers that it covers (two more).
"""


def test_table_of_tokens_equals_the_truth(
    tables: dict[str, Table], kept: list[PaperTruth], read: dict[str, Shows]
) -> None:
    bodies = [
        shown(paper).tokens
        if paper.key in read
        else sum(len(p.text.split()) for p in paper.body) + (0 if "elsevier" in paper.fulltexts else paper.formulas)
        for paper in full(kept)
    ]
    otherwise = _OF_LATEX + sum(counts.get("tokens", 0) for _, counts in READ_OTHERWISE.values())
    told = [
        paper
        for paper in kept
        if paper.abstract
        and (
            paper.abstract_delivered or (paper.open_access and paper.pdfs)
        )  # SPEC §5.6: PDFs vote if no record has an abstract.
    ]
    abstracts = [len((paper.abstract or "").split()) for paper in told]
    assert tables["tokens"]["Body text"][:2] == [sum(bodies) + otherwise, len(bodies)]
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
