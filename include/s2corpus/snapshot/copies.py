"""Compare the Parquet copies of a snapshot with its JSON lines. Each check yields a message per fault."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

import pyarrow as pa

from s2corpus.snapshot import documents, flat, keys, rights
from s2corpus_reader.files import keys_path

_MAX_FAULTS = 10
"""Maximum number of reported faults per file."""


def digest(texts: Iterable[str]) -> bytes:
    """Return a hash of the texts in order."""
    sha256 = hashlib.sha256()
    for text in texts:
        sha256.update(f"{len(text)}:".encode())
        sha256.update(text.encode("utf-8", "surrogatepass"))
    return sha256.digest()[:16]


@dataclass(slots=True)
class LineFacts:
    """Facts from the JSON lines and the index that the Parquet copies must repeat."""

    documents: dict[str, bytes] = field(default_factory=dict)
    """document → digest of (set, split, sha1, text)"""
    parses: dict[tuple[str, str], tuple[bytes, int, int]] = field(default_factory=dict)
    """(paper, kind) → digest of the paragraphs, number of bibliography entries, number of reference entries"""
    keys: int = 0
    """hash sum of the expected keys, minus the hash sum of the keys in `keys/`; 0 after all files were read"""
    licences: dict[str, bytes] = field(default_factory=dict)
    """document → digest of licence, evidence and abstract source in the index"""
    text_rights: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(paper, origin of its text) → licence and evidence in `documents/` (current group of files)"""
    rights: int = 0
    """hash sum of the abstracts and parses, minus the hash sum of the rows of `tables/rights`; 0 after all files were read"""

    def add_index(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Store the rights of each document in the index."""
        self.licences = {row["id"]: _hash_rights(row) for row in rows}

    def add_rights(self, paper_id: str, text_kind: str, sign: int = 1) -> None:
        """Add (or, with `sign` −1, subtract) the hash of an abstract or parse; `text_kind` is `abstract` or the kind of parse."""
        self.rights += sign * int.from_bytes(digest((paper_id, text_kind)), "big")

    def add_keys(self, found: Iterable[tuple[int, str]], sign: int = 1) -> None:
        """Add (or, with `sign` −1, subtract) the hashes of (key, paper) pairs."""
        for key, paper_id in found:
            self.keys += sign * int.from_bytes(digest((str(key), paper_id)), "big")

    def add_document(self, set_: str, split: str, value: Mapping[str, Any]) -> None:
        """Store the digest of a line of `v2/`."""
        self.documents[value["id"]] = digest((set_, split, value.get("sha1") or "", value["text"]))

    def add_parse(self, kind: str, value: Mapping[str, Any]) -> None:
        """Store the digest and the counts of a line of `corpus/<kind>_parses/`."""
        paragraphs = (*value["abstract"], *value["body_text"], *value.get("back_matter", ()))
        self.add_rights(value["paper_id"], kind)
        texts = digest(paragraph["text"] for paragraph in paragraphs)
        self.parses[value["paper_id"], kind] = texts, len(value["bib_entries"]), len(value["ref_entries"])


def _hash_rights(row: Mapping[str, Any]) -> bytes:
    """Return a digest of licence, evidence and abstract source."""
    return digest(row[name] or "" for name in ("licence", "oa_evidence", "abstract_source"))


def check_copy(path: str, table: pa.Table, lines: LineFacts, papers: set[str]) -> Iterator[str]:
    """Yield the faults of a Parquet file of `documents/` or `tables/`. `papers` are the papers of corpus/metadata."""
    folder, _, rest = path.partition("/")
    name = rest.partition("/")[0]
    schema = documents.SCHEMA if folder == "documents" else flat.SCHEMAS.get(name)
    if schema is None or not table.schema.equals(schema):
        yield f"the columns differ from the columns of {folder}/{name}"
        return
    faults = _check_documents(table, lines) if folder == "documents" else _check_rows(name, table, lines, papers)
    yield from islice(faults, _MAX_FAULTS)


def check_keys(path: str, table: pa.Table, lines: LineFacts, files: int) -> Iterator[str]:
    """Yield the faults of a file of `keys/`. Missing and extra keys show in `lines.keys` after all files were read."""
    if not table.schema.equals(keys.SCHEMA):
        yield "expected the columns key and paper_id"
        return
    rows = list(zip(table["key"].to_pylist(), table["paper_id"].to_pylist(), strict=True))
    if any(path != keys_path(key % files) for key, _ in rows) or rows != sorted(rows):
        yield "keys belong to another file, or are not sorted"
    lines.add_keys(rows, -1)


def _check_documents(table: pa.Table, lines: LineFacts) -> Iterator[str]:
    """Yield documents that differ from the index or from their line in `v2/`."""
    for row in table.select(
        ["id", "set", "split", "sha1", "text", "parse_kind", "licence", "oa_evidence", "abstract_source"]
    ).to_pylist():
        if lines.licences.get(row["id"]) != _hash_rights(row):
            yield f"licence, evidence or abstract source of document {row['id']} differ from the index"
        is_abstract = row["set"] == "s2ag"
        lines.text_rights[row["id"], rights.ABSTRACT if is_abstract else row["parse_kind"]] = (
            row["licence"],
            row["abstract_source"] if is_abstract else row["oa_evidence"],
        )
        if lines.documents.get(row["id"]) != digest((row["set"], row["split"], row["sha1"] or "", row["text"])):
            yield f"document {row['id']} differs from its line in v2/"


def _check_rows(name: str, table: pa.Table, lines: LineFacts, papers: set[str]) -> Iterator[str]:
    """Yield rows of `tables/<name>` that differ from the lines of `corpus/` or from `documents/`."""
    if name == "papers":
        rows = table.select(["paper_id", "title", *documents.IDENTIFIERS]).to_pylist()
        lines.add_keys((key, row["paper_id"]) for row in rows for key in keys.hash_identifiers(row))
        yield from (
            f"paper {id_} is not in corpus/metadata" for id_ in table["paper_id"].to_pylist() if id_ not in papers
        )
        return
    if name == "rights":
        for row in table.to_pylist():
            lines.add_rights(row["paper_id"], row["of"], -1)
            if message := rights.find_fault(row):
                yield message
            expected = lines.text_rights.pop((row["paper_id"], row["of"]), None)
            if expected not in (None, (row["licence"], row["evidence"])):
                yield f"licence or evidence of the {row['of']} of {row['paper_id']} differ from documents/"
        return
    columns = ["paper_id", "parse_kind", *(["text"] if name == "paragraphs" else [])]
    rows = table.select(columns).to_pylist()
    for key, group in groupby(rows, key=lambda row: (row["paper_id"], row["parse_kind"])):
        parse = lines.parses.get(key)
        if parse is None:
            yield f"{key[1]} parse of {key[0]} is not in corpus/"
        elif name == "paragraphs" and digest(row["text"] for row in group) != parse[0]:
            yield f"the paragraphs of {key[0]} ({key[1]}) differ from its parse in corpus/"
        elif name != "paragraphs":
            count, expected_count = sum(1 for _ in group), parse[1] if name == "bib_entries" else parse[2]
            if count != expected_count:
                yield f"{key[0]} ({key[1]}) has {count} rows in {name}; its parse in corpus/ has {expected_count}"
