"""Metrics and checks in SQL over a stage's tables, and the verdict that lets a release continue or stops it.

`sql/metrics/<stage>.sql` gives rows `(name, value)`; `sql/quality/<stage>.sql` holds checks, each a query that returns the offending
rows, headed by comments:

    -- check: every_pdf_has_one_outcome
    -- severity: block            block stops before the next stage, warn is shown
    -- overridable: no            yes: an operator may override it with a written reason
    -- threshold: quality.drift_block    a field of the spec, bound as $threshold (optional)
    -- by: paper                  asked of some buckets of papers (or of records, or of PDFs) after the others: no row of one of these
                                  concerns a row of another (optional)
    -- reason: what it means when rows come back, and what to do

Views: every committed table of the release by its name, `metrics(stage, name, value)` of this release and `parent_metrics` of the parent,
`parent_counts`, which has the parent's metrics only if both releases take the same drop patterns, and `commits(table_name, code_version)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson
import pyarrow as pa
from duckdb import DuckDBPyConnection

from s2corpus.errors import QualityBlocked, UserError
from s2corpus.pipeline import gold
from s2corpus.pipeline.acceptance import Acceptance, accepted
from s2corpus.pipeline.run import Metrics, Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables import TABLES

SQL = Path(__file__).resolve().parents[3] / "sql"
MAX_OFFENDING = 100
"""offending rows kept of a check"""
ROWS_AT_ONCE = 2_000_000
"""rows of the largest table that a check by papers, records or PDFs is asked of at a time"""


@dataclass(frozen=True, slots=True)
class Check:
    """One check as its SQL file states it."""

    stage: str
    name: str
    severity: Literal["block", "warn"]
    overridable: bool
    threshold: str | None
    reason: str
    sql: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found: its offending rows (at most MAX_OFFENDING kept) and whether it holds."""

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
    """why a person overrides it; None where nobody does, or may"""
    accepted_by: str | None = None


def checks(stage: str) -> list[Check]:
    """The checks of a stage, in the order of its file."""
    path = SQL / "quality" / f"{stage}.sql"
    return list(_parse(stage, path)) if path.is_file() else []


def all_checks() -> list[Check]:
    """The checks of all stages."""
    return [check for stage in STAGE_NAMES for check in checks(stage)]


def _parse(stage: str, path: Path) -> Iterator[Check]:
    for block in re.split(r"(?m)^(?=-- check:)", path.read_text("utf-8")):
        if not block.startswith("-- check:"):
            continue
        head = dict(re.findall(r"(?m)^-- (check|severity|overridable|threshold|reason|by): (.+)$", block))
        if (
            head.get("severity") not in ("block", "warn")
            or "reason" not in head
            or head.get("overridable") not in ("yes", "no", None)
        ):
            raise UserError(
                f"{path}: check {head.get('check')!r} needs `severity: block|warn`, `reason:` and `overridable: yes|no`"
            )
        sql = "\n".join(line for line in block.splitlines() if not line.startswith("--")).strip().rstrip(";")
        yield Check(
            stage,
            head["check"],
            head["severity"],
            head.get("overridable") == "yes",
            head.get("threshold"),
            head["reason"],
            sql,
            head.get("by"),
        )


def _threshold(spec: ReleaseSpec, field: str) -> float:
    value: Any = spec
    for step in field.split("."):
        value = getattr(value, step)
    return float(value)


def measure(run: Run, stage: str, measured: Metrics) -> None:
    """Keep what a stage measured, with what `gold` and `sql/metrics/<stage>.sql` measure over the tables so far."""
    metrics = measured | gold.measured(run, stage, measured)
    path = SQL / "metrics" / f"{stage}.sql"
    if path.is_file():
        with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
            _register(run, connection, path.read_text("utf-8"))
            for name, value in connection.execute(path.read_text("utf-8")).fetchall():
                metrics[str(name)] = float(value)
    data = orjson.dumps(metrics, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)
    run.lake.put(f"releases/{run.release_id}/_metrics/{stage}.json", data)


def evaluate(run: Run, stage: str) -> list[Verdict]:
    """Run a stage's checks and keep their verdicts, with why failed ones were accepted for this release."""
    reasons = accepted(run.lake, run.release_id)
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as connection:
        connection.register("metrics", _metrics_table(read_metrics(run)))
        connection.register("parent_metrics", _metrics_table(parent_metrics(run)))
        connection.register("parent_counts", _metrics_table(parent_metrics(run, same_drops=True)))
        connection.execute((SQL / "macros.sql").read_text("utf-8"))
        stated = checks(stage)
        sql = " ".join(check.sql for check in stated)
        _register(run, connection, sql)
        if names(sql, "commits"):
            connection.register("commits", _commits(run))
        verdicts = [_judge(run, connection, check, reasons.get(f"{stage}.{check.name}")) for check in stated]
    data = orjson.dumps([asdict(v) for v in verdicts], default=str)
    run.lake.put(f"releases/{run.release_id}/_quality/{stage}.json", data)
    return verdicts


