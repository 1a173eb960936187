"""The documents' files: JSON lines, the same as Parquet, and their part of the index.

Where the spec has `export.shard_bytes`, each file is cut into pieces, whose names only the documents themselves decide: what was
written before is known by the index that was kept of it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import documents, rows
from s2corpus.snapshot.store import Store
from s2corpus.spec import ModelText
from s2corpus.stages.export.group import Group
from s2corpus.storage.uris import fetch
from s2corpus.text import token_counts
from s2corpus.text.model_text import model_text
from s2corpus.text.overlaps import SCHEMA, Benchmarks
from s2corpus_reader.files import describe_file, document_line, documents_path, file_number, parquet_path, remove_piece

SPLIT_FOLDERS = ("train", "valid")


def document_paths(run: Run, store: Store, set_: str, number: int) -> list[str] | None:
    """The JSON lines files of one number; None if they are in pieces and were not written yet."""
    if run.spec.export.shard_bytes is None:
        return [documents_path(set_, split, number) for split in SPLIT_FOLDERS]
    if not store.has_fragments([name := f"index/{number:02d}-{set_}"]):
        return None
    first = {documents_path(set_, split, number, 0) for split in SPLIT_FOLDERS}
    return sorted(first.union(*(pc.unique(some["file"]).to_pylist() for some in store.fragment(name, ["file"]))))


class _Names:
    """Which file the next document goes to, and how many lines each has."""

    def __init__(self, set_: str, shard_bytes: int | None) -> None:
        self._set = set_
        self._limit = shard_bytes
        self._pieces: Counter[tuple[str, int]] = Counter()
        self._bytes: Counter[tuple[str, int]] = Counter()
        self.lines: Counter[str] = Counter()

    def next(self, split: str, number: int, size: int) -> str:
        """The path for a line of `size` bytes."""
        at = (split, number)
        if self._limit is not None and self._bytes[at] and self._bytes[at] + size > self._limit:
            self._pieces[at] += 1
            self._bytes[at] = 0
        self._bytes[at] += size
        path = documents_path(self._set, split, number, None if self._limit is None else self._pieces[at])
        self.lines[path] += 1
        return path


class _Copies:
    """The Parquet files; of each number one is open."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._open: dict[str, tuple[str, documents.ParquetFile]] = {}
        self.counts: dict[str, int] = {}

    def open(self, path: str) -> documents.ParquetFile:
        """The file to write to; the one before it is closed."""
        at = remove_piece(path)
        if at in self._open and self._open[at][0] == path:
            return self._open[at][1]
        self._close(at)
        self._open[at] = (path, documents.ParquetFile(self.local(path)))
        return self._open[at][1]

    def _close(self, at: str) -> None:
        if at in self._open:
            path, file = self._open.pop(at)
            file.close()
            self.counts[path] = file.count

    def close(self) -> None:
        """Close all."""
        for at in list(self._open):
            self._close(at)

    def local(self, path: str) -> Path:
        """Where a file is written."""
        return self._scratch / path.replace("/", "~")


def write_documents(group: Group, set_: str, scratch: Path) -> None:
    """`v2/<set>/<split>/<nn>.jsonl.gz`, the same as Parquet, and their part of the index."""
    export, store = group.run.spec.export, group.store
    known = [document_paths(group.run, store, set_, nn) for nn in group.numbers]
    everything = None in known  # in pieces, which this run is the first to make
    paths = {path for of_number in known for path in of_number or ()}
    if everything:
        paths |= {documents_path(set_, split, nn, 0) for split in SPLIT_FOLDERS for nn in group.numbers}
    missing = group.missing(paths | {parquet_path(path) for path in paths})
    if not missing and store.has_fragments(f"index/{nn:02d}-{set_}" for nn in group.numbers):
        return
    names = _Names(set_, export.shard_bytes)
    tokens = token_counts.counter(export.tokenizer, fetch) if export.tokenizer else None
    benchmarks = _benchmarks(group.run)
    mask, in_form = group.run.spec.clean.pii == "mask", _model_text(group.run)
    copies = _Copies(scratch)

    def wanted(path: str) -> bool:
        return everything or path in missing

    def read(bucket: int) -> Iterator[dict[str, Any]]:
        return rows.read_documents(group.run.table, bucket, set_, mask=mask, links=in_form is not None)

    def written(
        index: Mapping[int, documents.ParquetFile], overlaps: Mapping[int, documents.ParquetFile]
    ) -> Iterator[tuple[str, bytes]]:
        for document in group.merged(read):
            split, nn = document["split"], file_number(document["paper_id"], group.files)
            line = document_line(document["paper_id"], document["sha1"], document["text"])
            path = names.next(split, nn, len(line))
            index[nn].write(rows.build_index_row(document, set_, path, names.lines[path]))
            for benchmark, ngrams, share in benchmarks.overlaps(document["text"]) if benchmarks else ():
                found = {"id": document["paper_id"], "set": set_, "split": split, "benchmark": benchmark}
                overlaps[nn].write({**found, "ngrams": ngrams, "share": share})
            if wanted(parquet_path(path)):
                row = documents.row(document, set_, tokens, in_form)
                copies.open(parquet_path(path)).write(row, len(document["text"]))
            if wanted(path):
                yield path, line

    with ExitStack() as stack:
        index = group.fragments(stack, scratch / "index", rows.INDEX)
        overlaps = group.fragments(stack, scratch / "overlaps", SCHEMA)
        stack.enter_context(closing(copies))
        for path in sorted(filter(wanted, map(parquet_path, paths))):
            copies.open(path)
        group.write_lines(set(filter(wanted, paths)), written(index, overlaps), scratch)
    store.put(
        (describe_file(path, copies.local(path), count), copies.local(path)) for path, count in copies.counts.items()
    )
    for path in copies.counts:
        copies.local(path).unlink()
    store.put_fragments({f"overlaps/{nn:02d}-{set_}": piece.path for nn, piece in overlaps.items()})
    store.put_fragments({f"index/{nn:02d}-{set_}": piece.path for nn, piece in index.items()})


def _model_text(run: Run) -> Callable[[Mapping[str, Any]], str] | None:
    """Writes a document's text as the spec asks for; None where that is the card's form."""
    form = run.spec.export.text
    drop = run.spec.clean.citations == "drop"
    if form == ModelText():
        return None
    return lambda document: model_text(
        document["text"], document["parse"], document["linked"], form, drop_citations=drop
    )


def _benchmarks(run: Run) -> Benchmarks | None:
    """The benchmarks that the spec names; None where it names none.

    Raises:
        UserError: one of them is another file than its checksum says.
    """
    contents = {}
    for one in run.spec.export.benchmarks:
        contents[one.name] = fetch(one.uri)
        if (found := hashlib.sha256(contents[one.name]).hexdigest()) != one.sha256:
            raise UserError(f"{one.uri}: its SHA-256 is {found}, the spec says {one.sha256}")
    return Benchmarks(contents, run.spec.export.benchmark_words) if contents else None
