"""Read a user's Parquet files: the size of a file bounds the rows and values that are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from s2corpus_reader.parquet import BoundedFile


@contextmanager
def open_parquet(path: Path) -> Iterator[BoundedFile]:
    """Open a Parquet file.

    Raises:
        ValueError, OSError: the file is missing or damaged, or has more rows or values than its size allows.
    """
    with path.open("rb") as file:
        yield BoundedFile(file, str(path), path.stat().st_size)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows of a Parquet file. Raises as `open_parquet`, and ValueError for a missing column."""
    with open_parquet(path) as file:
        if missing := sorted(set(columns or ()) - set(file.schema.names)):
            raise ValueError(f"the column {missing[0]} is missing")
        return file.read(columns)
