"""Compare a snapshot with its parent: `changes.parquet`, `tombstones.parquet` and `diff.json`."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import duckdb
import pyarrow as pa

from s2corpus.tables.columns import Set
from s2corpus.tables.published import PublishedId
from s2corpus.tables.schema import file_schema

_ROWS = 8192
_MAX_LISTED_IDS = 100
"""Maximum number of ids per kind of change in `diff.json`."""


class ChangeRow(TypedDict):
    """Documents that differ from the parent: `changes.parquet`."""

    id: PublishedId
    set: Annotated[str, "current set; for removed documents the last set"]
    split: Annotated[str, "current split; for removed documents the last split"]
    change: Annotated[str, "added, removed, moved or changed"]
    reason: Annotated[str | None, "reason of a removal"]
    now: Annotated[str | None, "id of the paper into which the removed paper was merged"]
    former_id: Annotated[str | None, "earlier id of a document with a new id"]
    former_set: Annotated[str | None, "set in the parent"]
    former_split: Annotated[str | None, "split in the parent"]


class TombstoneRow(TypedDict):
    """Documents of earlier snapshots that this snapshot does not contain: `tombstones.parquet`."""

    id: PublishedId
    set: Set
    removed_in: Annotated[str, "snapshot that first lacked the document"]
    reason: Annotated[str, "reason of the removal"]
    now: Annotated[str | None, "id of the paper into which the removed paper was merged"]


CHANGES, TOMBSTONES = file_schema(ChangeRow), file_schema(TombstoneRow)
"""Columns of `changes.parquet` and `tombstones.parquet`."""


_CHANGES = """
CREATE TEMP TABLE changes AS
SELECT coalesce(new.id, old.id) AS id, coalesce(new.set, old.set) AS set, coalesce(new.split, old.split) AS split,
  CASE WHEN old.id IS NULL THEN 'added'
       WHEN new.id IS NULL THEN 'removed'
       WHEN new.split <> old.split OR new.set <> old.set THEN 'moved'
       WHEN new.text_key <> old.text_key THEN 'changed'
       ELSE 'same' END AS change,
  old.set AS former_set, old.split AS former_split
FROM new_index new FULL JOIN old_index old ON new.id = old.id
"""


def create_changes_table(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the table `changes` from the views `new_index` and `old_index`, which have the columns of `index.parquet`."""
    connection.execute(_CHANGES)


def summarize_changes(connection: duckdb.DuckDBPyConnection, parent: str) -> dict[str, Any]:
    """Return the content of `diff.json`.

    It contains the number of documents per set that were added, removed, moved to another set or split, changed in text, or left
    the same. Each kind of change lists its first ids.
    """
    counts = connection.execute(
        "SELECT change, set, count(*) FROM changes GROUP BY ALL ORDER BY change, set"
    ).fetchall()
    found: dict[str, Any] = {change: {"documents": {}} for change in ("added", "removed", "moved", "changed", "same")}
    for change, set_, documents in counts:
        found[change]["documents"][set_] = documents
    for change, listed in found.items():
        if change != "same":
            rows = connection.execute(
                "SELECT id FROM changes WHERE change = ? ORDER BY id LIMIT ?", [change, _MAX_LISTED_IDS]
            )
            listed["first_ids"] = [row[0] for row in rows.fetchall()]
    return {"parent": parent, **found}


def read_changes(connection: duckdb.DuckDBPyConnection) -> pa.RecordBatchReader:
    """Create the table `changed`, which `read_tombstones` also reads, and return its rows as in `changes.parquet`, sorted by id.

    The views `aliases`, `filtered`, `documents` and `splits` of the release supply the reason for each removal: the outcome of the
    last stage that processed the document. `merged` means that the paper is part of the paper in the column `now`. `gone` means that no
    source contains the paper any longer, or that its files were withdrawn.
    """
    connection.execute(_CHANGED)
    return connection.execute(f"SELECT {', '.join(CHANGES.names)} FROM changed ORDER BY id").to_arrow_reader(_ROWS)


_CHANGED = """
CREATE TEMP TABLE changed AS
SELECT c.*, a.paper_id AS now, former.alias AS former_id,
  CASE WHEN c.change <> 'removed' THEN NULL WHEN a.paper_id IS NOT NULL THEN 'merged'
       ELSE coalesce(s.split, d.outcome, f.outcome, 'gone') END AS reason
FROM changes c
  LEFT JOIN aliases a ON c.change = 'removed' AND a.alias = c.id
  LEFT JOIN (SELECT paper_id, min(alias) AS alias FROM aliases GROUP BY paper_id) former ON c.change = 'added' AND former.paper_id = c.id
  LEFT JOIN filtered f ON c.change = 'removed' AND f.paper_id = c.id AND f.outcome <> 'kept'
  LEFT JOIN documents d ON c.change = 'removed' AND d.paper_id = c.id AND d.set = c.set AND d.outcome <> 'kept'
  LEFT JOIN splits s ON c.change = 'removed' AND s.paper_id = c.id AND s.set = c.set
WHERE c.change <> 'same'
"""


def read_tombstones(connection: duckdb.DuckDBPyConnection, snapshot: str) -> pa.RecordBatchReader:
    """Return the tombstones of the parent (view `earlier`) and of this snapshot (table `changed`), sorted by id.

    Documents that are published again have no tombstone.
    """
    return connection.execute(_TOMBSTONES, {"snapshot": snapshot}).to_arrow_reader(_ROWS)


_TOMBSTONES = f"""
WITH removed AS (FROM changed WHERE change = 'removed'),
  stones AS (
    SELECT id, set, $snapshot AS removed_in, reason, now FROM removed
    UNION ALL SELECT id, set, removed_in, reason, now FROM earlier ANTI JOIN removed USING (id)
  )
SELECT {", ".join(TOMBSTONES.names)} FROM stones ANTI JOIN new_index USING (id) ORDER BY id
"""
