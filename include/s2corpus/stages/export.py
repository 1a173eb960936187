"""Export: the snapshot's files, then its manifest (SEMANTICS: Export and publish).

A file's bytes depend on the release's tables only, not on how the work was cut. What is already there with its checksum is not
written again; a snapshot that was ever pointed at is never changed.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from s2corpus.errors import TransientError
from s2corpus.parse_model import ParseKind
from s2corpus.pipeline import funnel
from s2corpus.pipeline.quality import read_metrics
from s2corpus.pipeline.run import Metrics, Run, Shard
from s2corpus.snapshot import changes, documents, flat, plots, report, rows
from s2corpus.snapshot.croissant import croissant
from s2corpus.snapshot.files import (
    File,
    GzipLines,
    document_line,
    documents_path,
    json_line,
    listed,
    number,
    parquet_path,
)
from s2corpus.snapshot.manifest import Manifest, rules_of
from s2corpus.snapshot.store import Store
from s2corpus.storage.duck import duckdb_connection
from s2corpus.tables import (
    ALIASES,
    CLUSTERS,
    CONTEXTS,
    DELIVERIES,
    DOCUMENTS,
    EXTRACTIONS,
    FILTERED,
    FULLTEXTS,
    LINKS,
    MEMBERS,
    PAPERS,
    PARSES,
    SPLITS,
    Table,
)
from s2corpus.version import code_version

SPLIT_FOLDERS = ("train", "valid")
_OPERATIONAL = re.compile("second|tries|request|reused|sent|asked|server")
"""Metrics of how the work went, not of what came of it."""
_PARSE_FOLDERS = {kind.value: f"{kind}_parses" for kind in ParseKind}


log = logging.getLogger(__name__)


class Export:
    """Every table a snapshot shows → `snapshots/<id>/`; its own bookkeeping → `releases/<release>/_export/<id>/`."""

    name = "export"
    reads = (DOCUMENTS, SPLITS, PAPERS, FILTERED, FULLTEXTS, LINKS, CONTEXTS, ALIASES, CLUSTERS)
    writes: tuple[Table, ...] = ()

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each group of files that share no bucket of papers with another group."""
        return [Shard(i) for i in range(math.gcd(run.paper_shards, run.spec.export.files))]

    def work(self, run: Run, shard: Shard) -> None:
        """Write the files of one group that are not there yet."""
        group = _Group(run, shard.index, len(self.plan(run)))
        with tempfile.TemporaryDirectory(prefix="s2corpus-export-", dir=run.scratch) as scratch:
            for set_ in run.spec.clean.sets:
                _write_documents(group, set_, Path(scratch))
                log.info("export shard %d: documents of %s written", shard.index, set_)
            _write_corpus(group, Path(scratch))
            log.info("export shard %d: corpus written", shard.index)
            for table in (LINKS, CONTEXTS):
                _write_graph(group, table, Path(scratch))

    def finish(self, run: Run) -> Metrics:
        """Write what describes the whole snapshot, then the manifest."""
        store = _store(run)
        with tempfile.TemporaryDirectory(prefix="s2corpus-export-", dir=run.scratch) as scratch:
            return _describe(run, store, Path(scratch))


def _store(run: Run) -> Store:
    """Where this run's snapshot is written, and what it is written from."""
    digest = hashlib.sha256(code_version().encode())
    for table in Export.reads:
        for part in run.table(table).committed().parts:
            digest.update(f"{table.name}/{part.name}:{part.sha256};".encode())
    return Store(run.lake, run.snapshot_id, f"releases/{run.release_id}/_export", digest.hexdigest()[:16])


