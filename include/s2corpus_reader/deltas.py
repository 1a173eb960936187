"""Apply the difference between two snapshots: create the new snapshot from a copy of the old one, byte for byte.

A delta contains the lines and rows that the old snapshot lacks. It references all other lines and rows by their
position in the old snapshot. The SHA-256 of each file must equal the manifest's: a result is either exact or rejected.
Parquet files need the extra `arrow`.

Deltas and copies come from others: all names and counts are checked before a folder is made, and sizes of the manifest bound each read.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from s2corpus_reader.bounded import MAX_PLAN_BYTES, TooLarge, copy_file, gzip_lines, read_bytes, read_object
from s2corpus_reader.errors import NotASnapshotFile, SnapshotError
from s2corpus_reader.files import GzipLines, SnapshotFile, list_files
from s2corpus_reader.folder import Files, Folder

try:
    import fcntl
except ModuleNotFoundError:  # Windows: processes are not locked against each other there
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "s2corpus-delta/2"
_DAMAGED = (
    AttributeError, LookupError, OverflowError, TypeError, ValueError,
    EOFError, FileNotFoundError, MemoryError, NotASnapshotFile, gzip.BadGzipFile, zlib.error,
)  # fmt: skip
"""errors caused by a damaged step or by damaged files that a step references"""


def _damage_errors() -> tuple[type[Exception], ...]:
    """Return `_DAMAGED`, and Arrow's errors if pyarrow is installed."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        return _DAMAGED
    return (*_DAMAGED, pa.ArrowException)


def apply(delta: Path, copy: Files | str, out: Path, progress: Callable[[str], None] = lambda path: None) -> str:
    """Write the new snapshot of `delta` into the folder `out`, using a copy of the old snapshot; return the new
    snapshot's id.

    Raises:
        SnapshotError: the copy is a different snapshot or is damaged, or a file differs from the manifest.
    """
    copy = Folder(copy) if isinstance(copy, str) else copy
    if out.exists():
        raise SnapshotError(f"{out} already exists: give the name of a new folder")
    fresh = Folder(str(delta))
    try:
        plan = read_object(fresh, "delta.json", MAX_PLAN_BYTES)
        manifest = read_bytes(fresh, "manifest.json")
    except (FileNotFoundError, ValueError) as error:
        raise SnapshotError(f"{delta} is not a delta: {error}") from None
    if plan.get("format") != FORMAT:
        raise SnapshotError(f"{delta} has format {str(plan.get('format'))[:100]!r}; this version expects {FORMAT!r}")
    if hashlib.sha256(manifest).hexdigest() != plan.get("to_manifest_sha256"):
        raise SnapshotError(f"{delta}: the SHA-256 of manifest.json differs from delta.json: fetch the delta again")
    try:
        start = read_bytes(copy, "manifest.json")
    except (FileNotFoundError, ValueError) as error:
        raise SnapshotError(f"{copy.root} is not a snapshot: {error}") from None
    if (have := hashlib.sha256(start).hexdigest()) != plan.get("from_manifest_sha256"):
        raise SnapshotError(
            f"{copy.root} is not {str(plan.get('from'))[:100]}, which {delta} starts from: its manifest has SHA-256 {have}"
        )
    try:
        known, files = list_files(orjson.loads(start)), list_files(orjson.loads(manifest))
        leads_to, steps = str(plan["to"]), {path: check_step(plan["files"][path], files[path], known) for path in files}
    except _DAMAGED as error:
        raise SnapshotError(
            f"{delta} is damaged ({type(error).__name__}: {_one_line(error)}): fetch the delta again"
        ) from None
    with new_folder(out) as folder:
        total, free = sum(file.bytes for file in files.values()), shutil.disk_usage(folder).free
        if total > free:
            raise SnapshotError(f"{out}: {leads_to} has {total:,} bytes, and {free:,} are free: give another disk")
        for path, file in files.items():
            progress(path)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                make_file(steps[path], file, fresh, copy, known, target)
            except _damage_errors() as error:
                raise SnapshotError(
                    f"{delta}: cannot create {path} from the delta and {copy.root} ({type(error).__name__}: {_one_line(error)}): "
                    f"the delta or the copy is damaged: fetch the delta again and run corpus verify on the copy"
                ) from None
            with target.open("rb") as made:
                found = hashlib.file_digest(made, "sha256").hexdigest()
            if found != file.sha256:
                raise SnapshotError(
                    f"{path}: the new file has SHA-256 {found}, the manifest expects {file.sha256}: the copy "
                    f"{copy.root} is damaged (verify it), or the installed pyarrow writes other bytes than version "
                    f"{str(plan.get('pyarrow'))[:100]}, which created the delta"
                )
        (folder / "manifest.json").write_bytes(manifest)
    return leads_to


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yield a folder that becomes `out` at the end. After an error, no new folder remains.

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
            with suppress(OSError):  # another process has written into it
                folder.rmdir()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SnapshotError(f"{folder}: another process is writing this folder: wait for it") from None
        yield
    finally:
        os.close(descriptor)


