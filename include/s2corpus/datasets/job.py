"""Manage the data of one dataset build for one snapshot: its source, cached rows, stored results and output files."""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa

from s2corpus.datasets.protocol import Dataset, Row, StepResult
from s2corpus.datasets.shelf import read_json
from s2corpus.datasets.source import SnapshotSource
from s2corpus.datasets.spec import DatasetSpec, load_dataset
from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import Lake
from s2corpus_reader.files import GzipLines, SnapshotFile, describe_file

if TYPE_CHECKING:
    import pyarrow.dataset as ds

    from s2corpus.snapshot.documents import ParquetFile

LISTED_FILES, LISTED_BYTES = "listed_files", "listed_bytes"
"""keys of `tally`: number and bytes of files that another output file lists instead of the manifest"""


class Job:
    """One dataset spec, one snapshot, and the lake that contains `datasets/`."""

    def __init__(self, spec: DatasetSpec, source: SnapshotSource, lake: Lake, scratch: Path | None = None) -> None:
        self.spec = spec
        self.source = source
        self.lake = lake
        self.scratch = scratch or Path(tempfile.gettempdir())
        self.dataset: Dataset = load_dataset(spec.dataset)
        self.params: Any = self.dataset.params.model_validate(spec.params)
        self.prefix = f"datasets/{spec.name}/{source.id}"
        """the dataset's folder in the lake"""
        self._state = f"datasets/{spec.name}/_work/{source.id}"

    @cached_property
    def rules(self) -> str:
        """Digest of everything that determines the rows of a paper: the dataset, the version of its rules, its parameters."""
        identity = [self.spec.dataset, self.dataset.version, self.params.model_dump(mode="json")]
        return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]

    def cache_key(self, shard: int) -> str:
        """Return the key of a shard's cached rows. It is equal for two snapshots if the shard's papers are equal."""
        return f"datasets/{self.spec.name}/_kept/{self.rules}/{shard:03d}-{self.source.content_digest(shard)}.parquet"

    def read_counts(self, shard: int) -> StepResult | None:
        """Return the counts recorded when a shard's rows were cached, or None if the rows are not cached."""
        value = read_json(self.lake, f"{self.cache_key(shard)}.json")
        if value is None or self.lake.size(self.cache_key(shard)) != value["bytes"]:
            return None
        return StepResult.from_json(value)

    def cached_rows(self, shards: Sequence[int] | None = None) -> ds.Dataset:
        """Return the cached rows of all shards, or of the given shards.

        Raises:
            TransientError: rows of a shard are not cached (any more).
        """
        import pyarrow.dataset as ds  # slow (0.5 s): it imports pandas

        shards = range(self.source.shards) if shards is None else shards
        for shard in shards:
            if self.read_counts(shard) is None:
                raise TransientError(
                    f"{self.lake.uri(self.cache_key(shard))} is missing or incomplete: run the task `work` for shard {shard} again"
                )
        filesystem, root = self.lake.filesystem()
        paths = [f"{root}{self.cache_key(shard)}" for shard in shards]
        return ds.dataset(paths, schema=self.dataset.schema, filesystem=filesystem, format="parquet")

    def rows(
        self, shards: Sequence[int] | None = None, columns: list[str] | None = None, batch_rows: int = 256
    ) -> Iterator[Row]:
        """Yield the cached rows of all shards, or of the given shards, in order."""
        for batch in self.cached_rows(shards).to_batches(columns=columns, batch_size=batch_rows, use_threads=False):
            yield from batch.to_pylist()

    def cache_arrays(self, name: str, compute: Callable[[], Mapping[str, Any]]) -> dict[str, np.ndarray]:
        """Return the cached results of `compute` as arrays; call it if a shard or the rules have changed."""
        digest = hashlib.sha256("".join(map(self.source.content_digest, range(self.source.shards))).encode())
        key = f"datasets/{self.spec.name}/_kept/{self.rules}/{name}-{digest.hexdigest()[:16]}.npz"
        try:
            data = self.lake.get(key)[0]
        except FileNotFoundError:
            file = io.BytesIO()
            np.savez(file, **compute())
            self.lake.put(key, data := file.getvalue())
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            return dict(found)

    @contextmanager
    def sql(self, shards: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield a DuckDB connection with the cached rows as table `cached`. It spills to disk beyond the spec's memory."""
        from s2corpus.storage.duck import duckdb_connection

        with duckdb_connection(memory_mb=self.spec.memory_mb, scratch=self.scratch) as connection:
            connection.execute("SET preserve_insertion_order = false")
            connection.register("cached", self.cached_rows(shards))
            yield connection

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """Yield a temporary folder, which is deleted when the block ends."""
        with tempfile.TemporaryDirectory(prefix="s2corpus-dataset-", dir=self.scratch) as folder:
            yield Path(folder)

    def published(self) -> dict[str, Any] | None:
        """Return the manifest of this dataset, or None if it is not published."""
        return read_json(self.lake, f"{self.prefix}/manifest.json")

    def store_state(self, name: str, value: Any) -> None:
        """Store a small JSON value for later steps."""
        self.lake.put(f"{self._state}/{name}.json", orjson.dumps(value))

    def read_state(self, name: str) -> Any:
        """Return a value that an earlier step stored.

        Raises:
            TransientError: that step has not finished.
        """
        if (value := read_json(self.lake, f"{self._state}/{name}.json")) is None:
            raise TransientError(f"{self.lake.uri(self._state)}/{name}.json is missing: run the previous task again")
        return value


class Outputs:
    """The output files of a step. `result` contains the counts and the files that were written."""

    def __init__(self, job: Job, scratch: Path) -> None:
        self.scratch = scratch
        self.result = StepResult()
        self._lake = job.lake
        self._prefix = job.prefix
        published = job.published()
        self._published_sha256 = published and {file["path"]: file["sha256"] for file in published["files"]}

    @contextmanager
    def open_lines(self, path: str) -> Iterator[GzipLines]:
        """Yield a writer for a gzipped file of lines; upload the file when the block ends."""
        local = self._local(path)
        with GzipLines(local) as writer:
            yield writer
        self._put(writer.describe(path), local)

    @contextmanager
    def open_parquet(self, path: str, schema: pa.Schema) -> Iterator[ParquetFile]:
        """Yield a writer for a Parquet file; upload the file when the block ends."""
        from s2corpus.snapshot.documents import ParquetFile

        local = self._local(path)
        with ParquetFile(local, schema) as writer:
            yield writer
        self._put(describe_file(path, local, writer.count), local)

    @contextmanager
    def open_file(self, path: str, count_rows: Callable[[], int]) -> Iterator[Path]:
        """Yield the local path of a file to write; upload the file when the block ends."""
        local = self._local(path)
        yield local
        self._put(describe_file(path, local, count_rows()), local)

    def write_bytes(self, path: str, content: bytes) -> None:
        """Upload a file with this content."""
        local = self._local(path)
        local.write_bytes(content)
        self._put(describe_file(path, local, None), local)

    def write_listed_file(self, path: str, content: bytes) -> None:
        """Upload a file that another output file lists with its checksum.

        The manifest does not list these files, because there may be one for each paper. Write the listing file first: its
        upload fails if published content would change.
        """
        self._lake.put(f"{self._prefix}/{path}", content)
        self.result.tally[LISTED_FILES] += 1
        self.result.tally[LISTED_BYTES] += len(content)

    def write_json(self, path: str, value: Any) -> None:
        """Upload a file of indented JSON."""
        self.write_bytes(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def _local(self, path: str) -> Path:
        return self.scratch / path.replace("/", "~")

    def _put(self, file: SnapshotFile, local: Path) -> None:
        """Upload a file and delete its local copy.

        Raises:
            UserError: the dataset is published, and the file would change.
        """
        if self._published_sha256 is not None and self._published_sha256.get(file.path) != file.sha256:
            raise UserError(
                f"{self._lake.uri(self._prefix)} is published, and {file.path} was built again with different content (other versions "
                f"of libraries, or another kind of CPU?): give the spec another name, or delete that folder"
            )
        self._lake.upload(f"{self._prefix}/{file.path}", local)
        local.unlink()
        self.result.files.append(file)
