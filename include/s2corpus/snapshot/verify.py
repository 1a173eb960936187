"""Verification of a snapshot: every file against the manifest, every line against the format."""

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
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.snapshot import checks, copies
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
        rules: dict[str, Any] = self.manifest["rules"]
        return rules


def verify(
    snapshot: Lake, progress: Callable[[str], None] = lambda path: None, *, manifest_sha256: str | None = None
) -> Iterator[Fault]:
    """What is wrong with the snapshot whose folder is opened as `snapshot`; nothing if it is whole.

    `manifest_sha256` is what its publication noted: with it no file can be changed unseen, since the manifest has every
    file's checksum. Without it, what is found is what contradicts itself.

    Raises:
        UserError: there is no manifest of a format this version knows.
    """
    try:
        data = snapshot.get("manifest.json")[0]
        if manifest_sha256 is not None and hashlib.sha256(data).hexdigest() != manifest_sha256:
            yield Fault("manifest.json", "it is not the manifest that was published: its SHA-256 is another")
        manifest = orjson.loads(data)
    except FileNotFoundError:
        raise UserError(f"{snapshot.root}: no manifest.json here: give the folder of a snapshot") from None
    except orjson.JSONDecodeError as error:
        yield Fault("manifest.json", f"no JSON: {error}")
        return
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        given = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        raise UserError(f"{snapshot.root}: manifest of format {given!r}; this version reads {FORMAT!r}")
    try:
        state = _Snapshot(snapshot, manifest, {str(file["path"]): File(**file) for file in manifest["files"]})
        state.rules["export.files"], state.rules["clean.profile"]
    except (KeyError, TypeError) as error:
        yield Fault("manifest.json", f"not of its form: {type(error).__name__} {error}")
        return
    yield from _presence(state)
    if "index.parquet" in state.files:
        yield from _index(state)
    # metadata first: every parse and link must belong to a paper that it has; then lines, before what repeats them
    for path in sorted(
        state.files, key=lambda path: (not path.startswith("corpus/metadata/"), path.endswith(".parquet"), path)
    ):
        progress(path)
        if snapshot.size(path) is not None:
            try:
                yield from _file(state, state.files[path])
            except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
                yield Fault(path, f"cannot be read: {type(error).__name__} {error}")
    for missed in sorted(set(state.index) - state.seen)[:100]:
        yield Fault("index.parquet", f"document {missed} is in no file")
    yield from _agreement(state)


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
    names = ("id", "file", "line", "set", "split", "words", "oa_evidence")
    for id_, file, line, set_, split, words, evidence in zip(*(table[name].to_pylist() for name in names), strict=True):
        if id_ in state.index:
            yield Fault("index.parquet", f"document {id_} is there twice")
        state.index[id_], state.words[id_] = (file, line), words
        if not file.startswith(f"v2/{set_}/{split}/"):
            yield Fault("index.parquet", f"document {id_} is of {set_} {split} there, but in {file}")
        if set_ == "s2orc" and not evidence:
            yield Fault("index.parquet", f"document {id_} is a full text, and nothing says why it is open")


def _agreement(state: _Snapshot) -> Iterator[Fault]:
    """What must agree between files: documents with papers, aliases with clusters, statistics with what is there."""
    if state.papers:
        for unknown in sorted(state.seen - state.papers)[:100]:
            yield Fault("index.parquet", f"document {unknown} is a paper that corpus/metadata has not")
    try:
        papers = set(_parquet(state, "clusters.parquet")["paper_id"].to_pylist())
        for alias in _parquet(state, "aliases.parquet").to_pylist():
            if alias["paper_id"] not in papers:
                yield Fault("aliases.parquet", f"{alias['alias']} leads to {alias['paper_id']}, which is not a paper")
        stats = orjson.loads(state.lake.get("stats.json")[0])["sets"]
        for set_, splits in stats.items():
            for split, counts in splits.items():
                for what in ("documents", "words"):
                    if counts[what] != state.counted[set_, split, what]:
                        found = state.counted[set_, split, what]
                        yield Fault("stats.json", f"{counts[what]} {what} of {set_} {split}; the files have {found}")
    except (pa.ArrowException, KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        yield Fault(
            "stats.json", f"it, aliases.parquet or clusters.parquet cannot be read: {type(error).__name__} {error}"
        )


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
        if file.path.startswith(("documents/", "tables/")):
            yield from (Fault(file.path, what) for what in copies.faults(file.path, table, state.said, state.papers))
        if file.path.startswith("graph/"):
            ends = {*table["paper_id"].to_pylist(), *table["cited_paper_id"].to_pylist()}
            for unknown in sorted(ends - state.papers)[:10]:
                yield Fault(file.path, f"names paper {unknown}, which corpus/metadata has not")


def _line_check(state: _Snapshot, path: str) -> Callable[[bytes, int], Iterator[str]]:
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
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        yield f"not of its form: {type(error).__name__} {error}"


def _documents_check(
    state: _Snapshot, path: str, set_: str, split: str, nn: int
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
        if number(id_, state.rules["export.files"]) != nn:
            yield f"document {id_} belongs to file {number(id_, state.rules['export.files']):02d}"
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
            if value.get("has_pdf_body_text"):
                state.bodies.add(paper_id)
            yield from checks.metadata(value)
        else:
            yield from checks.parse(value)
            state.said.add_parse(kind.removesuffix("_parses"), value)
            if paper_id not in state.papers:
                yield f"paper {paper_id} has no metadata"
            elif kind == "pdf_parses" and bool(value.get("body_text")) != (paper_id in state.bodies):
                yield f"paper {paper_id}: its metadata say {'text' if paper_id in state.bodies else 'no text'}, its parse does not"

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
