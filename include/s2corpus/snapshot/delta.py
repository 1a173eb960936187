"""The difference of two snapshots as files, and its application: who has a copy of the one gets the other, byte for byte.

A delta holds the lines and rows that the old snapshot has not; everything else is named by its place in the old one. What is put
together is written by the code that wrote the snapshot, and its SHA-256 must be the manifest's: a copy is either equal or refused.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.snapshot.files import File, GzipLines, parquet_writer, whole
from s2corpus.storage.lake import Lake

FORMAT = "s2corpus-delta/2"
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
        pieces.setdefault(whole(path), []).append(path)
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
            elif (olds := pieces.get(whole(path))) and path.endswith(".jsonl.gz"):
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


_DAMAGED = (
    AttributeError, LookupError, OverflowError, TypeError, ValueError,
    EOFError, FileNotFoundError, gzip.BadGzipFile, zlib.error, pa.ArrowException,
)  # fmt: skip
"""What reading a damaged step, or the files that it names, comes to."""


def apply(delta: Path, copy: Lake, out: Path, progress: Callable[[str], None] = lambda path: None) -> str:
    """Make the snapshot that `delta` leads to, in the folder `out`, from a copy of the one it starts from; its id.

    Raises:
        UserError: the copy is another snapshot, is damaged, or what came out is not what the manifest says.
    """
    if out.exists():
        raise UserError(f"{out} is there already: give the name of a folder that is not")
    try:
        plan = orjson.loads((delta / "delta.json").read_bytes())
        manifest = (delta / "manifest.json").read_bytes()
    except (FileNotFoundError, orjson.JSONDecodeError) as error:
        raise UserError(f"{delta}: not a delta: {error}") from None
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        given = plan.get("format") if isinstance(plan, dict) else type(plan).__name__
        raise UserError(f"{delta}: of format {given!r}; this version applies {FORMAT!r}")
    if hashlib.sha256(manifest).hexdigest() != plan.get("to_manifest_sha256"):
        raise UserError(f"{delta}: its manifest.json is not the one it was made with: fetch the delta again")
    try:
        start, started, leads_to, steps = (plan[key] for key in ("from", "from_manifest_sha256", "to", "files"))
        listed = [(str(f["path"]), f["sha256"], steps.get(f["path"])) for f in orjson.loads(manifest)["files"]]
    except (KeyError, TypeError, AttributeError, orjson.JSONDecodeError) as error:
        raise UserError(f"{delta} is damaged ({type(error).__name__}: {error}): fetch the delta again") from None
    have = hashlib.sha256(copy.get("manifest.json")[0]).hexdigest()
    if have != started:
        raise UserError(f"{copy.root} is not {start}, from which {delta} starts: its manifest has SHA-256 {have}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".copy-", dir=out.parent) as beside:
        folder = Path(beside) / "snapshot"
        for path, sha256, step in listed:
            progress(path)
            target = folder / path
            if "\0" in path or not target.resolve().is_relative_to(folder.resolve()):
                raise UserError(f"{delta}: {path!r} leads out of the snapshot")
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                _make(step, path, delta, copy, target)
            except _DAMAGED as error:
                raise UserError(
                    f"{delta}: {path} cannot be made of it and of {copy.root} ({type(error).__name__}: {error}): "
                    f"one of them is damaged: fetch the delta again, and try corpus verify on the copy"
                ) from None
            with target.open("rb") as made:
                found = hashlib.file_digest(made, "sha256").hexdigest()
            if found != sha256:
                raise UserError(
                    f"{path}: came out with SHA-256 {found}, the manifest has {sha256}: the copy "
                    f"{copy.root} is damaged (corpus verify), or pyarrow {pa.__version__} writes other bytes than "
                    f"{plan.get('pyarrow')}, which made the delta"
                )
        (folder / "manifest.json").write_bytes(manifest)
        folder.rename(out)
    return str(leads_to)


def _fetch(lake: Lake, path: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    lake.download(path, target)


def _make(step: dict[str, Any], path: str, delta: Path, copy: Lake, target: Path) -> None:
    """One file of the new snapshot."""
    if step["as"] == "copy":
        copy.download(step["from"], target)
    elif step["as"] == "whole":
        shutil.copyfile(delta / "new" / path, target)
    elif step["as"] == "lines":
        with gzip.open(delta / "new" / path) as fresh:
            old, new = _read_lines(copy, step["of"]), list(fresh)
        with GzipLines(target) as lines:
            for source, start, count in step["pieces"]:
                for line in (old if source == "old" else new)[start : start + count]:
                    lines.write(line)
    else:
        tables = {"old": _read_rows(copy, step["of"]), "new": _as_written(pq.read_table(delta / "new" / path))}
        empty = tables["new"].slice(0, 0)  # a file that loses all its rows has no pieces
        whole = pa.concat_tables(
            [empty, *(tables[source].slice(start, count) for source, start, count in step["pieces"])]
        )
        _write_groups(whole, step["groups"], target)


def _write_groups(table: pa.Table, groups: Sequence[int], target: Path) -> None:
    with parquet_writer(target, table.schema) as writer:
        start = 0
        for count in groups:
            writer.write_table(table.slice(start, count).combine_chunks(), row_group_size=count)
            start += count


def _lines(old: Lake, olds: list[str], new: Lake, path: str, folder: Path) -> dict[str, Any]:
    lines = _read_lines(new, [path])
    pieces, fresh = _pieces([_hash(line) for line in _read_lines(old, olds)], [_hash(line) for line in lines])
    target = folder / "new" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with GzipLines(target) as out:
        for i in fresh:
            out.write(lines[i])
    return {"as": "lines", "of": olds, "pieces": pieces}


def _rows(old: Lake, olds: list[str], new: Lake, path: str, folder: Path) -> dict[str, Any]:
    """Rows of the new file that the old one has not; the whole file where it would not come out with the same bytes."""
    before, after = _read_rows(old, olds), _read_rows(new, [path])
    target = folder / "new" / path
    if before.schema.equals(after.schema, check_metadata=True):
        pieces, fresh = _pieces(_row_hashes(before), _row_hashes(after))
        with new.open(path) as file:
            metadata = pq.ParquetFile(pa.BufferReader(file.read())).metadata
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        step = {"as": "rows", "of": olds, "pieces": pieces, "groups": groups}
        target.parent.mkdir(parents=True, exist_ok=True)
        chosen = after.take(pa.array(fresh, pa.int64()))
        _write_groups(chosen, [chosen.num_rows] if chosen.num_rows else [], target)
        with tempfile.TemporaryDirectory(dir=folder.parent) as trial:
            _make(step, path, folder, old, Path(trial) / "file")
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


def _read_lines(lake: Lake, paths: Sequence[str]) -> list[bytes]:
    found: list[bytes] = []
    for path in paths:
        with lake.open(path) as raw, gzip.open(raw) as lines:
            found += lines
    return found


def _read_rows(lake: Lake, paths: Sequence[str]) -> pa.Table:
    tables = [_as_written(pq.read_table(pa.BufferReader(lake.get(path)[0]))) for path in paths]
    same = [table for table in tables if table.schema.equals(tables[0].schema, check_metadata=True)]
    return pa.concat_tables(same)


def _as_written(table: pa.Table) -> pa.Table:
    """A table with the schema that its file was written with: reading renames the items of lists and numbers the fields."""
    return table.cast(pa.schema([_field(field) for field in table.schema], table.schema.metadata))


def _field(field: pa.Field) -> pa.Field:
    metadata = {name: value for name, value in (field.metadata or {}).items() if name != b"PARQUET:field_id"}
    return pa.field(field.name, _type(field.type), field.nullable, metadata or None)


def _type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_):
        return pa.list_(_type(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([_field(field) for field in type_])
    return type_
