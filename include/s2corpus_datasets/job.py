"""The base class of datasets, and the data of one build for one snapshot: its source, cached rows and stored results.

The steps of a dataset may run on many machines. `rows` reads each paper of a shard; its rows are cached by the content of the shard.
`choose` runs once on all rows. `write` runs for each shard. `finish` runs once. `checks` and the manifest follow.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import orjson
import pyarrow as pa

from s2corpus_datasets.lake import Lake, read_json
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import DatasetCheck, DatasetTable, Params, Row, StepResult
from s2corpus_datasets.source import SnapshotPaper, SnapshotSource
from s2corpus_datasets.spec import DATASETS, DatasetSpec
from s2orc_parse.errors import TransientError

if TYPE_CHECKING:
    import pyarrow.dataset as ds


class Pdfs(Protocol):
    """The PDFs of the snapshot's papers."""

    def read(self, sha1: str) -> bytes | None:
        """Return a PDF, or None if it is not available."""


class Job:
    """One dataset spec, one snapshot, the lake that contains `datasets/`, and the PDFs of the snapshot's papers."""

    def __init__(
        self,
        spec: DatasetSpec,
        source: SnapshotSource,
        lake: Lake,
        scratch: Path | None = None,
        pdfs: Pdfs | None = None,
    ) -> None:
        self.spec = spec
        self.source = source
        self.lake = lake
        self.pdfs = pdfs
        self.scratch = scratch or Path(tempfile.gettempdir())
        self.dataset: Dataset = DATASETS.load(spec.dataset)
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
        with self.connect(threads=2) as connection:
            connection.execute("SET preserve_insertion_order = false")
            connection.register("cached", self.cached_rows(shards))
            yield connection

    @contextmanager
    def connect(self, threads: int) -> Iterator[Any]:
        """Yield a DuckDB connection that spills to a separate folder, because connections would overwrite each other's pages."""
        import duckdb

        with self.scratch_folder() as folder:
            settings: dict[str, Any] = {
                "memory_limit": f"{self.spec.memory_mb}MB",
                "temp_directory": str(folder),
                "threads": threads,
            }
            with duckdb.connect(":memory:", config=settings) as connection:
                connection.execute("SET enable_progress_bar = false")  # The bar would fill the logs of tasks.
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


class Dataset(ABC):
    """A dataset. Its code does not depend on Airflow, the placement of shards, or the upload of files."""

    version: str
    """version of the rules, part of the cache key: raise it if any output may change"""
    description: str
    """description, with the paper that defines the dataset"""
    params: type[Params]
    tables: tuple[DatasetTable, ...]
    """tables of data files for consumers; `load_dataset` loads the first one by default"""
    schema: pa.Schema
    """schema of the rows that `rows` yields"""
    sort_columns: tuple[str, ...] = ()
    """columns that sort the rows of a shard; if empty, rows follow the order of papers"""
    required_modules: tuple[str, ...] = ()
    """modules of the extra `datasets`"""
    published_metrics: Mapping[str, float] = {}
    """metric → value in the paper that defines the dataset, for comparison"""

    @abstractmethod
    def rows(self, params: Any, paper: SnapshotPaper, result: StepResult) -> Iterator[Row]:
        """Yield the rows of a paper. The same paper and parameters always give the same rows and counts."""

    def choose(self, job: Job) -> dict[str, Any]:
        """Return decisions that need all shards, as JSON: for example the threshold of a sample."""
        return {}

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:  # noqa: B027 - optional
        """Write the files of a shard from its rows."""

    @abstractmethod
    def finish(self, job: Job, choice: Mapping[str, Any], result: StepResult, out: Outputs) -> dict[str, float]:
        """Write the files that cover all shards, and return the metrics."""

    @abstractmethod
    def checks(self, job: Job, result: StepResult, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Return the checks that only this dataset needs."""