def check_step(step: dict[str, Any], file: SnapshotFile, known: Mapping[str, SnapshotFile]) -> dict[str, Any]:
    """Return the step that makes a file.

    Its sources must be in the old manifest, and its number of lines or rows must be that of the new manifest.

    Raises:
        ValueError, TypeError, LookupError: it does not.
    """
    kind = step["as"]
    if kind == "copy":
        if known[step["from"]].sha256 != file.sha256:
            raise ValueError(f"{file.path} is not {step['from']}")
    elif kind in ("lines", "rows"):
        if any(path not in known for path in step["of"]) or len(set(step["of"])) != len(step["of"]):
            raise ValueError(f"{file.path} is made of files that the older snapshot does not have")
        if kind == "rows":
            _check_counts(step["groups"], file)
        _check_counts([count for _, _, count in step["pieces"]], file)
    elif kind != "whole":
        raise ValueError(f"{file.path} is made by {str(kind)[:20]!r}")
    return step


def _check_counts(counts: Sequence[int], file: SnapshotFile) -> None:
    if any(type(count) is not int or count < 1 for count in counts) or sum(counts) != file.rows:
        raise ValueError(f"{file.path} has {file.rows} lines or rows, and its pieces or groups have others")


def make_file(
    step: dict[str, Any], file: SnapshotFile, fresh: Files, copy: Files, known: Mapping[str, SnapshotFile], target: Path
) -> None:
    """Write one file of the new snapshot from the delta `fresh` and the files `known` of the copy."""
    own = f"new/{file.path}"
    if step["as"] == "copy":
        copy_file(copy, step["from"], target, file.bytes)
    elif step["as"] == "whole":
        copy_file(fresh, own, target, file.bytes)
    elif step["as"] == "lines":
        olds, news = [known[path] for path in step["of"]], [replace(file, path=own)]
        sources = {"old": Lines(read_lines(copy, olds)), "new": Lines(read_lines(fresh, news))}
        with GzipLines(target) as lines:
            for source, first, count in step["pieces"]:
                for line in sources[source].take(first, count):
                    lines.write(line)
                    if lines.content_bytes > (file.content_bytes or 0):
                        raise TooLarge(f"more than {file.content_bytes:,} bytes came out")
    else:
        try:
            import pyarrow as pa

            from s2corpus_reader.parquet import Rows, read_table, restore_schema, write_groups
        except ModuleNotFoundError:
            raise SnapshotError("deltas of Parquet files need pyarrow: pip install 's2corpus-reader[arrow]'") from None

        old, new = read_rows(copy, step["of"]), restore_schema(read_table(fresh, own))
        starts = {"old": (0, old.num_rows), "new": (old.num_rows, new.num_rows)}
        for source, first, count in step["pieces"]:
            if first + count > starts[source][1]:
                raise ValueError(f"{source} has no rows {first} to {first + count}")
        write_groups(pa.concat_tables([old, new]), Rows(step["pieces"], starts), step["groups"], target, file.bytes)


class Lines:
    """Lines of a file, read in order. A delta needs the memory of one line."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._next = 0

    def take(self, first: int, count: int) -> Iterator[bytes]:
        """Yield `count` lines, beginning with line `first`.

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


def read_lines(files: Files, listed: Sequence[SnapshotFile]) -> Iterator[bytes]:
    """Yield the lines of some files, and of each file at most its bytes in the manifest."""
    for file in listed:
        with files.open(file.path) as raw:
            yield from gzip_lines(raw, file.content_bytes or 0)


def read_rows(files: Files, paths: Sequence[str]) -> pa.Table:
    """Return the rows of several Parquet files with the schema of the first file."""
    import pyarrow as pa

    from s2corpus_reader.parquet import read_table, restore_schema

    tables = [restore_schema(read_table(files, path)) for path in paths]
    same = [table for table in tables if table.schema.equals(tables[0].schema, check_metadata=True)]
    return pa.concat_tables(same)
