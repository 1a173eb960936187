"""Verify a snapshot of an earlier format: its files, and their rows against the index.

Earlier formats have other columns and generated files; versions before 1.0.0 changed them without a new number. Only rules that hold for
all of them are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from s2corpus.snapshot.claims import MAX_FAULTS, Fault
from s2corpus.snapshot.read_files import UNEXPECTED, HashingStream, check_lines
from s2corpus.storage.lake import Lake
from s2corpus_reader.files import SnapshotFile, list_files
from s2corpus_reader.parquet import read_table


def verify_earlier(
    snapshot: Lake, manifest: Mapping[str, Any], progress: Callable[[str], None] = lambda path: None
) -> Iterator[Fault]:
    """Yield missing and unlisted files, wrong sizes, checksums and row counts, unsorted lines, and documents at another place."""
    try:
        files = list_files(manifest)
    except UNEXPECTED as error:
        yield Fault("manifest.json", f"malformed: {type(error).__name__} {error}")
        return
    yield from compare_files(snapshot, files)
    found: dict[str, tuple[str, int]] = {}
    for path in sorted(files):
        progress(path)
        if snapshot.size(path) is not None:
            try:
                yield from _check_file(snapshot, files[path], found)
            except UNEXPECTED as error:
                yield Fault(path, f"cannot be read: {type(error).__name__} {error}")
    if "index.parquet" in files and snapshot.size("index.parquet") is not None:
        try:
            rows = read_table(snapshot, "index.parquet").select(["id", "file", "line"]).to_pylist()
        except UNEXPECTED as error:
            yield Fault("index.parquet", f"cannot be read: {type(error).__name__} {error}")
            return
        expected = {row["id"]: (row["file"], row["line"]) for row in rows}
        wrong = sorted(id_ for id_ in expected.keys() | found.keys() if expected.get(id_) != found.get(id_))
        yield from (
            Fault("index.parquet", f"document {id_} is at {found.get(id_)}; the index has {expected.get(id_)}")
            for id_ in wrong[:MAX_FAULTS]
        )


def compare_files(snapshot: Lake, files: Mapping[str, SnapshotFile]) -> Iterator[Fault]:
    """Yield listed files that do not exist or have another size, and files that the manifest does not list."""
    present = {entry.key: entry.bytes for entry in snapshot.list("")}
    for path, file in sorted(files.items()):
        if path not in present:
            yield Fault(path, "the manifest lists this file, but it does not exist")
        elif present[path] != file.bytes:
            yield Fault(path, f"the file has {present[path]} bytes; the manifest has {file.bytes}")
    for path in sorted(set(present) - set(files) - {"manifest.json"}):
        yield Fault(path, "the manifest does not list this file")


def _check_file(snapshot: Lake, file: SnapshotFile, found: dict[str, tuple[str, int]]) -> Iterator[Fault]:
    """Yield the faults of one file; add the places of its documents to `found`."""
    key = "id" if file.path.startswith("v2/") else "paper_id"
    last = ""

    def check(line: bytes, row: int) -> Iterator[str]:
        nonlocal last
        id_ = orjson.loads(line)[key]
        if id_ <= last:
            yield f"{id_} follows {last}; expected unique ids in ascending order"
        last = id_
        if key == "id":
            found[id_] = (file.path, row)

    with snapshot.open(file.path) as raw:
        stream = HashingStream(raw, file.bytes)
        if file.path.endswith(".jsonl.gz"):
            yield from check_lines(file, stream, check)
        stream.drain()
    if stream.sha256.hexdigest() != file.sha256:
        yield Fault(file.path, "the SHA-256 differs from the manifest")
    elif file.path.endswith(".parquet"):
        table = read_table(snapshot, file.path)
        if table.num_rows != file.rows:
            yield Fault(file.path, f"the file has {table.num_rows} rows; the manifest has {file.rows}")
