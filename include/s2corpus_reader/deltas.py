"""Applying the difference of two snapshots: a copy of the old snapshot becomes the new one, byte for byte.

A delta contains the lines and rows that the old snapshot does not have; the rest is named by its place in the old one. The SHA-256 of
each file must be the manifest's: a copy is either equal or refused. Parquet files need the extra `arrow`.
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
"""Errors of a damaged step, or of the files that it names"""


def _damaged() -> tuple[type[Exception], ...]:
    """Return `_DAMAGED`, and Arrow's errors if it is installed."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        return _DAMAGED
    return (*_DAMAGED, pa.ArrowException)


def apply(delta: Path, copy: Files | str, out: Path, progress: Callable[[str], None] = lambda path: None) -> str:
    """Write the snapshot that `delta` leads to into the folder `out`, from a copy of the one it starts from; return its id.

    Raises:
        SnapshotError: the copy is another snapshot, is damaged, or what came out is not what the manifest says.
    """
    copy = Folder(copy) if isinstance(copy, str) else copy
    if out.exists():
        raise SnapshotError(f"{out} is there already: give the name of a folder that is not")
    try:
        plan = orjson.loads((delta / "delta.json").read_bytes())
        manifest = (delta / "manifest.json").read_bytes()
    except (FileNotFoundError, orjson.JSONDecodeError) as error:
        raise SnapshotError(f"{delta}: not a delta: {error}") from None
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        given = plan.get("format") if isinstance(plan, dict) else type(plan).__name__
        raise SnapshotError(f"{delta}: of format {given!r}; this version applies {FORMAT!r}")
    if hashlib.sha256(manifest).hexdigest() != plan.get("to_manifest_sha256"):
        raise SnapshotError(f"{delta}: its manifest.json is not the one it was made with: fetch the delta again")
    try:
        start, started, leads_to, steps = (plan[key] for key in ("from", "from_manifest_sha256", "to", "files"))
        listed = [(str(f["path"]), f["sha256"], steps.get(f["path"])) for f in orjson.loads(manifest)["files"]]
    except (KeyError, TypeError, AttributeError, orjson.JSONDecodeError) as error:
        raise SnapshotError(f"{delta} is damaged ({type(error).__name__}: {error}): fetch the delta again") from None
    have = hashlib.sha256(_read(copy, "manifest.json")).hexdigest()
    if have != started:
        raise SnapshotError(f"{copy.root} is not {start}, from which {delta} starts: its manifest has SHA-256 {have}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".copy-", dir=out.parent) as beside:
        folder = Path(beside) / "snapshot"
        for path, sha256, step in listed:
            progress(path)
            target = folder / path
            if "\0" in path or not target.resolve().is_relative_to(folder.resolve()):
                raise SnapshotError(f"{delta}: {path!r} leads out of the snapshot")
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                make_file(step, path, delta, copy, target)
            except _damaged() as error:
                raise SnapshotError(
                    f"{delta}: {path} cannot be made of it and of {copy.root} ({type(error).__name__}: {error}): "
                    f"one of them is damaged: fetch the delta again, and try corpus verify on the copy"
                ) from None
            with target.open("rb") as made:
                found = hashlib.file_digest(made, "sha256").hexdigest()
            if found != sha256:
                raise SnapshotError(
                    f"{path}: came out with SHA-256 {found}, the manifest has {sha256}: the copy "
                    f"{copy.root} is damaged (verify it), or pyarrow here writes other bytes than "
                    f"{plan.get('pyarrow')}, which made the delta"
                )
        (folder / "manifest.json").write_bytes(manifest)
        folder.rename(out)
    return str(leads_to)


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

            from s2corpus_reader.parquet import as_written, write_groups
        except ModuleNotFoundError:
            raise SnapshotError("deltas of Parquet files need pyarrow: pip install 's2corpus-reader[arrow]'") from None

        tables = {"old": read_rows(copy, step["of"]), "new": as_written(pq.read_table(delta / "new" / path))}
        empty = tables["new"].slice(0, 0)  # a file that loses all its rows has no pieces
        rows = pa.concat_tables(
            [empty, *(tables[source].slice(start, count) for source, start, count in step["pieces"])]
        )
        write_groups(rows, step["groups"], target)


def read_lines(files: Files, paths: Sequence[str]) -> list[bytes]:
    """Return the lines of files, one after the other."""
    found: list[bytes] = []
    for path in paths:
        with files.open(path) as raw, gzip.open(raw) as lines:
            found += lines
    return found


def read_rows(files: Files, paths: Sequence[str]) -> pa.Table:
    """Return the rows of Parquet files with the schema of the first."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from s2corpus_reader.parquet import as_written

    tables = [as_written(pq.read_table(pa.BufferReader(_read(files, path)))) for path in paths]
    same = [table for table in tables if table.schema.equals(tables[0].schema, check_metadata=True)]
    return pa.concat_tables(same)


def _read(files: Files, path: str) -> bytes:
    with files.open(path) as file:
        return file.read()
