"""One paper's or PDF's way through a release. Reads one part of a table where the id says which."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.explain import Explanation, explanations
from s2corpus.pipeline.release_tables import Row, Tables, names
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables import (
    ALIASES,
    DOCUMENTS,
    DUPLICATES,
    EDGES,
    ENTRIES,
    EXTRACTIONS,
    FILTERED,
    FULLTEXTS,
    LINKS,
    MEMBERS,
    PAPERS,
    PARSES,
    PDFS,
    SELECTIONS,
    SPLITS,
    Table,
)
from s2corpus.text.splits import Split

MOST_LINKS = 5_000_000
"""rows of `links` up to which citing papers are looked for: they lie in every part"""


@dataclass
class Pdf:
    """One PDF: what each stage said of it. A row is None where the stage did not see it."""

    sha1: str
    delivered: Row | None
    selection: Row | None
    extraction: Row | None
    parses: list[Row]
    papers: list[str] = field(default_factory=list)

    @property
    def end(self) -> str:
        """Where its way ends, in words."""
        if self.selection and self.selection["outcome"] != "selected":
            return f"left out by select: {self.selection['outcome']}"
        if self.extraction and self.extraction["outcome"] != "ok":
            return f"left out by extract: {self.extraction['outcome']}"
        bad = [p["outcome"] for p in self.parses if p["outcome"] != "ok"]
        if bad:
            return f"left out by postprocess: {bad[0]}"
        return "parsed" if self.parses else "on its way"


@dataclass
class Way:
    """One paper: its records, why they are one, the vote, and what each stage decided."""

    paper_id: str
    alias_of: str | None
    """the id that was asked for, where it is a former one"""
    records: list[Row]
    explanation: Explanation
    paper: Row | None
    pdfs: list[Pdf]
    fulltexts: list[Row]
    filtered: Row | None
    links: list[Row]
    cited_by: list[str] | None
    """None where the release has too many links to look"""
    documents: list[Row]
    splits: dict[str, Row]
    repeats: list[Row] = field(default_factory=list)
    """documents of its cluster of duplicates, the one that stands for it first; empty where it has none"""

    @property
    def told_repeats(self) -> list[str]:
        """A line for each document of its cluster that repeats another."""
        return [
            f"{row['paper_id']} ({row['set']}, {row['split']}) repeats {row['duplicate_of']}: {row['reason']}"
            + ("" if row["jaccard"] is None else f", Jaccard index {row['jaccard']:.3f}")
            for row in self.repeats
            if row["reason"]
        ]

    @property
    def end(self) -> str:
        """Where its way ends, in words."""
        if self.paper is None:
            return "clustered; the vote has not run"
        if self.filtered is None:
            return "voted; the filter has not run"
        if self.filtered["outcome"] != "kept":
            return f"left out by filter: {self.filtered['outcome']}"
        for document in self.documents:
            if document["outcome"] == "kept":
                split = self.splits.get(document["set"])
                if split is None:
                    return f"document of {document['set']}; not split yet"
                held = split["split"].startswith("held_back")
                if split["split"] in (Split.DUPLICATE, Split.NEAR_DUPLICATE):
                    return f"held back of {document['set']}: {split['split']} of {split['reason']}"
                return f"{'held back' if held else 'document'} of {document['set']}: {split['split']}"
        said = "; ".join(f"{d['set']} {d['outcome']}" for d in self.documents)
        return f"left out by clean: {said}" if said else "kept; clean has not run"

    @property
    def published(self) -> bool:
        """Whether it is a document of the snapshot."""
        return any(row["split"] in ("train", "valid") for row in self.splits.values())


def pdf_of(tables: Tables, sha1: str) -> Pdf | None:
    """A PDF's way; None where the release has no such PDF."""

    def only(table: Table) -> Row | None:
        return next(iter(tables.of_pdf(table, sha1)), None)

    found = Pdf(sha1, only(PDFS), only(SELECTIONS), only(EXTRACTIONS), tables.of_pdf(PARSES, sha1))
    return found if found.delivered or found.parses else None