class _Group:
    """The files whose numbers have one remainder, and the buckets of papers that go into them."""

    def __init__(self, run: Run, index: int, groups: int) -> None:
        self.run = run
        self.store = _store(run)
        self.files = run.spec.export.files
        self.numbers = range(index, self.files, groups)
        self.buckets = range(index, run.paper_shards, groups)

    def missing(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that have to be written."""
        wanted = set(paths)
        return wanted - self.store.there(wanted).keys()

    def merged(self, rows_of: Callable[[int], Iterator[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """Rows of all buckets by paper_id; each bucket's come by paper_id."""
        return merge(*(rows_of(bucket) for bucket in self.buckets), key=itemgetter("paper_id"))

    def write_lines(self, paths: set[str], lines: Iterable[tuple[str, bytes]], scratch: Path) -> None:
        """Write (path, line) pairs to their files and upload these."""
        with ExitStack() as stack:
            open_files = {path: stack.enter_context(GzipLines(scratch / path.replace("/", "~"))) for path in paths}
            for path, line in lines:
                open_files[path].write(line)
        local = {path: scratch / path.replace("/", "~") for path in sorted(paths)}
        self.store.put((open_files[path].listed(path), local[path]) for path in local)
        for file in local.values():
            file.unlink()


def _write_documents(group: _Group, set_: str, scratch: Path) -> None:
    """`v2/<set>/<split>/<nn>.jsonl.gz`, the same as Parquet, and their part of the index."""
    paths = {(split, nn): documents_path(set_, split, nn) for split in SPLIT_FOLDERS for nn in group.numbers}
    copies = {at: parquet_path(set_, *at) for at in paths}
    missing = group.missing([*paths.values(), *copies.values()])
    indexed = group.store.has_fragments(f"index/{nn:02d}-{set_}" for nn in group.numbers)
    if indexed and not missing:
        return
    index: dict[int, list[dict[str, Any]]] = {nn: [] for nn in group.numbers}
    lines = dict.fromkeys(paths, 0)
    local = {at: scratch / f"{set_}-{at[0]}-{at[1]}.parquet" for at, path in copies.items() if path in missing}

    def written(files: dict[tuple[str, int], documents.ParquetFile]) -> Iterator[tuple[str, bytes]]:
        for document in group.merged(lambda bucket: rows.documents(group.run.table, bucket, set_)):
            at = (document["split"], number(document["paper_id"], group.files))
            lines[at] += 1
            index[at[1]].append(rows.index_row(document, set_, paths[at], lines[at]))
            if at in files:
                files[at].write(documents.row(document, set_), len(document["text"]))
            if paths[at] in missing:
                yield paths[at], document_line(document["paper_id"], document["sha1"], document["text"])

    with ExitStack() as stack:
        files = {at: stack.enter_context(documents.ParquetFile(path)) for at, path in local.items()}
        group.write_lines(missing.intersection(paths.values()), written(files), scratch)
    group.store.put((listed(copies[at], path, files[at].count), path) for at, path in local.items())
    for path in local.values():
        path.unlink()
    group.store.put_fragments(
        {f"index/{nn:02d}-{set_}": pa.Table.from_pylist(found, rows.INDEX) for nn, found in index.items()}
    )


def _write_corpus(group: _Group, scratch: Path) -> None:
    """`corpus/`: metadata and parses in the form of S2ORC's release 20200705; `tables/`: the same, flat."""
    folders = ("metadata", *_PARSE_FOLDERS.values())
    missing = group.missing(
        [f"corpus/{f}/{f}_{nn:02d}.jsonl.gz" for f in folders for nn in group.numbers]
        + [flat.path(table, nn) for table in flat.SCHEMAS for nn in group.numbers]
    )
    if not missing:
        return
    tables = {
        (table, nn): scratch / f"{table}-{nn}.parquet"
        for table in flat.SCHEMAS
        for nn in group.numbers
        if flat.path(table, nn) in missing
    }
    kept = rows.kept_papers(group.run.table)
    inbound = rows.inbound_citations(group.run.table, group.buckets, kept, group.run.spec.link.count_warnings)

    def written(files: dict[tuple[str, int], documents.ParquetFile]) -> Iterator[tuple[str, bytes]]:
        for paper in group.merged(
            lambda b: rows.released_papers(group.run.table, b, group.run.spec.link.count_warnings)
        ):
            nn = number(paper["paper_id"], group.files)
            for table, row, size in flat.rows(paper):
                if (table, nn) in files:
                    files[table, nn].write(row, size)
            if (path := f"corpus/metadata/metadata_{nn:02d}.jsonl.gz") in missing:
                yield (
                    path,
                    json_line(rows.metadata_of(paper, [row["paper_id"] for row in inbound.at(paper["paper_id"])])),
                )
            for kind, folder in _PARSE_FOLDERS.items():
                path = f"corpus/{folder}/{folder}_{nn:02d}.jsonl.gz"
                if kind in paper["parses"] and path in missing:
                    yield path, json_line(paper["parses"][kind])

    with ExitStack() as stack:
        files = {
            at: stack.enter_context(documents.ParquetFile(path, flat.SCHEMAS[at[0]])) for at, path in tables.items()
        }
        group.write_lines({path for path in missing if path.startswith("corpus/")}, written(files), scratch)
    group.store.put((listed(flat.path(*at), path, files[at].count), path) for at, path in tables.items())
    for path in tables.values():
        path.unlink()


def _write_graph(group: _Group, table: Table, scratch: Path) -> None:
    """`graph/`: links of kept papers, and the contexts of their inline citations."""
    paths = {nn: f"graph/{table.name}/{nn:02d}.parquet" for nn in group.numbers}
    missing = group.missing(paths.values())
    if not missing:
        return
    writers = {}
    counts = dict.fromkeys(paths, 0)
    with ExitStack() as stack:
        chunks: dict[int, list[dict[str, Any]]] = {nn: [] for nn in paths}
        for nn, path in paths.items():
            local = scratch / f"{table.name}-{nn}.parquet"
            if path in missing:
                writers[nn] = stack.enter_context(pq.ParquetWriter(local, table.schema, compression="zstd"))
        for row in group.merged(lambda bucket: rows.graph_rows(group.run.table, table, bucket)):
            nn = number(row["paper_id"], group.files)
            if nn in writers:
                chunks[nn].append(row)
                counts[nn] += 1
                if len(chunks[nn]) == rows.ROW_GROUP:
                    writers[nn].write_table(pa.Table.from_pylist(chunks[nn], table.schema))
                    chunks[nn] = []
        for nn, writer in writers.items():
            if chunks[nn]:
                writer.write_table(pa.Table.from_pylist(chunks[nn], table.schema))
    finished = {nn: scratch / f"{table.name}-{nn}.parquet" for nn in writers}
    group.store.put((listed(paths[nn], file, counts[nn]), file) for nn, file in finished.items())
    for file in finished.values():
        file.unlink()


def _describe(run: Run, store: Store, scratch: Path) -> Metrics:
    """Write what is about all files, then the manifest."""
    files = _written(run, store)
    more: list[tuple[File, Path]] = []
    published = report.Published()

    def put(path: str, local: Path, count: int | None = None) -> None:
        more.append((listed(path, local, count), local))
        files.append(more[-1][0])

    def put_text(path: str, content: bytes) -> None:
        (scratch / path).write_bytes(content)
        put(path, scratch / path)

    index = scratch / "index.parquet"
    put("index.parquet", index, _write_index(run, store, index, published))
    for table in (ALIASES, CLUSTERS):
        local = scratch / f"{table.name}.parquet"
        put(f"{table.name}.parquet", local, _copy(run, table, local))
    _changes(run, index, scratch, put)

    measured = read_metrics(run)
    stats = report.stats(published, funnel.rows(measured), _languages(run), _sources(run), _kept_metrics(measured))
    put_text("stats.json", _pretty(stats))
    put_text("funnel.csv", report.funnel_csv(funnel.rows(measured)).encode())
    put_text("funnel.svg", plots.bars("Funnel", [(f"{s}: {o}", n) for s, o, n in funnel.rows(measured)]).encode())
    put_text("years.svg", plots.columns("Documents by year", sorted(published.years.items())).encode())
    description = (
        run.spec.description or f"Open-access papers cleaned by the rules of the S2 V2 card ({run.spec.name})."
    )
    as_of = f"{run.as_of:%Y-%m-%dT%H:%M:%SZ}"
    put_text("croissant.json", _pretty(croissant(run.snapshot_id, description, as_of, stats, files)))
    manifest = Manifest(
        snapshot=str(run.snapshot_id),
        spec=run.spec.name,
        as_of=as_of,
        parent=run.parent,
        versions={
            "code": code_version(),
            "extractor": str(run.table(EXTRACTIONS).committed().facts["extractor"]),
            "converter": str(run.table(PARSES).committed().facts["converter"]),
        },
        inputs=run.table(DELIVERIES).committed().facts["inputs"],
        rules=rules_of(run.spec),
        files=files,
        overrides=run.overrides,
        drops=run.spec.drops,
        spec_sha256=run.spec.digest,
    )
    put_text("README.md", report.data_card(manifest, stats, description).encode())
    store.put(more)
    last = scratch / "manifest.json"
    last.write_bytes(replace(manifest, files=files).to_json())
    store.put([(listed("manifest.json", last), last)])
    return {
        "files": float(len(files)),
        "bytes": float(sum(file.bytes for file in files)),
        **{f"documents.{set_}.{split}": float(n) for (set_, split), n in sorted(published.documents.items())},
        **{f"words.{set_}.{split}": float(n) for (set_, split), n in sorted(published.words.items())},
    }


def _work_paths(run: Run) -> Iterator[str]:
    """The files that the shards write."""
    for nn in range(run.spec.export.files):
        for set_ in run.spec.clean.sets:
            yield from (documents_path(set_, split, nn) for split in SPLIT_FOLDERS)
            yield from (parquet_path(set_, split, nn) for split in SPLIT_FOLDERS)
        yield from (f"corpus/{folder}/{folder}_{nn:02d}.jsonl.gz" for folder in ("metadata", *_PARSE_FOLDERS.values()))
        yield from (flat.path(table, nn) for table in flat.SCHEMAS)
        yield from (f"graph/{table.name}/{nn:02d}.parquet" for table in (LINKS, CONTEXTS))


def _written(run: Run, store: Store) -> list[File]:
    """The shards' files.

    Raises:
        TransientError: one of them is not there.
    """
    paths = list(_work_paths(run))
    there = store.there(paths)
    if missing := [path for path in paths if path not in there]:
        raise TransientError(
            f"{store.lake.uri(store.prefix)}: {len(missing)} files ({missing[0]} …) are not as the export's shards "
            f"wrote them: run these again"
        )
    return [there[path] for path in paths]


def _write_index(run: Run, store: Store, local: Path, published: report.Published) -> int:
    """`index.parquet`: by file number, set and id."""
    count = 0
    with pq.ParquetWriter(local, rows.INDEX, compression="zstd") as writer:
        for nn in range(run.spec.export.files):
            for set_ in sorted(run.spec.clean.sets):
                fragment = store.fragment(f"index/{nn:02d}-{set_}")
                published.add(fragment)
                count += fragment.num_rows
                if fragment.num_rows:
                    writer.write_table(fragment, row_group_size=rows.ROW_GROUP)
    return count


def _copy(run: Run, table: Table, local: Path) -> int:
    """A table as one Parquet file."""
    count = 0
    with pq.ParquetWriter(local, table.schema, compression="zstd") as writer:
        for batch in run.table(table).batches(rows=rows.ROW_GROUP):
            count += batch.num_rows
            if batch.num_rows:
                writer.write_table(pa.Table.from_batches([batch], table.schema))
    return count


def _changes(run: Run, index: Path, scratch: Path, put: Callable[[str, Path, int | None], None]) -> None:
    """`diff.json` and `changes.parquet`, where there is a parent, and `tombstones.parquet`."""
    changed: pa.Table | None = None
    earlier: list[dict[str, Any]] = []
    if run.parent is not None:
        old = scratch / "parent.parquet"
        run.lake.download(f"snapshots/{run.parent}/index.parquet", old)
        with duckdb_connection(memory_mb=run.spec.resources.memory_mb, scratch=scratch) as connection:
            for view, path in (("new_index", index), ("old_index", old)):
                connection.register(view, ds.dataset(path))
            changes.compare(connection)
            (scratch / "diff.json").write_bytes(_pretty(changes.summary(connection, run.parent)))
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
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
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


def _tally(run: Run, table: Table, *columns: str) -> list[tuple[tuple[str, ...], int]]:
    return sorted(rows.tally(run.table(table), columns).items(), key=lambda item: tuple(map(str, item[0])))


def _languages(run: Run) -> dict[str, int]:
    """Papers with a full text, kept or not, by its language, where it was asked for."""
    counts = _tally(run, DOCUMENTS, "set", "language")
    return {language: n for (set_, language), n in counts if set_ == "s2orc" and language}


def _sources(run: Run) -> dict[str, int]:
    return {source: n for (source,), n in _tally(run, MEMBERS, "source")}


def _kept_metrics(measured: Mapping[str, Metrics]) -> dict[str, Metrics]:
    """What the stages before this one measured, without what differs from run to run of the same release."""
    return {
        stage: {name: value for name, value in metrics.items() if not _OPERATIONAL.search(name)}
        for stage, metrics in measured.items()
        if stage != Export.name
    }


def _pretty(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
