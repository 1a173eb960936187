"""What changed between a snapshot and its parent."""

from __future__ import annotations

from typing import Any

import duckdb

MOST = 100
"""Ids listed of each kind of change."""

_CHANGES = """
CREATE TEMP TABLE changes AS
SELECT coalesce(new.id, old.id) AS id, coalesce(new.set, old.set) AS set,
  CASE WHEN old.id IS NULL THEN 'added'
       WHEN new.id IS NULL THEN 'removed'
       WHEN new.split <> old.split OR new.set <> old.set THEN 'moved'
       WHEN new.text_key <> old.text_key THEN 'changed'
       ELSE 'same' END AS change
FROM new_index new FULL JOIN old_index old ON new.id = old.id
"""


def diff(connection: duckdb.DuckDBPyConnection, parent: str) -> dict[str, Any]:
    """Documents added, removed, moved to another set or split, changed in text, or the same, with the first ids of each.

    The connection has the views `new_index` and `old_index`, each with the columns of `index.parquet`.
    """
    connection.execute(_CHANGES)
    counts = connection.execute(
        "SELECT change, set, count(*) FROM changes GROUP BY ALL ORDER BY change, set"
    ).fetchall()
    changes: dict[str, Any] = {change: {"documents": {}} for change in ("added", "removed", "moved", "changed", "same")}
    for change, set_, documents in counts:
        changes[change]["documents"][set_] = documents
    for change, found in changes.items():
        if change != "same":
            rows = connection.execute(
                "SELECT id FROM changes WHERE change = ? ORDER BY id LIMIT ?", [change, MOST]
            ).fetchall()
            found["first_ids"] = [row[0] for row in rows]
    return {"parent": parent, **changes}
