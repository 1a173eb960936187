"""Define groups of snapshot files. One task of the export writes one group."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from heapq import merge
from math import gcd
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa

from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import stage_row
from s2corpus.snapshot.rows import ROW_GROUP
from s2corpus.snapshot.store import Store
from s2corpus.version import code_version
from s2corpus_reader.files import GzipLines
from s2corpus_reader.parquet import ParquetFile

F = TypeVar("F", GzipLines, ParquetFile)


def open_store(run: Run) -> Store:
    """Return the store of the snapshot of a run. Its digest identifies the code and the input tables."""
    digest = hashlib.sha256(code_version().encode())
    for table in stage_row("export").read_tables:
        for part in run.table(table).committed().parts:
            digest.update(f"{table.name}/{part.name}:{part.sha256};".encode())
    return Store(run.lake, run.snapshot_id, f"releases/{run.release_id}/_export", digest.hexdigest()[:16])


def list_groups(run: Run) -> list[tuple[range, range, range]]:
    """Return the groups of files: (file numbers of documents, tables and graph; file numbers of the corpus; buckets).

    Groups of one kind share no bucket of papers. A group contains both kinds of files if both have the same number of groups.
    """
    (documents, corpus_files), buckets = run.file_counts, run.paper_shards
    kinds = [(documents, corpus_files)]
    if gcd(buckets, documents) != gcd(buckets, corpus_files):
        kinds = [(documents, 0), (0, corpus_files)]
    return [
        (range(index, files, count), range(index, corpus, count), range(index, buckets, count))
        for files, corpus in kinds
        for count in [gcd(buckets, files, corpus)]
        for index in range(count)
    ]


class ExportGroup:
    """The files that one task writes, and the buckets of papers that they contain."""

    def __init__(self, run: Run, numbers: range, corpus_numbers: range, buckets: range) -> None:
        self.run = run
        self.store = open_store(run)
        self.files, self.corpus_files = run.file_counts
        self.numbers = numbers
        self.corpus_numbers = corpus_numbers
        self.buckets = buckets

    def find_missing(self, paths: Iterable[str]) -> set[str]:
        """Return the paths that must still be written."""
        wanted = set(paths)
        return wanted - self.store.find_unchanged(wanted).keys()

    def merge_rows(self, read_rows: Callable[[int], Iterator[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """Yield the rows of all buckets sorted by paper_id. `read_rows` must yield the rows of one bucket in that order."""
        return merge(*(read_rows(bucket) for bucket in self.buckets), key=itemgetter("paper_id"))

    def open_fragments(self, stack: ExitStack, prefix: Path, schema: pa.Schema) -> dict[int, ParquetFile]:
        """Return a fragment file `<prefix>-<number>` for each number; `stack` closes it. `describe` joins the fragments."""
        return {
            nn: stack.enter_context(ParquetFile(prefix.with_name(f"{prefix.name}-{nn}"), schema, ROW_GROUP))
            for nn in self.numbers
        }

    def write_lines(self, paths: set[str], lines: Iterable[tuple[str, bytes]], scratch: Path) -> None:
        """Write (path, line) pairs to their files and upload the files. Create all `paths`, even without lines."""
        with closing(Pieces(scratch, GzipLines)) as pieces:
            for path in sorted(paths):
                pieces.open(path)
            for path, line in lines:
                pieces.open(path).write(line)
        self.store.put((file.describe(path), pieces.local(path)) for path, file in sorted(pieces.files.items()))


class Pieces(Generic[F]):
    """The local files of a group by their paths."""

    def __init__(self, scratch: Path, make: Callable[[Path], F]) -> None:
        self._scratch = scratch
        self._make: Callable[[Path], F] = make
        self.files: dict[str, F] = {}

    def open(self, path: str) -> F:
        """Return the open file for a path."""
        if path not in self.files:
            self.files[path] = self._make(self.local(path))
        return self.files[path]

    def close(self) -> None:
        """Close all open files."""
        for file in self.files.values():
            file.close()

    def local(self, path: str) -> Path:
        """Return the local path of a file."""
        return self._scratch / path.replace("/", "~")
