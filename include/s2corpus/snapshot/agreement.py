"""Compare the files of a snapshot with each other (SPEC §10.14).

A manipulation stays hidden only if it changes every affected file consistently. Paragraphs and lines are held in memory for one
group of files at a time: files with the same number, modulo the number of groups, contain the same papers.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from s2corpus.rules import SplitRules
from s2corpus.snapshot import report
from s2corpus.snapshot.documents import IDENTIFIERS, year
from s2corpus.snapshot.rows import is_counted
from s2corpus.text.layout import build_blocks, document_text, list_units, split_document_text
from s2corpus.text.near_duplicates import text_key
from s2corpus.text.splits import Split, assign_split, compute_bounds

MAX_FAULTS = 100
"""maximum number of reported faults of one kind"""
_INDEX_STATISTICS = ("editorial", "years", "licences", "oa_evidence", "fields_of_study")


def _hash(*values: Any) -> int:
    return int.from_bytes(hashlib.blake2b(orjson.dumps(values), digest_size=8).digest())


@dataclass(slots=True)
class _IndexEntry:
    """The fields of an index row that other files repeat."""

    set: str
    metadata_hash: int
    """hash of title, identifiers, year and fields of study"""
    text_key: int
    sha1: str | None


@dataclass(slots=True)
class Agreement:
    """A comparison of index, metadata, parses, documents, graph and statistics. Add the index first, the statistics last."""

    rules: Mapping[str, Any]
    as_of: str
    published: report.IndexStatistics = field(default_factory=report.IndexStatistics)
    index: dict[str, _IndexEntry] = field(default_factory=dict)
    title_hashes: dict[str, int] = field(default_factory=dict)
    """document → hash of title and abstract in its metadata"""
    outbound: Counter[str] = field(default_factory=Counter)
    """paper → hash sum of the papers it cites in its metadata, minus the hash sum in the graph"""
    inbound: Counter[str] = field(default_factory=Counter)
    """paper → hash sum of the papers that cite it in their own metadata, minus the hash sum of its inbound_citations"""
    entries: Counter[str] = field(default_factory=Counter)
    """paper → hash sum of the linked bibliography entries in its parses, minus the hash sum in the graph"""
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """document → hashes of the lines of its parses (current group of files)"""
    paragraphs: set[int] = field(default_factory=set)
    """hashes of the paragraphs with citations (current group of files)"""
    files: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """document → SHA-1s of the files of its parses (current group of files)"""

    def next_group(self) -> None:
        """Discard the state of the previous group of files."""
        self.lines.clear()
        self.paragraphs.clear()
        self.files.clear()

    def add_index(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Add the rows of the index. Yield documents with a split that contradicts the date, and documents with the same text."""
        texts: dict[int, str] = {}
        has_date_split = self.rules["clean.profile"] != "recipe-2024"
        rules = {name.removeprefix("split."): v for name, v in self.rules.items() if name.startswith("split.")}
        boundaries = compute_bounds(SplitRules(**rules), datetime.fromisoformat(self.as_of))
        for row in rows:
            year_of_date = year(row["date"])
            values = [row[name] for name in ("title", *IDENTIFIERS)]
            metadata_hash = _hash(*values, year_of_date, row["fields_of_study"] or None)
            self.index[row["id"]] = _IndexEntry(row["set"], metadata_hash, row["text_key"], row["sha1"])
            if row["year"] != year_of_date:
                yield f"document {row['id']} has date {row['date']} but year {row['year']}"
            if has_date_split:
                split = assign_split(row["date"], *boundaries)
                if split is not Split.UNDATED and split != row["split"]:
                    yield f"document {row['id']} with date {row['date']} is in {row['split']}; expected {split}"
                first = texts.setdefault(row["text_key"], row["id"])
                if first != row["id"]:
                    yield f"documents {first} and {row['id']} have the same text"

    def add_metadata(self, value: Mapping[str, Any]) -> Iterator[str]:
        """Add the metadata of a paper. Yield contradictions with the index."""
        paper = value["paper_id"]
        for other in value["outbound_citations"]:
            self.outbound[paper] += _hash(other)
            self.inbound[other] += _hash(paper)
        for other in value["inbound_citations"]:
            self.inbound[paper] -= _hash(other)
        if (entry := self.index.get(paper)) is None:
            return
        values = [value[name] for name in ("title", *IDENTIFIERS)]
        if entry.metadata_hash != _hash(*values, value["year"], value["mag_field_of_study"]):
            yield f"title, identifiers, year or fields of study of document {paper} differ from the index"
        self.title_hashes[paper] = _hash(document_text(value["title"] or "", value["abstract"] or ""))

    def add_parse(self, kind: str, value: Mapping[str, Any]) -> None:
        """Add a parse of a paper."""
        paper = value["paper_id"]
        for ref_id, bib_entry in value["bib_entries"].items():
            if bib_entry.get("link") is not None:
                self.entries[paper] += _hash(kind, ref_id, bib_entry["link"])
        parts = [*value["abstract"], *value["body_text"], *value.get("back_matter", ())]
        for number, paragraph in enumerate(parts):
            if paragraph.get("cite_spans"):
                self.paragraphs.add(_hash(paper, kind, number, paragraph["text"]))
        if (entry := self.index.get(paper)) is not None and entry.set == "s2orc":
            units = list_units(value, drop_citations=self.rules["clean.citations"] == "drop")
            self.lines[paper].update(_hash(line) for block in build_blocks(units)[0] for line in block.lines)
            self.files[paper].add(str(value["_pdf_hash"]))

    def check_document(self, value: Mapping[str, Any]) -> Iterator[str]:
        """Yield contradictions between a document and its metadata, its parses, or the index."""
        entry = self.index.get(value["id"])
        if entry is None:
            return
        if text_key(value["text"]) != entry.text_key:
            yield f"the text of document {value['id']} does not match its text_key in the index"
        if entry.set == "s2orc" and entry.sha1 != value["sha1"]:
            yield f"document {value['id']} is from file {value['sha1']}; the index has {entry.sha1}"
        if self.rules["clean.profile"] == "recipe-2024":
            return
        title, abstract, body = split_document_text(value["text"])
        if self.title_hashes.get(value["id"], 0) != _hash(f"{title}\n\n{abstract}"):
            yield f"the title or abstract of document {value['id']} differs from its metadata"
        if entry.set == "s2orc":
            if value["sha1"] not in self.files[value["id"]]:
                yield f"document {value['id']} is from file {value['sha1']}, which has no parse"
            parsed_lines = self.lines[value["id"]]
            if any(_hash(line) not in parsed_lines for block in body for line in block):
                yield f"document {value['id']} has a line that none of its parses contain"

    def add_link(self, row: Mapping[str, Any], cited: set[str]) -> None:
        """Add a row of graph/links. `cited` collects the papers that the citing paper cites; repeated citations count once."""
        paper, other = row["paper_id"], row["cited_paper_id"]
        self.entries[paper] -= _hash(row["parse_kind"], row["ref_id"], other)
        if is_counted(row["warning"], self.rules["link.count_warnings"]) and other not in cited:
            cited.add(other)
            self.outbound[paper] -= _hash(other)

    def has_paragraph(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row of graph/contexts is a paragraph of its parse."""
        return _hash(row["paper_id"], row["parse_kind"], row["paragraph"], row["text"]) in self.paragraphs

    def compare_citations(self) -> Iterator[tuple[str, str]]:
        """Yield (path, message) for papers with different citations in different files. Call this after all files were added."""
        for path, sums, message in (
            ("graph/links", self.outbound, "cites other papers in graph/links than in its metadata"),
            ("corpus/metadata", self.inbound, "has inbound_citations that contradict the papers citing it"),
            ("graph/links", self.entries, "links other bibliography entries in graph/links than in its parses"),
        ):
            for paper in sorted(paper for paper, difference in sums.items() if difference)[:MAX_FAULTS]:
                yield path, f"paper {paper} {message}"

    def compare_statistics(self, stats: Mapping[str, Any]) -> Iterator[str]:
        """Yield contradictions between stats.json and the index."""
        expected = report.build_stats(self.published, (), {}, {}, {})
        for name in _INDEX_STATISTICS:
            if stats[name] != expected[name]:
                keys = {
                    key for key in {*stats[name], *expected[name]} if stats[name].get(key) != expected[name].get(key)
                }
                differences = ", ".join(
                    f"{key}: {stats[name].get(key, 0)}, expected {expected[name].get(key, 0)}" for key in sorted(keys)
                )
                yield f"{name} differ from the index ({differences or 'different order'})"
        funnel = {(row["stage"], row["outcome"]): row["count"] for row in stats["funnel"]}
        for (set_, split), documents in sorted(self.published.documents.items()):
            if funnel.get((f"split {set_}", split)) != documents:
                yield f"the funnel has {funnel.get((f'split {set_}', split))} documents of {set_} {split}; expected {documents}"
