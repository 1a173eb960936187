"""The difference of two snapshots as files, and its application: who has a copy of the one gets the other, byte for byte.

A delta holds the lines and rows that the old snapshot has not; everything else is named by its place in the old one. What is put
together is written by the code that wrote the snapshot, and its SHA-256 must be the manifest's: a copy is either equal or refused.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.snapshot.bounded import (
    MAX_PLAN_BYTES,
    TooLarge,
    copy_file,
    gzip_lines,
    read_bytes,
    read_object,
    read_table,
)
from s2corpus.snapshot.files import File, GzipLines, list_files, parquet_writer, whole
from s2corpus.storage.lake import Lake, NotAFile
from s2corpus.storage.local_lake import LocalLake

FORMAT = "s2corpus-delta/2"
MAX_GROUP_BYTES = 1 << 30
"""Bytes of one row group; those of documents have 4 MiB of text."""
MAX_GROUP_ROWS = 1 << 24
_TAKEN = 1024
"""Rows that are measured at a time."""
Piece = tuple[str, int, int]
"""(`old` or `new`, first line or row, how many)"""


def make(old: Lake, new: Lake, out: Path, progress: Callable[[str], None] = lambda path: None) -> dict[str, int]:
    """Write the delta from snapshot `old` to snapshot `new` into the folder `out`; files by what was done with each, and its bytes.

    Raises:
        UserError: `out` is there already, or a manifest is damaged.
    """
    if out.exists():
        raise UserError(f"{out} is there already: give the name of a folder that is not")
    (old_manifest, known), (manifest, files) = _read_manifest(old), _read_manifest(new)
    pieces: dict[str, list[File]] = {}
    for path in sorted(known):
        pieces.setdefault(whole(path), []).append(known[path])
    by_content = {file.sha256: path for path, file in sorted(known.items(), reverse=True)}
    with _new_folder(out) as folder:
        steps: dict[str, Any] = {}
        for path, file in files.items():
            progress(path)
            if file.sha256 in by_content:
                steps[path] = {"as": "copy", "from": by_content[file.sha256]}
            elif (olds := pieces.get(whole(path))) and path.endswith(".jsonl.gz"):
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


def _read_manifest(snapshot: Lake) -> tuple[bytes, dict[str, File]]:
    """Read a snapshot's manifest and check every path before a folder is made for it."""
    try:
        manifest = read_bytes(snapshot, "manifest.json")
        return manifest, list_files(orjson.loads(manifest))
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{snapshot.uri('manifest.json')} is damaged ({error}): corpus verify shows where") from None


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """Yield a folder that becomes `out` at the end; if anything fails, no folder is left that was not there before.

    A killed process cannot remove its folder: it has the name of `out` in it, is locked by its process, and the next one removes it.
    """
    missing = [folder for folder in (out.absolute().parent, *out.absolute().parent.parents) if not folder.exists()]
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = out.parent / f".{out.name}.partial"
    done = False
    try:
        with _locked(scratch):
            shutil.rmtree(scratch / "folder", ignore_errors=True)
            try:
                (scratch / "folder").mkdir()
                yield scratch / "folder"
                (scratch / "folder").rename(out)
                done = True
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    finally:
        for folder in () if done else missing:
            with suppress(OSError):  # another process has put something there
                folder.rmdir()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder}: another process is writing this folder: wait for it") from None
        yield
    finally:
        os.close(descriptor)


_DAMAGED = (
    AttributeError, LookupError, OverflowError, TypeError, ValueError,
    EOFError, FileNotFoundError, MemoryError, NotAFile, gzip.BadGzipFile, zlib.error, pa.ArrowException,
)  # fmt: skip
"""What reading a damaged step, or the files that it names, comes to."""


