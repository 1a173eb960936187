"""Verification of a snapshot: every file against the manifest, every line against the format."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.snapshot import checks
from s2corpus.snapshot.files import File, number
from s2corpus.snapshot.manifest import FORMAT
from s2corpus.snapshot.rows import INDEX

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake

_DOCUMENTS = re.compile(r"v2/(s2orc|s2ag)/(train|valid)/(\d+)\.jsonl\.gz")
_CORPUS = re.compile(r"corpus/(metadata|pdf_parses|latex_parses|jats_parses|elsevier_parses)/.*_(\d+)\.jsonl\.gz")
_ALWAYS = (
    "README.md",
    "stats.json",
    "croissant.json",
    "funnel.csv",
    "funnel.svg",
    "years.svg",
    "index.parquet",
    "aliases.parquet",
)


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
class _Snapshot:
    lake: Lake
    manifest: dict[str, Any]
    files: dict[str, File]
    index: dict[str, tuple[str, int]] = field(default_factory=dict)
    """document → file and line, as the index says"""
    seen: set[str] = field(default_factory=set)
    """documents met in a file"""
    papers: set[str] = field(default_factory=set)
    """papers of corpus/metadata"""

    @property
    def rules(self) -> dict[str, Any]:
        rules: dict[str, Any] = self.manifest["rules"]
        return rules


def verify(snapshot: Lake, progress: Callable[[str], None] = lambda path: None) -> Iterator[Fault]:
    """What is wrong with the snapshot whose folder is opened as `snapshot`; nothing if it is whole.

    Raises:
        UserError: there is no manifest of a format this version knows.
    """
    try:
        manifest = orjson.loads(snapshot.get("manifest.json")[0])
    except FileNotFoundError:
        raise UserError(f"{snapshot.root}: no manifest.json here: give the folder of a snapshot") from None
    except orjson.JSONDecodeError as error:
        yield Fault("manifest.json", f"no JSON: {error}")
        return
    if manifest.get("format") != FORMAT:
        raise UserError(
            f"{snapshot.root}: manifest of format {manifest.get('format')!r}; this version reads {FORMAT!r}"
        )
    state = _Snapshot(snapshot, manifest, {file["path"]: File(**file) for file in manifest["files"]})
    yield from _presence(state)
    if "index.parquet" in state.files:
        yield from _index(state)
    # metadata first: every parse and link must belong to a paper that it has
    for path in sorted(state.files, key=lambda path: (not path.startswith("corpus/metadata/"), path)):
        progress(path)
        if snapshot.size(path) is not None:
            yield from _file(state, state.files[path])
    for missed in sorted(set(state.index) - state.seen)[:100]:
        yield Fault("index.parquet", f"document {missed} is in no file")


def _presence(state: _Snapshot) -> Iterator[Fault]:
    present = {entry.key: entry.bytes for entry in state.lake.list("")}
    for path, file in sorted(state.files.items()):
        if path not in present:
            yield Fault(path, "listed in the manifest, but not there")
        elif present[path] != file.bytes:
            yield Fault(path, f"{file.bytes} bytes in the manifest, {present[path]} found")
    for path in sorted(set(present) - set(state.files) - {"manifest.json"}):
        yield Fault(path, "there, but not listed in the manifest")
    for path in _ALWAYS:
        if path not in state.files:
            yield Fault(path, "every snapshot has it; the manifest has not")


def _index(state: _Snapshot) -> Iterator[Fault]:
    try:
        table = _parquet(state, "index.parquet")
    except (FileNotFoundError, pa.ArrowInvalid, OSError) as error:
        yield Fault("index.parquet", f"cannot be read: {error}")
        return
    if not table.schema.equals(INDEX):
        yield Fault("index.parquet", f"its columns are {table.schema.names}; expected {INDEX.names} with their types")
        return
    columns = (table[name].to_pylist() for name in ("id", "file", "line"))
    for id_, file, line in zip(*columns, strict=True):
        if id_ in state.index:
            yield Fault("index.parquet", f"document {id_} is there twice")
        state.index[id_] = (file, line)


def _parquet(state: _Snapshot, path: str) -> pa.Table:
    with state.lake.open(path) as file:
        return pq.read_table(pa.BufferReader(file.read()))


def _file(state: _Snapshot, file: File) -> Iterator[Fault]:
    if not file.path.endswith(".jsonl.gz"):
        yield from _plain(state, file)
        return
    with state.lake.open(file.path) as raw:
        hashing = _Hashing(raw)
        content = hashlib.sha256()
        size = rows = 0
        check = _line_check(state, file.path)
        try:
            lines = gzip.GzipFile(fileobj=cast(BinaryIO, hashing))
            limit = (file.content_bytes or 0) + 1
            while size < limit and (line := lines.readline(limit - size)):
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


def _plain(state: _Snapshot, file: File) -> Iterator[Fault]:
    with state.lake.open(file.path) as raw:
        hashing = _Hashing(raw)
        hashing.drain()
    if hashing.sha256.hexdigest() != file.sha256:
        yield Fault(file.path, "its SHA-256 is not the manifest's")
        return
    if file.path.endswith(".parquet"):
        table = _parquet(state, file.path)
        if table.num_rows != file.rows:
            yield Fault(file.path, f"{table.num_rows} rows, {file.rows} in the manifest")
        if file.path.startswith("graph/"):
            ends = {*table["paper_id"].to_pylist(), *table["cited_paper_id"].to_pylist()}
            for unknown in sorted(ends - state.papers)[:10]:
                yield Fault(file.path, f"names paper {unknown}, which corpus/metadata has not")


def _line_check(state: _Snapshot, path: str) -> Callable[[bytes, int], Iterator[str]]:
    """The check of one kind of file: given a line and its number, what is wrong."""
    if match := _DOCUMENTS.fullmatch(path):
        return _documents_check(state, path, match[1], int(match[3]))
    if match := _CORPUS.fullmatch(path):
        return _corpus_check(state, match[1], int(match[2]))
    return lambda line, row: iter(())


def _survived(check: Callable[[bytes, int], Iterator[str]], line: bytes, row: int) -> Iterator[str]:
    """What a check says; a line of another form than any check expects is a fault too."""
    try:
        yield from check(line, row)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        yield f"not of its form: {type(error).__name__} {error}"


def _documents_check(state: _Snapshot, path: str, set_: str, nn: int) -> Callable[[bytes, int], Iterator[str]]:
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
        if number(id_, state.rules["export.files"]) != nn:
            yield f"document {id_} belongs to file {number(id_, state.rules['export.files']):02d}"
        if id_ in state.seen:
            yield f"document {id_} is in another file too"
        state.seen.add(id_)
        if state.index.get(id_) != (path, row):
            yield f"the index has document {id_} at {state.index.get(id_)}"

    return check


def _corpus_check(state: _Snapshot, kind: str, nn: int) -> Callable[[bytes, int], Iterator[str]]:
    last = ""

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
        if number(paper_id, state.rules["export.files"]) != nn:
            yield f"paper {paper_id} belongs to another file"
        if kind == "metadata":
            state.papers.add(paper_id)
            yield from checks.metadata(value)
        else:
            yield from checks.parse(value)
            if paper_id not in state.papers:
                yield f"paper {paper_id} has no metadata"

    return check


class _Hashing:
    """A stream that hashes what is read through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size) if size >= 0 else self._stream.read()
        self.sha256.update(data)
        return data

    def drain(self) -> None:
        """Read what is left."""
        while self.read(1 << 20):
            pass
