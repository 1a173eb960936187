"""Send selected PDFs to an extractor (SPEC §2). Responses are stored by file content and reused in all releases.

`GROBID_URL` contains the comma-separated addresses of the servers; other adapters have their name as prefix.
`S2CORPUS_EXTRACTOR_TOKEN` (or the file in `S2CORPUS_EXTRACTOR_TOKEN_FILE`) contains the servers' token.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, cast

from s2corpus.deliveries.copies import Copies
from s2corpus.deliveries.files import open_file
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import Limits, Pool
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, commit_all, count_outcomes
from s2corpus.secret_files import read_secret
from s2corpus.storage.content_store import ContentStore
from s2corpus.tables.intake import PDFS
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS, STORED_TEI, ExtractionRow, StoredTeiRow

log = logging.getLogger(__name__)
PART_BYTES = 32 << 20
"""size of the responses that are stored as one part"""
PART_SECONDS = 30.0
"""maximum seconds between two parts: a killed task loses at most this much work"""


class TooManyFailures(TransientError):
    """The share of a shard's failed PDFs exceeds `extract.max_failure_rate`. Received responses are stored."""


class ExtractStage(Stage):
    """The extract stage. It writes one row for each selected PDF, and the responses to the content store."""

    name = "extract"

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """Return a shard for each range of PDFs, with the identity of the current extractor."""
        pool = self.open_pool(run)
        key = pool.identity().key
        return [Shard(index, {**key, "adapter": pool.adapter}) for index in range(run.pdf_shards)]

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Send PDFs without a stored response, store the responses, then write the shard's extractions.

        Raises:
            TooManyFailures: too many PDFs failed; a retry sends only these.
        """
        selections = list(run.table(SELECTIONS).rows(["file_sha1", "outcome"], shard=shard.index))
        selected = [row["file_sha1"] for row in selections if row["outcome"] == "selected"]
        copies = Copies.find()
        key = _key(shard)
        stored = find_stored(run, key, selected)
        missing = [sha1 for sha1 in selected if sha1 not in stored]
        log.info("extract shard %d: %d selected, %d already extracted", shard.index, len(selected), len(stored))
        if missing:
            store = run.store(STORED_TEI, *key.values())
            failed = self._send(run, shard, store, missing, len(selected), copies)
            store.merge(min(selected), max(selected))
            stored = failed | find_stored(run, key, selected)
        run.table(EXTRACTIONS).write(shard.index, [stored[sha1] for sha1 in selected])
        for row in selections:
            copies.remove(row["file_sha1"])

    def finish(self, run: Run) -> Metrics:
        """Commit the table with the extractor's identity; return the number of PDFs by outcome."""
        planned = run.read_plan(self.name)[0]
        extractor = " ".join([*_key(planned).values(), *_describe_reused(run, _key(planned)["version"])])
        facts = {"extractor": extractor, "adapter": planned.params["adapter"]}
        commit_all(run, self.name, run.pdf_shards, facts)
        return count_outcomes(run, EXTRACTIONS)

    def open_pool(self, run: Run) -> Pool:
        """Return the servers of `GROBID_URL` with the rules of the spec."""
        deadline = run.spec.resources.extract_seconds
        # OCR takes seconds per page, so one request may use the complete deadline
        request = deadline if run.spec.extract.ocr == "scans" else deadline / Limits.tries
        limits = self.limits or Limits(
            in_flight=run.spec.resources.in_flight,
            deadline=deadline,
            request=request,
        )
        servers = os.environ.get("GROBID_URL", "")
        if not servers:
            raise UserError("no extractor given: set GROBID_URL to the address of a GROBID server, or run `make up`")
        return Pool(servers.split(","), run.spec.extract, limits, token=read_secret("S2CORPUS_EXTRACTOR_TOKEN"))

    def _send(
        self,
        run: Run,
        shard: Shard,
        store: ContentStore[StoredTeiRow],
        missing: list[str],
        selected: int,
        copies: Copies,
    ) -> dict[str, ExtractionRow]:
        """Extract PDFs and store the responses; return the rows of failed PDFs by file_sha1."""
        key = _key(shard)
        pool = self.open_pool(run)
        if (found := pool.identity()).key != key:
            raise UserError(
                f"the extract stage was planned for {key['extractor']} {key['version']}, but the servers run {found}: "
                "clear the stage, including its plan"
            )
        missing_sha1s = set(missing)
        places = {
            pdf["file_sha1"]: pdf["places"][0]
            for pdf in run.table(PDFS).rows(["file_sha1", "places"], shard=shard.index)
            if pdf["file_sha1"] in missing_sha1s
        }
        items = ((sha1, partial(_open_pdf, run, copies, places[sha1], sha1)) for sha1 in missing)
        limit = run.spec.extract.max_failure_rate * selected
        failed: dict[str, ExtractionRow] = {}
        batch: list[StoredTeiRow] = []
        size, stored_at, detail = 0, time.monotonic(), ""
        try:
            for result in pool.extract(items, total=len(missing)):
                row = StoredTeiRow(
                    file_sha1=result.file_sha1, extractor=key["extractor"], version=key["version"],
                    options_hash=key["options_hash"], outcome=result.outcome, tries=result.tries, seconds=result.seconds,
                    server=result.server, tei_sha1=result.tei_sha1, text_layer=_read_defects(result.tei or b""),
                    tei=result.tei,
                )  # fmt: skip
                if not result.outcome.final:
                    failed[result.file_sha1], detail = _make_row(row, None), result.detail
                    if len(failed) > limit:
                        break
                    continue
                batch.append(row)
                size += len(result.tei or b"")
                if size >= PART_BYTES or time.monotonic() - stored_at >= PART_SECONDS:
                    store.append(batch)
                    batch, size, stored_at = [], 0, time.monotonic()
        finally:
            if batch:
                store.append(batch)
        if len(failed) > limit:
            counts = Counter(str(row["outcome"]) for row in failed.values())
            raise TooManyFailures(
                f"shard {shard.index}: {len(failed)} of {selected} PDFs were given up ({dict(counts)}), more than "
                f"extract.max_failure_rate {run.spec.extract.max_failure_rate} allows; "
                f"the received responses are stored. The last cause: {detail}"
            )
        return failed


