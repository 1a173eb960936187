"""Which PDFs are worth extracting (S2ORC App. B, SEMANTICS §1): every PDF is read once, in a child process with limits."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from s2corpus.pdf import inspect_many
from s2corpus.stages.base import ChangedInput, Metrics, Run, Shard, commit_all, count_outcomes, pdf_shards
from s2corpus.tables import PDFS, SELECTIONS


class Select:
    """PDFs → selections, one row each."""

    name = "select"
    reads = (PDFS,)
    writes = (SELECTIONS,)

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each range of PDFs."""
        return pdf_shards(run)

    def work(self, run: Run, shard: Shard) -> None:
        """Read the shard's PDFs; one is on this machine's disk at a time for each child process."""
        pdfs = run.table(PDFS).read(["pdf_sha1", "places"], shard=shard.index).to_pylist()
        resources = run.spec.resources
        cores = len(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory(prefix="select-", dir=run.scratch) as folder:

            def here() -> Iterator[tuple[str, Path]]:
                for pdf in pdfs:
                    path = Path(folder) / pdf["pdf_sha1"]
                    place = pdf["places"][0]
                    key = f"drops/{place['drop']}/{place['name']}"
                    run.lake.download(key, path)
                    with path.open("rb") as file:
                        if hashlib.file_digest(file, "sha1").hexdigest() != pdf["pdf_sha1"]:
                            raise ChangedInput(run.lake.uri(key))
                    yield pdf["pdf_sha1"], path

            rows = []
            for selection in inspect_many(
                here(),
                max_pages=run.spec.select.max_pages,
                workers=max(1, min(len(pdfs), cores // run.pdf_shards)),
                timeout=resources.pdf_seconds,
                memory_bytes=resources.pdf_memory_mb << 20,
            ):
                (Path(folder) / selection.pdf_sha1).unlink()
                rows.append(asdict(selection))
        run.table(SELECTIONS).write(shard.index, sorted(rows, key=lambda row: str(row["pdf_sha1"])))

    def finish(self, run: Run) -> Metrics:
        """Commit; PDFs by outcome."""
        commit_all(run, self.writes, run.pdf_shards)
        return count_outcomes(run, SELECTIONS)
