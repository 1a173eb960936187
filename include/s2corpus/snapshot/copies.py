"""What the Parquet copies of a snapshot must agree with: the lines they repeat. Each check yields what is wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pyarrow as pa

from s2corpus.snapshot import documents, flat, keys, rights
from s2corpus_reader.files import keys_path

_MOST = 10
"""Faults reported of one file."""


def digest(texts: Iterable[str]) -> bytes:
    """A hash of some texts in order."""
    found = hashlib.sha256()
    for text in texts:
        found.update(f"{len(text)}:".encode())
        found.update(text.encode("utf-8", "surrogatepass"))
    return found.digest()[:16]


@dataclass(slots=True)
class Said:
    """What the lines said."""

    documents: dict[str, bytes] = field(default_factory=dict)
    """document → digest of (path of its line without number, sha1, text)"""
    parses: dict[tuple[str, str], tuple[bytes, int, int]] = field(default_factory=dict)
    """(paper, kind) → digest of its paragraphs, number of bibliography entries, of reference entries"""

    keys: int = 0
    """sum over the keys that papers and index give, less those of `keys/`: 0 in the end"""

    licensed: dict[str, bytes] = field(default_factory=dict)
    """document → digest of licence, evidence and its abstract's source, as the index has them"""
    of_texts: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(paper, what its text is from) → licence and evidence, as `documents/` has them: of one group of files"""
    rights: int = 0
    """sum over the abstracts and parses that are there, less those of `tables/rights`: 0 in the end"""

    def add_index(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note what the index says of rights."""
        self.licensed = {row["id"]: _licensed(row) for row in rows}

    def add_rights(self, paper_id: str, of: str, sign: int = 1) -> None:
        """Count an abstract, or a parse by its kind."""
        self.rights += sign * int.from_bytes(digest((paper_id, of)), "big")

    def add_keys(self, found: Iterable[tuple[int, str]], sign: int = 1) -> None:
        """Count (key, paper) pairs."""
        for key, paper_id in found:
            self.keys += sign * int.from_bytes(digest((str(key), paper_id)), "big")

    def add_document(self, set_: str, split: str, value: Mapping[str, Any]) -> None:
        """Note a line of `v2/`."""
        self.documents[value["id"]] = digest((set_, split, value.get("sha1") or "", value["text"]))

    def add_parse(self, kind: str, value: Mapping[str, Any]) -> None:
        """Note a line of `corpus/<kind>_parses/`."""
        paragraphs = (*value["abstract"], *value["body_text"], *value.get("back_matter", ()))
        self.add_rights(value["paper_id"], kind)
        self.parses[value["paper_id"], kind] = (
            digest(paragraph["text"] for paragraph in paragraphs),
            len(value["bib_entries"]),
            len(value["ref_entries"]),
        )


def _licensed(row: Mapping[str, Any]) -> bytes:
    return digest(row[name] or "" for name in ("licence", "oa_evidence", "abstract_source"))


def faults(path: str, table: pa.Table, said: Said, papers: set[str]) -> Iterator[str]:
    """What is wrong with one Parquet file of `documents/` or `tables/`; `papers` are those of corpus/metadata."""
    folder, _, rest = path.partition("/")
    name = rest.partition("/")[0]
    schema = documents.SCHEMA if folder == "documents" else flat.SCHEMAS.get(name)
    if schema is None or not table.schema.equals(schema):
        yield f"its columns are not those of {folder}/{name}"
        return
    found = _documents(table, said) if folder == "documents" else _rows(name, table, said, papers)
    for _, fault in zip(range(_MOST), found, strict=False):
        yield fault


def key_faults(path: str, table: pa.Table, said: Said, files: int) -> Iterator[str]:
    """What is wrong with one file of `keys/`; whether its keys are those of the papers shows when all files were read."""
    if not table.schema.equals(keys.SCHEMA):
        yield "its columns are not key and paper_id"
        return
    rows = list(zip(table["key"].to_pylist(), table["paper_id"].to_pylist(), strict=True))
    if any(path != keys_path(key % files) for key, _ in rows) or rows != sorted(rows):
        yield "its keys belong to another file, or are not in order"
    said.add_keys(rows, -1)


def _documents(table: pa.Table, said: Said) -> Iterator[str]:
    for row in table.select(
        ["id", "set", "split", "sha1", "text", "parse_kind", "licence", "oa_evidence", "abstract_source"]
    ).to_pylist():
        if said.licensed.get(row["id"]) != _licensed(row):
            yield f"licence, evidence or source of document {row['id']} are others in the index"
        from_abstract = row["set"] == "s2ag"
        said.of_texts[row["id"], rights.ABSTRACT if from_abstract else row["parse_kind"]] = (
            row["licence"],
            row["abstract_source"] if from_abstract else row["oa_evidence"],
        )
        if said.documents.get(row["id"]) != digest((row["set"], row["split"], row["sha1"] or "", row["text"])):
            yield f"document {row['id']} is not what the lines of v2/ say of it"


def _rows(name: str, table: pa.Table, said: Said, papers: set[str]) -> Iterator[str]:
    if name == "papers":
        rows = table.select(["paper_id", "title", *documents.IDENTIFIERS]).to_pylist()
        said.add_keys((key, row["paper_id"]) for row in rows for key in keys.of_paper(row))
        yield from (
            f"paper {id_} is not in corpus/metadata" for id_ in table["paper_id"].to_pylist() if id_ not in papers
        )
        return
    if name == "rights":
        for row in table.to_pylist():
            said.add_rights(row["paper_id"], row["of"], -1)
            if wrong := rights.fault(row):
                yield wrong
            stated = said.of_texts.pop((row["paper_id"], row["of"]), None)
            if stated not in (None, (row["licence"], row["evidence"])):
                yield f"licence or evidence of the {row['of']} of {row['paper_id']} are others in documents/"
        return
    columns = ["paper_id", "parse_kind", *(["text"] if name == "paragraphs" else [])]
    rows = table.select(columns).to_pylist()
    for key, group in groupby(rows, key=lambda row: (row["paper_id"], row["parse_kind"])):
        expected = said.parses.get(key)
        if expected is None:
            yield f"{key[1]} parse of {key[0]} is not in corpus/"
        elif name == "paragraphs" and digest(row["text"] for row in group) != expected[0]:
            yield f"the paragraphs of {key[0]} ({key[1]}) are not those of its parse in corpus/"
        elif name != "paragraphs" and (count := sum(1 for _ in group)) != expected[1 if name == "bib_entries" else 2]:
            yield f"{count} of {name} for {key[0]} ({key[1]}), its parse in corpus/ has another number"
