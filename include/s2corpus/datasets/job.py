"""Manage the data of one dataset build for one snapshot: its source, cached rows, outputs and dependencies."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from s2corpus.datasets.protocol import Dataset, Made, Params
from s2corpus.datasets.registry import dataset
from s2corpus.datasets.source import SnapshotSource
from s2corpus.datasets.spec import DatasetSpec
from s2corpus.errors import TransientError
from s2corpus.storage.lake import Lake

if TYPE_CHECKING:
    import pyarrow.dataset as ds


class Job:
    """One dataset spec, one snapshot, and the lake that contains `datasets/`."""

    def __init__(self, spec: DatasetSpec, source: SnapshotSource, lake: Lake, scratch: Path | None = None) -> None:
        self.spec = spec
        self.source = source
        self.lake = lake
        self.scratch = scratch or Path(tempfile.gettempdir())
        self.dataset: Dataset = dataset(spec.dataset)
        self.params: Params = self.dataset.params.model_validate(spec.params)
        self.prefix = f"datasets/{spec.name}/{source.id}"
        """the dataset's folder in the lake"""
        self._work = f"datasets/{spec.name}/_work/{source.id}"

    @cached_property
    def rules(self) -> str:
        """Digest of everything that determines the rows of a paper: the dataset, the version of its rules, its parameters."""
        decides = [self.spec.dataset, self.dataset.version, self.params.model_dump(mode="json")]
        return hashlib.sha256(orjson.dumps(decides, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]

    def kept_key(self, shard: int) -> str:
        """Return the key of a shard's cached rows. It is equal for two snapshots if the shard's papers are equal."""
        return f"datasets/{self.spec.name}/_kept/{self.rules}/{shard:03d}-{self.source.key(shard)}.parquet"

    def receipt(self, shard: int) -> Made | None:
        """Return the counts recorded when a shard's rows were cached, or None if the rows are not cached."""
        try:
            value = orjson.loads(self.lake.get(f"{self.kept_key(shard)}.json")[0])
        except FileNotFoundError:
            return None
        return Made.of_json(value) if self.lake.size(self.kept_key(shard)) == value["bytes"] else None

    def kept(self, shards: list[int] | None = None) -> ds.Dataset:
        """Return the cached rows of all shards, or of the given shards.

        Raises:
            TransientError: rows of a shard are not cached (any more).
        """
        import pyarrow.dataset as ds  # imports pandas; half a second for tasks that need neither

        wanted = range(self.source.shards) if shards is None else shards
        for shard in wanted:
            if self.receipt(shard) is None:
                raise TransientError(
                    f"{self.lake.uri(self.kept_key(shard))}: not whole: run the work on shard {shard} again"
                )
        filesystem, root = self.lake.filesystem()
        paths = [f"{root}{self.kept_key(shard)}" for shard in wanted]
        return ds.dataset(paths, schema=self.dataset.schema, filesystem=filesystem, format="parquet")

    def once(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Return the output of `make`, which is cached. It is computed again only if a shard has changed."""
        digest = hashlib.sha256("".join(self.source.key(shard) for shard in range(self.source.shards)).encode())
        key = f"datasets/{self.spec.name}/_kept/{self.rules}/{name}-{digest.hexdigest()[:16]}"
        try:
            return self.lake.get(key)[0]
        except FileNotFoundError:
            self.lake.put(key, made := make())
            return made

    @contextmanager
    def sql(self, shards: list[int] | None = None) -> Iterator[Any]:
        """Yield a DuckDB connection with the cached rows as `kept`. It spills to disk beyond the spec's memory."""
        from s2corpus.storage.duck import duckdb_connection

        with duckdb_connection(memory_mb=self.spec.memory_mb, scratch=self.scratch) as connection:
            connection.execute("SET preserve_insertion_order = false")
            connection.register("kept", self.kept(shards))
            yield connection

    def published(self) -> dict[str, Any] | None:
        """Return the manifest of this dataset, or None if it is not published."""
        try:
            manifest: dict[str, Any] = orjson.loads(self.lake.get(f"{self.prefix}/manifest.json")[0])
        except FileNotFoundError:
            return None
        return manifest

    def note(self, name: str, value: Any) -> None:
        """Store a small JSON value for later steps."""
        self.lake.put(f"{self._work}/{name}.json", orjson.dumps(value))

    def noted(self, name: str) -> Any:
        """Return a value that an earlier step stored.

        Raises:
            TransientError: that step has not finished.
        """
        try:
            return orjson.loads(self.lake.get(f"{self._work}/{name}.json")[0])
        except FileNotFoundError:
            raise TransientError(
                f"{self.lake.uri(self._work)}/{name}.json: not there: run the step before again"
            ) from None
