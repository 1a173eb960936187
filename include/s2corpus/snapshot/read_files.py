"""Verify the files of a snapshot one by one against the manifest and the format."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import orjson
import pyarrow as pa

from s2corpus.snapshot import checks
from s2corpus.snapshot.comparison import MAX_FAULTS, Comparison
from s2corpus.snapshot.report import shorten_record
from s2corpus.snapshot.similarity import SimilarityCheck
from s2corpus_reader.bounded import MAX_LINE_BYTES
from s2corpus_reader.files import SnapshotFile, file_number, parquet_path
from s2corpus_reader.parquet import read_table

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake

_DOCUMENTS = re.compile(r"v2/(s2orc|s2ag)/(train|valid)/(\d+)(?:-\d{6})?\.jsonl\.gz")
_CORPUS = re.compile(r"corpus/(metadata|pdf_parses|latex_parses|jats_parses|elsevier_parses)/.*_(\d+)\.jsonl\.gz")
UNEXPECTED = (
    pa.ArrowException, LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError, OSError, MemoryError
)  # fmt: skip
"""Exceptions that a reader raises on malformed data."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a snapshot: path, message and line."""

    path: str
    message: str
    line: int | None = None
    """from 1"""

    def __str__(self) -> str:
        return f"{self.path}{'' if self.line is None else f', line {self.line}'}: {self.message}"


@dataclass(slots=True)
class Verification:
    """The state of a verification: the snapshot, and the facts collected from the files read so far."""

    lake: Lake
    manifest: dict[str, Any]
    files: dict[str, SnapshotFile]
    comparison: Comparison
    similarity: SimilarityCheck
    bodies: set[str] = field(default_factory=set)
    """papers with `has_pdf_body_text` in their metadata"""
    seen: set[str] = field(default_factory=set)
    """documents found in a file"""
    papers: set[str] = field(default_factory=set)
    """papers found in corpus/metadata"""
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    """set → sample record, from `documents/`"""

    @property
    def rules(self) -> dict[str, Any]:
        """Values of the manifest's rules by name."""
        rules: dict[str, Any] = self.manifest["rules"]
        return rules


def check_file(state: Verification, file: SnapshotFile) -> Iterator[Fault]:
    """Yield the faults of one file: checksums, malformed lines, and contradictions with files read before it."""
    if not file.path.endswith(".jsonl.gz"):
        yield from _check_plain_file(state, file)
        return
    with state.lake.open(file.path) as raw:
        hashing = _HashingStream(raw, file.bytes)
        content = hashlib.sha256()
        size = rows = 0
        check = _select_line_check(state, file.path)
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
                yield from (Fault(file.path, message, rows) for message in _run_check(check, line, rows))
        except (EOFError, OSError, zlib.error) as error:
            yield Fault(file.path, f"corrupt gzip data: {error}")
            return
        hashing.drain()
    if hashing.sha256.hexdigest() != file.sha256:
        yield Fault(file.path, "the SHA-256 differs from the manifest")
    if (rows, size, content.hexdigest()) != (file.rows, file.content_bytes, file.content_sha256):
        yield Fault(file.path, f"the content differs from the manifest ({rows} of {file.rows} lines, {size} bytes)")


def _check_plain_file(state: Verification, file: SnapshotFile) -> Iterator[Fault]:
    """Yield the faults of a file that has no JSON lines."""
    with state.lake.open(file.path) as raw:
        hashing = _HashingStream(raw, file.bytes)
        hashing.drain()
    if hashing.sha256.hexdigest() != file.sha256:
        yield Fault(file.path, "the SHA-256 differs from the manifest")
        return
    if file.path.endswith(".parquet"):
        table = read_table(state.lake, file.path)
        if table.num_rows != file.rows:
            yield Fault(file.path, f"the file has {table.num_rows} rows; the manifest has {file.rows}")
        if file.path.startswith("graph/"):
            ends = {*table["paper_id"].to_pylist(), *table["cited_paper_id"].to_pylist()}
            yield from (
                Fault(file.path, f"paper {id_} is not in corpus/metadata") for id_ in sorted(ends - state.papers)[:10]
            )
        if file.path.startswith(("documents/", "tables/", "keys/", "graph/")):
            messages = state.comparison.check_table(file.path, table)
            yield from (Fault(file.path, message) for message in islice(messages, MAX_FAULTS))
        for set_, row in state.comparison.published.samples.items():
            if parquet_path(row["file"]) == file.path:
                state.samples[set_] = shorten_record(table.slice(row["line"] - 1, 1).to_pylist()[0])