def with_papers(tables: Tables, pdf: Pdf) -> Pdf:
    """The PDF with the papers that have it."""
    named = tables.rows(MEMBERS, pc.field("file_sha1") == pdf.sha1, ["paper_id", "file_sha1"])
    pdf.papers = sorted({row["paper_id"] for row in named})
    return pdf


def way_of(tables: Tables, asked: str) -> Way | None:
    """A paper's way, by its id or a former one; None where the release has no such paper."""
    try:
        records = tables.of_paper(MEMBERS, asked)
    except NotCommitted:
        return None
    paper_id = asked
    if not records:
        former = next(tables.rows(ALIASES, pc.field("alias") == asked), None)
        if former is None:
            return None
        paper_id = former["paper_id"]
        records = tables.of_paper(MEMBERS, paper_id)
    ids = pa.array([row["record_id"] for row in records], pa.string())
    near = pc.field("left").isin(ids) | pc.field("right").isin(ids)
    edges = pa.Table.from_pylist(list(tables.rows(EDGES, near)), EDGES.schema)
    clusters = pa.table({"record_id": ids, "paper_id": pa.array([paper_id] * len(ids), pa.string())})
    paper = next(iter(tables.of_paper(PAPERS, paper_id)), None)
    sha1s = {row["file_sha1"] for row in records if row["file_sha1"]}
    pdfs = [pdf for sha1 in sorted(sha1s) if (pdf := pdf_of(tables, sha1))]
    if paper:
        paper["provenance"] = dict(paper["provenance"] or ())
        pdfs.sort(key=lambda pdf: (pdf.sha1 != paper["canonical_pdf"], pdf.sha1))
    entries = {
        (row["parse_kind"], row["ref_id"]): row
        for row in tables.of_paper(ENTRIES, paper_id, ["paper_id", "parse_kind", "ref_id", "title", "year", "raw_text"])
    }
    links = [
        {**row, "entry": entries.get((row["parse_kind"], row["ref_id"]))} for row in tables.of_paper(LINKS, paper_id)
    ]
    return Way(
        paper_id,
        asked if asked != paper_id else None,
        records,
        next(iter(explanations(clusters, edges, {paper_id}))),
        paper,
        pdfs,
        tables.of_paper(FULLTEXTS, paper_id, names(FULLTEXTS, "parse")),
        next(iter(tables.of_paper(FILTERED, paper_id)), None),
        sorted(links, key=lambda row: (row["parse_kind"], _natural(row["ref_id"]))),
        _cited_by(tables, paper_id),
        sorted(tables.of_paper(DOCUMENTS, paper_id, names(DOCUMENTS, "text")), key=lambda d: d["set"], reverse=True),
        {row["set"]: row for row in tables.of_paper(SPLITS, paper_id)},
        _repeats(tables, paper_id),
    )


def _repeats(tables: Tables, paper_id: str) -> list[Row]:
    try:
        mine = next(tables.rows(DUPLICATES, pc.field("paper_id") == paper_id), None)
    except NotCommitted:
        return []
    if mine is None:
        return []
    rows = tables.rows(DUPLICATES, pc.field("cluster") == mine["cluster"])
    return sorted(rows, key=lambda row: (row["reason"] is not None, row["paper_id"]))


def _cited_by(tables: Tables, paper_id: str) -> list[str] | None:
    try:
        if tables(LINKS).committed().rows > MOST_LINKS:
            return None
    except NotCommitted:
        return []
    where = pc.field("cited_paper_id") == paper_id
    return sorted({row["paper_id"] for row in tables.rows(LINKS, where, ["paper_id", "cited_paper_id"])})


def _natural(ref_id: str) -> tuple[str, int]:
    letters, digits = re.fullmatch(r"(.*?)(\d*)", ref_id, re.DOTALL).groups()  # type: ignore[union-attr]
    return letters, int(digits or 0)
