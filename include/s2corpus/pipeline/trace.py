"""Trace one paper or PDF through a release. Read only one part of a table if the id determines the part."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.explain import Explanation, explanations
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId
from s2corpus.outcomes import Split
from s2corpus.pipeline.run import ReleaseTables, Row, list_columns
from s2corpus.pipeline.sealed import read_record
from s2corpus.snapshot.removed import SECTIONS, list_parts
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.parts import NotCommitted, OtherColumns
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import ALIASES, CORRECTIONS, EDGES, MEMBERS, PAPERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES, SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, ENTRIES, FILTERED, FULLTEXTS, LINKS, SPLITS
from s2corpus.text.personal import mask_parse

MAX_SEARCHED_LINKS = 5_000_000
"""maximum number of rows of `links` for which citing papers are searched: the search reads all parts"""


@dataclass
class PdfTrace:
    """One PDF with the result of each stage. A row is None if the stage did not process the PDF."""

    sha1: str
    delivered: Row | None
    selection: Row | None
    extraction: Row | None
    parses: list[Row]

    @property
    def end(self) -> str:
        """The last result in words."""
        if self.selection and self.selection["outcome"] != "selected":
            return f"excluded by select: {self.selection['outcome']}"
        if self.extraction and self.extraction["outcome"] != "ok":
            return f"excluded by extract: {self.extraction['outcome']}"
        if failures := [parse["outcome"] for parse in self.parses if parse["outcome"] != "ok"]:
            return f"excluded by postprocess: {failures[0]}"
        return "parsed" if self.parses else "in progress"


@dataclass
class PaperTrace:
    """One paper: its records, the reasons for clustering them, the vote, and the decision of each stage."""

    paper_id: str
    alias_of: str | None
    """the requested id, if it is a former id"""
    records: list[Row]
    explanation: Explanation
    paper: Row | None
    pdfs: list[PdfTrace]
    fulltexts: list[Row]
    filtered: Row | None
    links: list[Row]
    cited_by: list[str] | None
    """None if the release has too many links to search"""
    documents: list[Row]
    splits: dict[str, Row]
    duplicates: list[Row] = field(default_factory=list)
    """documents of its cluster of duplicates, the representative first; empty without duplicates"""

    removed: list[Row] = field(default_factory=list)
    """what cleaning removed from the text of s2orc (`snapshot.removed`)"""
    unjoined: list[Row] = field(default_factory=list)
    """records of other papers with a DOI of this paper"""
    corrections: list[Row] = field(default_factory=list)
    """corrections of its fields, oldest first"""

    @property
    def correction_descriptions(self) -> list[str]:
        """One line for each correction of the paper, with its outcome."""
        return [
            f"correction of {row['ready_at'][:10]} by {row['by']}: {row['field']} “{row['value']}”, {row['outcome']}: "
            f"{row['reason']} ({row['evidence']})"
            for row in self.corrections
        ]

    @property
    def removed_descriptions(self) -> list[str]:
        """One line for each removed section, and one for each other rule and kind."""
        sections = [row for row in self.removed if row["rule"] == SECTIONS]
        others = Counter((row["kind"], row["rule"]) for row in self.removed if row["rule"] != SECTIONS)
        return [
            f"removed section {row['section'] or 'without header'}: {row['value']:.2f} is below {row['threshold']:g} ({SECTIONS}), "
            f"{row['words']:,} words"
            for row in sections
        ] + [
            f"removed {n:,} {kind.replace('_', ' ')}{'s' if n > 1 else ''} ({rule})"
            for (kind, rule), n in others.items()
        ]

    @property
    def unjoined_descriptions(self) -> list[str]:
        """One line for each record with a DOI of this paper that is another paper: the reason, and what would help."""
        return [
            f"{row['record_id']} has the DOI {row['doi']} of this paper, but is another paper, {row['paper_id']}: its title "
            f"“{row['title'] or ''}” or its authors contradict (SPEC §4.5, §4.6), so that its license "
            f"({row['license'] or 'none'}) does not apply; if it describes this file, declare its doi in the drop's records.jsonl"
            for row in self.unjoined
        ]

    @property
    def duplicate_descriptions(self) -> list[str]:
        """One line for each document of its cluster that duplicates another document."""
        return [
            f"{row['paper_id']} ({row['set']}, {row['split']}) duplicates {row['duplicate_of']}: {row['reason']}"
            + ("" if row["jaccard"] is None else f", Jaccard index {row['jaccard']:.3f}")
            for row in self.duplicates
            if row["reason"]
        ]

    @property
    def end(self) -> str:
        """The last result in words."""
        if self.paper is None:
            return "clustered; the vote has not run"
        if self.filtered is None:
            return "voted; the filter has not run"
        if self.filtered["outcome"] != "kept":
            return f"excluded by filter: {self.filtered['outcome']}"
        for document in self.documents:
            if document["outcome"] == "kept":
                split = self.splits.get(document["set"])
                if split is None:
                    return f"document of {document['set']}; not split yet"
                relation = "held back from" if split["split"].startswith("held_back") else "document of"
                is_duplicate = split["split"] in (Split.DUPLICATE, Split.NEAR_DUPLICATE)
                original = f" of {split['reason']}" if is_duplicate else ""
                return f"{relation} {document['set']}: {split['split']}{original}"
        outcomes = "; ".join(f"{d['set']} {d['outcome']}" for d in self.documents)
        return f"excluded by clean: {outcomes}" if outcomes else "kept; clean has not run"

    @property
    def published(self) -> bool:
        """Whether the paper is a document of the snapshot."""
        return any(row["split"] in ("train", "valid") for row in self.splits.values())


def trace_pdf(tables: ReleaseTables, sha1: str) -> PdfTrace | None:
    """Return the trace of a PDF, or None if the release does not contain the PDF."""

    def only(table: Table) -> Row | None:
        return next(iter(tables.of_pdf(table, sha1)), None)

    trace = PdfTrace(sha1, only(PDFS), only(SELECTIONS), only(EXTRACTIONS), tables.of_pdf(PARSES, sha1))
    return trace if trace.delivered or trace.parses else None


def list_papers(tables: ReleaseTables, sha1: str) -> list[str]:
    """Return the ids of the papers that contain a PDF."""
    members = tables.rows(MEMBERS, pc.field("file_sha1") == sha1, ["paper_id", "file_sha1"])
    return sorted({row["paper_id"] for row in members})


def trace_paper(tables: ReleaseTables, requested_id: str) -> PaperTrace | None:
    """Return the trace of a paper, given its current or a former id, or None if the release does not contain the paper."""
    try:
        records = tables.of_paper(MEMBERS, requested_id)
    except OtherColumns:
        raise
    except NotCommitted:
        return None
    paper_id = requested_id
    if not records:
        former = next(tables.rows(ALIASES, pc.field("alias") == requested_id), None)
        if former is None:
            return None
        paper_id = former["paper_id"]
        records = tables.of_paper(MEMBERS, paper_id)
    ids = pa.array([row["record_id"] for row in records], pa.string())
    touches_record = pc.field("left").isin(ids) | pc.field("right").isin(ids)
    edges = pa.Table.from_pylist(list(tables.rows(EDGES, touches_record)), EDGES.schema)
    clusters = pa.table({"record_id": ids, "paper_id": pa.array([paper_id] * len(ids), pa.string())})
    paper = next(iter(tables.of_paper(PAPERS, paper_id)), None)
    sha1s = {row["file_sha1"] for row in records if row["file_sha1"]}
    pdfs = [pdf for sha1 in sorted(sha1s) if (pdf := trace_pdf(tables, sha1))]
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
    documents = sorted(
        tables.of_paper(DOCUMENTS, paper_id, list_columns(DOCUMENTS, "text")), key=lambda d: d["set"], reverse=True
    )
    return PaperTrace(
        paper_id,
        requested_id if requested_id != paper_id else None,
        records,
        next(iter(explanations(clusters, edges, {paper_id}))),
        paper,
        pdfs,
        tables.of_paper(FULLTEXTS, paper_id, list_columns(FULLTEXTS, "parse")),
        next(iter(tables.of_paper(FILTERED, paper_id)), None),
        sorted(links, key=lambda row: (row["parse_kind"], _natural_key(row["ref_id"]))),
        _list_citing_papers(tables, paper_id),
        documents,
        {row["set"]: row for row in tables.of_paper(SPLITS, paper_id)},
        _read_duplicates(tables, paper_id),
        _list_removed(tables, paper_id, documents),
        _list_unjoined(tables, paper_id, records),
        sorted(tables.of_paper(CORRECTIONS, paper_id), key=lambda row: str(row["ready_at"])),
    )


def _list_unjoined(tables: ReleaseTables, paper_id: str, records: list[Row]) -> list[Row]:
    """Return records of other papers that have a DOI of this paper, by record id."""
    dois = sorted({row["doi"] for row in records if row["doi"]})
    if not dois:
        return []
    where = pc.field("doi").isin(dois) & (pc.field("paper_id") != paper_id)
    found = tables.rows(MEMBERS, where, ["paper_id", "record_id", "doi", "title", "license"])
    return sorted(found, key=lambda row: str(row["record_id"]))


def read_spec(tables: ReleaseTables) -> ReleaseSpec | None:
    """Return the spec of the release, or None if it has no record of its run."""
    try:
        record = read_record(tables.lake, ReleaseId.parse(tables.folder.removeprefix("releases/")))
        return ReleaseSpec.model_validate(record.spec, extra="ignore")
    except (UserError, ValueError):
        return None


def _list_removed(tables: ReleaseTables, paper_id: str, documents: list[Row]) -> list[Row]:
    """Return the removed parts of the full text that cleaning evaluated, or nothing if the release has no record of its rules."""
    document = next((row for row in documents if row["section_log_probs"] is not None), None)
    spec = read_spec(tables)
    if document is None or spec is None:
        return []
    for fulltext in tables.of_paper(FULLTEXTS, paper_id, ["paper_id", "file_sha1", "parse"]):
        if fulltext["file_sha1"] == document["sha1"]:
            parse = orjson.loads(fulltext["parse"])
            parse = mask_parse(parse) if spec.clean.pii == "mask" else parse
            return list(list_parts(parse, spec.clean, document["section_log_probs"]))
    return []


def _read_duplicates(tables: ReleaseTables, paper_id: str) -> list[Row]:
    document = next(tables.rows(DUPLICATES, pc.field("paper_id") == paper_id), None)
    if document is None:
        return []
    rows = tables.rows(DUPLICATES, pc.field("cluster") == document["cluster"])
    return sorted(rows, key=lambda row: (row["reason"] is not None, row["paper_id"]))


def _list_citing_papers(tables: ReleaseTables, paper_id: str) -> list[str] | None:
    try:
        if tables(LINKS).committed().rows > MAX_SEARCHED_LINKS:
            return None
    except OtherColumns:
        raise
    except NotCommitted:
        return []
    where = pc.field("cited_paper_id") == paper_id
    return sorted({row["paper_id"] for row in tables.rows(LINKS, where, ["paper_id", "cited_paper_id"])})


def _natural_key(ref_id: str) -> tuple[str, int]:
    letters, digits = re.fullmatch(r"(.*?)(\d*)", ref_id, re.DOTALL).groups()  # type: ignore[union-attr]
    return letters, int(digits or 0)
