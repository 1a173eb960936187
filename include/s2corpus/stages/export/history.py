"""Write the differences from the parent snapshot, the reason for each removed document, and the tombstones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
from pyarrow.fs import LocalFileSystem

from s2corpus.pipeline.run import Run
from s2corpus.snapshot import changes
from s2corpus.snapshot.rows import write_groups
from s2corpus.storage.duck import create_view, duckdb_connection
from s2corpus.tables.papers import ALIASES
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS


def write_history(run: Run, index: Path, scratch: Path, put: Callable[[str, Path, int | None], None]) -> None:
    """Write `tombstones.parquet` and, if there is a parent, `diff.json` and `changes.parquet`."""
    files = LocalFileSystem()
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=scratch) as connection:
        create_view(connection, "new_index", [str(index)], files)
        connection.register("earlier", changes.TOMBSTONES.empty_table())
        if run.parent is None:
            connection.register("changed", changes.CHANGES.empty_table())
        else:
            old = scratch / "parent.parquet"
            run.lake.download(f"snapshots/{run.parent}/index.parquet", old)
            create_view(connection, "old_index", [str(old)], files)
            for table in (ALIASES, FILTERED, DOCUMENTS, SPLITS):
                run.table(table).view(connection)
            changes.create_changes_table(connection)
            difference = changes.summarize_changes(connection, run.parent)
            options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
            (scratch / "diff.json").write_bytes(orjson.dumps(difference, option=options))
            put("diff.json", scratch / "diff.json", None)
            changed = scratch / "changes.parquet"
            put("changes.parquet", changed, write_groups(changed, changes.CHANGES, changes.read_changes(connection)))
            key = f"snapshots/{run.parent}/tombstones.parquet"
            if run.lake.size(key) is not None:  # old snapshots have no tombstones
                earlier = scratch / "earlier.parquet"
                run.lake.download(key, earlier)
                connection.unregister("earlier")
                create_view(connection, "earlier", [str(earlier)], files)
        local = scratch / "tombstones.parquet"
        tombstones = changes.read_tombstones(connection, str(run.snapshot_id))
        put("tombstones.parquet", local, write_groups(local, changes.TOMBSTONES, tombstones))
