"""What a release sees: drops and deliveries that were ready before its as_of (SEMANTICS §0).

Each is registered once (`registration`); here the registered ones are put together: one row per content, and the latest record of
each record_id.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import Any, Literal

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from s2corpus.deliveries.files import FILES, files_of
from s2corpus.deliveries.ready import Delivery, Refused, folders, iso, read_ready
from s2corpus.deliveries.registration import register, registered_table
from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.pipeline.run import Metrics, Run, Shard, count_outcomes
from s2corpus.snapshot.pointer import published
from s2corpus.storage.duck import duckdb_connection
from s2corpus.tables import ARTICLES, DELIVERIES, LATEX_SOURCES, NOTICES, PDFS, RECORDS, pdf_shard

log = logging.getLogger(__name__)
RECORDS_PER_PART = 1_000_000

_LATEST = """
SELECT * EXCLUDE (position, deleted) FROM (
  SELECT *, row_number() OVER (PARTITION BY record_id ORDER BY ready_at DESC, delivery DESC, position DESC) AS rank FROM registered
) WHERE rank = 1 AND NOT deleted ORDER BY record_id
"""
_NOTICES = """
SELECT DISTINCT notice.about AS about, notice.status AS status, record_id
FROM (SELECT record_id, unnest(notices) AS notice FROM records WHERE notices IS NOT NULL) ORDER BY ALL
"""


class Intake:
    """Drops and deliveries → PDFs, LaTeX sources, publishers' full texts and records."""

    name = "intake"
    reads = ()
    writes = (PDFS, LATEX_SOURCES, ARTICLES, RECORDS, NOTICES, DELIVERIES)

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each drop or delivery ready before as_of; what is refused or not ready yet is planned too, as a row."""
        found: list[dict[str, Any]] = []
        there = list(folders(run.lake))
        _check_patterns(run, there)
        for kind, source, id_ in there:
            patterns = run.spec.drops if kind == "drop" else run.spec.sources
            if not any(fnmatchcase(id_ if kind == "drop" else source, pattern) for pattern in patterns):
                continue
            row: dict[str, Any] = {"kind": kind, "source": source, "delivery": id_, "outcome": "taken"}
            try:
                delivery = read_ready(run.lake, kind, source, id_)
            except Refused as refused:
                found.append({"row": {**row, "outcome": f"refused:{refused.refusal}", "detail": refused.detail}})
                continue
            if delivery is None:
                continue  # still being written
            row |= {"ready_at": delivery.ready_at, "files": delivery.files}
            if delivery.ready_at >= iso(run.as_of):
                row["outcome"] = "not_yet"
            found.append({"row": row, "delivery": asdict(delivery)})
        suppress = _copy_suppressions(run)
        found.append({"row": None, "suppress": suppress, "parent": _parent(run)})
        return [Shard(i, params) for i, params in enumerate(found)]

    def work(self, run: Run, shard: Shard) -> None:
        """Register one drop or delivery, and say in its row of `deliveries` what came of it."""
        row = shard.params["row"]
        if row and row["outcome"] == "taken":
            try:
                facts = register(run.lake, Delivery(**shard.params["delivery"]))
                row = {**row, "rows": facts.rows, "dropped": facts.dropped, "warnings": list(facts.warnings)}
            except Refused as refused:
                log.warning("%s %s is refused: %s", row["kind"], row["delivery"], refused)
                row = {**row, "outcome": f"refused:{refused.refusal}", "detail": refused.detail}
        defaults: dict[str, Any] = {
            "ready_at": None,
            "detail": None,
            "files": 0,
            "rows": 0,
            "dropped": 0,
            "warnings": [],
        }
        run.table(DELIVERIES).write(shard.index, [{**defaults, **row}] if row else [])

    def finish(self, run: Run) -> Metrics:
        """Put the taken ones together, fix the number of PDF shards, and name the release's inputs and parent."""
        shards = run.planned(self.name)
        facts = shards[-1].params
        outcomes = {}
        for shard in shards[:-1]:
            (outcomes[shard.index],) = run.table(DELIVERIES).written(shard.index)["outcome"].to_pylist()
        taken = [Delivery(**s.params["delivery"]) for s in shards[:-1] if outcomes[s.index] == "taken"]
        found = files_of(run, taken)
        most = max(files.num_rows for files in found)
        count = max(1, min(run.spec.resources.max_shards, -(-most // run.spec.resources.pdfs_per_shard)))
        for (table, _), files in zip(FILES, found, strict=True):
            shard_of = pa.array([pdf_shard(sha1, count) for sha1 in files[0].to_pylist()], pa.int64())
            for index in range(count):
                run.table(table).write(index, files.filter(pc.equal(shard_of, index)))
            run.table(table).commit(range(count), {"pdf_shards": count})
        self._records(run, taken)
        with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
            connection.register("records", run.table(RECORDS).dataset())
            run.table(NOTICES).write(0, connection.execute(_NOTICES).to_arrow_table())
        run.table(NOTICES).commit([0])
        inputs = hashlib.sha256(
            orjson.dumps([[b.kind, b.source, b.id, b.digest] for b in taken] + [facts["suppress"]])
        ).hexdigest()
        run.table(DELIVERIES).commit(
            range(len(shards)),
            {"inputs": inputs, "parent": facts["parent"], "delivered_by": _people(taken, facts["parent"])},
        )
        return {
            **{table.name: float(files.num_rows) for (table, _), files in zip(FILES, found, strict=True)},
            "records": float(run.table(RECORDS).committed().rows),
            **count_outcomes(run, DELIVERIES),
        }

    def _records(self, run: Run, taken: list[Delivery]) -> None:
        """The latest of each record_id over deliveries not superseded by a later full one of their source."""
        full: dict[str, str] = {}
        for delivery in taken:
            if delivery.kind == "delivery" and delivery.mode == "full":
                full[delivery.source] = max(full.get(delivery.source, ""), delivery.ready_at)
        refs = [
            registered_table(run.lake, delivery, "records")
            for delivery in taken
            if delivery.kind == "drop" or delivery.ready_at >= full.get(delivery.source, "")
        ]
        table = run.table(RECORDS)
        if not refs:
            table.write(0, [])
            table.commit([0])
            return
        with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
            datasets = ds.dataset([ref.dataset() for ref in refs])
            connection.register("registered", datasets)
            reader = connection.execute(_LATEST).to_arrow_reader(10_000)
            parts = 0
            for rows in _chunks(reader, RECORDS_PER_PART):
                table.write(parts, rows)
                parts += 1
        if not parts:
            table.write(0, [])
        table.commit(range(max(1, parts)))


def _chunks(reader: pa.RecordBatchReader, rows: int) -> Iterator[Iterator[pa.RecordBatch]]:
    """Groups of batches of about `rows` rows, each group read while it is written."""
    batches = iter(reader)
    for first in batches:

        def group(first: pa.RecordBatch = first) -> Iterator[pa.RecordBatch]:
            yield first
            seen = first.num_rows
            while seen < rows and (batch := next(batches, None)) is not None:
                seen += batch.num_rows
                yield batch

        yield group()


def _copy_suppressions(run: Run) -> str:
    """Keep `suppress.jsonl` as this release saw it; its SHA-256, empty where there is none."""
    try:
        data, _ = run.lake.get("suppress.jsonl")
    except FileNotFoundError:
        data = b""
    run.lake.put(f"releases/{run.release_id}/suppress.jsonl", data)
    return hashlib.sha256(data).hexdigest() if data else ""


def _check_patterns(run: Run, there: list[tuple[Literal["drop", "delivery"], str, str]]) -> None:
    """Refuse a drop pattern that matches no drop of the lake, however old: a mistyped one would publish an empty corpus.

    `*` may match none where metadata was delivered: a corpus of abstracts has no drops.
    """
    drops = [id_ for kind, _, id_ in there if kind == "drop"]
    for pattern in run.spec.drops:
        if not any(fnmatchcase(drop, pattern) for drop in drops) and not (pattern == "*" and there):
            some = ", ".join(drops[:5]) + (f" and {len(drops) - 5} more" if len(drops) > 5 else "")
            raise UserError(
                f"drops: the pattern {pattern!r} of spec {run.spec.name} matches no drop in {run.lake.uri('drops/')}; "
                f"there: {some or 'none'}. Correct the pattern, or deliver first (docs/drops.md)"
            )


def _people(taken: list[Delivery], parent: str | None) -> dict[str, str]:
    """Who delivered what the parent did not see, each with the first folder."""
    since = iso(SnapshotId(parent).release.as_of) if parent else ""
    found: dict[str, str] = {}
    for delivery in sorted(taken, key=lambda delivery: (delivery.ready_at, delivery.folder)):
        if delivery.by and delivery.ready_at >= since:
            found.setdefault(delivery.by, delivery.folder.rstrip("/"))
    return found


def _parent(run: Run) -> str | None:
    """The newest published snapshot of the spec with a smaller as_of, unless yanked; releases of `own` have none."""
    if run.spec.profile == "own":
        return None
    earlier = [id_ for id_ in published(run.lake, run.spec.name) if id_.release.day < run.release_id.day]
    return earlier[-1] if earlier else None
