"""Verify the files of a snapshot one by one against the manifest, and their lines against the format (SPEC §3.3, §10)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, cast

import orjson
import pyarrow as pa

from s2corpus.snapshot.claims import MAX_FAULTS, Fault
from s2corpus.snapshot.comparison import Comparison
from s2corpus.snapshot.report import shorten_record
from s2corpus.snapshot.similarity import SimilarityCheck
from s2corpus.storage.lake import Lake
from s2corpus_reader.bounded import TooLarge, gzip_lines
from s2corpus_reader.files import SnapshotFile, file_number, parquet_path
from s2corpus_reader.parquet import read_table
from s2corpus_reader.schemas import METADATA

_DOCUMENTS = re.compile(r"v2/(s2orc|s2ag)/(train|valid)/(\d+)(?:-\d{6})?\.jsonl\.gz")
_CORPUS = re.compile(r"corpus/(metadata|pdf_parses|latex_parses|jats_parses|elsevier_parses)/.*_(\d+)\.jsonl\.gz")
PARSED_KEYS = frozenset(METADATA.names)
"""Metadata keys of a paper with a parse."""
METADATA_KEYS = frozenset(name for name in PARSED_KEYS if not name.startswith(("has_pdf_body", "has_pdf_parsed")))
_SPANS = {
    "cite_spans": "bib_entries", "unlinked_spans": "bib_entries", "ref_spans": "ref_entries", "eq_spans": "ref_entries",
}  # fmt: skip
_PARSE_KEYS = {"paper_id", "_pdf_hash", "abstract", "body_text", "bib_entries", "ref_entries"}
UNEXPECTED = (
    pa.ArrowException, LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError, OSError, MemoryError
)  # fmt: skip
"""Exceptions that a reader raises on malformed data."""


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


def check_file(state: Verification, file: SnapshotFile) -> Iterator[Fault | str]:
    """Yield the faults of one file: checksums, malformed lines, and contradictions with files read before it."""
    with state.lake.open(file.path) as raw:
        hashing = HashingStream(raw, file.bytes)
        if file.path.endswith(".jsonl.gz"):
            yield from check_lines(file, hashing, _make_line_check(state, file.path))
        hashing.drain()
    if hashing.sha256.hexdigest() != file.sha256:
        yield "the SHA-256 differs from the manifest"
    elif file.path.endswith(".parquet"):
        table = read_table(state.lake, file.path)
        if table.num_rows != file.rows:
            yield f"the file has {table.num_rows} rows; the manifest has {file.rows}"
        if file.path.startswith("graph/"):
            ends = {*table["paper_id"].to_pylist(), *table["cited_paper_id"].to_pylist()}
            yield from (f"paper {id_} is not in corpus/metadata" for id_ in sorted(ends - state.papers)[:10])
        if file.path.startswith(("documents/", "tables/", "keys/", "graph/")):
            yield from islice(state.comparison.check_table(file.path, table), MAX_FAULTS)
        for set_, row in state.comparison.published.samples.items():
            if parquet_path(row["file"]) == file.path:
                state.samples[set_] = shorten_record(table.slice(row["line"] - 1, 1).to_pylist()[0])


def check_lines(
    file: SnapshotFile, stream: HashingStream, check: Callable[[bytes, int], Iterator[str]]
) -> Iterator[Fault]:
    """Yield the faults of a file of JSON lines; `check` yields the messages of a line with its number."""
    content, size, rows = hashlib.sha256(), 0, 0
    try:
        for line in gzip_lines(cast(BinaryIO, stream), file.content_bytes or 0):
            content.update(line)
            size += len(line)
            rows += 1
            yield from (Fault(file.path, message, rows) for message in _run_check(check, line, rows))
    except TooLarge as error:
        yield Fault(file.path, str(error), rows + 1)
        return
    except (EOFError, OSError, zlib.error) as error:
        yield Fault(file.path, f"corrupt gzip data: {error}")
        return
    if (rows, size, content.hexdigest()) != (file.rows, file.content_bytes, file.content_sha256):
        yield Fault(file.path, f"the content differs from the manifest ({rows} of {file.rows} lines, {size} bytes)")


def _run_check(check: Callable[[bytes, int], Iterator[str]], line: bytes, row: int) -> Iterator[str]:
    """Yield the messages of a check. Report an unexpected exception as a malformed line."""
    try:
        yield from check(line, row)
    except UNEXPECTED as error:
        yield f"malformed: {type(error).__name__} {error}"


def _make_line_check(state: Verification, path: str) -> Callable[[bytes, int], Iterator[str]]:
    """Return the check for the lines of a file. It takes a line and its number, and yields messages."""
    documents, corpus = _DOCUMENTS.fullmatch(path), _CORPUS.fullmatch(path)
    if not (match := documents or corpus):
        return lambda line, row: iter(())
    kind, split, number = match[1], match[2], int(match[match.lastindex or 0])
    noun = "document" if documents else "paper"
    n_files = state.rules["export.files"] if documents else sum(p.startswith(f"corpus/{kind}/") for p in state.files)
    last = ""

    def check(line: bytes, row: int) -> Iterator[str]:
        nonlocal last
        if documents:
            id_, faults = check_document(line, kind, recipe=state.rules["clean.profile"] == "recipe-2024")
            yield from faults
            if id_ is None:
                return
            value = orjson.loads(line)
        else:
            try:
                value = orjson.loads(line)
                id_ = value["paper_id"]
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                yield f"no JSON object with a paper_id: {error}"
                return
        if id_ <= last:
            yield f"{noun} {id_} follows {last}; expected unique ids in ascending order"
        last = id_
        if (expected := file_number(id_, n_files)) != number:
            yield f"{noun} {id_} belongs to file {expected}"
        if documents:
            if id_ in state.seen:
                yield f"document {id_} is also in another file"
            state.seen.add(id_)
            state.similarity.add_document(id_, split, value["text"])
            yield from state.comparison.check_document(value, kind, split, (path, row))
        elif kind == "metadata":
            state.papers.add(id_)
            if value.get("has_pdf_body_text"):
                state.bodies.add(id_)
            yield from check_metadata(value)
            yield from state.comparison.add_metadata(value)
        else:
            yield from check_parse(value)
            state.comparison.add_parse(kind.removesuffix("_parses"), value)
            if id_ not in state.papers:
                yield f"paper {id_} has no metadata"
            elif kind == "pdf_parses" and bool(value.get("body_text")) != (id_ in state.bodies):
                has_body = "has body text" if value.get("body_text") else "has no body text"
                yield f"paper {id_}: has_pdf_body_text is {id_ in state.bodies}, but its parse {has_body}"

    return check


def check_document(line: bytes, set_: str, *, recipe: bool) -> tuple[str | None, list[str]]:
    """Return the id of a document and the faults of its line. Texts of `recipe-2024` (`recipe`) have no blocks to check."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return None, [f"invalid JSON: {error}"]
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return None, ["expected a JSON object with a string `id`"]
    keys = ["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"]
    faults = []
    if list(value) != keys or not all(isinstance(value[key], str) for key in keys):
        faults.append(f"keys are {list(value)}; expected for {set_}: {', '.join(keys)}, all strings, in this order")
    elif line != orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE):
        faults.append("not canonical JSON: expected UTF-8 without spaces and a final newline")
    else:
        faults += _check_text(value["text"], set_, recipe=recipe)
    return value["id"], faults


