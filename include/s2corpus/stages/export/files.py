"""Write corpus files, flat tables and graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet as pq

from s2corpus.pipeline.run import Run
from s2corpus.snapshot import flat, rows
from s2corpus.snapshot.census import Census
from s2corpus.snapshot.documents import ParquetFile
from s2corpus.snapshot.metadata import gorc_line, metadata_row
from s2corpus.stages.export.group import ExportGroup
from s2corpus.storage.by_paper import ByPaper
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import CONTEXTS, LINKS
from s2corpus_reader.files import corpus_path, describe_file, file_number, json_line, table_path
from s2orc_parse.parse_model import ParseKind

_PARSE_FOLDERS = {kind.value: f"{kind}_parses" for kind in ParseKind}


def list_paths(run: Run) -> Iterator[str]:
    """Yield the paths of all files of a snapshot that this module writes."""
    for nn in range(run.spec.export.files):
        yield from (table_path(table, nn) for table in flat.SCHEMAS)
        yield from (f"graph/{table.name}/{nn:02d}.parquet" for table in (LINKS, CONTEXTS))
    for nn in range(run.spec.export.corpus_file_count):
        yield from (corpus_path(folder, nn) for folder in _corpus_folders(run))


def _corpus_folders(run: Run) -> tuple[str, ...]:
    return ("metadata", *_PARSE_FOLDERS.values(), *(["gorc"] if run.spec.export.gorc else []))


def write_papers(group: ExportGroup, citations: Callable[[], ByPaper[dict[str, str]]], scratch: Path) -> None:
    """Write `corpus/` (metadata and parses in the format of S2ORC 20200705), `tables/` (the same data, flat), and fragments.

    The fragments are the census and the keys of the papers. `citations` returns the citing papers by cited paper
    (`rows.group_by_cited`).
    """
    missing = group.find_missing(
        [corpus_path(folder, nn) for folder in _corpus_folders(group.run) for nn in group.corpus_numbers]
        + [table_path(table, nn) for table in flat.SCHEMAS for nn in group.numbers]
    )
    census = {nn: Census(group.run.spec.clean.text_from) for nn in group.numbers}
    if not missing and group.store.has_fragments(f"{kind}/{nn:02d}" for kind in ("census", "keys") for nn in census):
        return
    tables = {
        (table, nn): scratch / f"{table}-{nn}.parquet"
        for table in flat.SCHEMAS
        for nn in group.numbers
        if table_path(table, nn) in missing
    }
    warnings, mask = group.run.spec.link.count_warnings, group.run.spec.clean.pii == "mask"
    inbound = citations() if any(corpus_path("metadata", nn) in missing for nn in group.corpus_numbers) else None

    def write_rows(
        files: Mapping[tuple[str, int], ParquetFile], key_fragments: Mapping[int, ParquetFile]
    ) -> Iterator[tuple[str, bytes]]:
        """Write the rows of tables and fragments; yield the paths and lines of the corpus."""
        for paper in group.merge_rows(
            lambda bucket: rows.read_released_papers(group.run.table, bucket, warnings, mask=mask)
        ):
            if group.numbers:
                nn = file_number(paper["paper_id"], group.files)
                census[nn].add(paper)
                for key in rows.hash_identifiers(paper):
                    key_fragments[nn].write({"key": key, "paper_id": paper["paper_id"]})
                for table, row, size in flat.rows(paper):
                    if (table, nn) in files:
                        files[table, nn].write(row, size)
            nn = file_number(paper["paper_id"], group.corpus_files)
            if inbound is not None and (path := corpus_path("metadata", nn)) in missing:
                citing = [row["paper_id"] for row in inbound.at(paper["paper_id"])]
                yield path, json_line(metadata_row(paper, paper["outbound"], citing, paper["parses"].get("pdf")))
            for kind, folder in _PARSE_FOLDERS.items():
                path = corpus_path(folder, nn)
                if kind in paper["parses"] and path in missing:
                    yield path, json_line(paper["parses"][kind])
            if (path := corpus_path("gorc", nn)) in missing and (line := gorc_line(paper)):
                yield path, json_line(line)

    with ExitStack() as stack:
        files = {
            (table, nn): stack.enter_context(ParquetFile(path, flat.SCHEMAS[table], flat.GROUP_BYTES.get(table)))
            for (table, nn), path in tables.items()
        }
        key_fragments = group.open_fragments(stack, scratch / "keys", rows.KEYS)
        lines = write_rows(files, key_fragments)
        group.write_lines({path for path in missing if path.startswith("corpus/")}, lines, scratch)
    group.store.put((describe_file(table_path(*key), path, files[key].count), path) for key, path in tables.items())
    for nn, counted in census.items():
        pq.write_table(counted.table(), scratch / f"census-{nn}")
    group.store.put_fragments({f"census/{nn:02d}": scratch / f"census-{nn}" for nn in census})
    group.store.put_fragments({f"keys/{nn:02d}": fragment.path for nn, fragment in key_fragments.items()})


def write_graph(group: ExportGroup, table: Table, scratch: Path) -> None:
    """Write one table of `graph/`: the links of kept papers, or the contexts of their inline citations."""
    paths = {nn: f"graph/{table.name}/{nn:02d}.parquet" for nn in group.numbers}
    missing = group.find_missing(paths.values())
    if not missing:
        return
    with ExitStack() as stack:
        files = {
            nn: stack.enter_context(ParquetFile(scratch / f"{table.name}-{nn}", table.schema, rows.ROW_GROUP))
            for nn, path in paths.items()
            if path in missing
        }
        mask = group.run.spec.clean.pii == "mask"
        for row in group.merge_rows(lambda bucket: rows.read_graph_rows(group.run.table, table, bucket, mask=mask)):
            if (nn := file_number(row["paper_id"], group.files)) in files:
                files[nn].write(row)
    group.store.put((describe_file(paths[nn], file.path, file.count), file.path) for nn, file in files.items())
