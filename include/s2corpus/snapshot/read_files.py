"""The files of a snapshot, read one by one against the manifest and the format."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import orjson
import pyarrow as pa

from s2corpus.snapshot import checks, copies, rights
from s2corpus.snapshot.agreement import Agreement
from s2corpus.snapshot.crossing import Crossing
from s2corpus.snapshot.repeats import Repeats
from s2corpus_reader.bounded import MAX_LINE_BYTES
from s2corpus_reader.files import File, file_number
from s2corpus_reader.parquet import read_table

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake

_DOCUMENTS = re.compile(r"v2/(s2orc|s2ag)/(train|valid)/(\d+)(?:-\d{6})?\.jsonl\.gz")
_CORPUS = re.compile(r"corpus/(metadata|pdf_parses|latex_parses|jats_parses|elsevier_parses)/.*_(\d+)\.jsonl\.gz")
UNEXPECTED = (
    pa.ArrowException, LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError, OSError, MemoryError
)  # fmt: skip
"""what reading something of another form than expected raises"""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a snapshot that is not as it must be."""

    path: str
    what: str
    line: int | None = None
    """from 1"""

    def __str__(self) -> str:
        return f"{self.path}{'' if self.line is None else f', line {self.line}'}: {self.what}"


@dataclass(slots=True)
class Snapshot:
    """A snapshot that is being verified, and what was met in it so far."""

    lake: Lake
    manifest: dict[str, Any]
    files: dict[str, File]
    agreement: Agreement
    repeats: Repeats
    crossing: Crossing
    index: dict[str, tuple[str, int]] = field(default_factory=dict)
    """document → file and line, as the index says"""
    words: dict[str, int] = field(default_factory=dict)
    """document → words, as the index says"""
    counted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(set, split, documents or words) as they are in the files"""
    bodies: set[str] = field(default_factory=set)
    """papers whose metadata say that the PDF's body text is there"""
    seen: set[str] = field(default_factory=set)
    """documents met in a file"""
    papers: set[str] = field(default_factory=set)
    """papers of corpus/metadata"""
    said: copies.Said = field(default_factory=copies.Said)
    """what the lines said that the Parquet files repeat"""

    @property
    def rules(self) -> dict[str, Any]:
        """The manifest's rules, by name."""
        rules: dict[str, Any] = self.manifest["rules"]
        return rules


def parquet(state: Snapshot, path: str) -> pa.Table:
    """A Parquet file of the snapshot, whole."""
    return read_table(state.lake, path)


def file_faults(state: Snapshot, file: File) -> Iterator[Fault]:
    """What is wrong with one file: its checksums, its lines, and what they say otherwise than files before it."""
    if not file.path.endswith(".jsonl.gz"):
        yield from _plain(state, file)
        return
    with state.lake.open(file.path) as raw:
        hashing = _Hashing(raw, file.bytes)
        content = hashlib.sha256()
        size = rows = 0
        check = _line_check(state, file.path)
        try:
            lines = gzip.GzipFile(fileobj=cast(BinaryIO, hashing))
            limit = (file.content_bytes or 0) + 1
            while size < limit and (line := lines.readline(min(limit - size, MAX_LINE_BYTES + 1))):
                if len(line) > MAX_LINE_BYTES:
                    yield Fault(file.path, f"the line has more than {MAX_LINE_BYTES:,} bytes", rows + 1)
                    return
                content.update(line)
                size += len(line)
                rows += 1
                yield from (Fault(file.path, what, rows) for what in _survived(check, line, rows))
        except (EOFError, OSError, zlib.error) as error:
            yield Fault(file.path, f"damaged gzip: {error}")
            return
        hashing.drain()
    if hashing.sha256.hexdigest() != file.sha256:
        yield Fault(file.path, "its SHA-256 is not the manifest's")
    if (rows, size, content.hexdigest()) != (file.rows, file.content_bytes, file.content_sha256):
        yield Fault(file.path, f"its content is not the manifest's ({rows} lines of {file.rows}, {size} bytes)")


def _plain(state: Snapshot, file: File) -> Iterator[Fault]:
    with state.lake.open(file.path) as raw:
        hashing = _Hashing(raw, file.bytes)
        hashing.drain()
    if hashing.sha256.hexdigest() != file.sha256:
        yield Fault(file.path, "its SHA-256 is not the manifest's")
        return
    if file.path.endswith(".parquet"):
        table = parquet(state, file.path)
        if table.num_rows != file.rows:
            yield Fault(file.path, f"{table.num_rows} rows, {file.rows} in the manifest")
        if file.path.startswith(("documents/", "tables/")):
            yield from (Fault(file.path, what) for what in copies.faults(file.path, table, state.said, state.papers))
        if file.path.startswith("keys/"):
            yield from (
                Fault(file.path, what)
                for what in copies.key_faults(file.path, table, state.said, state.rules["export.files"])
            )
        if file.path.startswith("graph/"):
            yield from _graph(state, file.path, table)


