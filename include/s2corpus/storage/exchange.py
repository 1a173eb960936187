"""Rows on their way from the tasks of one round to those of the next: files in the lake, cut into buckets.

A task writes one file for all buckets: where each begins, then an Arrow stream for each that has rows. A task of a later round reads
its bucket of every file. What a task writes follows from its inputs alone: done twice, it writes the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from s2corpus.storage.lake import Lake, open_lake

_READERS = 8
"""Files of which one task reads its bucket at a time: an S3 answers in some 20 ms, and a bucket of one file is small."""
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
        order = np.argsort(bucket, kind="stable")
        rows = rows.take(pa.array(order))
        starts = np.searchsorted(bucket[order], np.arange(buckets + 1))
        places = np.empty(buckets + 1, np.int64)
        with tempfile.TemporaryDirectory(prefix="s2corpus-exchange-") as folder:
            path = Path(folder) / "rows"
            with path.open("wb") as file:
                file.write(places.tobytes())
                for number in range(buckets):
                    places[number] = file.tell()
                    if starts[number + 1] > starts[number]:
                        with pa.ipc.new_stream(file, rows.schema, options=_ZSTD) as stream:
                            stream.write_table(rows.slice(starts[number], starts[number + 1] - starts[number]))
                places[buckets] = file.tell()
                file.seek(0)
                file.write(places.tobytes())
            self.lake.upload(self._key(name, task), path)

    def read(self, name: str, tasks: Sequence[int], bucket: int, schema: pa.Schema) -> pa.Table:
        """The rows of one bucket that these tasks wrote, in their order."""

        def part(task: int) -> list[pa.RecordBatch]:
            with self.lake_file(self._key(name, task)) as file:
                begin, end = np.frombuffer(file.read_at(16, 8 * bucket), np.int64)
                data = file.read_at(int(end - begin), int(begin)) if end > begin else None
            return [] if data is None else pa.ipc.open_stream(pa.py_buffer(data)).read_all().to_batches()

        with ThreadPoolExecutor(_READERS) as pool:
            batches = [batch for found in pool.map(part, tasks) for batch in found]
        return pa.Table.from_batches(batches, schema)

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
            return list(pool.map(lambda key: orjson.loads(self.lake.get(key)[0]) if key in done else None, keys))

    def put_array(self, name: str, task: int, values: np.ndarray) -> None:
        """Keep an array of int64."""
        self.lake.put(self._key(name, task), np.ascontiguousarray(values, np.int64).tobytes())

    def array(self, name: str, task: int) -> np.ndarray:
        """An array that was kept."""
        return np.frombuffer(self.lake.get(self._key(name, task))[0], np.int64)

    def remove(self) -> None:
        """Remove all of it."""
        for entry in list(self.lake.list(f"{self.prefix}/")):
            self.lake.delete(entry.key)

    def _key(self, name: str, task: int) -> str:
        return f"{self.prefix}/{name}/{task:05d}"