def _check_text(text: str, set_: str, *, recipe: bool) -> Iterator[str]:
    """Yield the faults of the text of a document."""
    if not unicodedata.is_normalized("NFC", text):
        yield "text is not in NFC"
    if recipe:
        return
    blocks = text.split("\n\n")
    if set_ == "s2ag" and len(blocks) != 2:
        yield f"text has {len(blocks)} blocks; expected title and abstract"
    if set_ == "s2orc" and len(blocks) < 3:
        yield f"text has {len(blocks)} blocks; expected title, abstract and a body"
    if "\n" in blocks[0]:
        yield "title has more than one line"
    if any(line != " ".join(line.split()) or not line for block in blocks for line in block.split("\n")):
        yield "a line is empty, or has white space other than single spaces between words"


def check_metadata(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of the metadata of a paper: keys that S2ORC 20200705 does not have, and wrong flags."""
    expected = PARSED_KEYS if value.get("has_pdf_parse") else METADATA_KEYS
    if set(value) != expected:
        yield f"keys differ from S2ORC 20200705: {sorted(set(value) ^ expected)}"
        return
    for direction in ("outbound", "inbound"):
        cited = value[f"{direction}_citations"]
        if value[f"has_{direction}_citations"] != bool(cited):
            yield f"has_{direction}_citations contradicts {direction}_citations"
        if cited != sorted(set(cited)):
            yield f"{direction}_citations are not sorted and unique"


def check_parse(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a parse: spans with other text than their offsets, and references without an entry."""
    if missing := _PARSE_KEYS - set(value):
        yield f"keys are missing: {sorted(missing)}"
        return
    paragraphs = [*value["abstract"], *value["body_text"], *value.get("back_matter", ())]
    for number, paragraph in enumerate(paragraphs):
        for kind, entries in _SPANS.items():
            for span in paragraph.get(kind, ()):
                if paragraph["text"][span["start"] : span["end"]] != span["text"]:
                    yield f"paragraph {number}: the text of a span in {kind} differs from the text at its offsets"
                ref_id = span.get("ref_id")
                if ref_id not in value[entries] and (ref_id is not None or kind == "cite_spans"):
                    yield f"paragraph {number}: {kind} refers to {ref_id}, which is not in {entries}"


class HashingStream:
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
