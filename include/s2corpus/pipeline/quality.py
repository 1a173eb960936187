"""Measure a stage, run its checks (`pipeline.checks`), and decide whether a release continues or stops."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson
import pyarrow as pa
from duckdb import DuckDBPyConnection

from s2corpus.errors import QualityBlocked, UserError
from s2corpus.ids import ReleaseId
from s2corpus.pipeline import gold
from s2corpus.pipeline.acceptance import Acceptance, read_acceptances
from s2corpus.pipeline.checks import SQL, QualityCheck, list_checks
from s2corpus.pipeline.receipts import hash_basis
from s2corpus.pipeline.run import Metrics, Run
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables.schema import TABLES
from s2corpus_reader.bounded import read_object

MAX_OFFENDING = 100
"""maximum number of offending rows that are stored per check"""
ROWS_AT_ONCE = 2_000_000
"""maximum number of rows of a table that a check with `by` reads in one query"""

_METRICS = pa.schema([("stage", pa.string()), ("name", pa.string()), ("value", pa.float64())])
_COMMITS = pa.schema([("table_name", pa.string()), ("code_version", pa.string())])


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The result of a check: its verdict and its offending rows (at most MAX_OFFENDING)."""

    stage: str
    check: str
    severity: str
    verdict: Literal["pass", "warn", "block"]
    overridable: bool
    offending: int
    rows: list[dict[str, Any]]
    threshold: float | None
    reason: str
    accepted: str | None = None
    """the reason for an override; None without an override"""
    accepted_by: str | None = None


def measure(run: Run, stage: str, measured: Metrics) -> None:
    """Store the metrics of a stage, including the metrics of `gold` and of `sql/metrics/<stage>.sql`."""
    metrics = measured | gold.measure_stage(run, stage)
    path = SQL / "metrics" / f"{stage}.sql"
    if path.is_file():
        sql = path.read_text("utf-8")
        with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
            _create_views(run, connection, sql)
            metrics |= {str(name): float(value) for name, value in connection.execute(sql).fetchall()}
    data = orjson.dumps(metrics, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)
    run.lake.put(f"releases/{run.release_id}/_metrics/{stage}.json", data)


def evaluate(run: Run, stage: str) -> list[CheckVerdict]:
    """Run a stage's checks and store their verdicts, including the reasons for accepted failures.

    Checks see the metrics of the stages that their SQL quotes, or all metrics if it quotes none.
    """
    reasons = read_acceptances(run.lake, run.release_id)
    checks = list_checks(stage)
    sql = " ".join(check.sql for check in checks)
    quoted = [name for name in STAGE_NAMES if f"'{name}'" in sql]
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        connection.register("metrics", _metrics_table(read_metrics(run, quoted)))
        connection.register("parent_metrics", _metrics_table(parent_metrics(run)))
        connection.register("parent_counts", _metrics_table(parent_metrics(run, same_drops=True)))
        connection.execute((SQL / "macros.sql").read_text("utf-8"))
        _create_views(run, connection, sql)
        if mentions_table(sql, "commits"):
            connection.register("commits", _commits(run))
        verdicts = [_run_check(run, connection, check, reasons.get(f"{stage}.{check.name}")) for check in checks]
    data = orjson.dumps([asdict(v) for v in verdicts], default=str)
    run.lake.put(f"releases/{run.release_id}/_quality/{stage}.json", data)
    checked = {"verdicts": hash_bytes(data), "output": _hash_output(run, stage), "basis": hash_basis(run, stage)}
    run.lake.put(f"releases/{run.release_id}/_checked/{stage}.json", orjson.dumps(checked))
    return verdicts


