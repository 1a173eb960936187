"""Verify a snapshot: every file against the manifest, every line against the format, and the files against each other."""

from __future__ import annotations

import hashlib
import math
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from s2corpus.errors import UserError
from s2corpus.snapshot import changes, croissant, report
from s2corpus.snapshot.claims import MAX_FAULTS, Fault
from s2corpus.snapshot.comparison import Comparison
from s2corpus.snapshot.manifest import find_identity_fault, find_invalid_rule
from s2corpus.snapshot.read_files import UNEXPECTED, Verification, check_file
from s2corpus.snapshot.rows import INDEX
from s2corpus.snapshot.similarity import SimilarityCheck
from s2corpus.snapshot.verify_earlier import compare_files, verify_earlier
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.lake import Lake, NotALakeFile
from s2corpus.version import code_version
from s2corpus_reader.bounded import TooLarge, read_bytes, read_object
from s2corpus_reader.errors import SnapshotError
from s2corpus_reader.files import (
    SNAPSHOT_FORMAT,
    documents_path,
    list_files,
    parquet_path,
    remove_piece,
    snapshot_format,
)
from s2corpus_reader.parquet import read_table
from s2corpus_reader.selection import read_at

_FOLDERS = ("corpus/metadata", "corpus/pdf_parses", "graph/links", "graph/contexts")
_ALWAYS = (
    "README.md", "stats.json", "croissant.json", "funnel.csv", "funnel.svg", "years.svg", "index.parquet", "aliases.parquet",
    "duplicates.parquet", "clusters.parquet",
)  # fmt: skip
_REQUIRED_RULES = {
    "export.files", "clean.citations", "clean.profile", "clean.sets", "split.near_duplicates",
}  # fmt: skip
"""Rules of the manifest that the checks read."""


def verify(
    snapshot: Lake,
    progress: Callable[[str], None] = lambda path: None,
    *,
    published_sha256s: Collection[str] = (),
    parent: Lake | None = None,
) -> Iterator[Fault]:
    """Yield the faults of a snapshot; none if it is complete and consistent.

    Args:
        snapshot: the folder of the snapshot.
        progress: called with the path of each file before it is checked.
        published_sha256s: SHA-256s of the manifest that the publication recorded. They reveal every change, because the manifest
            has the checksum of every file. Without them only contradictions are found.
        parent: the parent snapshot, with which diff.json is compared.

    Raises:
        UserError: the folder has no manifest, or one of an unsupported format.
    """
    try:
        data = read_bytes(snapshot, "manifest.json")
        if published_sha256s and set(published_sha256s) != {hashlib.sha256(data).hexdigest()}:
            yield Fault("manifest.json", "this is not the published manifest: its SHA-256 differs")
        manifest = orjson.loads(data)
    except NotALakeFile:
        raise
    except FileNotFoundError:
        raise UserError(f"{snapshot.root}: no manifest.json found: expected the folder of a snapshot") from None
    except orjson.JSONDecodeError as error:
        yield Fault("manifest.json", f"invalid JSON: {error}")
        return
    except TooLarge as error:
        yield Fault("manifest.json", str(error))
        return
    if not isinstance(manifest, dict):
        yield Fault("manifest.json", f"expected a JSON object, found {type(manifest).__name__}")
        return
    try:
        number = snapshot_format(manifest)
    except (SnapshotError, ValueError) as error:
        raise UserError(f"{snapshot.root}/manifest.json: {error}") from None
    if number < SNAPSHOT_FORMAT:
        yield from verify_earlier(snapshot, manifest, progress)
        return
    try:
        comparison = Comparison(manifest["rules"], manifest["as_of"])
        state = Verification(snapshot, manifest, list_files(manifest), comparison, SimilarityCheck(manifest["rules"]))
        if message := _find_rule_fault(state):
            yield Fault("manifest.json", f"malformed: {message}")
            return
        if message := find_identity_fault(manifest):
            yield Fault("manifest.json", message)
    except UNEXPECTED as error:
        yield Fault("manifest.json", f"malformed: {type(error).__name__} {error}")
        return
    yield from check_presence(state)
    yield from _report("index.parquet", _check_index(state))
    yield from _report("duplicates.parquet", _check_duplicates(state))
    # Read metadata first: every parse and link must belong to a paper in it. Then read the files of one group of papers together,
    # and JSON lines before their Parquet copies.
    groups = count_groups(state)
    current_group = 0
    for _, group, _, path in sorted(
        (not p.startswith("corpus/metadata/"), parse_file_number(p) % groups, p.endswith(".parquet"), p)
        for p in state.files
    ):
        progress(path)
        if group != current_group:
            comparison.next_group()
            current_group = group
        if snapshot.size(path) is not None:
            yield from _report(path, check_file(state, state.files[path]))
    yield from _check_agreement(state)
    if parent is not None:
        yield from _report("diff.json", _check_diff(state, parent), "compared")


