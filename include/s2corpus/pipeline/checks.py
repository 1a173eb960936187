"""Read the checks of a stage: the queries in `sql/quality/`, and the checks that follow from its declaration.

`sql/metrics/<stage>.sql` returns rows `(name, value)`. `sql/quality/<stage>.sql` contains checks. Each check is a query
that returns the offending rows, with a header of comments. The unique key of each written table and the outcomes that the stage
declares (`pipeline.stages`) are checked without a separate query. `$own_rules` are the outcomes of the spec's own rules.

    -- check: every_pdf_has_one_outcome
    -- severity: block            block stops before the next stage, warn is only shown; drift: two checks, see `_expand_drift`
    -- overridable: no            yes: an operator may override it with a written reason
    -- threshold: link.min_score  a field of the spec, or a number, bound as $threshold (optional)
    -- by: paper                  each bucket of papers (or records, or PDFs) can be checked by itself (optional)
    -- reason: the meaning of returned rows, and what to do

Views: every committed table of the release by its name; `metrics(stage, name, value)` of this release and
`parent_metrics` of the parent; `parent_counts`, which contains the parent's metrics only if both releases use the same
drop patterns; and `commits(table_name, code_version)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Literal

from s2corpus.errors import UserError
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.tables.schema import TABLES

DRIFT_WARN, DRIFT_BLOCK = 0.1, 0.5
"""Relative change of a share, such as the share of papers in English, above which a check warns or blocks. A person can accept it."""
SQL = Path(__file__).resolve().parents[3] / "sql"


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """One check as defined in its SQL file."""

    stage: str
    name: str
    severity: Literal["block", "warn"]
    overridable: bool
    threshold: str | None
    reason: str
    sql: str
    by: str | None = None

    def read_threshold(self, spec: object) -> float | None:
        """Return the number, or the value of the spec's field, that `threshold` states; None without a threshold."""
        if self.threshold is None:
            return None
        is_number = self.threshold.replace(".", "", 1).isdecimal()
        return float(self.threshold if is_number else attrgetter(self.threshold)(spec))


def list_checks(stage: str) -> list[QualityCheck]:
    """Return the checks of a stage: of its declaration, then in the order of its file."""
    path = SQL / "quality" / f"{stage}.sql"
    blocks = read_sql_blocks(path) if path.is_file() else ()
    written = (
        _make_check(stage, path, each, sql)
        for header, sql in blocks
        for each in (_expand_drift(header) if header.get("severity") == "drift" else (header,))
    )
    return [*_declared_checks(stage), *written]


def _declared_checks(stage: str) -> Iterator[QualityCheck]:
    """Yield the checks that follow from the declaration of a stage: unique keys and closed lists of outcomes."""
    row = stage_row(stage)
    for table in row.written_tables:
        by = None if table.shards == "any" else table.shards
        key = ", ".join(f'"{name}"' for name in table.key)
        reason = f"a key occurs twice in {table.name}: the stage wrote a row twice; clear it and report the key"
        sql = f"SELECT {key}, count(*) AS times FROM {table.name} GROUP BY ALL HAVING times > 1"
        yield QualityCheck(stage, f"{table.name}_key_is_unique", "block", False, None, reason, sql, by)
    for outcomes in row.outcomes:
        table, column = TABLES[outcomes.table], f'"{outcomes.column}"'
        by = None if table.shards == "any" else table.shards
        key = ", ".join(f'"{name}"' for name in table.key)
        words = ", ".join(f"'{word}'" for word in outcomes.words)
        reason = f"{outcomes.table} has a word in {outcomes.column} that its list does not declare: add the word, and clear the stage"
        sql = f"SELECT {key}, {column} FROM {outcomes.table} WHERE {column} NOT IN ({words})"
        if outcomes.has_own_rules:
            sql += f" AND NOT list_contains($own_rules, {column})"
        name = f"{outcomes.table}_{outcomes.column}_is_known"
        yield QualityCheck(stage, name, "block", False, None, reason, sql, by)


def _expand_drift(header: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the headers of the two checks of a share: one warns, the other blocks at a greater change."""
    for severity, overridable, threshold in (("warn", "no", DRIFT_WARN), ("block", "yes", DRIFT_BLOCK)):
        facts = {"severity": severity, "overridable": overridable, "threshold": str(threshold)}
        yield header | facts | {"check": f"{header['check']}_{severity}"}


def list_all_checks() -> list[QualityCheck]:
    """Return the checks of all stages."""
    return [check for stage in STAGE_NAMES for check in list_checks(stage)]


def read_sql_blocks(path: Path) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the header (`-- <key>: <value>`) and the query of each block of a file. A block starts at `check` or `table`."""
    for block in re.split(r"(?m)^(?=-- (?:check|table):)", path.read_text("utf-8"))[1:]:
        sql = "\n".join(line for line in block.splitlines() if not line.startswith("--"))
        yield dict(re.findall(r"(?m)^-- (\w+): (.+)$", block)), sql.strip().rstrip(";")


def _make_check(stage: str, path: Path, header: dict[str, str], sql: str) -> QualityCheck:
    severities: dict[str, Literal["block", "warn"]] = {"block": "block", "warn": "warn"}
    severity, overridable = severities.get(header.get("severity", "")), header.get("overridable", "no")
    name = header["check"]
    if severity is None or overridable not in ("yes", "no") or "reason" not in header:
        raise UserError(f"{path}: check {name!r} needs `severity: block|warn`, `reason:` and `overridable: yes|no`")
    return QualityCheck(
        stage, name, severity, overridable == "yes", header.get("threshold"), header["reason"], sql, header.get("by")
    )  # fmt: skip