def _graph(state: Snapshot, path: str, table: pa.Table) -> Iterator[Fault]:
    ends = {*table["paper_id"].to_pylist(), *table["cited_paper_id"].to_pylist()}
    for unknown in sorted(ends - state.papers)[:10]:
        yield Fault(path, f"names paper {unknown}, which corpus/metadata has not")
    paper, cited = "", set[str]()
    for place, row in enumerate(table.to_pylist(), 1):
        if path.startswith("graph/links/"):
            if row["paper_id"] != paper:
                paper, cited = row["paper_id"], set()
            state.agreement.link(row, cited)
        elif not state.agreement.context(row):
            yield Fault(path, f"row {place} of paper {row['paper_id']} is not a paragraph of its parse")


def _line_check(state: Snapshot, path: str) -> Callable[[bytes, int], Iterator[str]]:
    """The check of one kind of file: given a line and its number, what is wrong."""
    if match := _DOCUMENTS.fullmatch(path):
        return _documents_check(state, path, match[1], match[2], int(match[3]))
    if match := _CORPUS.fullmatch(path):
        return _corpus_check(state, match[1], int(match[2]))
    return lambda line, row: iter(())


def _survived(check: Callable[[bytes, int], Iterator[str]], line: bytes, row: int) -> Iterator[str]:
    """What a check says; a line of another form than any check expects is a fault too."""
    try:
        yield from check(line, row)
    except UNEXPECTED as error:
        yield f"not of its form: {type(error).__name__} {error}"


def _documents_check(
    state: Snapshot, path: str, set_: str, split: str, nn: int
) -> Callable[[bytes, int], Iterator[str]]:
    recipe = state.rules["clean.profile"] == "recipe-2024"
    last = ""

    def check(line: bytes, row: int) -> Iterator[str]:
        nonlocal last
        id_, faults = checks.document(line, set_, recipe=recipe)
        yield from faults
        if id_ is None:
            return
        if id_ <= last:
            yield f"document {id_} comes after {last}; lines are in the order of ids, each once"
        last = id_
        if file_number(id_, state.rules["export.files"]) != nn:
            yield f"document {id_} belongs to file {file_number(id_, state.rules['export.files']):02d}"
        if id_ in state.seen:
            yield f"document {id_} is in another file too"
        state.seen.add(id_)
        value = orjson.loads(line)
        state.said.add_document(set_, split, value)
        words = len(value["text"].split())
        state.counted[set_, split, "documents"] += 1
        state.counted[set_, split, "words"] += words
        if state.words.get(id_, words) != words:
            yield f"document {id_} has {words} words, the index says {state.words[id_]}"
        if state.index.get(id_) != (path, row):
            yield f"the index has document {id_} at {state.index.get(id_)}"
        state.repeats.document(id_, value["text"])
        state.crossing.document(id_, split, value["text"])
        yield from state.agreement.document(value)

    return check


def _corpus_check(state: Snapshot, kind: str, nn: int) -> Callable[[bytes, int], Iterator[str]]:
    last = ""
    files = sum(path.startswith(f"corpus/{kind}/") for path in state.files)

    def check(line: bytes, row: int) -> Iterator[str]:
        nonlocal last
        try:
            value = orjson.loads(line)
            paper_id = value["paper_id"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            yield f"no JSON object with a paper_id: {error}"
            return
        if paper_id <= last:
            yield f"paper {paper_id} comes after {last}; lines are in the order of ids, each once"
        last = paper_id
        if file_number(paper_id, files) != nn:
            yield f"paper {paper_id} belongs to another file"
        if kind == "metadata":
            state.papers.add(paper_id)
            if value.get("abstract"):
                state.said.add_rights(paper_id, rights.ABSTRACT)
            if value.get("has_pdf_body_text"):
                state.bodies.add(paper_id)
            yield from checks.metadata(value)
            yield from state.agreement.metadata(value)
        else:
            yield from checks.parse(value)
            state.agreement.parse(kind.removesuffix("_parses"), value)
            state.said.add_parse(kind.removesuffix("_parses"), value)
            if paper_id not in state.papers:
                yield f"paper {paper_id} has no metadata"
            elif kind == "pdf_parses" and bool(value.get("body_text")) != (paper_id in state.bodies):
                yield f"paper {paper_id}: its metadata say {'text' if paper_id in state.bodies else 'no text'}, its parse does not"

    return check


class _Hashing:
    """A stream that hashes what is read through it, and ends one byte after the size that the manifest has."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size + 1
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        self.sha256.update(data)
        return data

    def drain(self) -> None:
        """Read what is left."""
        while self.read(1 << 20):
            pass