def _report(path: str, faults: Iterator[Fault | str], verb: str = "read") -> Iterator[Fault]:
    """Yield the faults, messages as faults of the file. Report an unexpected exception as a fault of the file."""
    try:
        for fault in faults:
            yield fault if isinstance(fault, Fault) else Fault(path, fault)
    except UNEXPECTED as error:
        yield Fault(path, f"cannot be {verb}: {type(error).__name__} {error}")


def _find_rule_fault(state: Verification) -> str | None:
    """Return a message about the first missing or invalid rule of the manifest, or None."""
    if missing := _REQUIRED_RULES - state.rules.keys():
        return f"{', '.join(sorted(missing))} missing from the rules"
    if message := find_invalid_rule(state.rules):
        return message
    if state.rules["export.files"] is None:
        return "export.files is null: expected the number of files"
    return None


def parse_file_number(path: str) -> int:
    """Return the number in the name of a file of papers, or 0 for any other file."""
    found = re.search(r"(\d+)\.(?:jsonl\.gz|parquet)$", remove_piece(path))
    return int(found[1]) if found else 0


def count_groups(state: Verification) -> int:
    """Return the number of groups of files. Files of different groups share no paper."""
    counts = Counter(path.rpartition("/")[0] for path in {remove_piece(path) for path in state.files} if "/" in path)
    return math.gcd(*counts.values()) if counts else 1


def check_presence(state: Verification) -> Iterator[Fault]:
    """Yield listed files that do not exist, files that are not listed, and required files that are missing."""
    yield from compare_files(state.lake, state.files)
    limit = state.rules.get("export.shard_bytes")
    documents = [
        documents_path(set_, split, number, None if limit is None else 0)
        for set_ in state.rules["clean.sets"]
        for split in ("train", "valid")
        for number in range(state.rules["export.files"])
    ]
    folders = {path.rpartition("/")[0] for path in state.files if path.startswith(("corpus/", "graph/"))}
    for path in (*_ALWAYS, *documents, *(("diff.json",) if state.manifest["parent"] else ())):
        if path not in state.files:
            yield Fault(path, "the manifest does not list this file, which every snapshot has")
    has_copies = any(path.startswith("documents/") for path in state.files)
    for path, file in state.files.items():
        if not path.startswith("v2/"):
            continue
        if limit is not None and (file.content_bytes or 0) > limit and file.rows != 1:
            yield Fault(path, f"the content exceeds export.shard_bytes ({limit} bytes)")
        if has_copies and parquet_path(path) not in state.files:
            yield Fault(path, f"the manifest does not list its Parquet copy {parquet_path(path)}")
    for folder in sorted({*folders, *_FOLDERS}):
        numbers = sorted(parse_file_number(path) for path in state.files if path.rpartition("/")[0] == folder)
        if not numbers or numbers != list(range(len(numbers))) or len(numbers) % count_groups(state):
            yield Fault(folder, f"files are missing: found the numbers {numbers}")


def _check_index(state: Verification) -> Iterator[str]:
    table = read_table(state.lake, "index.parquet")
    if not table.schema.equals(INDEX):
        yield f"the columns are {table.schema.names}; expected {INDEX.names} with their types"
        return
    table.validate(full=True)
    state.comparison.published.add(table)
    yield from state.comparison.add_index(table.to_pylist())


def _check_duplicates(state: Verification) -> Iterator[str]:
    yield from state.similarity.add_duplicates(read_table(state.lake, "duplicates.parquet"))


