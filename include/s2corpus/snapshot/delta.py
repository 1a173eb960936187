"""Making the difference of two snapshots as files, which `s2corpus_reader.apply` applies to a copy of the old one."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.storage.lake import Lake
from s2corpus.storage.local_lake import LocalLake
from s2corpus_reader.bounded import MAX_PLAN_BYTES, TooLarge, copy_file, read_bytes
from s2corpus_reader.deltas import FORMAT, check_step, make_file, new_folder, read_lines, read_rows
from s2corpus_reader.files import GzipLines, SnapshotFile, list_files, remove_piece
from s2corpus_reader.parquet import Piece, Rows, write_groups


def make(old: Lake, new: Lake, out: Path, progress: Callable[[str], None] = lambda path: None) -> dict[str, int]:
    """Write the delta from snapshot `old` to snapshot `new` into the folder `out`; files by what was done with each, and its bytes.

    Raises:
        UserError: `out` is there already, or a manifest is damaged.
    """
    if out.exists():
        raise UserError(f"{out} is there already: give the name of a folder that is not")
    (old_manifest, known), (manifest, files) = _read_manifest(old), _read_manifest(new)
    pieces: dict[str, list[SnapshotFile]] = {}
    for path in sorted(known):
        pieces.setdefault(remove_piece(path), []).append(known[path])
    by_content = {file.sha256: path for path, file in sorted(known.items(), reverse=True)}
    with new_folder(out) as folder:
        steps: dict[str, Any] = {}
        for path, file in files.items():
            progress(path)
            if file.sha256 in by_content:
                steps[path] = {"as": "copy", "from": by_content[file.sha256]}
            elif (olds := pieces.get(remove_piece(path))) and path.endswith(".jsonl.gz"):
                steps[path] = _lines(old, olds, new, file, folder)
            elif olds and path.endswith(".parquet"):
                steps[path] = _rows(old, olds, new, file, folder)
            else:
                _fetch(new, file, folder)
                steps[path] = {"as": "whole"}
        value = {
            "format": FORMAT,
            "from": orjson.loads(old_manifest)["snapshot"],
            "from_manifest_sha256": hashlib.sha256(old_manifest).hexdigest(),
            "to": orjson.loads(manifest)["snapshot"],
            "to_manifest_sha256": hashlib.sha256(manifest).hexdigest(),
            "pyarrow": pa.__version__,
            "files": steps,
        }
        (folder / "manifest.json").write_bytes(manifest)
        plan = orjson.dumps(value, option=orjson.OPT_INDENT_2)
        if len(plan) > MAX_PLAN_BYTES:
            raise UserError(f"{out}: the snapshots differ in too many places for a delta: copy the new one")
        (folder / "delta.json").write_bytes(plan)
    counts = {kind: sum(step["as"] == kind for step in steps.values()) for kind in ("copy", "lines", "rows", "whole")}
    return counts | {"bytes": sum(file.stat().st_size for file in out.rglob("*") if file.is_file())}


def _read_manifest(snapshot: Lake) -> tuple[bytes, dict[str, SnapshotFile]]:
    """Read a snapshot's manifest and check every path before a folder is made for it."""
    try:
        manifest = read_bytes(snapshot, "manifest.json")
        return manifest, list_files(orjson.loads(manifest))
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{snapshot.uri('manifest.json')} is damaged ({error}): corpus verify shows where") from None


def _fetch(lake: Lake, file: SnapshotFile, folder: Path) -> None:
    target = folder / "new" / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_file(lake, file.path, target, file.bytes)


def _lines(old: Lake, olds: list[SnapshotFile], new: Lake, file: SnapshotFile, folder: Path) -> dict[str, Any]:
    """Write the lines that the old files have not; return the step that puts them together."""
    pieces, fresh = _pieces(
        [_hash(line) for line in read_lines(old, olds)], [_hash(line) for line in read_lines(new, [file])]
    )
    target = folder / "new" / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    chosen = set(fresh)
    with GzipLines(target) as out:
        for i, line in enumerate(read_lines(new, [file])):
            if i in chosen:
                out.write(line)
    return {"as": "lines", "of": [old.path for old in olds], "pieces": pieces}


def _rows(old: Lake, old_files: list[SnapshotFile], new: Lake, file: SnapshotFile, folder: Path) -> dict[str, Any]:
    """Rows of the new file that the old one has not; the whole file where it would not come out with the same bytes."""
    path, olds = file.path, [file.path for file in old_files]
    before, after = read_rows(old, olds), read_rows(new, [path])
    target = folder / "new" / path
    if before.schema.equals(after.schema, check_metadata=True):
        pieces, fresh = _pieces(_row_hashes(before), _row_hashes(after))
        content = read_bytes(new, path, file.bytes)
        metadata = pq.ParquetFile(pa.BufferReader(content)).metadata
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        step = {"as": "rows", "of": olds, "pieces": pieces, "groups": groups}
        target.parent.mkdir(parents=True, exist_ok=True)
        chosen = after.take(pa.array(fresh, pa.int64()))
        numbers = Rows([("new", 0, len(fresh))], {"new": (0, len(fresh))})
        write_groups(chosen, numbers, [len(fresh)] if fresh else [], target, 2 * file.bytes)
        with tempfile.TemporaryDirectory(dir=folder.parent) as trial, suppress(TooLarge):
            made = Path(trial) / "file"
            known = {file.path: file for file in old_files}
            make_file(check_step(step, file, known), file, LocalLake(folder), old, known, made)
            if made.read_bytes() == content:
                return step
        target.unlink()
    _fetch(new, file, folder)
    return {"as": "whole"}


def _pieces(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[list[Piece], list[int]]:
    """The new sequence as pieces of the old one and of what is new, and the places of the latter."""
    places: dict[bytes, int] = {}
    for i, item in enumerate(old):
        places.setdefault(item, i)
    pieces: list[Piece] = []
    fresh: list[int] = []
    for i, item in enumerate(new):
        if (at := places.get(item)) is None:
            source, at = "new", len(fresh)
            fresh.append(i)
        else:
            source = "old"
        if pieces and pieces[-1][0] == source and pieces[-1][1] + pieces[-1][2] == at:
            pieces[-1] = (source, pieces[-1][1], pieces[-1][2] + 1)
        else:
            pieces.append((source, at, 1))
    return pieces, fresh


def _hash(item: bytes) -> bytes:
    return hashlib.sha256(item).digest()[:16]


def _row_hashes(table: pa.Table) -> list[bytes]:
    return [_hash(repr(row).encode("utf-8", "surrogatepass")) for row in _python_rows(table)]


def _python_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    for batch in table.to_batches(max_chunksize=1024):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
