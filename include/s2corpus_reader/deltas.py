"""Apply the difference between two snapshots: create the new snapshot from a copy of the old one, byte for byte.

A delta contains the lines and rows that the old snapshot lacks. It references all other lines and rows by their
position in the old snapshot. The SHA-256 of each file must equal the manifest's: a result is either exact or rejected.
Parquet files need the extra `arrow`.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from s2corpus_reader.errors import SnapshotError
from s2corpus_reader.files import GzipLines
from s2corpus_reader.folder import Files, Folder

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "s2corpus-delta/2"
_DAMAGED = (
    AttributeError, LookupError, OverflowError, TypeError, ValueError,
    EOFError, FileNotFoundError, gzip.BadGzipFile, zlib.error,
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
    try:
        plan = orjson.loads((delta / "delta.json").read_bytes())
        manifest = (delta / "manifest.json").read_bytes()
    except (FileNotFoundError, orjson.JSONDecodeError) as error:
        raise SnapshotError(f"{delta} is not a delta: {error}") from None
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        given = plan.get("format") if isinstance(plan, dict) else type(plan).__name__
        raise SnapshotError(f"{delta} has format {given!r}; this version expects {FORMAT!r}")
    if hashlib.sha256(manifest).hexdigest() != plan.get("to_manifest_sha256"):
        raise SnapshotError(f"{delta}: the SHA-256 of manifest.json differs from delta.json: fetch the delta again")
    try:
        start, from_sha256, to, steps = (plan[key] for key in ("from", "from_manifest_sha256", "to", "files"))
        listed = [(str(f["path"]), f["sha256"], steps.get(f["path"])) for f in orjson.loads(manifest)["files"]]
    except (KeyError, TypeError, AttributeError, orjson.JSONDecodeError) as error:
        raise SnapshotError(f"{delta} is damaged ({type(error).__name__}: {error}): fetch the delta again") from None
    copy_sha256 = hashlib.sha256(_read(copy, "manifest.json")).hexdigest()
    if copy_sha256 != from_sha256:
        raise SnapshotError(
            f"{copy.root} is not {start}, which {delta} starts from: its manifest has SHA-256 {copy_sha256}"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".copy-", dir=out.parent) as temporary:
        folder = Path(temporary) / "snapshot"
        for path, sha256, step in listed:
            progress(path)
            target = folder / path
            if "\0" in path or not target.resolve().is_relative_to(folder.resolve()):
                raise SnapshotError(f"{delta}: {path!r} is a path outside the snapshot")
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                make_file(step, path, delta, copy, target)
            except _damage_errors() as error:
                raise SnapshotError(
                    f"{delta}: cannot create {path} from the delta and {copy.root} ({type(error).__name__}: {error}): "
                    f"the delta or the copy is damaged: fetch the delta again and run corpus verify on the copy"
                ) from None
            with target.open("rb") as made:
                found = hashlib.file_digest(made, "sha256").hexdigest()
            if found != sha256:
                raise SnapshotError(
                    f"{path}: the new file has SHA-256 {found}, the manifest expects {sha256}: the copy "
                    f"{copy.root} is damaged (verify it), or the installed pyarrow writes other bytes than version "
                    f"{plan.get('pyarrow')}, which created the delta"
                )
        (folder / "manifest.json").write_bytes(manifest)
        folder.rename(out)
    return str(to)


def make_file(step: dict[str, Any], path: str, delta: Path, copy: Files, target: Path) -> None:
    """Write one file of the new snapshot."""
    if step["as"] == "copy":
        copy.download(step["from"], target)
    elif step["as"] == "whole":
        shutil.copyfile(delta / "new" / path, target)
    elif step["as"] == "lines":
        with gzip.open(delta / "new" / path) as fresh:
            old, new = read_lines(copy, step["of"]), list(fresh)
        with GzipLines(target) as lines:
            for source, start, count in step["pieces"]:
                for line in (old if source == "old" else new)[start : start + count]:
                    lines.write(line)
    else:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq

            from s2corpus_reader.parquet import restore_schema, write_groups
        except ModuleNotFoundError:
            raise SnapshotError("deltas of Parquet files need pyarrow: pip install 's2corpus-reader[arrow]'") from None

        tables = {"old": read_rows(copy, step["of"]), "new": restore_schema(pq.read_table(delta / "new" / path))}
        empty = tables["new"].slice(0, 0)  # a file that loses all its rows has no pieces
        rows = pa.concat_tables(
            [empty, *(tables[source].slice(start, count) for source, start, count in step["pieces"])]
        )
        write_groups(rows, step["groups"], target)


def read_lines(files: Files, paths: Sequence[str]) -> list[bytes]:
    """Return the lines of several files in order."""
    found: list[bytes] = []
    for path in paths:
        with files.open(path) as raw, gzip.open(raw) as lines:
            found += lines
    return found


def read_rows(files: Files, paths: Sequence[str]) -> pa.Table:
    """Return the rows of several Parquet files with the schema of the first file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from s2corpus_reader.parquet import restore_schema

    tables = [restore_schema(pq.read_table(pa.BufferReader(_read(files, path)))) for path in paths]
    same = [table for table in tables if table.schema.equals(tables[0].schema, check_metadata=True)]
    return pa.concat_tables(same)


def _read(files: Files, path: str) -> bytes:
    with files.open(path) as file:
        return file.read()
