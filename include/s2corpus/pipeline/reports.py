"""Print a release's tables in the layout of the S2ORC paper, using the SQL files in `sql/reports`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from s2corpus.errors import UserError, suggest
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.checks import SQL, read_sql_blocks
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.pipeline.stages import list_outcome_columns
from s2corpus.snapshot.paper_tables import format_value
from s2corpus.snapshot.pointer import read_latest
from s2corpus.snapshot.reader import open_snapshot
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import Lake, lake_uri, open_lake
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables.schema import TABLES

_MEMORY_MB = 2048


@dataclass(frozen=True)
class Report:
    """One printed table. `missing` lists required tables that no stage has written yet; `rows` is then empty."""

    title: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    missing: list[str]


def find_release(lake: Lake, name: str) -> ReleaseId:
    """Return the release `<spec>-<YYYYMMDD>` of this name, or the release of the latest snapshot of the corpus of this name.

    Raises:
        UserError: the lake does not contain it.
    """
    existing = [release for release in lake.folders("releases/") if ReleaseId.is_valid(release)]
    if name in existing:
        return ReleaseId(name)
    corpora = {ReleaseId(release).spec for release in existing}
    if name in corpora and (snapshot := read_latest(lake, name).snapshot):
        return SnapshotId(snapshot).release
    raise UserError(
        f"{name}: no such release in {lake.root}{suggest(name, [*existing, *corpora])}; "
        f"existing releases: {', '.join(existing) or 'none'}"
    )


def open_release_tables(name: str) -> ReleaseTables:
    """Return the tables of a release, or of the latest release of a corpus, in the lake of `S2CORPUS_LAKE`.

    Raises:
        UserError: no lake is configured, or the lake does not contain the release.
    """
    lake = open_lake(lake_uri())
    return ReleaseTables(lake, find_release(lake, name))


def read_paper_tables(name: str) -> Iterator[Report]:
    """Yield the tables of a snapshot (`snapshot.paper_tables`).

    `name` is the id or address of the snapshot, the name of its spec, or its release.

    Raises:
        UserError: the snapshot does not exist or has no tables, or the release does not have exactly one snapshot.
    """
    if "/" not in name and ReleaseId.is_valid(name):
        name = _find_snapshot(name)
    stats = orjson.loads(open_snapshot(name).get("stats.json")[0])
    if "tables" not in stats:
        raise UserError(f"{name}: stats.json contains no tables: the snapshot was created by a version before 0.3")
    for table in stats["tables"]:
        units = ["label", *(column["unit"] for column in table["columns"])]
        rows = [
            tuple(format_value(value, unit) for value, unit in zip(row, units, strict=True)) for row in table["rows"]
        ]
        columns = ["", *(column["name"] for column in table["columns"])]
        yield Report(f"{table['title']} ({table['source']})", columns, rows, [])


def _find_snapshot(release: str) -> str:
    snapshots = [name for name in open_lake(lake_uri()).folders("snapshots/") if name.startswith(f"{release}-")]
    if len(snapshots) != 1:
        raise UserError(
            f"{release} has {len(snapshots)} snapshots ({', '.join(snapshots) or 'none'}): give the id of one snapshot"
        )
    return snapshots[0]


def run_report(name: str, release: str) -> Iterator[Report]:
    """Yield the tables of one report for one release."""
    tables = open_release_tables(release)
    for header, sql in read_sql_blocks(SQL / "reports" / f"{name}.sql"):
        missing = []
        with (
            tempfile.TemporaryDirectory(prefix="s2corpus-report-") as scratch,
            duckdb_connection(memory_mb=_MEMORY_MB, scratch=Path(scratch)) as connection,
        ):
            connection.register("outcomes", _list_outcomes())
            for table in (table for name, table in TABLES.items() if re.search(rf"(?:FROM|JOIN) {name}\b", sql)):
                try:
                    tables(table).view(connection)
                except NotCommitted:
                    missing.append(table.name)
            rows = [] if missing else connection.execute(sql).fetchall()
        yield Report(header["table"], header["columns"].split(", "), rows, missing)


def _list_outcomes() -> pa.Table:
    """Return the declared outcomes of each table with their order and label."""
    rows = [
        {"table_name": column.table, "rank": rank, "word": word, "label": declared.label}
        for _, column in list_outcome_columns()
        for rank, (word, declared) in enumerate(column.words.items())
    ]
    return pa.Table.from_pylist(rows)
