"""How a snapshot differs from its parent, with the reason for each document that is gone, and all that was ever withdrawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem

from s2corpus.pipeline.run import Run
from s2corpus.snapshot import changes, rows
from s2corpus.snapshot.files import parquet_writer
from s2corpus.storage.duck import duckdb_connection, view
from s2corpus.tables import ALIASES, DOCUMENTS, FILTERED, SPLITS


def write_history(run: Run, index: Path, scratch: Path, put: Callable[[str, Path, int | None], None]) -> None:
    """`diff.json` and `changes.parquet`, where there is a parent, and `tombstones.parquet`."""
    changed: pa.Table | None = None
    earlier: list[dict[str, Any]] = []
    if run.parent is not None:
        old = scratch / "parent.parquet"
        run.lake.download(f"snapshots/{run.parent}/index.parquet", old)
        with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=scratch) as connection:
            for name, path in (("new_index", index), ("old_index", old)):
                view(connection, name, [str(path)], LocalFileSystem())
            changes.compare(connection)
            (scratch / "diff.json").write_bytes(
                orjson.dumps(
                    changes.summary(connection, run.parent), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
                )
            )
            aliases = run.table(ALIASES).read()
            renamed = dict(zip(aliases["alias"].to_pylist(), aliases["paper_id"].to_pylist(), strict=True))
            changed = changes.changed(connection, lambda removed: _reasons(run, removed), renamed)
        put("diff.json", scratch / "diff.json", None)
        put("changes.parquet", *_parquet(changed, scratch / "changes.parquet"))
        key = f"snapshots/{run.parent}/tombstones.parquet"
        if run.lake.size(key) is not None:  # snapshots made before there were any have none
            earlier = pq.read_table(pa.BufferReader(run.lake.get(key)[0])).to_pylist()

    def published(ids: list[str]) -> set[str]:
        found = ds.dataset(index).to_table(columns=["id"], filter=pc.field("id").isin(pa.array(ids, pa.string())))
        return set(found["id"].to_pylist())

    stones = changes.tombstones(earlier, changed, str(run.snapshot_id), published)
    put("tombstones.parquet", *_parquet(stones, scratch / "tombstones.parquet"))


def _parquet(table: pa.Table, path: Path) -> tuple[Path, int]:
    """A table as a file without empty row groups, and its rows."""
    with parquet_writer(path, table.schema) as writer:
        if table.num_rows:
            writer.write_table(table, row_group_size=rows.ROW_GROUP)
    return path, table.num_rows


def _reasons(run: Run, removed: Mapping[str, str]) -> dict[str, str]:
    """What split, clean or filter said of documents (id → set) that the parent had; the last stage that saw them counts."""
    ids = pc.field("paper_id").isin(pa.array(list(removed), pa.string()))
    found: dict[str, str] = {}
    for table, column in ((FILTERED, "outcome"), (DOCUMENTS, "outcome"), (SPLITS, "split")):
        columns = ["paper_id", column, *([] if table is FILTERED else ["set"])]
        for batch in run.table(table).batches(columns, where=ids & (pc.field(column) != "kept"), rows=65_536):
            for row in batch.to_pylist():
                if row.get("set", removed[row["paper_id"]]) == removed[row["paper_id"]]:
                    found[row["paper_id"]] = row[column]
    return found
