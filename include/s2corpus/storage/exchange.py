"""Exchange rows between the rounds of a stage: files in the lake, divided into buckets.

A shard writes one file: the offset of each bucket, then one or more Arrow streams for each bucket with rows. A shard of a later round
reads its bucket from every file. `spread` limits the number of files for large corpora. The content
depends only on the inputs of the shard, so a repeated shard writes the same file.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import Lake, open_lake


class RowsRemoved(UserError):
    """The rows of a round are missing: another build of the release has finished this stage and removed them."""


_READERS = 8
"""Files that one shard reads in parallel: S3 responds in about 20 ms, and the bucket of one file is small."""
_SPILL_BYTES = 64 << 20
"""Bytes of rows that a writer buffers before it writes them to disk."""
_ZSTD = pa.ipc.IpcWriteOptions(compression="zstd")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Exchange:
    """Folder of a lake with the rows of all rounds. Each process reads credentials from its environment."""

    uri: str
    prefix: str

    @cached_property
    def lake(self) -> Lake:
        """The lake, opened once per process."""
        return open_lake(self.uri)

    def __getstate__(self) -> dict[str, Any]:
        return {"uri": self.uri, "prefix": self.prefix}

    def write(self, name: str, task: int, rows: pa.Table, bucket: np.ndarray, buckets: int) -> None:
        """Write the rows of a shard, each to its bucket, in their order."""
        with self.writer(name, task, buckets, rows.schema) as writer:
            writer.add(rows, bucket)

    @contextmanager
    def writer(
        self, name: str, task: int, buckets: int, schema: pa.Schema, scratch: Path | None = None
    ) -> Iterator[Writer]:
        """Yield a writer for the rows of a shard; it buffers rows on disk, so they may exceed memory."""
        with tempfile.TemporaryDirectory(prefix="s2corpus-exchange-", dir=scratch) as folder:
            writer = Writer(Path(folder), buckets, schema)
            yield writer
            self.lake.upload(self._key(name, task), writer.finish(), move=True)

    def read(self, name: str, tasks: Sequence[int], bucket: int, schema: pa.Schema, end: int | None = None) -> pa.Table:
        """Return the rows of one bucket (or of the buckets before `end`) from these shards, in their order.

        Raises:
            RowsRemoved: a file is missing.
        """
        tables = self.read_by_file(name, tasks, bucket, schema, end)
        return pa.Table.from_batches([batch for table in tables for batch in table.to_batches()], schema)

    def read_by_file(
        self, name: str, tasks: Sequence[int], bucket: int, schema: pa.Schema, end: int | None = None
    ) -> Iterator[pa.Table]:
        """Yield the rows of `read` file by file, in bounded memory."""

        def read_file(task: int) -> pa.Table:
            try:
                with self.lake_file(self._key(name, task)) as file:
                    return read_buckets(file, bucket, end or bucket + 1, schema)
            except FileNotFoundError:
                raise self.missing(name) from None

        with ThreadPoolExecutor(_READERS) as pool:
            for begin in range(0, len(tasks), _READERS):
                yield from pool.map(read_file, tasks[begin : begin + _READERS])

    def lake_file(self, key: str) -> pa.NativeFile:
        """Open an object of the lake for random access."""
        fs, root = self.lake.filesystem()
        return fs.open_input_file(root + key)

    def put_counts(self, name: str, task: int, counts: Any) -> None:
        """Mark a shard of a round as done and store its counts."""
        self.lake.put(f"{self._key(name, task)}.done", orjson.dumps(counts))

    def all_counts(self, name: str, tasks: int) -> list[Any]:
        """Return the counts of all shards of a round.

        Raises:
            RowsRemoved: a shard is not done.
        """

        def read(task: int) -> Any:
            try:
                return orjson.loads(self.lake.get(f"{self._key(name, task)}.done")[0])
            except FileNotFoundError:
                raise self.missing(name) from None

        with ThreadPoolExecutor(_READERS) as pool:
            return list(pool.map(read, range(tasks)))

    def missing(self, name: str) -> RowsRemoved:
        """Return the error for missing rows of a round; a finished stage removes them."""
        return RowsRemoved(
            f"{self.prefix}/{name} is incomplete: a finished stage removes the rows that its rounds exchange. "
            "Run the complete stage again (in Airflow: clear all of its tasks and the downstream tasks)"
        )

    def remove(self) -> None:
        """Delete all files of the exchange, marks first, so that a repeated round never misses rows that are marked as done.

        A server that fails leaves files behind, and does not fail the finished work.
        """
        try:
            for entry in sorted(self.lake.list(f"{self.prefix}/"), key=lambda entry: not entry.key.endswith(".done")):
                self.lake.delete(entry.key)
        except TransientError as error:
            log.warning("%s is left behind: %s", self.lake.uri(self.prefix), error)

    def _key(self, name: str, task: int) -> str:
        return f"{self.prefix}/{name}/{task:05d}"


class Writer:
    """Writer of one file of an exchange."""

    def __init__(self, folder: Path, buckets: int, schema: pa.Schema) -> None:
        self._folder, self._buckets, self._schema = folder, buckets, schema
        self._buffered: list[tuple[pa.Table, np.ndarray]] = []
        self._bytes = 0
        self._paths: list[Path] = []

    def add(self, rows: pa.Table, bucket: np.ndarray) -> None:
        """Add rows, each with its bucket."""
        self._buffered.append((rows, bucket))
        self._bytes += rows.nbytes
        if self._bytes >= _SPILL_BYTES:
            self._spill()

    def _spill(self) -> None:
        self._paths.append(self._folder / f"{len(self._paths)}")
        rows = pa.concat_tables([self._schema.empty_table(), *(table for table, _ in self._buffered)])
        bucket = np.concatenate([np.empty(0, np.int64), *(bucket for _, bucket in self._buffered)])
        _write_sorted(self._paths[-1], rows, bucket, self._buckets)
        self._buffered.clear()
        self._bytes = 0

    def finish(self) -> Path:
        """Write all added rows to one file and return its path; each bucket has its streams in the order of writing."""
        if self._buffered:
            self._spill()
        if len(self._paths) == 1:
            return self._paths[0]
        path, offsets = self._folder / "all", np.empty(self._buckets + 1, np.int64)
        with ExitStack() as stack:
            spilled = [stack.enter_context(path.open("rb")) for path in self._paths]
            begins = [np.frombuffer(file.read(offsets.nbytes), np.int64) for file in spilled]
            file = stack.enter_context(path.open("wb"))
            file.write(offsets.tobytes())
            for number in range(self._buckets):
                offsets[number] = file.tell()
                for source, begin in zip(spilled, begins, strict=True):
                    file.write(source.read(int(begin[number + 1] - begin[number])))  # sequential reads
            offsets[-1] = file.tell()
            file.seek(0)
            file.write(offsets.tobytes())
        return path


def read_buckets(file: pa.NativeFile, bucket: int, end: int, schema: pa.Schema) -> pa.Table:
    """Return the rows of the buckets from `bucket` to before `end` of a file of a `Writer`."""
    first, last = np.frombuffer(file.read_at(8 * (end - bucket + 1), 8 * bucket), np.int64).take([0, -1])
    data = file.read_at(int(last - first), int(first))
    source, batches = pa.BufferReader(data), list[pa.RecordBatch]()
    while source.tell() < len(data):
        batches += pa.ipc.open_stream(source).read_all().to_batches()
    return pa.Table.from_batches(batches, schema)


def spread(shards: int, most: int) -> range:
    """Return at most `most` evenly spaced shards. Each of them also processes the shards up to the next."""
    return range(0, shards, -(-shards // most))


def covered_shards(chosen: range, shard: int) -> range:
    """Return the shards that a shard of `spread` processes: itself, and the shards up to the next."""
    return range(shard, min(shard + chosen.step, chosen.stop))


def _write_sorted(path: Path, rows: pa.Table, bucket: np.ndarray, buckets: int) -> None:
    """Write a file of rows: the offset of each bucket, then one stream for each bucket with rows."""
    if (bucket[1:] < bucket[:-1]).any():
        order = np.argsort(bucket, kind="stable")
        rows, bucket = rows.take(pa.array(order)), bucket[order]
    starts = np.searchsorted(bucket, np.arange(buckets + 1))
    offsets = np.empty(buckets + 1, np.int64)
    with path.open("wb") as file:
        file.write(offsets.tobytes())
        for number in range(buckets):
            offsets[number] = file.tell()
            if length := starts[number + 1] - starts[number]:
                with pa.ipc.new_stream(file, rows.schema, options=_ZSTD) as stream:
                    stream.write_table(rows.slice(starts[number], length))
        offsets[buckets] = file.tell()
        file.seek(0)
        file.write(offsets.tobytes())
