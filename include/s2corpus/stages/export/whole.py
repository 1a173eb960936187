"""Write the files about the complete snapshot: index, statistics, data card, Croissant, plots and manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.fs import LocalFileSystem

from s2corpus.errors import TransientError
from s2corpus.outcomes import CorrectionOutcome
from s2corpus.pipeline import funnel
from s2corpus.pipeline.quality import read_metrics
from s2corpus.pipeline.run import OF_RUN, Metrics, Run
from s2corpus.snapshot import changes, paper_tables, removed, report, rows
from s2corpus.snapshot.census import sum_tables
from s2corpus.snapshot.croissant import describe_snapshot
from s2corpus.snapshot.manifest import build_manifest
from s2corpus.snapshot.rows import write_groups
from s2corpus.snapshot.store import Store
from s2corpus.stages.export.files import document_paths, list_paths
from s2corpus.storage.duck import create_view, duckdb_connection
from s2corpus.tables.intake import DELIVERIES
from s2corpus.tables.papers import ALIASES, CLUSTERS, CORRECTIONS, MEMBERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, FILTERED, SPLITS
from s2corpus.text import overlaps
from s2corpus.version import code_version
from s2corpus_reader.files import SnapshotFile, describe_file, keys_path, lookup_key, parquet_path, table_path
from s2corpus_reader.parquet import parquet_writer

_OVERLAP_ROW_GROUP = 1 << 20
"""rows per row group of `overlaps.parquet`; a different number changes the published bytes"""


def describe(run: Run, store: Store, scratch: Path) -> Metrics:
    """Write the files about the complete snapshot, then the manifest. Return counts for the metrics."""
    files = _list_shard_files(run, store)
    described: list[tuple[SnapshotFile, Path]] = []
    published = report.IndexStatistics()

    def put(path: str, local: Path, count: int | None = None) -> None:
        described.append((describe_file(path, local, count), local))
        files.append(described[-1][0])

    def put_text(path: str, content: bytes) -> None:
        (scratch / path).write_bytes(content)
        put(path, scratch / path)

    index = scratch / "index.parquet"
    put("index.parquet", index, _write_index(run, store, index, published))
    _write_keys(run, store, scratch, put)
    for table in (ALIASES, CLUSTERS, DUPLICATES):
        local = scratch / f"{table.name}.parquet"
        batches = run.table(table).batches(rows=rows.ROW_GROUP)  # Row groups do not depend on the parts of the table.
        put(f"{table.name}.parquet", local, rows.write_groups(local, table.schema, batches))
    if run.spec.export.benchmarks:
        local = scratch / "overlaps.parquet"
        put("overlaps.parquet", local, _write_overlaps(run, store, scratch, local))
    _write_history(run, index, scratch, put)

    measured = read_metrics(run)
    languages = _count_languages(run)
    sources = {source: n for (source,), n in run.table(MEMBERS).counts("source").items()}
    stats = report.build_stats(published, funnel.list_rows(measured), languages, sources, _select_metrics(measured))
    census = sum_tables(batch for nn in range(run.file_counts[0]) for batch in store.read_fragment(f"census/{nn:02d}"))
    stats["tables"] = paper_tables.tables(census, funnel.read_outcomes(measured, "filter"), languages, measured)
    stats["samples"] = {
        set_: report.shorten_record(store.read_row(parquet_path(row["file"]), row["line"] - 1))
        for set_, row in sorted(published.samples.items())
    }
    stats["removed_section"] = _find_removed_section(run, store)
    columns, applied = ["paper_id", "field", "value", "reason", "evidence"], CorrectionOutcome.APPLIED
    stats["corrections"] = list(run.table(CORRECTIONS).rows(columns, where=pc.field("outcome") == applied))
    put_text("stats.json", _to_json(stats))
    description = (
        run.spec.description or f"Open-access papers cleaned by the rules of the S2 V2 card ({run.spec.name})."
    )
    as_of = f"{run.as_of:%Y-%m-%dT%H:%M:%SZ}"
    put_text("croissant.json", _to_json(describe_snapshot(run.snapshot_id, description, as_of, stats, files)))
    manifest = build_manifest(
        run.spec,
        snapshot=str(run.snapshot_id),
        as_of=as_of,
        parent=run.parent,
        versions={
            "code": code_version(),
            "extractor": str(run.table(EXTRACTIONS).committed().facts["extractor"]),
            "converter": str(run.table(PARSES).committed().facts["converter"]),
        },
        inputs=run.table(DELIVERIES).committed().facts["inputs"],
        overrides=run.overrides,
        file_count=run.file_counts[0],
        files=files,
    )
    for path, content in report.generate_files(manifest, stats, description):
        put_text(path, content)
    store.put(described)
    local = scratch / "manifest.json"
    manifest["files"] = [file.as_json() for file in sorted(files, key=lambda file: file.path)]
    local.write_bytes(_to_json(manifest))
    store.put([(describe_file("manifest.json", local), local)])
    return {
        "files": float(len(files)),
        "bytes": float(sum(file.bytes for file in files)),
        "rights": float(sum(file.rows or 0 for file in files if file.path.startswith("tables/rights/"))),
        **{f"documents.{set_}.{split}": float(n) for (set_, split), n in sorted(published.documents.items())},
        **{f"words.{set_}.{split}": float(n) for (set_, split), n in sorted(published.words.items())},
    }


def _find_removed_section(run: Run, store: Store) -> dict[str, Any] | None:
    """Return the removed section that the data card shows: of the smallest paper id with a license that permits it, or None."""
    found: dict[str, Any] | None = None
    for nn in range(run.file_counts[0]):
        for row in store.read_rows(table_path("removed", nn), pc.field("rule") == removed.SECTIONS):
            if report.may_show(row["license"]) and (found is None or row["paper_id"] < found["paper_id"]):
                found = row
                break
    return found and report.shorten(found)


def _list_shard_files(run: Run, store: Store) -> list[SnapshotFile]:
    """Return the files that the shards of the export wrote.

    Raises:
        TransientError: a file is missing or was changed.
    """
    numbers, sets = range(run.file_counts[0]), run.spec.clean.sets
    lines = [path for nn in numbers for set_ in sets for path in document_paths(set_, nn)]
    paths = [*lines, *map(parquet_path, lines), *list_paths(run)]
    existing = store.find_unchanged(paths)
    if missing := [path for path in paths if path not in existing]:
        raise TransientError(
            f"{store.lake.uri(store.prefix)}: {len(missing)} files ({missing[0]} …) are missing or differ from the "
            f"files that the shards of the export wrote: run these shards again"
        )
    return [existing[path] for path in paths]


def _write_index(run: Run, store: Store, local: Path, published: report.IndexStatistics) -> int:
    """Write `index.parquet`, sorted by file number, set and id. Return the number of rows."""
    count = 0
    with parquet_writer(local, rows.INDEX) as writer:
        for batch in _read_fragments(run, store, "index"):
            published.add(batch)
            count += batch.num_rows
            writer.write_table(batch)
    return count


def _read_fragments(run: Run, store: Store, kind: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    for nn in range(run.file_counts[0]):
        for set_ in sorted(run.spec.clean.sets):
            yield from store.read_fragment(f"{kind}/{nn:02d}-{set_}", columns)


def _write_keys(run: Run, store: Store, scratch: Path, put: Callable[[str, Path, int | None], None]) -> None:
    """Write `keys/`: the sorted keys of all papers and documents, by key modulo the number of files."""
    files = run.file_counts[0]
    (scratch / "keys").mkdir()
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=scratch) as connection:
        connection.execute("CREATE TABLE keys (key BIGINT, paper_id VARCHAR)")
        for batch in _read_keys(run, store):
            connection.register("batch", batch)
            connection.execute("INSERT INTO keys FROM batch")
        for nn in range(files):
            query = "SELECT DISTINCT key, paper_id FROM keys WHERE key % ? = ? ORDER BY ALL"
            batches = connection.execute(query, [files, nn]).to_arrow_reader(rows.KEYS_ROW_GROUP)
            local = scratch / keys_path(nn)
            put(keys_path(nn), local, rows.write_groups(local, rows.KEYS, batches, rows.KEYS_ROW_GROUP))


def _read_keys(run: Run, store: Store) -> Iterator[pa.Table]:
    for nn in range(run.file_counts[0]):
        yield from store.read_fragment(f"keys/{nn:02d}")
    for batch in _read_fragments(run, store, "index", ["id", "sha1"]):
        found = [
            {"key": lookup_key("sha1", row["sha1"]), "paper_id": row["id"]} for row in batch.to_pylist() if row["sha1"]
        ]
        yield pa.Table.from_pylist(found, rows.KEYS)


def _write_overlaps(run: Run, store: Store, scratch: Path, local: Path) -> int:
    """Write `overlaps.parquet`, sorted by document and benchmark. Return the number of rows."""
    with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=scratch) as connection:
        connection.register("empty", overlaps.SCHEMA.empty_table())
        connection.execute("CREATE TABLE hits AS FROM empty")
        for batch in _read_fragments(run, store, "overlaps"):
            connection.register("batch", batch)
            connection.execute("INSERT INTO hits FROM batch")
        ordered = connection.execute("FROM hits ORDER BY id, benchmark, rowid").to_arrow_reader(rows.ROW_GROUP)
        return rows.write_groups(local, overlaps.SCHEMA, ordered, _OVERLAP_ROW_GROUP)


def _count_languages(run: Run) -> dict[str, int]:
    """Return the number of full texts per detected language, including filtered-out papers."""
    counts = run.table(DOCUMENTS).counts("set", "language")
    return {
        language: counts[set_, language] for set_, language in sorted(counts, key=str) if set_ == "s2orc" and language
    }


def _select_metrics(measured: Mapping[str, Metrics]) -> dict[str, Metrics]:
    """Return the metrics of the earlier stages, except metrics that can differ between two runs of a release."""
    return {
        stage: {name: value for name, value in metrics.items() if not name.startswith(OF_RUN)}
        for stage, metrics in measured.items()
        if stage != "export"
    }


def _to_json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _write_history(run: Run, index: Path, scratch: Path, put: Callable[[str, Path, int | None], None]) -> None:
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
            (scratch / "diff.json").write_bytes(_to_json(difference))
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