def _open_pdf(run: Run, copies: Copies, place: Mapping[str, Any], sha1: str) -> BinaryIO:
    return copies.open(sha1) or open_file(run.lake, place, sha1)


def find_stored(run: Run, key: Mapping[str, str], selected: Sequence[str]) -> dict[str, ExtractionRow]:
    """Return the rows of EXTRACTIONS of the PDFs with a stored answer.

    With `extract.reuse: any`, a PDF without an answer of the current version gets the latest successful answer of another version
    of the same extractor with the same options.
    """
    if not selected:
        return {}
    columns = [name for name in EXTRACTIONS.schema.names if name != "stored"]
    versions = [key["version"]]
    if run.spec.extract.reuse == "any":
        others = set(run.lake.folders(f"{STORED_TEI.name}/{key['extractor']}/")) - {key["version"]}
        versions += sorted(others, key=_sort_version, reverse=True)
    found: dict[str, ExtractionRow] = {}
    for version in versions:
        if missing := [sha1 for sha1 in selected if sha1 not in found]:
            store = run.store(STORED_TEI, key["extractor"], version, key["options_hash"])
            stored = store.known(min(missing), max(missing), columns)
            found |= {
                sha1: _make_row(*stored[sha1])
                for sha1 in missing
                if sha1 in stored and (version == key["version"] or stored[sha1][0]["outcome"] == "ok")
            }
    return found


def _sort_version(version: str) -> list[tuple[int, str]]:
    """Return a sort key that compares the numbers of a version by value."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.+-]", version)]


def _describe_reused(run: Run, current: str) -> list[str]:
    """Return the number of PDFs by version other than the current one, and a hash of them: the bytes of a snapshot depend on it."""
    if run.spec.extract.reuse != "any":
        return []
    counts, digest = Counter[str](), hashlib.sha256()
    for shard in range(run.pdf_shards):
        for row in run.table(EXTRACTIONS).read_shard(shard).select(["file_sha1", "version"]).to_pylist():
            if row["version"] != current:
                counts[row["version"]] += 1
                digest.update(f"{row['file_sha1']} {row['version']}\n".encode())
    if not counts:
        return []
    by_version = ", ".join(f"{n} of {version}" for version, n in sorted(counts.items()))
    return [f"(reused: {by_version}; {digest.hexdigest()[:8]})"]


def _make_row(row: StoredTeiRow, stored: str | None) -> ExtractionRow:
    """Return a row of EXTRACTIONS: the stored row without its response, and the part that contains it."""
    return cast(ExtractionRow, {name: value for name, value in row.items() if name != "tei"} | {"stored": stored})


def _key(shard: Shard) -> dict[str, str]:
    """Return the extractor's identity as columns of EXTRACTIONS and folders of the content store."""
    return {name: shard.params[name] for name in ("extractor", "version", "options_hash")}


_DEFECT = re.compile(rb'<measure unit="pages" type="([a-z_]{1,20})" quantity="\d+" n="([\d ]{1,400})"/>')
_MAX_HEADER_BYTES = 16_384


def _read_defects(tei: bytes) -> str | None:
    """Return the pages with OCR or text-layer defects from a TEI header (`ocr 1 2, no_words 7`); None if it lists no such pages."""
    defects = [f"{m[1].decode()} {m[2].decode()}" for m in _DEFECT.finditer(tei[:_MAX_HEADER_BYTES])]
    return ", ".join(defects) or None
