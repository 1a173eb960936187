"""Measure CPU, requests and bytes of stored results in twelve monthly releases: month 12 must cost about as much as month 2.

`python -m devtools.bench.stores`. Each release adds 1 % new PDFs. Each shard looks up its stored results, stores the new ones in three
parts, as a task of extract does, merges small parts, and reads all results, as the tasks after it do. The lake is a folder, read by the
code that reads S3: each operation is one request.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.fs

from s2corpus.storage.content_store import ContentStore
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.objects import NO_SIZES, ListedObject
from s2corpus.storage.s3_objects import arrow_files
from s2corpus.tables.parses import STORED_PARSES
from s2corpus.tables.schema import pdf_shard

PDFS, SHARDS, MONTHS = 20_000, 8, 12
PARTS_PER_MONTH = 3
PARSE_BYTES = 20_000


class CountedLake(LocalLake):
    """A folder that counts what would be requests to S3, and the bytes that they send or receive."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.counts = Counter[str]()

    def _count(self, size: int) -> None:
        self.counts.update(requests=1, bytes=size)

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """List objects. A request lists 1,000."""
        for number, entry in enumerate(super().list(prefix)):
            if number % 1000 == 0:
                self._count(0)
            yield entry

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        self._count(path.stat().st_size)
        super().upload(key, path, move=move)

    def delete(self, key: str) -> None:
        self._count(0)
        super().delete(key)

    def head(self, key: str) -> Mapping[str, Any]:
        self._count(0)
        return {"ContentLength": self.size(key)}

    def read_tail(self, key: str, size: int) -> tuple[bytes, int, str]:
        with self.open(key) as file:
            total = file.seek(0, 2)
            file.seek(max(0, total - size))
            data = file.read()
        self._count(len(data))
        return data, total, ""

    def read_range(self, key: str, start: int, size: int, etag: str) -> bytes:
        self._count(size)
        with self.open(key) as file:
            file.seek(start)
            return file.read(size)

    def filesystem(self, sizes: Mapping[str, int] = NO_SIZES) -> tuple[pyarrow.fs.FileSystem, str]:
        return arrow_files(self, sizes), ""


def make_row(sha1: str, words: list[str]) -> dict[str, object]:
    """Return a stored parse of generated words."""
    text = " ".join(random.Random(sha1).choices(words, k=PARSE_BYTES // 7)).encode()
    return {"file_sha1": sha1, "kind": "pdf", "outcome": "ok", "bytes": len(text), "parse": text}


def run_release(store: ContentStore[Any], shards: Mapping[int, list[str]], words: list[str]) -> None:
    """Look up the results of every shard, store the missing ones, and read all."""
    for keys in shards.values():
        first, last = min(keys), max(keys)
        known = store.known(first, last, ["outcome"])
        if missing := [key for key in keys if key not in known]:
            for number in range(parts := min(PARTS_PER_MONTH, len(missing)) if known else max(1, len(missing) // 300)):
                store.append([make_row(key, words) for key in missing[number::parts]])
            store.merge(first, last)
            known = store.known(first, last, ["outcome"])
        by_part = defaultdict(list)
        for key in keys:
            by_part[known[key][1]].append(key)
        assert sum(1 for part, some in by_part.items() for _ in store.fetch(part, some, ["file_sha1"])) == len(keys)


def main() -> None:
    words = ["".join(random.Random(n).choices("aeiourstlnmdg", k=6)) for n in range(5000)]
    total = PDFS + MONTHS * PDFS // 100
    pdfs = [hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest() for number in range(total)]
    with tempfile.TemporaryDirectory() as folder:
        lake = CountedLake(Path(folder))
        store = ContentStore(lake, "stored_parses/bench", STORED_PARSES)
        for month in range(MONTHS + 1):
            shards = defaultdict(list)
            for sha1 in pdfs[: PDFS + month * PDFS // 100]:
                shards[pdf_shard(sha1, SHARDS)].append(sha1)
            lake.counts.clear()
            began = time.process_time()
            run_release(store, shards, words)
            seconds = time.process_time() - began
            counts = dict(lake.counts)
            parts = sum(1 for _ in lake.list("stored_parses/"))
            print(
                f"month {month:2}: {seconds:5.1f} s of CPU, {counts['requests']:5} requests, "
                f"{counts['bytes'] / 1e6:6.1f} MB, {parts:4} parts",
                flush=True,
            )


if __name__ == "__main__":
    main()
