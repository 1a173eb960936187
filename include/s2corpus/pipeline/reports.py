"""Print a release's tables in the layout of the S2ORC paper, using the SQL files in `sql/reports`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId
from s2corpus.pipeline.run import Row
from s2corpus.snapshot.paper_tables import format_value
from s2corpus.snapshot.reader import open_snapshot
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import lake_uri, open_lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables import TABLES, Table

SQL = Path(__file__).resolve().parents[3] / "sql" / "reports"
_HEAD = re.compile(r"(?m)^-- (table|columns): (.+)$")


@dataclass(frozen=True)
class Report:
    """One printed table. `missing` lists required tables that no stage has written yet; there are no rows then."""

    title: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    missing: list[str]


def release_table(release: str, table: Table[Row]) -> TableRef[Row]:
    """Return a table of a release `<spec>-<YYYYMMDD>` in the lake of `S2CORPUS_LAKE`.

    Raises:
        UserError: no lake is configured, or the lake does not contain the release.
    """
    lake = open_lake(lake_uri())
    if ReleaseId.parse(release) not in (existing := lake.folders("releases/")):
        raise UserError(
            f"{release}: no such release in {lake.root}; existing releases: {', '.join(existing) or 'none'}"
        )
    return TableRef(lake, f"releases/{release}/{table.name}", table)


def read_paper_tables(of: str) -> Iterator[Report]:
    """Yield the tables of a snapshot (`snapshot.paper_tables`).

    `of` is the id or address of the snapshot, the name of its spec, or its release.

    Raises:
        UserError: the snapshot does not exist or has no tables, or the release made no snapshot or several.
    """
    if "/" not in of and ReleaseId.is_valid(of):
        of = _find_snapshot(of)
    stats = orjson.loads(open_snapshot(of).get("stats.json")[0])
    if "tables" not in stats:
        raise UserError(f"{of}: stats.json contains no tables: the snapshot was created by a version before 0.3")
    for table in stats["tables"]:
        units = ["label", *(column["unit"] for column in table["columns"])]
        rows = [
            tuple(format_value(value, unit) for value, unit in zip(row, units, strict=True)) for row in table["rows"]
        ]
        columns = ["", *(column["name"] for column in table["columns"])]
        yield Report(f"{table['title']} ({table['source']})", columns, rows, [])


def _find_snapshot(release: str) -> str:
    made = [name for name in open_lake(lake_uri()).folders("snapshots/") if name.startswith(f"{release}-")]
    if len(made) != 1:
        raise UserError(
            f"{release} made {len(made)} snapshots ({', '.join(made) or 'none'}): give the id of the snapshot"
        )
    return made[0]


def run_report(name: str, release: str, memory_mb: int = 2048) -> Iterator[Report]:
    """Yield the tables of one report for one release."""
    for block in re.split(r"(?m)^(?=-- table:)", (SQL / f"{name}.sql").read_text("utf-8")):
        head = dict(_HEAD.findall(block))
        if "table" not in head:
            continue
        sql = "\n".join(line for line in block.splitlines() if not line.startswith("--"))
        columns, missing = head["columns"].split(", "), []
        with (
            tempfile.TemporaryDirectory(prefix="s2corpus-report-") as scratch,
            duckdb_connection(memory_mb=memory_mb, scratch=Path(scratch)) as connection,
        ):
            for table in (table for name, table in TABLES.items() if re.search(rf"(?:FROM|JOIN) {name}\b", sql)):
                try:
                    release_table(release, table).view(connection)
                except NotCommitted:
                    missing.append(table.name)
            rows = [] if missing else connection.execute(sql).fetchall()
        yield Report(head["table"], columns, rows, missing)
