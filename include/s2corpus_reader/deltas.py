"""Apply the difference between two snapshots: create the new snapshot from a copy of the old one, byte for byte.

A delta contains the lines and rows that the old snapshot lacks. It references all other lines and rows by their
position in the old snapshot. The SHA-256 of each file must equal the manifest's: a result is either exact or rejected.
Parquet files need the extra `arrow`.

Deltas and copies are untrusted: all names and counts are checked before a folder is created, and sizes of the manifest bound each read.
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
from s2corpus_reader.errors import NotASnapshotFile, SnapshotError, describe
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
    """Write the new snapshot of `delta` into the folder `out`, using a copy of the old one; return the new id.

    Raises:
        SnapshotError: the copy is a different snapshot or is damaged, or a file differs from the manifest.
    """
    copy = Folder(copy) if isinstance(copy, str) else copy
    if out.exists():
        raise SnapshotError(f"{out} already exists: give the name of a new folder")
    delta_folder = Folder(str(delta))
    try:
        plan = read_object(delta_folder, "delta.json", MAX_PLAN_BYTES)
        manifest = read_bytes(delta_folder, "manifest.json")
    except (FileNotFoundError, ValueError) as error:
        raise SnapshotError(f"{delta} is not a delta: {error}") from None
    if plan.get("format") != FORMAT:
        raise SnapshotError(f"{delta} has format {str(plan.get('format'))[:100]!r}; this version expects {FORMAT!r}")
    if hashlib.sha256(manifest).hexdigest() != plan.get("to_manifest_sha256"):
        raise SnapshotError(f"{delta}: the SHA-256 of manifest.json differs from delta.json: fetch the delta again")
    try:
        old_manifest = read_bytes(copy, "manifest.json")
    except (FileNotFoundError, ValueError) as error:
        raise SnapshotError(f"{copy.root} is not a snapshot: {error}") from None
    if (actual := hashlib.sha256(old_manifest).hexdigest()) != plan.get("from_manifest_sha256"):
        raise SnapshotError(
            f"{copy.root} is not {str(plan.get('from'))[:100]}, which {delta} starts from: its manifest has SHA-256 {actual}"
        )
    try:
        old_files, files = list_files(orjson.loads(old_manifest)), list_files(orjson.loads(manifest))
        new_id = str(plan["to"])
        steps = {path: check_step(plan["files"][path], files[path], old_files) for path in files}
    except _DAMAGED as error:
        raise SnapshotError(
            f"{delta} is damaged ({type(error).__name__}: {describe(error)}): fetch the delta again"
        ) from None
    with new_folder(out) as folder:
        total, free = sum(file.bytes for file in files.values()), shutil.disk_usage(folder).free
        if total > free:
            raise SnapshotError(f"{out}: not enough space: {new_id} needs {total:,} bytes, {free:,} are free")
        for path, file in files.items():
            progress(path)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                make_file(steps[path], file, delta_folder, copy, old_files, target)
            except _damage_errors() as error:
                raise SnapshotError(
                    f"{delta}: cannot create {path} from the delta and {copy.root} ({type(error).__name__}: {describe(error)}): "
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
    return new_id


def read_manifest(snapshot: Files) -> tuple[bytes, dict[str, SnapshotFile]]:
    """Return the bytes of the manifest, and the files that it lists by path.

    Raises:
        SnapshotError: the manifest is malformed, or a listed path could leave the folder of the snapshot.
    """
    try:
        manifest = read_bytes(snapshot, "manifest.json")
        return manifest, list_files(orjson.loads(manifest))
    except (LookupError, TypeError, ValueError) as error:
        raise SnapshotError(
            f"{snapshot.root}/manifest.json is damaged ({describe(error)}): run corpus verify for details"
        ) from None


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yield a folder that becomes `out` at the end. After an error, no new folder remains.

    The folder is built as `.<out>.partial`, locked by this process. The next call removes the remains of a killed process.
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


def check_step(step: dict[str, Any], file: SnapshotFile, old_files: Mapping[str, SnapshotFile]) -> dict[str, Any]:
    """Return the step that creates a file if it is valid.

    Its sources must be in the old manifest, and its number of lines or rows must be that of the new manifest.

    Raises:
        ValueError, TypeError, LookupError: the step is invalid.
    """
    kind = step["as"]
    if kind == "copy":
        if old_files[step["from"]].sha256 != file.sha256:
            raise ValueError(f"{file.path} is not {step['from']}")
    elif kind in ("lines", "rows"):
        if any(path not in old_files for path in step["of"]) or len(set(step["of"])) != len(step["of"]):
            raise ValueError(f"{file.path}: a source is repeated or not in the old snapshot")
        if kind == "rows":
            _check_counts(step["groups"], file)
        _check_counts([count for _, _, count in step["pieces"]], file)
    elif kind != "whole":
        raise ValueError(f"{file.path}: unknown step {str(kind)[:20]!r}")
    return step


def _check_counts(counts: Sequence[int], file: SnapshotFile) -> None:
    if any(type(count) is not int or count < 1 for count in counts) or sum(counts) != file.rows:
        raise ValueError(f"the pieces or groups of {file.path} do not add up to its {file.rows} lines or rows")


def make_file(
    step: dict[str, Any],
    file: SnapshotFile,
    delta: Files,
    copy: Files,
    old_files: Mapping[str, SnapshotFile],
    target: Path,
) -> None:
    """Write one file of the new snapshot from the delta and the files `old_files` of the copy."""
    own = f"new/{file.path}"
    if step["as"] == "copy":
        copy_file(copy, step["from"], target, file.bytes)
    elif step["as"] == "whole":
        copy_file(delta, own, target, file.bytes)
    elif step["as"] == "lines":
        olds, news = [old_files[path] for path in step["of"]], [replace(file, path=own)]
        sources = {"old": Lines(read_lines(copy, olds)), "new": Lines(read_lines(delta, news))}
        with GzipLines(target) as lines:
            for source, first, count in step["pieces"]:
                for line in sources[source].take(first, count):
                    lines.write(line)
                    if lines.content_bytes > (file.content_bytes or 0):
                        raise TooLarge(f"the result has more than {file.content_bytes:,} bytes")
    else:
        try:
            import pyarrow as pa

            from s2corpus_reader.parquet import Rows, read_table, restore_schema, write_groups
        except ModuleNotFoundError:
            raise SnapshotError("deltas of Parquet files need pyarrow: pip install 's2corpus-reader[arrow]'") from None

        old, new = read_rows(copy, step["of"]), restore_schema(read_table(delta, own))
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
            ValueError: the lines were already read, or the file is too short.
        """
        if first < self._next:
            raise ValueError(f"line {first} was requested after line {self._next - 1}")
        n_read = 0
        for line in islice(self._lines, first - self._next, first - self._next + count):
            n_read += 1
            yield line
        if n_read < count:
            raise ValueError(f"fewer than {first + count} lines")
        self._next = first + count


def read_lines(files: Files, listed: Sequence[SnapshotFile]) -> Iterator[bytes]:
    """Yield the lines of files; of each file, at most its bytes in the manifest."""
    for file in listed:
        with files.open(file.path) as raw:
            yield from gzip_lines(raw, file.content_bytes or 0)


def read_rows(files: Files, paths: Sequence[str]) -> pa.Table:
    """Return the rows of several Parquet files with the schema of the first file.

    Files with another schema are skipped when a delta is made and when it is applied, because their rows cannot be concatenated.
    """
    import pyarrow as pa

    from s2corpus_reader.parquet import read_table, restore_schema

    tables = [restore_schema(read_table(files, path)) for path in paths]
    same = [table for table in tables if table.schema.equals(tables[0].schema, check_metadata=True)]
    return pa.concat_tables(same)
