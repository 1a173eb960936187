"""Selected PDFs through GROBID (SEMANTICS §2). What was extracted once is kept by content and never sent again, in any release.

The servers are named by `GROBID_URL` (several with commas between), their token by `S2CORPUS_EXTRACTOR_TOKEN`.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from functools import partial
from typing import Any

from s2corpus.deliveries.files import open_file
from s2corpus.errors import TransientError, UserError
from s2corpus.grobid import Limits, Options, Pool
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, count_outcomes
from s2corpus.storage.parts import ContentStore
from s2corpus.tables import EXTRACTIONS, PDFS, SELECTIONS, STORED_TEI

log = logging.getLogger(__name__)
PART_BYTES = 32 << 20
"""TEI held in memory before it is stored as one part"""
PART_SECONDS = 30.0
"""the most work that a killed task loses"""


class TooManyFailures(TransientError):
    """More of a shard's PDFs were given up than `extract.max_failure_rate` allows; what was answered is kept."""


class Extract:
    """Selections → extractions, one row for each selected PDF; the TEI goes to the content store."""

    name = "extract"
    reads = (PDFS, SELECTIONS)
    writes = (EXTRACTIONS,)

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each range of PDFs, all for the one extractor that answers now."""
        pool = self._pool(run)
        extractor, version = pool.identity()
        key = {"extractor": extractor, "version": version, "options_hash": pool.options.hash}
        return [Shard(index, key) for index in range(run.pdf_shards)]

    def work(self, run: Run, shard: Shard) -> None:
        """Send what the store does not have yet, store answers as they come, then list the shard's extractions.

        Raises:
            TooManyFailures: after storing what was answered; a retry sends only the rest.
        """
        selections = run.table(SELECTIONS).read(["pdf_sha1", "outcome"], shard=shard.index).to_pylist()
        selected = [row["pdf_sha1"] for row in selections if row["outcome"] == "selected"]
        key = dict(shard.params)
        store = run.store(STORED_TEI, key["extractor"], key["version"], key["options_hash"])
        known = self._known(store, selected)
        missing = [sha1 for sha1 in selected if sha1 not in known]
        log.info("extract shard %d: %d selected, %d already extracted", shard.index, len(selected), len(known))
        given_up = self._send(run, shard, store, missing, len(selected)) if missing else {}
        known = self._known(store, selected) if missing else known
        rows = [known.get(sha1) or given_up[sha1] for sha1 in selected]
        run.table(EXTRACTIONS).write(shard.index, rows)

    def finish(self, run: Run) -> Metrics:
        """Commit, with who extracted; PDFs by outcome."""
        key = run.planned(self.name)[0].params
        extractor = f"{key['extractor']} {key['version']} {key['options_hash']}"
        commit_all(run, self.writes, run.pdf_shards, {"extractor": extractor})
        return count_outcomes(run, EXTRACTIONS)

    def _pool(self, run: Run) -> Pool:
        asked = run.spec.extract
        options = Options(
            consolidate_header=asked.consolidate_header,
            consolidate_citations=asked.consolidate_citations,
            include_raw_citations=int(asked.include_raw_citations),
            segment_sentences=int(asked.segment_sentences),
        )
        deadline = run.spec.resources.extract_seconds
        limits = self.limits or Limits(
            in_flight=run.spec.resources.in_flight,
            deadline=deadline,
            request=deadline / Limits.tries,
            max_tei_bytes=asked.max_tei_bytes,
        )
        servers = os.environ.get("GROBID_URL", "")
        if not servers:
            raise UserError("no extractor given: set GROBID_URL to the address of a GROBID server, or run `corpus up`")
        return Pool(servers.split(","), options, limits, token=os.environ.get("S2CORPUS_EXTRACTOR_TOKEN"))

    def _known(self, store: ContentStore, selected: list[str]) -> dict[str, dict[str, Any]]:
        if not selected:
            return {}
        columns = [name for name in EXTRACTIONS.schema.names if name != "stored"]
        found = store.known(min(selected), max(selected), columns)
        return {sha1: found[sha1] for sha1 in selected if sha1 in found}

    def _send(
        self, run: Run, shard: Shard, store: ContentStore, missing: list[str], selected: int
    ) -> dict[str, dict[str, Any]]:
        """Extract and store; the rows of what was given up, by pdf_sha1."""
        key = dict(shard.params)
        pool = self._pool(run)
        if (found := pool.identity()) != (key["extractor"], key["version"]):
            raise UserError(
                f"the extract stage was planned for {key['extractor']} {key['version']}, but {' '.join(found)} answers: "
                "clear the stage from its plan on"
            )
        wanted = set(missing)
        places = {
            pdf["pdf_sha1"]: pdf["places"][0]
            for pdf in run.table(PDFS).read(["pdf_sha1", "places"], shard=shard.index).to_pylist()
            if pdf["pdf_sha1"] in wanted
        }
        items = ((sha1, partial(open_file, run.lake, places[sha1], sha1)) for sha1 in missing)
        limit = run.spec.extract.max_failure_rate * selected
        given_up: dict[str, dict[str, Any]] = {}
        batch: list[dict[str, Any]] = []
        size, stored_at = 0, time.monotonic()
        try:
            for result in pool.extract(items, total=len(missing)):
                row = {
                    **key,
                    "pdf_sha1": result.pdf_sha1,
                    "outcome": result.outcome,
                    "tries": result.tries,
                    "seconds": result.seconds,
                    "server": result.server,
                    "tei_sha1": result.tei_sha1,
                }
                if not result.outcome.final:
                    given_up[result.pdf_sha1] = {**row, "stored": None}
                    if len(given_up) > limit:
                        break
                    continue
                batch.append({**row, "tei": result.tei})
                size += len(result.tei or b"")
                if size >= PART_BYTES or time.monotonic() - stored_at >= PART_SECONDS:
                    store.append(batch)
                    batch, size, stored_at = [], 0, time.monotonic()
        finally:
            if batch:
                store.append(batch)
        if len(given_up) > limit:
            counts = Counter(str(row["outcome"]) for row in given_up.values())
            raise TooManyFailures(
                f"shard {shard.index}: {len(given_up)} of {selected} PDFs were given up ({dict(counts)}), more than "
                f"extract.max_failure_rate {run.spec.extract.max_failure_rate} allows; what was answered is kept"
            )
        return given_up
