"""Measure CPU, requests and bytes of stored results in twelve monthly releases: month 12 must cost about as much as month 2.

`python -m devtools.bench.stores`. Each release adds 1 % new PDFs. Each shard looks up its stored results, and stores new results in three
parts, as a task of extract does. Then it merges small parts, and reads all results, as later tasks do. The lake is a server of S3 in this
process. The work of the server is not counted.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from s2corpus.storage.content_store import ContentStore
from s2corpus.storage.lake import open_lake
from s2corpus.tables.parses import STORED_PARSES
from s2corpus.tables.schema import pdf_shard
from tests.s3_store import Answer, Request, s3_store
from tests.unit.s2corpus.storage.test_lakes import use_server

PDFS, SHARDS, MONTHS = 20_000, 8, 12
PARTS_PER_MONTH = 3
PARSE_BYTES = 20_000


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
    counts = defaultdict[str, float](float)
    with s3_store() as server, pytest.MonkeyPatch.context() as patch:
        execute = server.answer

        def answer(request: Request, *of_request: Any) -> Answer:
            began = time.thread_time()
            found = execute(request, *of_request)
            counts["cpu"] += time.thread_time() - began
            counts["requests"] += 1
            counts["bytes"] += len(request.body) + len(found.body)
            return found

        patch.setattr(server, "answer", answer)
        use_server(patch, server.port)
        store = ContentStore(open_lake("s3://corpus"), "stored_parses/bench", STORED_PARSES)
        for month in range(MONTHS + 1):
            shards = defaultdict(list)
            for sha1 in pdfs[: PDFS + month * PDFS // 100]:
                shards[pdf_shard(sha1, SHARDS)].append(sha1)
            counts.clear()
            began = time.process_time()
            run_release(store, shards, words)
            seconds = time.process_time() - began - counts["cpu"]
            print(
                f"month {month:2}: {seconds:5.1f} s of CPU, {counts['requests']:5.0f} requests, "
                f"{counts['bytes'] / 1e6:6.1f} MB, {len(server.objects):4} parts",
                flush=True,
            )


if __name__ == "__main__":
    main()
