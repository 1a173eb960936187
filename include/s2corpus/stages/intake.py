"""Take in the drops and deliveries that were ready before the as_of of the release (SPEC §0.6).

The first round registers each drop and delivery (`deliveries.registration`). It divides the records into buckets by a hash of record_id,
and the files into ranges of SHA-1. The second round merges the buckets: the latest record of each record_id, and one row per file content.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.deliveries.expected import find_missing, list_expected, write_awaited
from s2corpus.deliveries.files import CONTENT_TABLES, DELIVERED_FILES, delivered_files, group_by_content
from s2corpus.deliveries.ready import (
    UNREADABLE_OBJECT,
    Delivery,
    Refused,
    convert_content_errors,
    escape,
    iso,
    list_deliveries,
    read_ready,
)
from s2corpus.deliveries.registration import register, registered_table
from s2corpus.deliveries.release_inputs import (
    check_patterns,
    copy_corrections,
    copy_suppressions,
    find_parent,
    list_deliverers,
)
from s2corpus.errors import UnreadableObject
from s2corpus.pipeline.run import MAX_SHARDS, OF_RUN, Metrics, Run, Shard, Stage, count_outcomes
from s2corpus.snapshot.pointer import check_pointer
from s2corpus.sources.arrow import apply_licenses
from s2corpus.tables.intake import DELIVERIES, NOTICES, RECORDS, REGISTERED_RECORDS, DeliveryRow, NoticeRow
from s2corpus.tables.schema import pdf_shard
from s2corpus.titles.arrays import bucket_of

log = logging.getLogger(__name__)
_EXCHANGE = "_buckets"
BUCKET_BYTES = 64 << 20
"""bytes of delivered metadata per bucket: about 200,000 records"""
_CHUNK_ROWS = 5_000_000
"""records per exchange file: about 2 GB; a bucket opens all files of a delivery"""
_ROWS = 10_000
"""records of a bucket per written batch"""
_RANGES = 4096
"""ranges of SHA-1 that divide the files of a delivery; a shard reads the ranges that overlap with its own"""
_SECOND_ROUND = "regrouped"
"""name of the counts that list the deliveries that the second round reads"""


class IntakeStage(Stage):
    """The intake stage. It reads drops and deliveries, and writes PDFs, LaTeX sources, publishers' full texts and records."""

    name = "intake"

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """Return a shard for each drop or delivery; then one for each bucket of records and range of files."""
        return self._plan_buckets(run) if round else self._plan_deliveries(run)

    def _plan_deliveries(self, run: Run) -> list[Shard]:
        """Return a shard for each drop or delivery, and a last shard with facts of the release.

        Refused folders, and folders that became ready after `as_of` and that the spec does not expect, only get a row of `deliveries`.
        """
        params: list[dict[str, Any]] = []
        metadata_bytes = 0
        if run.batch_folder is None:  # a batch of drops is not published, so it needs no pointer
            check_pointer(run.lake, run.release_id)
            write_awaited(run.lake, run.release_id, find_missing(run.lake, list_expected(run.spec, run.as_of)), None)
        delivered = list(list_deliveries(run.lake))
        check_patterns(run, delivered)
        expected = set() if run.batch_folder else set(list_expected(run.spec, run.as_of).values())
        for kind, source, id_ in delivered:
            if not (run.spec.selects_drop(id_) if kind == "drop" else run.spec.selects_delivery(source, id_)):
                continue
            row = DeliveryRow(
                kind=kind, source=escape(source), delivery=escape(id_), ready_at=None, outcome="taken", detail=None, files=0,
                rows=0, dropped=0, not_read=0, warnings=[],
            )  # fmt: skip
            try:
                with convert_content_errors(f"{kind} {row['delivery']}"):
                    delivery = read_ready(run.lake, kind, source, id_)
            except (Refused, UnreadableObject) as error:
                params.append({"row": row | _describe(error)})
                continue
            if delivery is None:
                continue  # still being written
            row["ready_at"], row["files"] = delivery.ready_at, delivery.files
            if delivery.ready_at >= iso(run.as_of) and delivery.folder not in expected:
                row["outcome"] = "not_yet"
                row["detail"] = f"ready_at {delivery.ready_at} is not before {iso(run.as_of)}, the end of this release"
            else:
                metadata_bytes += delivery.metadata_bytes
            params.append({"row": row, "delivery": asdict(delivery)})
        parent = find_parent(run)
        digest, correctors = copy_corrections(run, parent)
        facts = {"suppress": copy_suppressions(run), "corrections": digest, "correctors": correctors, "parent": parent}
        params.append({"row": None, **facts})
        buckets = max(1, -(-metadata_bytes // BUCKET_BYTES))
        return [Shard(index, {**shard, "buckets": buckets}) for index, shard in enumerate(params)]

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Register a drop or delivery; then merge a bucket of records and a range of files."""
        (self._register, self._merge)[round](run, shard)

    def _register(self, run: Run, shard: Shard) -> None:
        row = shard.params["row"]
        if row and row["outcome"] == "taken":
            try:
                delivery = Delivery(**shard.params["delivery"])
                with convert_content_errors(f"{row['kind']} {row['delivery']}"):
                    facts = register(run.lake, delivery)
            except (Refused, UnreadableObject) as error:
                log.warning("%s %s is not taken: %s", row["kind"], row["delivery"], error)
                row = row | _describe(error)
            else:
                _divide(run, delivery, shard.index, shard.params["buckets"])
                counts = {"rows": facts.rows, "dropped": facts.dropped, "not_read": facts.not_read}
                row = {**row, **counts, "warnings": list(facts.warnings)}
        run.table(DELIVERIES).write(shard.index, [row] if row else [])

    def _plan_buckets(self, run: Run) -> list[Shard]:
        """Return shards, each for one bucket of records and one range of files; decide the number of ranges."""
        taken, exchange = _read_taken(run), run.exchange(_EXCHANGE)
        last_full: dict[str, str] = {}
        for delivery in taken.values():
            if delivery.kind == "delivery" and delivery.mode == "full":
                last_full[delivery.source] = max(last_full.get(delivery.source, ""), delivery.ready_at)
        counts = {index: exchange.all_counts(_exchange_name(index), 1)[0] for index in taken}
        current = [
            [index, counts[index]["chunks"]]
            for index, delivery in taken.items()
            if delivery.kind == "drop" or delivery.ready_at >= last_full.get(delivery.source, "")
        ]
        with_files = [index for index in taken if counts[index]["files"]]
        exchange.put_counts(_SECOND_ROUND, 0, {"records": current, "files": with_files})
        files_by_table: Counter[str] = Counter()
        for index in with_files:
            files_by_table.update(counts[index]["files"])
        most_files = max(files_by_table.values(), default=0)
        ranges = max(1, min(MAX_SHARDS, -(-most_files // run.spec.resources.pdfs_per_shard)))
        buckets = run.read_plan(self.name)[-1].params["buckets"]
        return [Shard(i, {"buckets": buckets, "pdf_shards": ranges}) for i in range(max(buckets, ranges))]

    def _merge(self, run: Run, shard: Shard) -> None:
        """Merge one bucket of records and one range of files; a shard may have only one of the two."""
        exchange = run.exchange(_EXCHANGE)
        merged = exchange.all_counts(_SECOND_ROUND, 1)[0]
        if shard.index < shard.params["buckets"]:
            _merge_records(run, shard.index, merged["records"])
        if shard.index < (shards := shard.params["pdf_shards"]):
            begin, end = shard.index * _RANGES // shards, -(-(shard.index + 1) * _RANGES // shards)
            names = [f"files-{_exchange_name(index)}" for index in merged["files"]]
            found = [exchange.read(name, [0], begin, DELIVERED_FILES, end) for name in names]
            files = pa.concat_tables([DELIVERED_FILES.empty_table(), *found])
            in_range = [pdf_shard(sha1, shards) == shard.index for sha1 in files["sha1"].to_pylist()]
            files = files.filter(pa.array(in_range, pa.bool_()))
            for (table, _), rows in zip(CONTENT_TABLES, group_by_content(run, files), strict=True):
                run.table(table).write(shard.index, rows)

    def finish(self, run: Run) -> Metrics:
        """Commit the tables with the inputs and the parent of the release."""
        shards = run.read_plan(self.name)
        facts = shards[-1].params
        taken = list(_read_taken(run).values())
        ranges = run.read_plan(self.name, 1)[0].params["pdf_shards"]
        rows = {
            table.name: run.table(table).commit(range(ranges), {"pdf_shards": ranges}).rows
            for table, _ in CONTENT_TABLES
        }
        run.table(RECORDS).commit(range(facts["buckets"]))
        run.table(NOTICES).commit(range(facts["buckets"]))
        inputs = orjson.dumps(
            [[d.kind, d.source, d.id, d.digest] for d in taken] + [facts["suppress"], facts["corrections"]]
        )
        about_release = {
            "inputs": hashlib.sha256(inputs).hexdigest(),
            "parent": facts["parent"],
            "delivered_by": {**facts["correctors"], **list_deliverers(taken, facts["parent"])},
        }
        run.table(DELIVERIES).commit(range(len(shards)), about_release)
        run.exchange(
            _EXCHANGE
        ).remove()  # Remove last: another build that misses these files finds the committed tables.
        return {
            **{name: float(number) for name, number in rows.items()},
            "records": float(run.table(RECORDS).committed().rows),
            # A later run finds more folders that the release does not take.
            **{
                name if name == "outcome.taken" else OF_RUN + name: n
                for name, n in count_outcomes(run, DELIVERIES).items()
            },
        }


def _describe(error: Refused | UnreadableObject) -> dict[str, str]:
    """Return the outcome and the detail of a drop or delivery that is not taken."""
    if isinstance(error, Refused):
        return {"outcome": f"refused:{error.refusal}", "detail": error.detail}
    return {"outcome": UNREADABLE_OBJECT, "detail": str(error)}


def _read_taken(run: Run) -> dict[int, Delivery]:
    taken = {}
    for shard in run.read_plan(IntakeStage.name)[:-1]:
        (outcome,) = run.table(DELIVERIES).read_shard(shard.index)["outcome"].to_pylist()
        if outcome == "taken":
            taken[shard.index] = Delivery(**shard.params["delivery"])
    return taken


def _merge_records(run: Run, bucket: int, deliveries: list[tuple[int, int]]) -> None:
    """Write the latest record of each record_id in a bucket; `deliveries` excludes superseded deliveries."""
    tables = [
        run.exchange(_EXCHANGE).read(_exchange_name(index), range(chunks), bucket, REGISTERED_RECORDS.schema)
        for index, chunks in deliveries
    ]
    rows = pa.concat_tables([REGISTERED_RECORDS.schema.empty_table(), *tables]).combine_chunks()
    del tables
    latest_first = [(name, "descending") for name in ("ready_at", "delivery", "position")]
    sort_keys = [("record_id", "ascending"), *latest_first]
    order = pc.sort_indices(rows.select([name for name, _ in sort_keys]), sort_keys)
    ids = rows["record_id"].take(order).combine_chunks()
    is_latest = np.ones(len(ids), bool)
    is_latest[1:] = np.asarray(pc.not_equal(ids[1:], ids[:-1]))
    latest = order.filter(pa.array(is_latest))
    latest = latest.filter(pc.invert(rows["deleted"].take(latest)))
    day = run.as_of.date().isoformat()
    merged = (apply_licenses(rows.take(latest.slice(begin, _ROWS)), day) for begin in range(0, len(latest), _ROWS))
    run.table(NOTICES).write(bucket, _list_notices(rows.select(["record_id", "notices"]).take(latest)))
    run.table(RECORDS).write(bucket, (batch for table in merged for batch in table.to_batches()))


def _list_notices(records: pa.Table) -> list[NoticeRow]:
    rows = records.filter(records["notices"].is_valid()).to_pylist()
    found = {(notice["about"], notice["status"], row["record_id"]) for row in rows for notice in row["notices"]}
    return [NoticeRow(about=about, status=status, record_id=id_) for about, status, id_ in sorted(found)]


def _exchange_name(delivery: int) -> str:
    return f"{delivery:05d}"


def _divide(run: Run, delivery: Delivery, index: int, buckets: int) -> None:
    """Divide the records of a delivery into buckets, and its files into ranges of SHA-1."""
    exchange, name, schema = run.exchange(_EXCHANGE), _exchange_name(index), REGISTERED_RECORDS.schema
    batches = registered_table(run.lake, delivery, "records").batches()
    chunks, batch = 0, next(batches, None)
    while batch is not None:
        with exchange.writer(name, chunks, buckets, schema, run.scratch) as writer:
            rows = 0
            while batch is not None and rows < _CHUNK_ROWS:
                writer.add(pa.Table.from_batches([batch]).select(schema.names), bucket_of(batch["record_id"], buckets))
                rows += len(batch)
                batch = next(batches, None)
        chunks += 1
    files_by_table: Counter[str] = Counter()
    files = delivered_files(run, [delivery])
    if len(files):
        place = np.array([pdf_shard(sha1, _RANGES) for sha1 in files["sha1"].to_pylist()], np.int64)
        exchange.write(f"files-{name}", 0, files, place, _RANGES)
        for row in files.select(["kind", "sha1"]).group_by("kind").aggregate([("sha1", "count_distinct")]).to_pylist():
            table = row["kind"] if row["kind"] in ("pdf", "latex") else "article"
            files_by_table[table] += row["sha1_count_distinct"]
    exchange.put_counts(name, 0, {"chunks": chunks, "files": files_by_table})
