"""What changed since the parent snapshot, a row a document: `changes.parquet`; and all that was ever withdrawn: `tombstones.parquet`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

import duckdb
import pyarrow as pa

MOST = 100
"""Ids listed of each kind of change in `diff.json`."""

CHANGES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("set", pa.string(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("change", pa.string(), nullable=False),
        pa.field("reason", pa.string()),
        pa.field("now", pa.string()),
        pa.field("former_id", pa.string()),
        pa.field("former_set", pa.string()),
        pa.field("former_split", pa.string()),
    ]
)
"""A document that is not as in the parent: `change` is added, removed, moved or changed; set and split are those of today, of a
removed one its last. A removed one has its `reason`, and in `now` the id of the paper that took it over, if one did; one that is
added under a new id has its `former_id`."""
TOMBSTONES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("set", pa.string(), nullable=False),
        pa.field("removed_in", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("now", pa.string()),
    ]
)
"""Every document that an earlier snapshot had and this one has not: since which snapshot, and why."""


class Removal(StrEnum):
    """Why a document is gone, where no stage's outcome says it."""

    MERGED = "merged"
    """its paper is part of another one now: `now`"""
    GONE = "gone"
    """no source names the paper any more, or its files were taken down"""


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


def compare(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `changes` from the views `new_index` and `old_index`, which have the columns of `index.parquet`."""
    connection.execute(_CHANGES)


def summary(connection: duckdb.DuckDBPyConnection, parent: str) -> dict[str, Any]:
    """What `diff.json` says: documents added, removed, moved to another set or split, changed in text, or the same, by set,
    with the first ids of each."""
    counts = connection.execute(
        "SELECT change, set, count(*) FROM changes GROUP BY ALL ORDER BY change, set"
    ).fetchall()
    found: dict[str, Any] = {change: {"documents": {}} for change in ("added", "removed", "moved", "changed", "same")}
    for change, set_, documents in counts:
        found[change]["documents"][set_] = documents
    for change, listed in found.items():
        if change != "same":
            rows = connection.execute("SELECT id FROM changes WHERE change = ? ORDER BY id LIMIT ?", [change, MOST])
            listed["first_ids"] = [row[0] for row in rows.fetchall()]
    return {"parent": parent, **found}


def changed(
    connection: duckdb.DuckDBPyConnection,
    reasons: Callable[[Mapping[str, str]], Mapping[str, str]],
    aliases: Mapping[str, str],
) -> pa.Table:
    """The rows of `changes.parquet`, by id.

    `reasons` gives, for removed documents (id → set), what a stage said of them this time; `aliases` are the former ids and the
    papers they are now.
    """
    rows = connection.execute("SELECT * FROM changes WHERE change <> 'same' ORDER BY id").to_arrow_table().to_pylist()
    said = reasons({row["id"]: row["set"] for row in rows if row["change"] == "removed"})
    former: dict[str, str] = {}
    for alias in sorted(aliases, reverse=True):
        former[aliases[alias]] = alias
    for row in rows:
        gone = row["change"] == "removed"
        row["now"] = aliases.get(row["id"]) if gone else None
        row["reason"] = (Removal.MERGED if row["now"] else said.get(row["id"], Removal.GONE)) if gone else None
        row["former_id"] = former.get(row["id"]) if row["change"] == "added" else None
    return pa.Table.from_pylist(rows, CHANGES)


def tombstones(
    earlier: Iterable[Mapping[str, Any]],
    changes: pa.Table | None,
    snapshot: str,
    published: Callable[[list[str]], set[str]],
) -> pa.Table:
    """The parent's tombstones and what was removed now, by id; what is published again has none."""
    stones = {row["id"]: dict(row) for row in earlier}
    for row in changes.to_pylist() if changes is not None else ():
        if row["change"] == "removed":
            stones[row["id"]] = {**{name: row[name] for name in ("id", "set", "reason", "now")}, "removed_in": snapshot}
    back = published(list(stones))
    return pa.Table.from_pylist([stones[id_] for id_ in sorted(stones) if id_ not in back], TOMBSTONES)