def check_stored(run: Run, stage: str) -> None:
    """Check that the stored verdicts of a stage let the release be published.

    Raises:
        UserError: the checks did not run on the current output of the stage.
        QualityBlocked: a blocking check failed and was not overridden.
    """
    folder = f"releases/{run.release_id}"
    clear = f"clear {stage}.quality; marking it as success does not run the checks"
    try:
        data, checked = (run.lake.get(f"{folder}/{kind}/{stage}.json")[0] for kind in ("_quality", "_checked"))
    except FileNotFoundError:
        raise UserError(f"{run.release_id}: the checks of {stage} did not run: {clear}") from None
    facts = orjson.loads(checked)
    if (facts.get("verdicts"), facts.get("output")) != (hash_bytes(data), _hash_output(run, stage)):
        raise UserError(f"{run.release_id}: the checks of {stage} ran on other tables: {clear}")
    if facts.get("basis") != hash_basis(run, stage):
        raise UserError(
            f"{run.release_id}: {stage} ran with other rules or inputs: clear all tasks of {stage}, with downstream tasks; "
            "marking a task as success does no work"
        )
    verdicts = [CheckVerdict(**verdict) for verdict in orjson.loads(data)]
    if {v.check for v in verdicts} != {check.name for check in list_checks(stage)}:
        raise UserError(f"{run.release_id}: the checks of {stage} have changed: {clear}")
    stop_if_blocked(run.release_id, verdicts)


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 of stored verdicts."""
    return hashlib.sha256(data).hexdigest()


def _hash_output(run: Run, stage: str) -> str:
    """Return the SHA-256 of the commits of a stage's tables, or of the manifest that the last stage wrote."""
    tables = stage_row(stage).written_tables
    digest = hashlib.sha256(b"".join(run.table(table).read_commit() for table in tables))
    if not tables:
        with suppress(FileNotFoundError):
            digest.update(run.lake.get(f"snapshots/{run.snapshot_id}/manifest.json")[0])
    return digest.hexdigest()


def stop_if_blocked(release: str, verdicts: list[CheckVerdict]) -> None:
    """Stop the release at a blocking check, unless it was overridden with a written reason.

    Raises:
        QualityBlocked: names each blocking check, the number of offending rows, an example, and what to do.
    """
    if stopping := [v for v in verdicts if v.verdict == "block" and v.accepted is None]:
        raise QualityBlocked(
            "; ".join(
                f"{v.stage}.{v.check}: {v.offending} offending row(s), e.g. {v.rows[0]}: {v.reason}"
                + (
                    f" (to continue: `corpus accept {release} {v.stage}.{v.check} --reason …`, then {tell_continuation(release, v.stage)})"
                    if v.overridable
                    else " (cannot be overridden)"
                )
                for v in stopping
            )
        )


def tell_continuation(release: str, stage: str) -> str:
    """Return how a release continues after a check of a stage was accepted."""
    id_ = ReleaseId(release)
    return f"clear {stage}.quality in Airflow, or run corpus build {id_.spec} --as-of {id_.as_of:%Y-%m-%dT%H:%M:%S}"


def _run_check(
    run: Run, connection: DuckDBPyConnection, check: QualityCheck, acceptance: Acceptance | None
) -> CheckVerdict:
    threshold = check.read_threshold(run.spec)
    rules = run.spec.split.near_duplicates, run.spec.quality.drift_min_n
    available: dict[str, Any] = {
        "threshold": threshold,
        **dict(zip(("near_duplicates", "drift_min_n"), rules, strict=True)),
    }
    available["own_rules"] = [rule.outcome for rule in getattr(getattr(run.spec, check.stage, None), "rules", ())]
    parameters = {name: value for name, value in available.items() if f"${name}" in check.sql}
    rows: list[dict[str, Any]] = []
    offending = 0
    for _ in _iterate_parts(run, connection, check):
        result = connection.execute(f"FROM ({check.sql}\n) ORDER BY ALL", parameters)
        names = [column[0] for column in result.description]
        while batch := result.fetchmany(10_000):
            rows += [dict(zip(names, row, strict=True)) for row in batch[: MAX_OFFENDING - len(rows)]]
            offending += len(batch)
    rows.sort(key=lambda row: orjson.dumps(row, default=str))
    override = acceptance if offending and (check.severity == "warn" or check.overridable) else None
    return CheckVerdict(
        check.stage, check.name, check.severity, check.severity if offending else "pass", check.overridable, offending, rows,
        threshold, check.reason, override.reason if override else None, override.by if override else None,
    )  # fmt: skip


