"""PDF files given on the command line, and output tables."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.storage.outputs import printable, whole, whole_file
from s2corpus.tables.schema import Table

log = logging.getLogger(__name__)


def by_sha1(paths: Iterable[Path]) -> dict[str, Path]:
    """Return files, and the `*.pdf` files of folders, by the SHA-1 of their bytes. Copies count once.

    A broken link in a folder is skipped with a warning.

    Raises:
        UserError: a path does not exist or cannot be read, or a folder contains no PDFs.
    """
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            files = sorted(p for p in path.iterdir() if p.suffix.lower() == ".pdf" and not p.is_dir())
            for file in (absent := [p for p in files if not p.is_file()]):
                log.warning("%s: skipped: not a file, or a broken link", printable(file))
            files = [p for p in files if p not in absent]
            if not files:
                raise UserError(f"{printable(path)}: a folder without PDFs: expected files named *.pdf in it")
        else:
            files = [path]
        for file in files:
            try:
                with file.open("rb") as stream:
                    found.setdefault(hashlib.file_digest(stream, "sha1").hexdigest(), file)
            except OSError as error:
                raise UserError(
                    f"{printable(file)}: cannot be read ({error.strerror}): expected a PDF file or a folder"
                ) from None
    return found


def check_table(path: Path) -> None:
    """Check before the work starts that `write_table` can write the file.

    Raises:
        UserError: the name does not end in .parquet or .jsonl, or the folder is not writable.
    """
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UserError(f"{path}: cannot be written: {path.parent} is not a folder that you may write to")
    if path.suffix not in (".parquet", ".jsonl"):
        raise UserError(f"{path}: expected a name that ends in .parquet or .jsonl")


def write_table(path: Path, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows in order of the table's key, as Parquet or JSON lines by the file's suffix, atomically."""
    data = sorted(rows, key=lambda row: tuple(row[column] for column in table.key))
    if path.suffix == ".parquet":
        with whole(path) as beside:
            pq.write_table(pa.Table.from_pylist(data, schema=table.schema), beside, compression="zstd")
    else:
        with whole_file(path) as file:
            file.writelines(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in data)
