"""Write the files of a group: documents with their index fragments, corpus files, flat tables and graph."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import partial
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import documents, flat, rows
from s2corpus.snapshot.census import Census
from s2corpus.snapshot.metadata import gorc_line, metadata_row
from s2corpus.spec import ModelTextRules
from s2corpus.stages.export.group import ExportGroup, Pieces
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.uris import fetch
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import CONTEXTS, LINKS
from s2corpus.text import token_counts
from s2corpus.text.model_text import model_text
from s2corpus.text.overlaps import SCHEMA, Benchmarks
from s2corpus.text.signals import NAMES
from s2corpus_reader.files import (
    corpus_path,
    describe_file,
    document_line,
    documents_path,
    file_number,
    json_line,
    parquet_path,
    table_path,
)
from s2corpus_reader.parquet import ParquetFile
from s2orc_parse.parse_model import ParseKind

SPLIT_FOLDERS = ("train", "valid")


def document_paths(set_: str, number: int) -> list[str]:
    """Return the paths of the JSON lines files with a number."""
    return [documents_path(set_, split, number) for split in SPLIT_FOLDERS]


def write_documents(group: ExportGroup, set_: str, scratch: Path) -> None:
    """Write `v2/<set>/<split>/<nn>.jsonl.gz`, the Parquet copies, and the index fragments of a set. Skip existing files."""
    export, store = group.run.spec.export, group.store
    paths = [path for nn in group.numbers for path in document_paths(set_, nn)]
    missing = group.find_missing([*paths, *map(parquet_path, paths)])
    if not missing and store.has_fragments(f"index/{nn:02d}-{set_}" for nn in group.numbers):
        return
    lines: Counter[str] = Counter()
    count_tokens = token_counts.load_token_counter(export.tokenizer, fetch) if export.tokenizer else None
    benchmarks = _load_benchmarks(group.run)
    rules, format_text = group.run.spec.clean, _make_text_formatter(group.run)
    copies = Pieces(scratch, partial(ParquetFile, schema=documents.SCHEMA))

    def read(bucket: int) -> Iterator[dict[str, Any]]:
        return rows.read_documents(
            group.run.table, bucket, set_, mask=rules.pii == "mask", links=format_text is not None
        )

    def write_rows(
        index: Mapping[int, ParquetFile], overlaps: Mapping[int, ParquetFile]
    ) -> Iterator[tuple[str, bytes]]:
        for document in group.merge_rows(read):
            split, nn = document["split"], file_number(document["paper_id"], group.files)
            line = document_line(document["paper_id"], document["sha1"], document["text"])
            path = documents_path(set_, split, nn)
            lines[path] += 1
            index[nn].write(rows.build_index_row(document, set_, path, lines[path]))
            for benchmark, ngrams, share in benchmarks.overlaps(document["text"]) if benchmarks else ():
                overlaps[nn].write({
                    "id": document["paper_id"], "set": set_, "split": split, "benchmark": benchmark, "ngrams": ngrams,
                    "share": share,
                })  # fmt: skip
            if parquet_path(path) in missing:
                row = documents.build_row(document, set_, count_tokens, format_text, rules=rules)
                copies.open(parquet_path(path)).write(row, len(document["text"]))
            if path in missing:
                yield path, line

    with ExitStack() as stack:
        index = group.open_fragments(stack, scratch / "index", rows.INDEX)
        overlaps = group.open_fragments(stack, scratch / "overlaps", SCHEMA)
        stack.enter_context(closing(copies))
        for path in sorted(missing.intersection(map(parquet_path, paths))):
            copies.open(path)
        group.write_lines(missing.intersection(paths), write_rows(index, overlaps), scratch)
    local = {path: copies.local(path) for path in copies.files}
    store.put((describe_file(path, local[path], file.count), local[path]) for path, file in copies.files.items())
    store.put_fragments({f"overlaps/{nn:02d}-{set_}": fragment.path for nn, fragment in overlaps.items()})
    store.put_fragments({f"index/{nn:02d}-{set_}": fragment.path for nn, fragment in index.items()})


def _make_text_formatter(run: Run) -> Callable[[Mapping[str, Any]], str] | None:
    """Return a function that formats a document as the spec requires, or None for the format of the S2 V2 card."""
    rules, own = run.spec.export.text, run.spec.clean.text_rules
    if rules == ModelTextRules():
        return None
    return lambda row: model_text(row["text"], row["parse"], row["linked"], rules, own)


def _load_benchmarks(run: Run) -> Benchmarks | None:
    """Return the benchmarks of the spec, or None if it has none.

    Raises:
        UserError: the content of a benchmark does not match its checksum.
    """
    contents = {}
    for benchmark in run.spec.export.benchmarks:
        contents[benchmark.name] = fetch(benchmark.uri)
        if (found := hashlib.sha256(contents[benchmark.name]).hexdigest()) != benchmark.sha256:
            raise UserError(f"{benchmark.uri}: the SHA-256 is {found}; the spec expects {benchmark.sha256}")
    return Benchmarks(contents) if contents else None


_PARSE_FOLDERS = {kind.value: f"{kind}_parses" for kind in ParseKind}


def list_paths(run: Run) -> Iterator[str]:
    """Yield the paths of all files of a snapshot that this module writes."""
    for nn in range(run.file_counts[0]):
        yield from (table_path(table, nn) for table in flat.SCHEMAS)
        yield from (f"graph/{table.name}/{nn:02d}.parquet" for table in (LINKS, CONTEXTS))
    for nn in range(run.file_counts[1]):
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
    mask = group.run.spec.clean.pii == "mask"
    signals = _read_signals(group)
    inbound = citations() if any(corpus_path("metadata", nn) in missing for nn in group.corpus_numbers) else None

    def write_rows(
        files: Mapping[tuple[str, int], ParquetFile], key_fragments: Mapping[int, ParquetFile]
    ) -> Iterator[tuple[str, bytes]]:
        """Write the rows of tables and fragments; yield the paths and lines of the corpus."""
        for paper in group.merge_rows(lambda bucket: rows.read_released_papers(group.run.table, bucket, mask=mask)):
            if group.numbers:
                nn = file_number(paper["paper_id"], group.files)
                census[nn].add(paper)
                for key in (*rows.hash_identifiers(paper), *rows.hash_preprints(paper)):
                    key_fragments[nn].write({"key": key, "paper_id": paper["paper_id"]})
                paper["signals"] = {row["set"]: row for row in signals.at(paper["paper_id"])}
                for table, row, size in flat.rows(paper, group.run.spec.clean):
                    if table == "removed":
                        census[nn].add_removed(paper, row)
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


def _read_signals(group: ExportGroup) -> ByPaper[dict[str, Any]]:
    """Return the quality signals of the group's documents, which `write_documents` has written."""
    paths = [
        parquet_path(path)
        for set_ in group.run.spec.clean.sets
        for nn in group.numbers
        for path in document_paths(set_, nn)
    ]
    columns = ["id", "set", *NAMES]
    return ByPaper(merge(*(group.store.read_rows(path, None, columns) for path in paths), key=itemgetter("id")), "id")


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