def _select_line_check(state: Verification, path: str) -> Callable[[bytes, int], Iterator[str]]:
    """Return the check for the lines of a file. It takes a line and its number, and yields messages."""
    if match := _DOCUMENTS.fullmatch(path):
        return _make_document_check(state, path, match[1], match[2], int(match[3]))
    if match := _CORPUS.fullmatch(path):
        return _make_corpus_check(state, match[1], int(match[2]))
    return lambda line, row: iter(())


def _run_check(check: Callable[[bytes, int], Iterator[str]], line: bytes, row: int) -> Iterator[str]:
    """Yield the messages of a check. Report an unexpected exception as a malformed line."""
    try:
        yield from check(line, row)
    except UNEXPECTED as error:
        yield f"malformed: {type(error).__name__} {error}"


def _make_document_check(
    state: Verification, path: str, set_: str, split: str, nn: int
) -> Callable[[bytes, int], Iterator[str]]:
    """Return the check for the lines of a file in `v2/`."""
    recipe = state.rules["clean.profile"] == "recipe-2024"
    last = ""

    def check(line: bytes, row: int) -> Iterator[str]:
        nonlocal last
        id_, faults = checks.check_document(line, set_, recipe=recipe)
        yield from faults
        if id_ is None:
            return
        if id_ <= last:
            yield f"document {id_} follows {last}; expected unique ids in ascending order"
        last = id_
        if file_number(id_, state.rules["export.files"]) != nn:
            yield f"document {id_} belongs to file {file_number(id_, state.rules['export.files']):02d}"
        if id_ in state.seen:
            yield f"document {id_} is also in another file"
        state.seen.add(id_)
        value = orjson.loads(line)
        state.similarity.add_document(id_, split, value["text"])
        yield from state.comparison.check_document(value, set_, split, (path, row))

    return check


def _make_corpus_check(state: Verification, kind: str, nn: int) -> Callable[[bytes, int], Iterator[str]]:
    """Return the check for the lines of a file in `corpus/`."""
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
            yield f"paper {paper_id} follows {last}; expected unique ids in ascending order"
        last = paper_id
        if file_number(paper_id, files) != nn:
            yield f"paper {paper_id} belongs to another file"
        if kind == "metadata":
            state.papers.add(paper_id)
            if value.get("has_pdf_body_text"):
                state.bodies.add(paper_id)
            yield from checks.check_metadata(value)
            yield from state.comparison.add_metadata(value)
        else:
            yield from checks.check_parse(value)
            state.comparison.add_parse(kind.removesuffix("_parses"), value)
            if paper_id not in state.papers:
                yield f"paper {paper_id} has no metadata"
            elif kind == "pdf_parses" and bool(value.get("body_text")) != (paper_id in state.bodies):
                has_body = "has body text" if value.get("body_text") else "has no body text"
                yield f"paper {paper_id}: has_pdf_body_text is {paper_id in state.bodies}, but its parse {has_body}"

    return check


class _HashingStream:
    """A stream that hashes the bytes read from it. It ends one byte after the size in the manifest."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size + 1
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read and hash up to `size` bytes."""
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        self.sha256.update(data)
        return data

    def drain(self) -> None:
        """Read the remaining bytes."""
        while self.read(1 << 20):
            pass
