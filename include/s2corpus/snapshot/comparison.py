"""Compare the files of a snapshot with each other (SPEC §10.14).

A manipulation is hidden only if it changes every affected file consistently. Paragraphs and lines are in memory for one group of
files at a time. Files with the same number, modulo the number of groups, contain the same papers.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
import pyarrow as pa

from s2corpus.outcomes import Split
from s2corpus.rules import SplitRules
from s2corpus.snapshot import documents, flat, report, rights, rows
from s2corpus.snapshot.claims import MAX_FAULTS, Claim, Fault
from s2corpus.snapshot.columns import PUBLISHED
from s2corpus.snapshot.documents import IDENTIFIERS, year
from s2corpus.text.near_duplicates import text_key
from s2corpus.text.splits import VALID_DAYS, assign_split, compute_bounds
from s2corpus_reader.files import keys_path, lookup_key
from s2corpus_reader.layout import build_blocks, document_text, list_units, split_document_text


def _hash(*values: Any) -> int:
    return int.from_bytes(hashlib.blake2b(orjson.dumps(values), digest_size=16).digest())


@dataclass(slots=True)
class _IndexEntry:
    """The fields of an index row that other files repeat."""

    set: str
    split: str
    place: tuple[str, int]
    """file, and line from 1"""
    words: int
    metadata_hash: int
    """hash of title, identifiers, year and fields of study"""
    text_key: int
    sha1: str | None


@dataclass(slots=True)
class Comparison:
    """A comparison of index, metadata, parses, documents, tables, and graph. Add the index first."""

    rules: Mapping[str, Any]
    as_of: str
    published: report.IndexStatistics = field(default_factory=report.IndexStatistics)
    index: dict[str, _IndexEntry] = field(default_factory=dict)
    title_hashes: dict[str, int] = field(default_factory=dict)
    """document → hash of title and abstract in its metadata"""
    differences: dict[Claim, dict[str, int]] = field(default_factory=lambda: {claim: {} for claim in Claim})
    """claim → paper or document → hash sum of the facts in the first kind of files, minus the hash sum in the second"""
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """document → hashes of the lines of its parses (current group of files)"""
    paragraphs: set[int] = field(default_factory=set)
    """hashes of the paragraphs with citations (current group of files)"""
    files: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """document → SHA-1s of the files of its parses (current group of files)"""
    text_rights: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(document, origin of its text) → license and evidence in `documents/` (current group of files)"""

    def next_group(self) -> None:
        """Discard the state of the previous group of files."""
        for state in (self.lines, self.paragraphs, self.files, self.text_rights):
            state.clear()

    def add(self, claim: Claim, owner: str, *values: Any, sign: int = 1) -> None:
        """Add a fact of the first kind of files, or with `sign` −1 of the second."""
        differences = self.differences[claim]
        if difference := differences.get(owner, 0) + sign * _hash(*values):
            differences[owner] = difference
        else:
            differences.pop(owner, None)

    def add_index(self, table: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Add the rows of the index. Yield contradictions in a row, and documents with the same text."""
        texts: dict[int, str] = {}
        has_date_split = self.rules["clean.profile"] != "recipe-2024"
        rules = {name.removeprefix("split."): v for name, v in self.rules.items() if name.startswith("split.")}
        valid_days = self.rules.get("split.valid_days", VALID_DAYS)  # a rule of earlier releases
        boundaries = compute_bounds(
            SplitRules.model_validate(rules, extra="ignore"), datetime.fromisoformat(self.as_of), valid_days
        )
        for row in table:
            id_, set_, split, date = row["id"], row["set"], row["split"], row["date"]
            metadata_hash = _hash(*_names(row), year(date), row["fields_of_study"] or None)
            if id_ in self.index:
                yield f"document {id_} occurs twice"
            self.index[id_] = _IndexEntry(
                set_, split, (row["file"], row["line"]), row["words"], metadata_hash, row["text_key"], row["sha1"]
            )
            self.add(Claim.LICENSE, id_, row["license"], row["oa_evidence"], row["abstract_source"])
            if row["sha1"]:
                self.add(Claim.KEYS, id_, lookup_key("sha1", row["sha1"]))
            if not row["file"].startswith(f"v2/{set_}/{split}/"):
                yield f"document {id_} belongs to {set_} {split}, but its file is {row['file']}"
            if set_ == "s2orc" and not row["oa_evidence"]:
                yield f"document {id_} is a full text without open-access evidence"
            if row["year"] != year(date):
                yield f"document {id_} has date {date} but year {row['year']}"
            if has_date_split:
                expected = assign_split(date, *boundaries)
                if expected is not Split.UNDATED and expected != split:
                    yield f"document {id_} with date {date} is in {split}; expected {expected}"
                first = texts.setdefault(row["text_key"], id_)
                if first != id_ and self.rules["split.near_duplicates"] != "ignore":
                    yield f"documents {first} and {id_} have the same text"

    def add_metadata(self, value: Mapping[str, Any]) -> Iterator[str]:
        """Add the metadata of a paper. Yield contradictions with the index."""
        paper = value["paper_id"]
        for other in value["outbound_citations"]:
            self.add(Claim.CITES, paper, other)
            self.add(Claim.CITED, other, paper)
        for other in value["inbound_citations"]:
            self.add(Claim.CITED, paper, other, sign=-1)
        self.add(Claim.PAPER, paper, *_names(value))
        for key in rows.hash_identifiers(value):
            self.add(Claim.KEYS, paper, key)
        if value["abstract"]:
            self.add(Claim.RIGHTS, paper, rights.ABSTRACT)
        if (entry := self.index.get(paper)) is None:
            return
        if entry.metadata_hash != _hash(*_names(value), value["year"], value["mag_field_of_study"]):
            yield f"title, identifiers, year or fields of study of document {paper} differ from the index"
        self.title_hashes[paper] = _hash(document_text(value["title"] or "", value["abstract"] or ""))

    def add_parse(self, kind: str, value: Mapping[str, Any]) -> None:
        """Add a parse of a paper."""
        paper = value["paper_id"]
        self.add(Claim.RIGHTS, paper, kind)
        for ref_id, bib_entry in value["bib_entries"].items():
            self.add(Claim.BIB_ENTRIES, paper, kind, ref_id, bib_entry.get("link"))
            if bib_entry.get("link") is not None:
                self.add(Claim.LINKS, paper, kind, ref_id, bib_entry["link"])
        for ref_id in value["ref_entries"]:
            self.add(Claim.REF_ENTRIES, paper, kind, ref_id)
        parts = [*value["abstract"], *value["body_text"], *value.get("back_matter", ())]
        for number, paragraph in enumerate(parts):
            self.add(Claim.PARAGRAPHS, paper, kind, number, paragraph["text"])
            if paragraph.get("cite_spans"):
                self.paragraphs.add(_hash(paper, kind, number, paragraph["text"]))
        if (entry := self.index.get(paper)) is not None and entry.set == "s2orc":
            units = list_units(value, drop_citations=self.rules["clean.citations"] == "drop")
            blocks, _ = build_blocks(units, keep_formulas=self.rules.get("clean.formulas") == "placeholder")
            self.lines[paper].update(_hash(line) for block in blocks for line in block.lines)
            self.files[paper].add(str(value["_pdf_hash"]))

    def check_document(self, value: Mapping[str, Any], set_: str, split: str, place: tuple[str, int]) -> Iterator[str]:
        """Add a line of `v2/`. Yield contradictions with the document's metadata, its parses, or the index."""
        id_, text, sha1 = value["id"], value["text"], value.get("sha1")
        self.add(Claim.TEXT, id_, set_, split, sha1, text)
        entry = self.index.get(id_)
        if entry is None or entry.place != place:
            yield f"the index has document {id_} at {entry and entry.place}; expected {place}"
        if entry is None:
            return
        if entry.words != (words := len(text.split())):
            yield f"document {id_} has {words} words; the index has {entry.words}"
        if text_key(text) != entry.text_key:
            yield f"the text of document {id_} does not match its text_key in the index"
        if entry.set == "s2orc" and entry.sha1 != sha1:
            yield f"document {id_} is from file {sha1}; the index has {entry.sha1}"
        if self.rules["clean.profile"] == "recipe-2024":
            return
        title, abstract, body = split_document_text(text)
        if self.title_hashes.get(id_, 0) != _hash(f"{title}\n\n{abstract}"):
            yield f"the title or abstract of document {id_} differs from its metadata"
        if entry.set == "s2orc":
            if sha1 not in self.files[id_]:
                yield f"document {id_} is from file {sha1}, which has no parse"
            parsed_lines = self.lines[id_]
            if any(_hash(line) not in parsed_lines for block in body for line in block):
                yield f"document {id_} has a line that none of its parses contain"

    def check_table(self, path: str, table: pa.Table) -> Iterator[str]:
        """Add the rows of a Parquet file. Yield wrong columns, and contradictions of rows."""
        folder, name = path.split("/")[:2]
        if folder != "graph":
            schema = {"documents": documents.SCHEMA, "keys": rows.KEYS}.get(folder) or flat.SCHEMAS.get(name)
            later = {column.name for column in PUBLISHED.get(name, PUBLISHED["documents"]) if column.is_later}
            schema = schema and pa.schema([f for f in schema if f.name in table.schema.names or f.name not in later])
            if schema is None or not table.schema.equals(schema):
                yield f"the columns differ from the columns of {folder}/{name}"
                return
        for claim in Claim:
            if path.startswith(claim.folder) and claim.columns:
                for owner, *values in zip(*(table[column].to_pylist() for column in claim.columns), strict=True):
                    self.add(claim, owner, *values, sign=-1)
        if folder == "documents":
            for row in table.select(
                ["id", "set", "parse_kind", "license", "oa_evidence", "abstract_source"]
            ).to_pylist():
                is_abstract = row["set"] == "s2ag"
                self.text_rights[row["id"], rights.ABSTRACT if is_abstract else row["parse_kind"]] = (
                    row["license"], row["abstract_source"] if is_abstract else row["oa_evidence"],
                )  # fmt: skip
        elif name == "papers":
            for row in table.select(["paper_id", "preprints", "doi", "arxiv_id"]).to_pylist():
                for key in rows.hash_preprints(row):
                    self.add(Claim.KEYS, row["paper_id"], key)
        elif name == "rights":
            yield from self._check_rights(table)
        elif name == "links":
            self._add_citations(table)
        elif name == "contexts":
            for number, row in enumerate(table.to_pylist(), 1):
                if _hash(row["paper_id"], row["parse_kind"], row["paragraph"], row["text"]) not in self.paragraphs:
                    yield f"row {number} of paper {row['paper_id']} is not a paragraph of its parse"
        elif folder == "keys":
            pairs = list(zip(table["key"].to_pylist(), table["paper_id"].to_pylist(), strict=True))
            if any(path != keys_path(key % self.rules["export.files"]) for key, _ in pairs) or pairs != sorted(pairs):
                yield "keys belong to another file, or are not sorted"

    def _check_rights(self, table: pa.Table) -> Iterator[str]:
        for row in table.to_pylist():
            if message := rights.find_fault(row):
                yield message
            expected = self.text_rights.pop((row["paper_id"], row["of"]), None)
            if expected not in (None, (row["license"], row["evidence"])):
                yield f"license or evidence of the {row['of']} of {row['paper_id']} differ from documents/"

    def _add_citations(self, table: pa.Table) -> None:
        """Subtract the citations of graph/links: repeated citations of a paper count once."""
        counted = {
            (row["paper_id"], row["cited_paper_id"])
            for row in table.to_pylist()
            if row["warning"] in (None, *self.rules.get("link.count_warnings", ()))  # a rule of earlier releases
        }
        for paper, other in counted:
            self.add(Claim.CITES, paper, other, sign=-1)

    def compare(self, paths: Sequence[str]) -> Iterator[Fault]:
        """Yield different facts in different files. Call this after all files (`paths`) were added."""
        for claim, differences in self.differences.items():
            if any(path.startswith(claim.folder) for path in paths):
                for owner in sorted(differences, key=str)[:MAX_FAULTS]:  # forged ids may be numbers
                    yield Fault(claim.folder.rstrip("/"), claim.message.format(owner))


def _names(row: Mapping[str, Any]) -> list[Any]:
    """Return title and identifiers."""
    return [row[name] for name in ("title", *IDENTIFIERS)]
