"""What one task of the export writes to: its group of files, and the buckets of papers that go into them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any

from s2corpus.pipeline.run import Run
from s2corpus.snapshot.files import GzipLines, whole
from s2corpus.snapshot.store import Store
from s2corpus.tables import (
    ALIASES,
    CLUSTERS,
    CONTEXTS,
    DOCUMENTS,
    DUPLICATES,
    FILTERED,
    FULLTEXTS,
    LINKS,
    PAPERS,
    SPLITS,
)
from s2corpus.version import code_version

READS = (DOCUMENTS, SPLITS, PAPERS, FILTERED, FULLTEXTS, LINKS, CONTEXTS, ALIASES, CLUSTERS, DUPLICATES)


def store_of(run: Run) -> Store:
    """Where this run's snapshot is written, and what it is written from."""
    digest = hashlib.sha256(code_version().encode())
    for table in READS:
        for part in run.table(table).committed().parts:
            digest.update(f"{table.name}/{part.name}:{part.sha256};".encode())
    return Store(run.lake, run.snapshot_id, f"releases/{run.release_id}/_export", digest.hexdigest()[:16])


class Group:
    """The files whose numbers have one remainder, and the buckets of papers that go into them."""

    def __init__(self, run: Run, index: int, groups: int) -> None:
        self.run = run
        self.store = store_of(run)
        self.files = run.spec.export.files
        self.corpus_files = run.spec.export.of_corpus
        self.numbers = range(index, self.files, groups)
        self.corpus_numbers = range(index, self.corpus_files, groups)
        self.buckets = range(index, run.paper_shards, groups)

    def missing(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that have to be written."""
        wanted = set(paths)
        return wanted - self.store.there(wanted).keys()

    def merged(self, rows_of: Callable[[int], Iterator[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """Rows of all buckets by paper_id; each bucket's come by paper_id."""
        return merge(*(rows_of(bucket) for bucket in self.buckets), key=itemgetter("paper_id"))

    def write_lines(self, paths: set[str], lines: Iterable[tuple[str, bytes]], scratch: Path) -> None:
        """Write (path, line) pairs to their files and upload these; `paths` are there even without lines.

        Of the pieces of one file, which come one after the other, one is open at a time.
        """
        made: dict[str, GzipLines] = {}
        open_now: dict[str, str] = {}

        def file(path: str) -> GzipLines:
            if open_now.get(at := whole(path)) != path:
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
        self.store.put((made[path].listed(path), local[path]) for path in local)
        for written in local.values():
            written.unlink()