def _check_agreement(state: Verification) -> Iterator[Fault]:
    """Yield contradictions between files: documents and papers, aliases and clusters, statistics and contents."""
    index = state.comparison.index
    for id_ in sorted(index.keys() - state.seen)[:MAX_FAULTS]:
        yield Fault("index.parquet", f"document {id_} is in no file")
    if state.papers:
        for id_ in sorted(state.seen - state.papers)[:MAX_FAULTS]:
            yield Fault("index.parquet", f"document {id_} is not a paper in corpus/metadata")
    yield from state.comparison.compare(list(state.files))
    yield from _report("aliases.parquet", _check_identities(state), "compared with clusters.parquet")
    try:
        stats = read_object(state.lake, "stats.json")
        messages = report.compare_statistics(state.comparison.published, stats)
        yield from (Fault("stats.json", message) for message in messages)
        if (_is_same_code(state) or "samples" in stats) and stats.get("samples") != state.samples:
            yield Fault("stats.json", "the samples differ from the documents that the index selects")
    except UNEXPECTED as error:
        yield Fault("stats.json", f"cannot be read: {type(error).__name__} {error}")
        return
    splits = {id_: (entry.set, entry.split) for id_, entry in index.items()}
    duplicates = state.similarity.find_faults(splits, stats, lambda ids: _read_texts(state, ids))
    yield from _report("duplicates.parquet", duplicates, "compared with the documents")
    yield from _report("croissant.json", _check_derived_files(state, stats), "compared")


def _check_derived_files(state: Verification, stats: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield contradictions between manifest, statistics and the files generated from them."""
    described = read_object(state.lake, "croissant.json")
    if not croissant.is_current(described, state.manifest, stats, with_columns=_is_same_code(state)):
        yield Fault("croissant.json", "the files or licenses differ from the manifest and stats.json")
    if _is_same_code(state):
        for path, content in report.generate_files(state.manifest, stats, described["description"]):
            if path in state.files and read_bytes(state.lake, path) != content:
                yield Fault(path, "the content differs from the content generated from the manifest and stats.json")


def _is_same_code(state: Verification) -> bool:
    """Return whether this version of the code wrote the snapshot, and therefore generates the same files."""
    return bool(state.manifest["versions"].get("code") == code_version())


def _read_texts(state: Verification, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (id, text) for the given documents."""
    places = [state.comparison.index[id_].place for id_ in ids if id_ in state.comparison.index]
    for value in read_at(state.lake, [{"file": path, "line": line} for path, line in places]):
        yield value["id"], value["text"]


def _check_identities(state: Verification) -> Iterator[Fault]:
    """Yield contradictions between clusters, aliases and metadata."""
    clusters = read_table(state.lake, "clusters.parquet")
    papers = set(clusters["paper_id"].to_pylist())
    if len(set(clusters["record_id"].to_pylist())) < clusters.num_rows:
        yield Fault("clusters.parquet", "a record belongs to two papers")
    for unknown in sorted(state.papers - papers)[:MAX_FAULTS]:
        yield Fault("clusters.parquet", f"paper {unknown} of corpus/metadata has no record")
    aliases: set[str] = set()
    for row in read_table(state.lake, "aliases.parquet").to_pylist():
        if row["paper_id"] not in papers:
            yield Fault("aliases.parquet", f"{row['alias']} refers to {row['paper_id']}, which is not a paper")
        if row["alias"] in papers or row["alias"] in aliases:
            yield Fault("aliases.parquet", f"{row['alias']} is itself a paper, or refers to two papers")
        aliases.add(row["alias"])


def _check_diff(state: Verification, parent: Lake) -> Iterator[Fault]:
    """Yield contradictions between diff.json and the indexes of the snapshot and its parent."""
    id_ = read_object(parent, "manifest.json")["snapshot"]
    if id_ != state.manifest["parent"]:
        yield Fault("manifest.json", f"the parent is {state.manifest['parent']}; expected {id_}")
        return
    with duckdb_connection(memory_mb=1024, scratch=Path(tempfile.gettempdir())) as connection:
        for view, lake in (("new_index", state.lake), ("old_index", parent)):
            connection.register(view, read_table(lake, "index.parquet"))
        changes.create_changes_table(connection)
        expected = changes.summarize_changes(connection, id_)
    if read_object(state.lake, "diff.json") != expected:
        yield Fault("diff.json", f"the content differs from the changes since {id_}")
