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
from s2corpus_reader.deltas import FORMAT, make_file, read_lines, read_rows
from s2corpus_reader.files import File, GzipLines, remove_piece
from s2corpus_reader.parquet import write_groups

Piece = tuple[str, int, int]
"""(`old` or `new`, first line or row, how many)"""


def make(old: Lake, new: Lake, out: Path, progress: Callable[[str], None] = lambda path: None) -> dict[str, int]:
    """Write the delta from snapshot `old` to snapshot `new` into the folder `out`; files by what was done with each, and its bytes.

    Raises:
        UserError: `out` is there already.
    """
    if out.exists():
        raise UserError(f"{out} is there already: give the name of a folder that is not")
    manifest = new.get("manifest.json")[0]
    known = {file["path"]: File(**file) for file in orjson.loads(old.get("manifest.json")[0])["files"]}
    pieces: dict[str, list[str]] = {}
    for path in sorted(known):
        pieces.setdefault(remove_piece(path), []).append(path)
    by_content = {file.sha256: path for path, file in sorted(known.items(), reverse=True)}
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".delta-", dir=out.parent) as beside:
        folder = Path(beside) / "delta"
        folder.mkdir()
        steps = {}
        for listed in orjson.loads(manifest)["files"]:
            path = listed["path"]
            progress(path)
            if listed["sha256"] in by_content:
                steps[path] = {"as": "copy", "from": by_content[listed["sha256"]]}
            elif (olds := pieces.get(remove_piece(path))) and path.endswith(".jsonl.gz"):
                steps[path] = _lines(old, olds, new, path, folder)
            elif olds and path.endswith(".parquet"):
                steps[path] = _rows(old, olds, new, path, folder)
            else:
                _fetch(new, path, folder / "new" / path)
                steps[path] = {"as": "whole"}
        value = {
            "format": FORMAT,
            "from": orjson.loads(old.get("manifest.json")[0])["snapshot"],
            "from_manifest_sha256": hashlib.sha256(old.get("manifest.json")[0]).hexdigest(),
            "to": orjson.loads(manifest)["snapshot"],
            "to_manifest_sha256": hashlib.sha256(manifest).hexdigest(),
            "pyarrow": pa.__version__,
            "files": steps,
        }
        (folder / "manifest.json").write_bytes(manifest)
        (folder / "delta.json").write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
        folder.rename(out)
    counts = {kind: sum(step["as"] == kind for step in steps.values()) for kind in ("copy", "lines", "rows", "whole")}
    return counts | {"bytes": sum(file.stat().st_size for file in out.rglob("*") if file.is_file())}


def _fetch(lake: Lake, path: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    lake.download(path, target)


def _lines(old: Lake, olds: list[str], new: Lake, path: str, folder: Path) -> dict[str, Any]:
    lines = read_lines(new, [path])
    pieces, fresh = _pieces([_hash(line) for line in read_lines(old, olds)], [_hash(line) for line in lines])
    target = folder / "new" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with GzipLines(target) as out:
        for i in fresh:
            out.write(lines[i])
    return {"as": "lines", "of": olds, "pieces": pieces}


def _rows(old: Lake, olds: list[str], new: Lake, path: str, folder: Path) -> dict[str, Any]:
    """Rows of the new file that the old one has not; the whole file where it would not come out with the same bytes."""
    before, after = read_rows(old, olds), read_rows(new, [path])
    target = folder / "new" / path
    if before.schema.equals(after.schema, check_metadata=True):
        pieces, fresh = _pieces(_row_hashes(before), _row_hashes(after))
        with new.open(path) as file:
            metadata = pq.ParquetFile(pa.BufferReader(file.read())).metadata
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        step = {"as": "rows", "of": olds, "pieces": pieces, "groups": groups}
        target.parent.mkdir(parents=True, exist_ok=True)
        chosen = after.take(pa.array(fresh, pa.int64()))
        write_groups(chosen, [chosen.num_rows] if chosen.num_rows else [], target)
        with tempfile.TemporaryDirectory(dir=folder.parent) as trial:
            make_file(step, path, folder, old, Path(trial) / "file")
            if (Path(trial) / "file").read_bytes() == new.get(path)[0]:
                return step
        with suppress(FileNotFoundError):
            target.unlink()
    _fetch(new, path, target)
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
