"""The files that the export's tasks write besides the documents: corpus, flat tables and graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from s2corpus.parse_model import ParseKind
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import documents, flat, keys, rows
from s2corpus.snapshot.census import Census
from s2corpus.snapshot.files import (
    corpus_path,
    json_line,
    listed,
    number,
    parquet_writer,
)
from s2corpus.snapshot.gorc import gorc_line
from s2corpus.stages.export.group import Group
from s2corpus.tables import CONTEXTS, LINKS, Table

_PARSE_FOLDERS = {kind.value: f"{kind}_parses" for kind in ParseKind}


def paths_of(run: Run) -> Iterator[str]:
    """The files that the shards write."""
    for nn in range(run.spec.export.files):
        yield from (flat.path(table, nn) for table in flat.SCHEMAS)
        yield from (f"graph/{table.name}/{nn:02d}.parquet" for table in (LINKS, CONTEXTS))
    for nn in range(run.spec.export.of_corpus):
        yield from (corpus_path(folder, nn) for folder in _corpus_folders(run))


def _corpus_folders(run: Run) -> tuple[str, ...]:
    return ("metadata", *_PARSE_FOLDERS.values(), *(["gorc"] if run.spec.export.gorc else []))


def write_corpus(group: Group, scratch: Path) -> None:
    """`corpus/`: metadata and parses in the form of S2ORC's release 20200705; `tables/`: the same, flat; and the census of them."""
    missing = group.missing(
        [corpus_path(folder, nn) for folder in _corpus_folders(group.run) for nn in group.corpus_numbers]
        + [flat.path(table, nn) for table in flat.SCHEMAS for nn in group.numbers]
    )
    census = {nn: Census(group.run.spec.clean.text_from) for nn in group.numbers}
    if not missing and group.store.has_fragments(f"{of}/{nn:02d}" for of in ("census", "keys") for nn in census):
        return
    found: dict[int, list[dict[str, Any]]] = {nn: [] for nn in group.numbers}
    tables = {
        (table, nn): scratch / f"{table}-{nn}.parquet"
        for table in flat.SCHEMAS
        for nn in group.numbers
        if flat.path(table, nn) in missing
    }
    warnings = group.run.spec.link.count_warnings
    inbound = rows.inbound_citations(group.run.table, group.buckets, range(group.run.paper_shards), warnings)

    def written(files: dict[tuple[str, int], documents.ParquetFile]) -> Iterator[tuple[str, bytes]]:
        for paper in group.merged(
            lambda b: rows.released_papers(group.run.table, b, warnings, mask=group.run.spec.clean.pii == "mask")
        ):
            nn = number(paper["paper_id"], group.files)
            census[nn].add(paper)
            found[nn] += ({"key": key, "paper_id": paper["paper_id"]} for key in keys.of_paper(paper))
            for table, row, size in flat.rows(paper):
                if (table, nn) in files:
                    files[table, nn].write(row, size)
            nn = number(paper["paper_id"], group.corpus_files)
            if (path := corpus_path("metadata", nn)) in missing:
                yield (
                    path,
                    json_line(rows.metadata_of(paper, [row["paper_id"] for row in inbound.at(paper["paper_id"])])),
                )
            for kind, folder in _PARSE_FOLDERS.items():
                path = corpus_path(folder, nn)
                if kind in paper["parses"] and path in missing:
                    yield path, json_line(paper["parses"][kind])
            if (path := corpus_path("gorc", nn)) in missing and (line := gorc_line(paper)):
                yield path, json_line(line)

    with ExitStack() as stack:
        files = {
            at: stack.enter_context(documents.ParquetFile(path, flat.SCHEMAS[at[0]], flat.GROUP_BYTES.get(at[0])))
            for at, path in tables.items()
        }
        group.write_lines({path for path in missing if path.startswith("corpus/")}, written(files), scratch)
    group.store.put((listed(flat.path(*at), path, files[at].count), path) for at, path in tables.items())
    for path in tables.values():
        path.unlink()
    group.store.put_fragments({f"census/{nn:02d}": counted.table() for nn, counted in census.items()})
    group.store.put_fragments(
        {f"keys/{nn:02d}": pa.Table.from_pylist(rows_of, keys.SCHEMA) for nn, rows_of in found.items()}
    )


def write_graph(group: Group, table: Table, scratch: Path) -> None:
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
                writers[nn] = stack.enter_context(parquet_writer(local, table.schema))
        mask = group.run.spec.clean.pii == "mask"
        for row in group.merged(lambda bucket: rows.graph_rows(group.run.table, table, bucket, mask=mask)):
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