def apply(delta: Path, copy: Lake, out: Path, progress: Callable[[str], None] = lambda path: None) -> str:
    """Make the snapshot that `delta` leads to, in the folder `out`, from a copy of the one it starts from; its id.

    Raises:
        UserError: the copy is another snapshot, is damaged, or what came out is not what the manifest says.
    """
    if out.exists():
        raise UserError(f"{out} is there already: give the name of a folder that is not")
    fresh = LocalLake(delta, confined=True)
    try:
        plan = read_object(fresh, "delta.json", MAX_PLAN_BYTES)
        manifest = read_bytes(fresh, "manifest.json")
    except (FileNotFoundError, ValueError) as error:
        raise UserError(f"{delta}: not a delta: {error}") from None
    if plan.get("format") != FORMAT:
        raise UserError(f"{delta}: of format {str(plan.get('format'))[:100]!r}; this version applies {FORMAT!r}")
    if hashlib.sha256(manifest).hexdigest() != plan.get("to_manifest_sha256"):
        raise UserError(f"{delta}: its manifest.json is not the one it was made with: fetch the delta again")
    have = hashlib.sha256(start := read_bytes(copy, "manifest.json")).hexdigest()
    if have != plan.get("from_manifest_sha256"):
        raise UserError(
            f"{copy.root} is not {plan.get('from')}, from which {delta} starts: its manifest has SHA-256 {have}"
        )
    try:
        known, files = list_files(orjson.loads(start)), list_files(orjson.loads(manifest))
        leads_to, steps = str(plan["to"]), {path: _checked(plan["files"][path], files[path], known) for path in files}
    except _DAMAGED as error:
        raise UserError(
            f"{delta} is damaged ({type(error).__name__}: {_one_line(error)}): fetch the delta again"
        ) from None
    with _new_folder(out) as folder:
        total, free = sum(file.bytes for file in files.values()), shutil.disk_usage(folder).free
        if total > free:
            raise UserError(f"{out}: {leads_to} has {total:,} bytes, and {free:,} are free: give another disk")
        for path, file in files.items():
            progress(path)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                _make(steps[path], file, fresh, copy, known, target)
            except _DAMAGED as error:
                raise UserError(
                    f"{delta}: {path} cannot be made of it and of {copy.root} ({type(error).__name__}: {_one_line(error)}): "
                    f"one of them is damaged: fetch the delta again, and try corpus verify on the copy"
                ) from None
            with target.open("rb") as made:
                found = hashlib.file_digest(made, "sha256").hexdigest()
            if found != file.sha256:
                raise UserError(
                    f"{path}: came out with SHA-256 {found}, the manifest has {file.sha256}: the copy "
                    f"{copy.root} is damaged (corpus verify), or pyarrow {pa.__version__} writes other bytes than "
                    f"{str(plan.get('pyarrow'))[:100]}, which made the delta"
                )
        (folder / "manifest.json").write_bytes(manifest)
    return leads_to


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _checked(step: dict[str, Any], file: File, known: Mapping[str, File]) -> dict[str, Any]:
    """Return the step that makes a file, if the old manifest has its sources and it gives as many lines or rows as the new one.

    Raises:
        ValueError, TypeError, LookupError: it does not.
    """
    kind = step["as"]
    if kind == "copy":
        if known[step["from"]].sha256 != file.sha256:
            raise ValueError(f"{file.path} is not {step['from']}")
    elif kind in ("lines", "rows"):
        if any(path not in known for path in step["of"]) or len(set(step["of"])) != len(step["of"]):
            raise ValueError(f"{file.path} is made of files that the older snapshot has not")
        if kind == "rows":
            _check_counts(step["groups"], file)
        _check_counts([count for _, _, count in step["pieces"]], file)
    elif kind != "whole":
        raise ValueError(f"{file.path} is made by {str(kind)[:20]!r}")
    return step


def _check_counts(counts: Sequence[int], file: File) -> None:
    if any(type(count) is not int or count < 1 for count in counts) or sum(counts) != file.rows:
        raise ValueError(f"{file.path} has {file.rows} lines or rows, and its pieces or groups have others")


def _fetch(lake: Lake, file: File, folder: Path) -> None:
    target = folder / "new" / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_file(lake, file.path, target, file.bytes)


def _make(step: dict[str, Any], file: File, fresh: Lake, copy: Lake, known: Mapping[str, File], target: Path) -> None:
    """Write one file of the new snapshot."""
    own = f"new/{file.path}"
    if step["as"] == "copy":
        copy_file(copy, step["from"], target, file.bytes)
    elif step["as"] == "whole":
        copy_file(fresh, own, target, file.bytes)
    elif step["as"] == "lines":
        sources = {
            "old": _Lines(_read_lines(copy, [known[path] for path in step["of"]])),
            "new": _Lines(_read_lines(fresh, [replace(file, path=own)])),
        }
        with GzipLines(target) as lines:
            for source, first, count in step["pieces"]:
                for line in sources[source].take(first, count):
                    lines.write(line)
                    if lines.content_bytes > (file.content_bytes or 0):
                        raise TooLarge(f"more than {file.content_bytes:,} bytes came out")
    else:
        old, new = _read_rows(copy, step["of"]), _as_written(read_table(fresh, own))
        starts = {"old": (0, old.num_rows), "new": (old.num_rows, new.num_rows)}
        for source, first, count in step["pieces"]:
            if first + count > starts[source][1]:
                raise ValueError(f"{source} has no rows {first} to {first + count}")
        _write_groups(pa.concat_tables([old, new]), _Rows(step["pieces"], starts), step["groups"], target, file.bytes)


