"""Rows on their way from the tasks of one round to those of the next: files in the lake, cut into buckets.

A task writes one file for all buckets: where each begins, then an Arrow stream for each that has rows, or several. A task of a later
round reads its bucket of every file: stages keep these few (`spread`), so that what a bucket opens does not grow with the corpus.
What a task writes follows from its inputs alone: done twice, it writes the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from s2corpus.errors import UserError
from s2corpus.storage.lake import Lake, open_lake


class RowsRemoved(UserError):
    """What a round wrote is gone: a finished stage removes it, another build of the release has finished this one."""


_READERS = 8
"""Files of which one task reads its bucket at a time: an S3 answers in some 20 ms, and a bucket of one file is small."""
_SPILL_BYTES = 64 << 20
"""Rows that a writer holds before it puts them on disk."""
_ZSTD = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True)
class Exchange:
    """Where the rows of all rounds are: a folder of a lake. Credentials are those of each process's own environment."""

    uri: str
    prefix: str

    @cached_property
    def lake(self) -> Lake:
        """The lake, opened once a process."""
        return open_lake(self.uri)

    def __getstate__(self) -> dict[str, Any]:
        return {"uri": self.uri, "prefix": self.prefix}

    def write(self, name: str, task: int, rows: pa.Table, bucket: np.ndarray, buckets: int) -> None:
        """Write a task's rows, each into its bucket; rows of a bucket keep their order."""
        with tempfile.TemporaryDirectory(prefix="s2corpus-exchange-") as folder:
            path = Path(folder) / "rows"
            is_local = self.uri.startswith("file:")  # Compressing costs more than a local disk saves.
            _write_sorted(path, rows, bucket, buckets, compressed=not is_local)
            self.lake.upload(self._key(name, task), path, move=True)

    @contextmanager
    def writer(
        self, name: str, task: int, buckets: int, schema: pa.Schema, scratch: Path, *, compressed: bool = True
    ) -> Iterator[Writer]:
        """Write a task's rows as they come, more than memory holds: what waits lies on scratch."""
        with tempfile.TemporaryDirectory(prefix="s2corpus-exchange-", dir=scratch) as folder:
            writer = Writer(Path(folder), buckets, schema, compressed)
            yield writer
            self.lake.upload(self._key(name, task), writer.finish(), move=True)

    def read(self, name: str, tasks: Sequence[int], bucket: int, schema: pa.Schema, end: int | None = None) -> pa.Table:
        """The rows of one bucket (or of all from it to before `end`) that these tasks wrote, in their order.

        Raises:
            RowsRemoved: what one of them wrote is not there.
        """
        found = [batch for table in self.pieces(name, tasks, bucket, schema, end) for batch in table.to_batches()]
        return pa.Table.from_batches(found, schema)

    def pieces(
        self, name: str, tasks: Sequence[int], bucket: int, schema: pa.Schema, end: int | None = None
    ) -> Iterator[pa.Table]:
        """The same, one file's after the other; few are in memory at a time."""

        def part(task: int) -> pa.Table:
            try:
                with self.lake_file(self._key(name, task)) as file:
                    return rows_of(file, bucket, end or bucket + 1, schema)
            except FileNotFoundError:
                raise self.missing(name) from None

        with ThreadPoolExecutor(_READERS) as pool:
            for begin in range(0, len(tasks), _READERS):
                yield from pool.map(part, tasks[begin : begin + _READERS])

    def lake_file(self, key: str) -> pa.NativeFile:
        """An object of the lake, to be read in places."""
        fs, root = self.lake.filesystem()
        return fs.open_input_file(root + key)

    def put_counts(self, name: str, task: int, counts: Any) -> None:
        """Note that a task of a round is done, with what it counted."""
        self.lake.put(f"{self._key(name, task)}.done", orjson.dumps(counts))

    def counts(self, name: str, tasks: int) -> list[Any]:
        """What the tasks of a round counted; None of those that are not done."""
        done = {entry.key for entry in self.lake.list(f"{self.prefix}/{name}/") if entry.key.endswith(".done")}
        keys = [f"{self._key(name, task)}.done" for task in range(tasks)]
        with ThreadPoolExecutor(_READERS) as pool:
            return list(pool.map(lambda key: self._count(key) if key in done else None, keys))

    def _count(self, key: str) -> Any:
        with suppress(FileNotFoundError):  # removed since it was listed
            return orjson.loads(self.lake.get(key)[0])

    def all_counts(self, name: str, tasks: int) -> list[Any]:
        """Return what all tasks of a round counted.

        Raises:
            RowsRemoved: a task is not done.
        """
        found = self.counts(name, tasks)
        if None in found:
            raise self.missing(name)
        return found

    def missing(self, name: str) -> RowsRemoved:
        """Return the error of a round whose rows are not there: a finished stage removes them."""
        return RowsRemoved(
            f"{self.prefix}/{name} is not whole: what the rounds of a stage hand on is removed when it is finished. "
            "Make the whole stage again (in Airflow: clear all of its tasks, and what follows)"
        )

    def put_array(self, name: str, task: int, values: np.ndarray) -> None:
        """Keep an array of int64."""
        self.lake.put(self._key(name, task), np.ascontiguousarray(values, np.int64).tobytes())

    def array(self, name: str, task: int) -> np.ndarray:
        """An array that was kept."""
        try:
            return np.frombuffer(self.lake.get(self._key(name, task))[0], np.int64)
        except FileNotFoundError:
            raise self.missing(name) from None

    def remove(self) -> None:
        """Remove all of it."""
        for entry in list(self.lake.list(f"{self.prefix}/")):
            self.lake.delete(entry.key)

    def _key(self, name: str, task: int) -> str:
        return f"{self.prefix}/{name}/{task:05d}"


