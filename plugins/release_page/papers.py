"""One paper's or PDF's way through a release, and the texts to read. Reads one part of a table where the id says which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.explain import Explanation, explanations
from s2corpus.parse_model import ParseKind
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables import (
    ALIASES,
    CLUSTERS,
    DELIVERIES,
    DOCUMENTS,
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
    paper_shard,
    pdf_shard,
)

PAGE = 25
"""rows a page of the reader"""
MOST_FOUND = 50
"""papers that a search by title shows"""
MOST_LINKS = 5_000_000
"""rows of `links` up to which citing papers are looked for: they lie in every part"""
MOST_CHARACTERS = 400_000
"""of a text that the reader shows"""

Row = dict[str, Any]

REJECTS: dict[str, tuple[Table, str]] = {
    "intake": (DELIVERIES, "outcome"),
    "select": (SELECTIONS, "outcome"),
    "extract": (EXTRACTIONS, "outcome"),
    "postprocess": (PARSES, "outcome"),
    "filter": (FILTERED, "outcome"),
    "clean": (DOCUMENTS, "outcome"),
    "split": (SPLITS, "split"),
}
"""Where a stage's outcomes are kept, one row each."""


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
                return f"{'held back' if held else 'document'} of {document['set']}: {split['split']}"
        said = "; ".join(f"{d['set']} {d['outcome']}" for d in self.documents)
        return f"left out by clean: {said}" if said else "kept; clean has not run"

    @property
    def published(self) -> bool:
        """Whether it is a document of the snapshot."""
        return any(row["split"] in ("train", "valid") for row in self.splits.values())


@dataclass(frozen=True)
class Text:
    """A text to read: blocks of (section or "", paragraphs), and what it is."""

    title: str
    what: str
    blocks: list[tuple[str, list[str]]]
    cut: bool = False


class Tables:
    """The tables of one release."""

    def __init__(self, lake: Lake, release: str) -> None:
        self.lake = lake
        self.release = release

    def __call__(self, table: Table) -> TableRef:
        """A table."""
        return TableRef(self.lake, f"releases/{self.release}/{table.name}", table)

    @cached_property
    def pdf_shards(self) -> int:
        """Parts of the tables by PDF."""
        return int(self(PDFS).committed().facts["pdf_shards"])

    @cached_property
    def paper_shards(self) -> int:
        """Buckets of the tables by paper."""
        return int(self(MEMBERS).committed().facts["paper_shards"])

    def rows(
        self,
        table: Table,
        where: pc.Expression | None,
        columns: Sequence[str] | None = None,
        shard: int | None = None,
        size: int = 1024,
    ) -> Iterator[Row]:
        """Rows as they are found, in bounded memory; none where the stage has not run or has no such part."""
        try:
            for batch in self(table).batches(columns, shard=shard, where=where, rows=size):
                yield from batch.to_pylist()
        except NotCommitted:
            return

    def of_paper(self, table: Table, paper_id: str, columns: Sequence[str] | None = None) -> list[Row]:
        """A paper's rows."""
        shard = paper_shard(paper_id, self.paper_shards)
        return list(self.rows(table, pc.field("paper_id") == paper_id, columns, shard, 64))

    def of_pdf(self, table: Table, sha1: str) -> list[Row]:
        """A PDF's rows."""
        return list(self.rows(table, pc.field("pdf_sha1") == sha1, None, pdf_shard(sha1, self.pdf_shards)))


def _names(table: Table, *without: str) -> list[str]:
    return [c.name for c in table.columns if c.name not in without]


def pdf_of(tables: Tables, sha1: str) -> Pdf | None:
    """A PDF's way; None where the release has no such PDF."""

    def only(table: Table) -> Row | None:
        return next(iter(tables.of_pdf(table, sha1)), None)

    found = Pdf(sha1, only(PDFS), only(SELECTIONS), only(EXTRACTIONS), tables.of_pdf(PARSES, sha1))
    return found if found.delivered or found.parses else None


def with_papers(tables: Tables, pdf: Pdf) -> Pdf:
    """The PDF with the papers that have it."""
    named = tables.rows(MEMBERS, pc.field("pdf_sha1") == pdf.sha1, ["paper_id", "pdf_sha1"])
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
    sha1s = {row["pdf_sha1"] for row in records if row["pdf_sha1"]}
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
        tables.of_paper(FULLTEXTS, paper_id, _names(FULLTEXTS, "parse")),
        next(iter(tables.of_paper(FILTERED, paper_id)), None),
        sorted(links, key=lambda row: (row["parse_kind"], _natural(row["ref_id"]))),
        _cited_by(tables, paper_id),
        sorted(tables.of_paper(DOCUMENTS, paper_id, _names(DOCUMENTS, "text")), key=lambda d: d["set"], reverse=True),
        {row["set"]: row for row in tables.of_paper(SPLITS, paper_id)},
    )


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