class _Lines:
    """Lines of a file that are asked for in their order: a delta is applied in the memory of one line."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._next = 0

    def take(self, first: int, count: int) -> Iterator[bytes]:
        """Yield `count` lines from line `first` on.

        Raises:
            ValueError: they were passed before, or there are not so many.
        """
        if first < self._next:
            raise ValueError(f"line {first} is asked for after line {self._next - 1}")
        given = 0
        for line in islice(self._lines, first - self._next, first - self._next + count):
            given += 1
            yield line
        if given < count:
            raise ValueError(f"there are no {first + count} lines")
        self._next = first + count


class _Rows:
    """Numbers of rows that pieces name, a row group at a time."""

    def __init__(self, pieces: Iterable[Piece], starts: Mapping[str, tuple[int, int]]) -> None:
        """`starts` has, by source, the number of its first row and how many rows it has."""
        self._pieces = iter(pieces)
        self._starts = starts
        self._left = np.empty(0, np.int64)

    def take(self, count: int) -> np.ndarray:
        """Return the next `count` numbers.

        Raises:
            ValueError: a piece names rows that its source has not, or there are not so many.
        """
        taken, have = [self._left], len(self._left)
        while have < count:
            source, first, length = next(self._pieces, ("", 0, 0))
            start, rows = self._starts.get(source, (0, 0))
            if not length or first + length > rows:
                raise ValueError(f"there are no rows {first} to {first + length} of {source!r}")
            taken.append(np.arange(start + first, start + first + length, dtype=np.int64))
            have += length
        found = np.concatenate(taken)
        self._left = found[count:]
        return found[:count]


def _write_groups(table: pa.Table, rows: _Rows, groups: Sequence[int], target: Path, size: int) -> None:
    """Write rows of a table in groups; stop when the file has more than `size` bytes."""
    with parquet_writer(target, table.schema) as writer:
        for count in groups:
            if count > MAX_GROUP_ROWS:
                raise TooLarge(f"a row group has {count:,} rows")
            chosen = rows.take(count)
            if len(np.unique(chosen)) < count:  # else the table bounds the group
                total = 0
                for first in range(0, count, _TAKEN):
                    total += table.take(pa.array(chosen[first : first + _TAKEN])).nbytes
                    if total > MAX_GROUP_BYTES:
                        raise TooLarge(f"a row group has more than {MAX_GROUP_BYTES:,} bytes")
            writer.write_table(table.take(pa.array(chosen)).combine_chunks(), row_group_size=count)
            if target.stat().st_size > size:
                raise TooLarge(f"more than {size:,} bytes came out")


def _lines(old: Lake, olds: list[File], new: Lake, file: File, folder: Path) -> dict[str, Any]:
    """Write the lines that the old files have not; return the step that puts them together."""
    pieces, fresh = _pieces(
        [_hash(line) for line in _read_lines(old, olds)], [_hash(line) for line in _read_lines(new, [file])]
    )
    target = folder / "new" / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    chosen = set(fresh)
    with GzipLines(target) as out:
        for i, line in enumerate(_read_lines(new, [file])):
            if i in chosen:
                out.write(line)
    return {"as": "lines", "of": [old.path for old in olds], "pieces": pieces}


def _rows(old: Lake, old_files: list[File], new: Lake, file: File, folder: Path) -> dict[str, Any]:
    """Rows of the new file that the old one has not; the whole file where it would not come out with the same bytes."""
    path, olds = file.path, [file.path for file in old_files]
    before, after = _read_rows(old, olds), _read_rows(new, [path])
    target = folder / "new" / path
    if before.schema.equals(after.schema, check_metadata=True):
        pieces, fresh = _pieces(_row_hashes(before), _row_hashes(after))
        content = read_bytes(new, path, file.bytes)
        metadata = pq.ParquetFile(pa.BufferReader(content)).metadata
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        step = {"as": "rows", "of": olds, "pieces": pieces, "groups": groups}
        target.parent.mkdir(parents=True, exist_ok=True)
        chosen = after.take(pa.array(fresh, pa.int64()))
        numbers = _Rows([("new", 0, len(fresh))], {"new": (0, len(fresh))})
        _write_groups(chosen, numbers, [len(fresh)] if fresh else [], target, 2 * file.bytes)
        with tempfile.TemporaryDirectory(dir=folder.parent) as trial, suppress(TooLarge):
            made = Path(trial) / "file"
            known = {file.path: file for file in old_files}
            _make(_checked(step, file, known), file, LocalLake(folder), old, known, made)
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


def _read_lines(lake: Lake, files: Sequence[File]) -> Iterator[bytes]:
    """Yield the lines of some files, of each at most as many bytes as the manifest has."""
    for file in files:
        with lake.open(file.path) as raw:
            yield from gzip_lines(raw, file.content_bytes or 0)


def _read_rows(lake: Lake, paths: Sequence[str]) -> pa.Table:
    tables = [_as_written(read_table(lake, path)) for path in paths]
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
