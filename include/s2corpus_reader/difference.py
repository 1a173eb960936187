"""Write the difference between two snapshots; `s2corpus_reader.apply` applies it to a copy of the old snapshot.

Needs the extra `arrow`.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus_reader.bounded import MAX_PLAN_BYTES, TooLarge, copy_file, read_bytes
from s2corpus_reader.deltas import FORMAT, check_step, make_file, new_folder, read_lines, read_manifest, read_rows
from s2corpus_reader.errors import SnapshotError
from s2corpus_reader.files import GzipLines, SnapshotFile, remove_piece
from s2corpus_reader.folder import Files, Folder
from s2corpus_reader.parquet import Piece, Rows, write_groups


def write_delta(
    old: Files, new: Files, out: Path, progress: Callable[[str], None] = lambda path: None
) -> dict[str, int]:
    """Write the delta from snapshot `old` to snapshot `new` into the folder `out`.

    Return the number of files per kind of step (`copy`, `lines`, `rows`, `whole`), and the total `bytes` of the delta.

    Raises:
        SnapshotError: `out` exists, a manifest is damaged, or `delta.json` would be too large.
    """
    if out.exists():
        raise SnapshotError(f"{out} exists: name a new folder")
    (old_manifest, old_files), (manifest, files) = read_manifest(old), read_manifest(new)
    pieces: dict[str, list[SnapshotFile]] = {}
    for path in sorted(old_files):
        pieces.setdefault(remove_piece(path), []).append(old_files[path])
    by_content = {file.sha256: path for path, file in sorted(old_files.items(), reverse=True)}
    with new_folder(out) as folder:
        steps: dict[str, Any] = {}
        for path, file in files.items():
            progress(path)
            if file.sha256 in by_content:
                steps[path] = {"as": "copy", "from": by_content[file.sha256]}
            elif (old_pieces := pieces.get(remove_piece(path))) and path.endswith(".jsonl.gz"):
                steps[path] = _write_lines(old, old_pieces, new, file, folder)
            elif old_pieces and path.endswith(".parquet"):
                steps[path] = _write_rows(old, old_pieces, new, file, folder)
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
            raise SnapshotError(
                f"{out}: delta.json would exceed {MAX_PLAN_BYTES:,} bytes: copy the new snapshot instead"
            )
        (folder / "delta.json").write_bytes(plan)
    counts = {kind: sum(step["as"] == kind for step in steps.values()) for kind in ("copy", "lines", "rows", "whole")}
    return counts | {"bytes": sum(file.stat().st_size for file in out.rglob("*") if file.is_file())}


def _fetch(source: Files, file: SnapshotFile, folder: Path) -> None:
    target = folder / "new" / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_file(source, file.path, target, file.bytes)


def _write_lines(old: Files, olds: list[SnapshotFile], new: Files, file: SnapshotFile, folder: Path) -> dict[str, Any]:
    """Write the lines that the old files do not contain, and return the step that rebuilds the new file."""
    pieces, fresh = _find_pieces(
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


def _write_rows(
    old: Files, old_files: list[SnapshotFile], new: Files, file: SnapshotFile, folder: Path
) -> dict[str, Any]:
    """Write the rows that the old files do not contain. If they would not rebuild the new file byte by byte, copy the complete file."""
    path, olds = file.path, [file.path for file in old_files]
    before, after = read_rows(old, olds), read_rows(new, [path])
    target = folder / "new" / path
    if before.schema.equals(after.schema, check_metadata=True):
        pieces, fresh = _find_pieces(_row_hashes(before), _row_hashes(after))
        content = read_bytes(new, path, file.bytes)
        metadata = pq.ParquetFile(pa.BufferReader(content)).metadata
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        step = {"as": "rows", "of": olds, "pieces": pieces, "groups": groups}
        target.parent.mkdir(parents=True, exist_ok=True)
        chosen = after.take(pa.array(fresh, pa.int64()))
        numbers = Rows([("new", 0, len(fresh))], {"new": (0, len(fresh))})
        write_groups(chosen, numbers, [len(fresh)] if fresh else [], target, 2 * file.bytes)
        with tempfile.TemporaryDirectory(dir=folder.parent) as trial_folder, suppress(TooLarge):
            rebuilt = Path(trial_folder) / "file"
            known = {file.path: file for file in old_files}
            make_file(check_step(step, file, known), file, Folder(str(folder)), old, known, rebuilt)
            if rebuilt.read_bytes() == content:
                return step
        target.unlink()
    _fetch(new, file, folder)
    return {"as": "whole"}


def _find_pieces(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[list[Piece], list[int]]:
    """Return the new sequence as pieces (source, start, length) of old and of new items, and the positions of the new items."""
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
    return [
        _hash(repr(row).encode("utf-8", "surrogatepass"))
        for batch in table.to_batches(max_chunksize=1024)
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