def gate(release: str, verdicts: list[Verdict]) -> None:
    """Stop where a check blocks, unless it is overridable and was accepted with a written reason.

    Raises:
        QualityBlocked: names each blocking check, how many rows offend, one of them, and what to do.
    """
    if stopping := [v for v in verdicts if v.verdict == "block" and v.accepted is None]:
        raise QualityBlocked(
            "; ".join(
                f"{v.stage}.{v.check}: {v.offending} offending row(s), e.g. {v.rows[0]}: {v.reason}"
                + (
                    f" (to continue: `corpus accept {release} {v.stage}.{v.check} --reason …`, then clear {v.stage}.quality)"
                    if v.overridable
                    else " (cannot be overridden)"
                )
                for v in stopping
            )
        )


def _judge(run: Run, connection: DuckDBPyConnection, check: Check, acceptance: Acceptance | None) -> Verdict:
    threshold = _threshold(run.spec, check.threshold) if check.threshold else None
    bound = {"threshold": threshold, "drift_min_n": run.spec.quality.drift_min_n}
    given = {name: value for name, value in bound.items() if f"${name}" in check.sql}
    rows: list[dict[str, Any]] = []
    offending = 0
    for _ in _some_at_a_time(run, connection, check):
        result = connection.execute(f"FROM ({check.sql}\n) ORDER BY ALL", given)
        names = [column[0] for column in result.description]
        while more := result.fetchmany(10_000):
            rows += [dict(zip(names, row, strict=True)) for row in more[: MAX_OFFENDING - len(rows)]]
            offending += len(more)
    rows.sort(key=lambda row: orjson.dumps(row, default=str))
    goes_on = acceptance if offending and (check.severity == "warn" or check.overridable) else None
    return Verdict(
        check.stage,
        check.name,
        check.severity,
        check.severity if offending else "pass",
        check.overridable,
        offending,
        rows,
        threshold,
        check.reason,
        goes_on.reason if goes_on else None,
        goes_on.by if goes_on else None,
    )


def _some_at_a_time(run: Run, connection: DuckDBPyConnection, check: Check) -> Iterator[None]:
    """Each time the views of the tables that are cut as the check says have other parts; once, with all, for a check of the whole."""
    cut = [run.table(table) for name, table in TABLES.items() if check.by == table.shards and names(check.sql, name)]
    commits = [table.committed() for table in cut]
    parts = max((len(commit.parts) for commit in commits), default=1)
    rows = max((commit.rows for commit in commits), default=0)
    step = max(1, parts * ROWS_AT_ONCE // max(rows, 1))
    if step >= parts or len({len(commit.parts) for commit in commits}) > 1:
        yield
        return
    for begin in range(0, parts, step):
        for table in cut:
            table.view(connection, slice(begin, begin + step))
        yield
    for table in cut:
        table.view(connection)


def read_metrics(run: Run) -> dict[str, Metrics]:
    """The metrics of the release's stages so far, by stage."""
    return _metrics_under(run, f"releases/{run.release_id}/_metrics/")


def parent_metrics(run: Run, *, same_drops: bool = False) -> dict[str, Metrics]:
    """The metrics that the parent snapshot was published with; none without a parent.

    With `same_drops` also none where the parent took other drop patterns: its counts then say nothing about this release's.
    """
    if run.parent is None:
        return {}
    if same_drops:
        manifest = orjson.loads(run.lake.get(f"snapshots/{run.parent}/manifest.json")[0])
        if manifest.get("drops") != list(run.spec.drops):  # before 0.2 manifests did not say it
            return {}
    stats = orjson.loads(run.lake.get(f"snapshots/{run.parent}/stats.json")[0])
    found: dict[str, Metrics] = stats.get("metrics", {})
    return found


def read_verdicts(run: Run) -> dict[str, list[Verdict]]:
    """The verdicts of the release's stages so far, by stage."""
    found = {}
    for entry in run.lake.list(f"releases/{run.release_id}/_quality/"):
        found[Path(entry.key).stem] = [Verdict(**item) for item in orjson.loads(run.lake.get(entry.key)[0])]
    return found


def _metrics_under(run: Run, prefix: str) -> dict[str, Metrics]:
    return {Path(entry.key).stem: orjson.loads(run.lake.get(entry.key)[0]) for entry in run.lake.list(prefix)}


def _metrics_table(metrics: Mapping[str, Metrics]) -> pa.Table:
    rows = [(stage, name, value) for stage, values in sorted(metrics.items()) for name, value in sorted(values.items())]
    return pa.table(
        {
            "stage": pa.array([row[0] for row in rows], pa.string()),
            "name": pa.array([row[1] for row in rows], pa.string()),
            "value": pa.array([row[2] for row in rows], pa.float64()),
        }
    )


def _commits(run: Run) -> pa.Table:
    """The tables committed so far, each with the version of the code that wrote it."""
    found = {}
    for name, table in TABLES.items():
        try:
            found[name] = run.table(table).committed().code_version
        except NotCommitted:
            continue
    return pa.table(
        {"table_name": pa.array(list(found), pa.string()), "code_version": pa.array(list(found.values()), pa.string())}
    )


def names(sql: str, table: str) -> bool:
    """Whether a query is over a table."""
    return re.search(rf"\b{table}\b", sql) is not None


def _register(run: Run, connection: DuckDBPyConnection, sql: str) -> None:
    """Views of the committed tables that the SQL names."""
    for name, table in TABLES.items():
        if names(sql, name):
            try:
                run.table(table).view(connection)
            except NotCommitted:
                continue
