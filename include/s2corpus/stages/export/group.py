"""What one task of the export writes to: its group of files, and the buckets of papers that go into them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from math import gcd
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import stage_row
from s2corpus.snapshot.documents import ParquetFile
from s2corpus.snapshot.rows import ROW_GROUP
from s2corpus.snapshot.store import Store
from s2corpus.version import code_version
from s2corpus_reader.files import GzipLines, remove_piece


def store_of(run: Run) -> Store:
    """Where this run's snapshot is written, and what it is written from."""
    digest = hashlib.sha256(code_version().encode())
    for table in stage_row("export").read_tables:
        for part in run.table(table).committed().parts:
            digest.update(f"{table.name}/{part.name}:{part.sha256};".encode())
    return Store(run.lake, run.snapshot_id, f"releases/{run.release_id}/_export", digest.hexdigest()[:16])


def groups(run: Run) -> list[tuple[range, range, range]]:
    """The groups of files that have no bucket of papers in common with others of their kind: numbers of files of documents, tables and
    graph, numbers of files of the corpus, and the buckets that go into them. Both kinds are one group where both are cut into as many.
    """
    export, buckets = run.spec.export, run.paper_shards
    kinds = [(export.files, export.of_corpus)]
    if gcd(buckets, export.files) != gcd(buckets, export.of_corpus):
        kinds = [(export.files, 0), (0, export.of_corpus)]
    return [
        (range(index, files, count), range(index, corpus, count), range(index, buckets, count))
        for files, corpus in kinds
        for count in [gcd(buckets, files, corpus)]
        for index in range(count)
    ]


class Group:
    """The files that one task writes, and the buckets of papers that go into them."""

    def __init__(self, run: Run, numbers: range, corpus_numbers: range, buckets: range) -> None:
        self.run = run
        self.store = store_of(run)
        self.files = run.spec.export.files
        self.corpus_files = run.spec.export.of_corpus
        self.numbers = numbers
        self.corpus_numbers = corpus_numbers
        self.buckets = buckets

    def missing(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that have to be written."""
        wanted = set(paths)
        return wanted - self.store.there(wanted).keys()

    def merged(self, rows_of: Callable[[int], Iterator[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """Rows of all buckets by paper_id; each bucket's come by paper_id."""
        return merge(*(rows_of(bucket) for bucket in self.buckets), key=itemgetter("paper_id"))

    def fragments(self, stack: ExitStack, place: Path, schema: pa.Schema) -> dict[int, ParquetFile]:
        """For each number a file for a piece of what the end of the export puts together; `stack` closes it."""
        return {
            nn: stack.enter_context(ParquetFile(place.with_name(f"{place.name}-{nn}"), schema, ROW_GROUP))
            for nn in self.numbers
        }

    def write_lines(self, paths: set[str], lines: Iterable[tuple[str, bytes]], scratch: Path) -> None:
        """Write (path, line) pairs to their files and upload these; `paths` are there even without lines.

        Of the pieces of one file, which come one after the other, one is open at a time.
        """
        made: dict[str, GzipLines] = {}
        open_now: dict[str, str] = {}

        def file(path: str) -> GzipLines:
            if open_now.get(at := remove_piece(path)) != path:
                if at in open_now:
                    made[open_now[at]].close()
                open_now[at] = path
                made[path] = GzipLines(scratch / path.replace("/", "~"))
            return made[path]

        try:
            for path in sorted(paths):
                file(path)
            for path, line in lines:
                file(path).write(line)
        finally:
            for path in open_now.values():
                made[path].close()
        local = {path: scratch / path.replace("/", "~") for path in sorted(made)}
        self.store.put((made[path].describe(path), local[path]) for path in local)
        for written in local.values():
            written.unlink()