def find(tables: Tables, query: str) -> tuple[str, str] | list[Row]:
    """What a query means: ("paper", id), ("pdf", sha1), or papers whose DOI it is or whose titles hold it."""
    query = query.strip()
    if re.fullmatch("[0-9a-f]{15}", query):
        return "paper", query
    if re.fullmatch("[0-9a-fA-F]{40}", query):
        return "pdf", query.lower()
    if ":" in query:
        found = next(tables.rows(CLUSTERS, pc.field("record_id") == query, ["record_id", "paper_id"]), None)
        if found:
            return "paper", found["paper_id"]
    where = pc.match_substring(pc.field("title"), query, ignore_case=True)
    if re.match(r"10\.\d{4,9}/", query):
        where = pc.field("doi") == query.lower()
    rows = []
    for row in tables.rows(PAPERS, where, ["paper_id", "title", "date", "doi"]):
        rows.append(row)
        if len(rows) == MOST_FOUND:
            break
    return rows


def rejects(tables: Tables, stage: str, outcome: str, set_: str = "", page: int = 1) -> tuple[list[Row], bool]:
    """A page of the rows with one outcome, each with the title or file name it has, and whether there are more."""
    table, column = REJECTS[stage]
    where = pc.field(column) == outcome
    if set_:
        where &= pc.field("set") == set_
    found: list[Row] = []
    first = (page - 1) * PAGE
    for index, row in enumerate(tables.rows(table, where, _names(table, "text"))):
        if index == first + PAGE:
            return _named(tables, table, found), True
        if index >= first:
            found.append(row)
    return _named(tables, table, found), False


def sample(tables: Tables, set_: str, page: int = 1) -> tuple[list[Row], int]:
    """Kept documents of one bucket of papers (which is a fair sample, ids being hashes), and how many buckets there are."""
    kept = (pc.field("set") == set_) & (pc.field("outcome") == "kept")
    columns = ["set", "paper_id", "outcome", "words", "paragraphs"]
    try:
        bucket = (page - 1) % tables.paper_shards
    except NotCommitted:
        return [], 0
    found: list[Row] = []
    for row in tables.rows(DOCUMENTS, kept, columns, bucket):
        found.append(row)
        if len(found) == PAGE:
            break
    return _named(tables, DOCUMENTS, found), tables.paper_shards


def _named(tables: Tables, table: Table, rows: list[Row]) -> list[Row]:
    """Rows with `name`: the title of the paper, or where the PDF was delivered."""
    if table.shards == "pdf":
        for row in rows:
            pdf = next(iter(tables.of_pdf(PDFS, row["pdf_sha1"])), None)
            row["name"] = "; ".join(f"{p['drop']}/{p['name']}" for p in pdf["places"]) if pdf else ""
    elif table.shards == "paper":
        for shard in {paper_shard(row["paper_id"], tables.paper_shards) for row in rows}:
            ids = pa.array([row["paper_id"] for row in rows], pa.string())
            named = tables.rows(PAPERS, pc.field("paper_id").isin(ids), ["paper_id", "title"], shard)
            titles = {row["paper_id"]: row["title"] for row in named}
            for row in rows:
                if row["paper_id"] in titles:
                    row["name"] = titles[row["paper_id"]] or ""
    return rows


def text_of(tables: Tables, paper_id: str) -> Text | None:
    """What there is to read of a paper: its document, else its open full text, else its abstract; None where it is not a paper."""
    try:
        paper = next(iter(tables.of_paper(PAPERS, paper_id, ["paper_id", "title", "abstract"])), None)
    except NotCommitted:
        return None
    if paper is None:
        return None
    title = paper["title"] or "(no title)"
    for row in tables.of_paper(DOCUMENTS, paper_id, ["paper_id", "set", "outcome", "text"]):
        if row["outcome"] == "kept":
            text = row["text"]
            blocks = [("", block.split("\n")) for block in text[:MOST_CHARACTERS].split("\n\n")]
            return Text(title, f"the document of {row['set']}", blocks, len(text) > MOST_CHARACTERS)
    parses = [row for row in tables.of_paper(FULLTEXTS, paper_id) if row["open_access"]]
    if parses:
        return _parsed(title, min(parses, key=lambda row: list(ParseKind).index(row["parse_kind"])))
    blocks = [("Abstract", [paper["abstract"]])] if paper["abstract"] else []
    return Text(title, "the abstract: there is no open full text", blocks)


def _parsed(title: str, row: Row) -> Text:
    blocks: list[tuple[str, list[str]]] = []
    length = 0
    parse = orjson.loads(row["parse"])
    for paragraph in (*parse.get("abstract", ()), *parse.get("body_text", ())):
        section, text = paragraph.get("section_path") or paragraph.get("section") or "", paragraph["text"]
        if not blocks or blocks[-1][0] != section:
            blocks.append((section, []))
        blocks[-1][1].append(text)
        length += len(text)
        if length > MOST_CHARACTERS:
            return Text(title, f"the {row['parse_kind']} parse, as it was before cleaning", blocks, True)
    return Text(title, f"the {row['parse_kind']} parse, as it was before cleaning", blocks)
