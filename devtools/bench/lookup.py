"""Measure the bytes read to look up papers in a large snapshot on S3: `python -m devtools.bench.lookup [MB]` (default 1000).

The script makes a snapshot of that size from generated papers with 10,000 words each; several papers share one text. It
uploads the snapshot to a separate SeaweedFS server. A proxy in front of the server counts the bytes of its answers.
Meanwhile one process opens the snapshot and looks up papers by DOI, with text.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import orjson
import pyarrow as pa

import s2corpus_reader
from devtools.local import Services
from pdf2tei.language import language
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import documents
from s2corpus.snapshot.pointer import publish
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.export import ExportStage
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, FULLTEXTS, SPLITS
from s2corpus.text import signals
from tests.faults.proxy import Proxy
from tests.unit.s2corpus.snapshot.release import Paper, lay_out, papers, put_metrics, work

WORDS = 10_000
BYTES = 125_000
"""Measured bytes of a paper's share of the snapshot.

Its text is stored in lines, in documents, in the parse and in tables.
"""
LOOK_UPS = 20
BASE = 120
"""Number of different texts."""
SPEC = ReleaseSpec.model_validate({"name": "large", "clean": {"language_characters": 200}})


def make(folder: Path, megabytes: int) -> tuple[Run, int]:
    """Make a snapshot of about that size; return its run and its bytes.

    It is exported from tables that are written here. Many papers share each of the `BASE` texts.
    """
    base = [paper for paper in papers(3 * BASE, words=WORDS // 6) if paper.parse and paper.row["open_access"]][:BASE]
    texts = ["\n\n".join(paragraph["text"] for paragraph in (paper.parse or {})["body_text"]) for paper in base]
    rng = random.Random(1)
    ids = sorted(f"{rng.getrandbits(60):015x}" for _ in range(megabytes * 1_000_000 // BYTES))

    def made() -> Iterator[Paper]:
        for i, id_ in enumerate(ids):
            row = {**base[i % BASE].row, "paper_id": id_, "doi": f"10.1234/{i}", "record_ids": [f"crossref:{i}"]}
            yield replace(base[i % BASE], row=row, kept=True, parse=None)

    run = lay_out(LocalLake(folder / "lake"), folder, SPEC, made(), buckets=1)
    patch.object(signals, "compute_signals", cache(signals.compute_signals)).start()
    patch.object(documents, "language", cache(language)).start()

    def fulltexts() -> Iterator[pa.RecordBatch]:
        for at in range(0, len(ids), 100):
            rows = []
            for i, id_ in enumerate(ids[at : at + 100], at):
                of = base[i % BASE]
                known = {name: of.row[name] for name in ("open_access", "oa_evidence", "licence")}
                known |= {
                    "paper_id": id_,
                    "parse_kind": "pdf",
                    "file_sha1": of.row["canonical_pdf"],
                    "parse_id": f"{id_}:pdf:-:1",
                }
                rows.append({**known, "parse": orjson.dumps({**(of.parse or {}), "paper_id": id_})})
            yield pa.RecordBatch.from_pylist(rows, FULLTEXTS.schema)

    def kept() -> Iterator[pa.RecordBatch]:
        for at in range(0, len(ids), 100):
            rows = [
                {"set": "s2orc", "paper_id": id_, "outcome": "kept", "text": texts[i % BASE], "text_key": i,
                 "sha1": base[i % BASE].row["canonical_pdf"], "oa_evidence": "declared"}
                for i, id_ in enumerate(ids[at : at + 100], at)
            ]  # fmt: skip
            yield pa.RecordBatch.from_pylist(rows, DOCUMENTS.schema)

    splits = [{"set": "s2orc", "paper_id": id_, "split": "train"} for id_ in ids]
    for table, rows in ((FULLTEXTS, fulltexts()), (DOCUMENTS, kept()), (SPLITS, splits), (DUPLICATES, [])):
        run.table(table).write(0, rows)
        run.table(table).commit([0])
    put_metrics(run, "clean", {})
    put_metrics(run, "split", {})
    export = ExportStage()
    work(run, export)
    export.finish(run)
    publish(run.lake, run.snapshot_id)
    return run, sum(entry.bytes for entry in run.lake.list(f"snapshots/{run.snapshot_id}/"))


def copy(run: Run, lake: Lake) -> str:
    """Upload the snapshot to S3; return its address."""
    for entry in run.lake.list(f"snapshots/{run.snapshot_id}/"):
        lake.upload(entry.key, Path(run.lake.uri(entry.key)))
    return f"{lake.root}/snapshots/{run.snapshot_id}"


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory(prefix="s2corpus-lookup-") as scratch:
        started = time.monotonic()
        run, size = make(Path(scratch), megabytes)
        print(f"a snapshot of {size / 1e6:,.0f} MB, made in {time.monotonic() - started:,.0f} s", flush=True)
        services = Services(Path(scratch) / "state")
        try:
            os.environ.update(services.up({"s3"}).environ())
            address = copy(run, open_lake(f"{os.environ['S2CORPUS_LAKE']}/lookup"))
            rows = [
                row
                for batch in s2corpus_reader.open(address).documents("s2orc", columns=["id", "doi"])
                for row in batch.to_pylist()
            ]
            with Proxy(urlsplit(os.environ["AWS_ENDPOINT_URL"]).port or 80) as proxy:
                os.environ["AWS_ENDPOINT_URL"] = proxy.url
                snapshot = s2corpus_reader.open(address)
                opened = proxy.answered
                read: dict[str, list[int]] = {"paper": [], "document": []}
                seconds = []
                for row in rows[:: len(rows) // LOOK_UPS][:LOOK_UPS]:
                    before, at = proxy.answered, time.monotonic()
                    paper = snapshot.paper(doi=row["doi"])
                    read["paper"].append(proxy.answered - before)
                    document = snapshot.document(row["id"])
                    seconds.append(time.monotonic() - at)
                    read["document"].append(proxy.answered - before - read["paper"][-1])
                    assert paper is not None and document is not None and paper["paper_id"] == row["id"]
            print(f"opening it (the manifest): {opened:,} bytes, {opened / size:.4%}")
            for what, found in read.items():
                most, middle = max(found), int(statistics.median(found))
                print(f"{what:8} by DOI or id: {middle:,} bytes in the middle, {most:,} at most, {most / size:.4%}")
            whole = opened + max(map(sum, zip(*read.values(), strict=True)))
            print(
                f"all of it for one paper with its text: {whole:,} bytes, {whole / size:.4%} of {len(rows):,} documents"
            )
            print(f"{statistics.median(seconds) * 1000:,.0f} ms for both")
        finally:
            services.down()


if __name__ == "__main__":
    main()
