"""Select the PDFs to extract (S2ORC App. B, SPEC §1). A child process with limits reads each PDF.

Decisions are stored by content and reused in all releases. Unreadable PDFs are read again, because the limits may be the cause.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from s2corpus.deliveries.copies import Copies
from s2corpus.deliveries.files import copy_file
from s2corpus.errors import UnreadableObject
from s2corpus.outcomes import SelectOutcome
from s2corpus.pdf import Selection, inspect_many, library_versions
from s2corpus.pdf.inspection import NO_TEXT
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, commit_all, count_outcomes
from s2corpus.storage.content_store import ContentStore
from s2corpus.tables.intake import PDFS
from s2corpus.tables.parses import SELECTIONS, STORED_SELECTIONS, SelectionRow

log = logging.getLogger(__name__)
_TRANSIENT_OUTCOMES = (SelectOutcome.UNREADABLE, SelectOutcome.PDFALTO_FAILED)


class SelectStage(Stage):
    """The select stage. It writes one row for each PDF."""

    name = "select"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Read the shard's PDFs without a stored decision. Each child process needs one PDF at a time on the local disk."""
        pdfs = list(run.table(PDFS).rows(["file_sha1", "places"], shard=shard.index))
        ocr = run.spec.extract.ocr == "scans"
        store = selection_store(run)
        columns = SELECTIONS.schema.names
        known = store.known(pdfs[0]["file_sha1"], pdfs[-1]["file_sha1"], columns) if pdfs else {}
        missing = [pdf for pdf in pdfs if pdf["file_sha1"] not in known]
        log.info("select shard %d: %d PDFs, %d already decided", shard.index, len(pdfs), len(pdfs) - len(missing))
        resources = run.spec.resources
        cores = len(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory(prefix="select-", dir=run.scratch) as folder:
            read, pdf_copies = [], Copies.find()

            def copies() -> Iterator[tuple[str, Path]]:
                for pdf in missing:
                    path = Path(folder) / pdf["file_sha1"]
                    try:
                        if not pdf_copies.link(pdf["file_sha1"], path):
                            copy_file(run.lake, pdf["places"][0], pdf["file_sha1"], path)
                            pdf_copies.store(pdf["file_sha1"], path)
                    except UnreadableObject as error:
                        log.warning("%s", error)
                        read.append(Selection(pdf["file_sha1"], SelectOutcome.UNREADABLE, detail=str(error)).as_row())
                    else:
                        yield pdf["file_sha1"], path

            for selection in inspect_many(
                copies(),
                rules=run.spec.select,
                workers=max(1, min(len(missing), cores // run.pdf_shards)),
                timeout=resources.file_seconds,
                memory_bytes=resources.file_memory_mb << 20,
            ):
                (Path(folder) / selection.file_sha1).unlink()
                if ocr and selection.detail == NO_TEXT:
                    detail = "no text strings: selected for OCR"
                    selection = replace(selection, outcome=SelectOutcome.SELECTED, detail=detail)
                read.append(selection.as_row())
        if final := [row for row in read if row["outcome"] not in _TRANSIENT_OUTCOMES]:
            store.append(final)
            store.merge(pdfs[0]["file_sha1"], pdfs[-1]["file_sha1"])
        rows = {row["file_sha1"]: row for row in [*(row for row, _ in known.values()), *read]}
        run.table(SELECTIONS).write(
            shard.index, [{name: rows[pdf["file_sha1"]][name] for name in columns} for pdf in pdfs]
        )

    def finish(self, run: Run) -> Metrics:
        """Commit the table; return the number of PDFs by outcome."""
        commit_all(run, self.name, run.pdf_shards)
        return count_outcomes(run, SELECTIONS)


def selection_store(run: Run) -> ContentStore[SelectionRow]:
    """Return the stored decisions of the current rules and libraries."""
    rules_hash = hashlib.sha256(run.spec.select.model_dump_json().encode()).hexdigest()[:16]
    ocr = ["ocr"] if run.spec.extract.ocr == "scans" else []
    return run.store(STORED_SELECTIONS, library_versions(), rules_hash, *ocr)
