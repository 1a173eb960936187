"""Whether all files of a snapshot are there, and no others."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from s2corpus.snapshot.read_files import Fault, Snapshot
from s2corpus_reader.files import documents_path, parquet_path, remove_piece

_FOLDERS = ("corpus/metadata", "corpus/pdf_parses", "graph/links", "graph/contexts")
_ALWAYS = (
    "README.md",
    "stats.json",
    "croissant.json",
    "funnel.csv",
    "funnel.svg",
    "years.svg",
    "index.parquet",
    "aliases.parquet",
    "duplicates.parquet",
    "clusters.parquet",
)


def number_of(path: str) -> int:
    """The number of a file of papers; 0 of what is not one."""
    found = re.search(r"(\d+)\.(?:jsonl\.gz|parquet)$", remove_piece(path))
    return int(found[1]) if found else 0


def groups(state: Snapshot) -> int:
    """Into how many groups the files fall that share no paper with another group."""
    counts = Counter(path.rpartition("/")[0] for path in {remove_piece(path) for path in state.files} if "/" in path)
    return math.gcd(*counts.values()) if counts else 1


def presence(state: Snapshot) -> Iterator[Fault]:
    """What is listed and not there, there and not listed, or missing altogether."""
    present = {entry.key: entry.bytes for entry in state.lake.list("")}
    for path, file in sorted(state.files.items()):
        if path not in present:
            yield Fault(path, "listed in the manifest, but not there")
        elif present[path] != file.bytes:
            yield Fault(path, f"{file.bytes} bytes in the manifest, {present[path]} found")
    for path in sorted(set(present) - set(state.files) - {"manifest.json"}):
        yield Fault(path, "there, but not listed in the manifest")
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
            yield Fault(path, "every snapshot has it; the manifest has not")
    lines = [path for path in state.files if path.startswith("v2/")]
    for path in lines:
        if limit is not None and (state.files[path].content_bytes or 0) > limit and state.files[path].rows != 1:
            yield Fault(path, f"it has more than the {limit} bytes of export.shard_bytes")
    for path in lines:
        if parquet_path(path) not in state.files and any(p.startswith("documents/") for p in state.files):
            yield Fault(path, f"the manifest has no {parquet_path(path)}, which repeats it")
    for folder in sorted({*folders, *_FOLDERS}):
        numbers = sorted(number_of(path) for path in state.files if path.rpartition("/")[0] == folder)
        if not numbers or numbers != list(range(len(numbers))) or len(numbers) % groups(state):
            yield Fault(folder, f"its files have the numbers {numbers}: some are missing")
