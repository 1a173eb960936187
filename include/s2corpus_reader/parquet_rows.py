"""Read the Parquet files in the folder of a snapshot. A damaged or missing file raises a `SnapshotError` with its address."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from s2corpus_reader.errors import SnapshotError, describe, is_damage
from s2corpus_reader.folder import Folder

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

Row = dict[str, Any]
_DAMAGED = (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, TypeError, ValueError)
"""Errors that a damaged Parquet file can cause."""


class ParquetRows:
    """Rows of the Parquet files in the folder of a snapshot."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def read_schema(self, path: str) -> pa.Schema:
        """Return the Arrow schema of a file."""
        with self._open(path) as file, self._convert_errors(path, *_DAMAGED):
            return import_arrow("pyarrow.parquet").read_schema(file)

    def scan(
        self, path: str, where: pc.Expression | None, columns: Sequence[str] | None, batch_size: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the non-empty batches of a Parquet file."""
        dataset = import_arrow("pyarrow.dataset")
        with self._open(path) as file:
            with self._convert_errors(path, *_DAMAGED):
                fragment = dataset.ParquetFileFormat().make_fragment(file)
                _check_footer(fragment.metadata, path, file)
            with self._convert_errors(path, OSError, MemoryError):  # other errors are those of `where` and `columns`
                for batch in fragment.to_batches(
                    columns=list(columns) if columns else None, filter=where, batch_size=batch_size
                ):
                    if batch.num_rows:
                        yield batch

    def find_row(self, path: str, column: str, value: str) -> Row | None:
        """Return the first row with this value from a file that is sorted by `column`, or None."""
        return next(self.find_rows(path, column, value), None)

    def find_rows(self, path: str, column: str, value: str | int) -> Iterator[Row]:
        """Yield the rows with this value from a file that is sorted by `column`.

        Only row groups whose range contains the value are read.
        """
        compute = import_arrow("pyarrow.compute")
        with self._open(path) as file, self._convert_errors(path, *_DAMAGED):
            parquet = import_arrow("pyarrow.parquet").ParquetFile(file)
            _check_footer(parquet.metadata, path, file)
            number = parquet.schema_arrow.names.index(column)
            for group in range(parquet.num_row_groups):
                statistics = parquet.metadata.row_group(group).column(number).statistics
                if statistics is not None and statistics.has_min_max and not statistics.min <= value <= statistics.max:
                    continue
                hits = compute.indices_nonzero(compute.equal(parquet.read_row_group(group, [column])[column], value))
                if len(hits):
                    yield from parquet.read_row_group(group).take(hits).to_pylist()

    def _open(self, path: str) -> BinaryIO:
        try:
            return self._folder.open_ranges(path)
        except FileNotFoundError:
            raise missing_file(self._folder, path) from None

    @contextmanager
    def _convert_errors(self, path: str, *errors: type[Exception]) -> Iterator[None]:
        """Turn errors of a damaged Parquet file into a `SnapshotError`."""
        try:
            yield
        except errors as error:
            if not is_damage(error):
                raise
            raise damaged_file(self._folder, path, error) from None


def missing_file(folder: Folder, path: str) -> SnapshotError:
    """Return the error for a file that the folder does not contain."""
    return SnapshotError(f"{folder.uri(path)}: missing: the snapshot is incomplete or older than this kind of file")


def damaged_file(folder: Folder, path: str, error: Exception) -> SnapshotError:
    """Return the error for a file that cannot be read."""
    return SnapshotError(f"{folder.uri(path)} is damaged: {format_error(error)}: fetch it again")


def _check_footer(metadata: pq.FileMetaData, path: str, file: BinaryIO) -> None:
    import_arrow("s2corpus_reader.parquet").check_parquet(metadata, path, file.seek(0, os.SEEK_END))


def format_error(error: Exception) -> str:
    """Return the name and the description of an error."""
    return f"{type(error).__name__} {describe(error)}"


def import_arrow(module: str) -> Any:
    """Return a module that needs pyarrow."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise SnapshotError("this needs pyarrow: pip install 's2corpus-reader[arrow]'") from None