class Writer:
    """Rows on their way into one file of an exchange."""

    def __init__(self, folder: Path, buckets: int, schema: pa.Schema, compressed: bool = True) -> None:
        self._folder, self._buckets, self._schema, self._compressed = folder, buckets, schema, compressed
        self._waiting: list[tuple[pa.Table, np.ndarray]] = []
        self._bytes = 0
        self._paths: list[Path] = []

    def add(self, rows: pa.Table, bucket: np.ndarray) -> None:
        """Rows, each with its bucket."""
        self._waiting.append((rows, bucket))
        self._bytes += rows.nbytes
        if self._bytes >= _SPILL_BYTES:
            self._spill()

    def _spill(self) -> None:
        self._paths.append(self._folder / f"{len(self._paths)}")
        rows = pa.concat_tables([self._schema.empty_table(), *(table for table, _ in self._waiting)])
        bucket = np.concatenate([np.empty(0, np.int64), *(bucket for _, bucket in self._waiting)])
        _write_sorted(self._paths[-1], rows, bucket, self._buckets, self._compressed)
        self._waiting.clear()
        self._bytes = 0

    def finish(self) -> Path:
        """One file of all that was added: the streams of each bucket, in the order in which they were written."""
        if self._waiting or not self._paths:
            self._spill()
        if len(self._paths) == 1:
            return self._paths[0]
        path, places = self._folder / "all", np.empty(self._buckets + 1, np.int64)
        with ExitStack() as stack:
            spilled = [stack.enter_context(path.open("rb")) for path in self._paths]
            begins = [np.frombuffer(file.read(places.nbytes), np.int64) for file in spilled]
            file = stack.enter_context(path.open("wb"))
            file.write(places.tobytes())
            for number in range(self._buckets):
                places[number] = file.tell()
                for source, begin in zip(spilled, begins, strict=True):
                    file.write(source.read(int(begin[number + 1] - begin[number])))  # they are read in order
            places[-1] = file.tell()
            file.seek(0)
            file.write(places.tobytes())
        return path


def rows_of(file: pa.NativeFile, bucket: int, end: int, schema: pa.Schema) -> pa.Table:
    """The rows of the buckets from one to before `end` of a file that a `Writer` finished."""
    first, last = np.frombuffer(file.read_at(8 * (end - bucket + 1), 8 * bucket), np.int64).take([0, -1])
    data = file.read_at(int(last - first), int(first)) if last > first else b""
    source, batches = pa.BufferReader(data), list[pa.RecordBatch]()
    while source.tell() < len(data):
        batches += pa.ipc.open_stream(source).read_all().to_batches()
    return pa.Table.from_batches(batches, schema)


def spread(shards: int, most: int) -> range:
    """The shards, evenly spread among `shards`, that do a round which writes `most` files at most: each takes those up to the next."""
    return range(0, shards, -(-shards // most))


def _write_sorted(path: Path, rows: pa.Table, bucket: np.ndarray, buckets: int, compressed: bool = True) -> None:
    """A file of the rows: where each bucket begins, then a stream for each that has some."""
    if (bucket[1:] < bucket[:-1]).any():
        order = np.argsort(bucket, kind="stable")
        rows, bucket = rows.take(pa.array(order)), bucket[order]
    starts = np.searchsorted(bucket, np.arange(buckets + 1))
    places = np.empty(buckets + 1, np.int64)
    with path.open("wb") as file:
        file.write(places.tobytes())
        for number in range(buckets):
            places[number] = file.tell()
            if starts[number + 1] > starts[number]:
                with pa.ipc.new_stream(file, rows.schema, options=_ZSTD if compressed else None) as stream:
                    stream.write_table(rows.slice(starts[number], starts[number + 1] - starts[number]))
        places[buckets] = file.tell()
        file.seek(0)
        file.write(places.tobytes())