def _iterate_parts(run: Run, connection: DuckDBPyConnection, check: QualityCheck) -> Iterator[None]:
    """Restrict the views of the sharded tables to a few parts per iteration; iterate once for checks without `by`."""
    mentioned = (table for name, table in TABLES.items() if mentions_table(check.sql, name))
    sharded = [run.table(table) for table in mentioned if check.by == table.shards]
    commits = [table.committed() for table in sharded]
    parts = max((len(commit.parts) for commit in commits), default=1)
    rows = max((commit.rows for commit in commits), default=0)
    step = max(1, parts * ROWS_AT_ONCE // max(rows, 1))
    if step >= parts or len({len(commit.parts) for commit in commits}) > 1:
        yield
        return
    for begin in range(0, parts, step):
        for table in sharded:
            table.view(connection, slice(begin, begin + step))
        yield
    for table in sharded:
        table.view(connection)


def read_metrics(run: Run, stages: Sequence[str] = ()) -> dict[str, Metrics]:
    """Return the metrics of the release's finished stages, or of those in `stages`, by stage."""
    folder = f"releases/{run.release_id}/_metrics/"
    found = {}
    for stage in stages or [Path(entry.key).stem for entry in run.lake.list(folder)]:
        with suppress(FileNotFoundError):
            found[stage] = orjson.loads(run.lake.get(f"{folder}{stage}.json")[0])
    return found


def parent_metrics(run: Run, *, same_drops: bool = False) -> dict[str, Metrics]:
    """Return the metrics of the published parent snapshot, or no metrics without a parent.

    With `same_drops`, also return no metrics if the parent used other drop patterns, because its counts are not comparable.
    """
    if run.parent is None:
        return {}
    if same_drops:
        manifest = read_of_parent(run, "manifest.json")
        if manifest.get("drops") != list(run.spec.drops):  # manifests before 0.2 do not contain the patterns
            return {}
    metrics: dict[str, Metrics] = read_of_parent(run, "stats.json").get("metrics", {})
    return metrics


def read_of_parent(run: Run, name: str) -> dict[str, Any]:
    """Return a JSON file of the parent snapshot.

    Raises:
        UserError: it is damaged.
    """
    key = f"snapshots/{run.parent}/{name}"
    try:
        return read_object(run.lake, key)
    except ValueError as error:
        raise UserError(f"{run.lake.uri(key)} is damaged ({error}): run corpus doctor, which names the cure") from None


def read_verdicts(run: Run) -> dict[str, list[CheckVerdict]]:
    """Return the verdicts of the release's finished stages, by stage."""
    return {
        Path(entry.key).stem: [CheckVerdict(**verdict) for verdict in orjson.loads(run.lake.get(entry.key)[0])]
        for entry in run.lake.list(f"releases/{run.release_id}/_quality/")
    }


def _metrics_table(metrics: Mapping[str, Metrics]) -> pa.Table:
    rows = [
        {"stage": stage, "name": name, "value": value}
        for stage, values in sorted(metrics.items())
        for name, value in sorted(values.items())
    ]
    return pa.Table.from_pylist(rows, _METRICS)


def _commits(run: Run) -> pa.Table:
    """Return the committed tables, each with the version of the code that wrote it."""
    rows = []
    for name, table in TABLES.items():
        with suppress(NotCommitted):
            rows.append({"table_name": name, "code_version": run.table(table).committed().code_version})
    return pa.Table.from_pylist(rows, _COMMITS)


def mentions_table(sql: str, table: str) -> bool:
    """Return whether a query uses a table."""
    return re.search(rf"\b{table}\b", sql) is not None


def _create_views(run: Run, connection: DuckDBPyConnection, sql: str) -> None:
    for name, table in TABLES.items():
        if mentions_table(sql, name):
            with suppress(NotCommitted):
                run.table(table).view(connection)
