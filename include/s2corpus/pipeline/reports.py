"""What a release's tables say, in the words of the S2ORC paper's tables: the SQL files in `sql/reports`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId
from s2corpus.pipeline.run import Row
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import lake_uri, open_lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables import TABLES, Table

SQL = Path(__file__).resolve().parents[3] / "sql" / "reports"
_HEAD = re.compile(r"(?m)^-- (table|columns): (.+)$")


@dataclass(frozen=True)
class Report:
    """One printed table; `missing` names the tables that no stage has written yet, and then there are no rows."""

    title: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    missing: list[str]


def names() -> list[str]:
    """The reports there are."""
    return sorted(path.stem for path in SQL.glob("*.sql"))


def release_table(release: str, table: Table[Row]) -> TableRef[Row]:
    """A table of a release, `<spec>-<YYYYMMDD>`, in the lake that `S2CORPUS_LAKE` names.

    Raises:
        UserError: no lake is named, or it has no such release.
    """
    lake = open_lake(lake_uri())
    if ReleaseId.parse(release) not in (there := lake.folders("releases/")):
        raise UserError(f"{release}: no such release in {lake.root}; there are {', '.join(there) or 'none'}")
    return TableRef(lake, f"releases/{release}/{table.name}", table)


def reports(name: str, release: str, memory_mb: int = 2048) -> Iterator[Report]:
    """The tables of one report over one release."""
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
                    connection.register(table.name, release_table(release, table).dataset())
                except NotCommitted:
                    missing.append(table.name)
            rows = [] if missing else connection.execute(sql).fetchall()
        yield Report(head["table"], columns, rows, missing)
