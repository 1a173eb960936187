"""Check that a snapshot contains exactly the files that it must contain."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from s2corpus.snapshot.read_files import Fault, Verification
from s2corpus_reader.files import documents_path, parquet_path, remove_piece

_FOLDERS = ("corpus/metadata", "corpus/pdf_parses", "graph/links", "graph/contexts")
_ALWAYS = (
    "README.md", "stats.json", "croissant.json", "funnel.csv", "funnel.svg", "years.svg", "index.parquet", "aliases.parquet",
    "duplicates.parquet", "clusters.parquet",
)  # fmt: skip


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
    present = {entry.key: entry.bytes for entry in state.lake.list("")}
    for path, file in sorted(state.files.items()):
        if path not in present:
            yield Fault(path, "the manifest lists this file, but it does not exist")
        elif present[path] != file.bytes:
            yield Fault(path, f"the file has {present[path]} bytes; the manifest has {file.bytes}")
    for path in sorted(set(present) - set(state.files) - {"manifest.json"}):
        yield Fault(path, "the manifest does not list this file")
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
    lines = [path for path in state.files if path.startswith("v2/")]
    for path in lines:
        if limit is not None and (state.files[path].content_bytes or 0) > limit and state.files[path].rows != 1:
            yield Fault(path, f"the content exceeds export.shard_bytes ({limit} bytes)")
    for path in lines:
        if parquet_path(path) not in state.files and any(p.startswith("documents/") for p in state.files):
            yield Fault(path, f"the manifest does not list its Parquet copy {parquet_path(path)}")
    for folder in sorted({*folders, *_FOLDERS}):
        numbers = sorted(parse_file_number(path) for path in state.files if path.rpartition("/")[0] == folder)
        if not numbers or numbers != list(range(len(numbers))) or len(numbers) % count_groups(state):
            yield Fault(folder, f"files are missing: found the numbers {numbers}")
