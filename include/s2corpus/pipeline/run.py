"""The one protocol of all stages, and the run they work for.

A stage is `plan → work (mapped over shards) → finish`. `work` is idempotent, writes only `part-<shard>` of the stage's tables and may
run anywhere, twice; `finish` commits them. What a stage needs to know of another is in a table or in the facts of its commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.stages import stage_row
from s2corpus.snapshot.manifest import identity
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.content_store import ContentStore
from s2corpus.storage.lake import Lake, lake_uri, open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables import DELIVERIES, EXTRACTIONS, MEMBERS, PARSES, PDFS, Table
from s2corpus.version import code_version
from s2orc_parse.scratch import private

Metrics = dict[str, float]
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Shard:
    """One piece of a stage's work: its number, which names its parts, and what the stage needs to do it."""

    index: int
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One release being made: the spec, the instant it sees, and where its tables are."""

    spec: ReleaseSpec
    as_of: datetime
    lake: Lake
    scratch: Path
    within: str | None = None
    """the lake's folder of its tables where it is not a release: a batch of drops"""
    _tables: dict[str, TableRef[Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @staticmethod
    def of(spec: ReleaseSpec, as_of: datetime, *, lake: str | None = None, scratch: Path | None = None) -> Run:
        """The run of a spec as of an instant (UTC), in the lake that `S2CORPUS_LAKE` names unless one is given."""
        if as_of.tzinfo is None:
            raise ValueError("as_of needs a time zone")
        return Run(spec, as_of.astimezone(UTC), open_lake(lake or lake_uri()), scratch or private())

    @property
    def release_id(self) -> ReleaseId:
        """The release's folder in the lake."""
        return self.spec.release_id(self.as_of)

    @property
    def folder(self) -> str:
        """Where its tables and plans are in the lake."""
        return self.within or f"releases/{self.release_id}"

    def table(self, table: Table[Row]) -> TableRef[Row]:
        """A table of this release. Its commit is read once: a task sees one, whoever commits another meanwhile."""
        if table.name not in self._tables:
            self._tables[table.name] = TableRef(self.lake, f"{self.folder}/{table.name}", table)
        return self._tables[table.name]

    def store(self, table: Table[Row], *where: str) -> ContentStore[Row]:
        """A content store that outlives releases, `<table>/<where…>/`."""
        return ContentStore(self.lake, "/".join((table.name, *where)), table)

    def put_plan(self, stage: str, shards: list[Shard], round: int = 0) -> None:
        """Store the plan of a round of a stage, so that its `finish` counts on the same shards, whatever arrived since."""
        data = orjson.dumps([{"index": s.index, "params": dict(s.params)} for s in shards])
        self.lake.put(self._plan_key(stage, round), data)

    def planned(self, stage: str, round: int = 0) -> list[Shard]:
        """Return the shards that a round of a stage last planned."""
        data, _ = self.lake.get(self._plan_key(stage, round))
        return [Shard(**item) for item in orjson.loads(data)]

    def _plan_key(self, stage: str, round: int) -> str:
        return f"{self.folder}/_plans/{stage}{f'.round-{round}' if round else ''}.json"

    @cached_property
    def pdf_shards(self) -> int:
        """Parts of every table sharded by `pdf`: fixed by intake from the number of PDFs."""
        return int(self.table(PDFS).committed().facts["pdf_shards"])

    @cached_property
    def paper_shards(self) -> int:
        """Buckets of every table sharded by `paper`: fixed by cluster from the number of papers."""
        return int(self.table(MEMBERS).committed().facts["paper_shards"])

    @cached_property
    def parent(self) -> SnapshotId | None:
        """Id of the parent snapshot: the newest published one of this spec with a smaller as_of, as intake found it."""
        parent: str | None = self.table(DELIVERIES).committed().facts["parent"]
        return None if parent is None else SnapshotId.parse(parent)

    def parent_table(self, name: str) -> pa.Table | None:
        """A Parquet file of the parent snapshot, `snapshots/<parent>/<name>.parquet`; None where there is no parent."""
        if self.parent is None:
            return None
        with self.lake.open(f"snapshots/{self.parent}/{name}.parquet") as file:
            return pq.read_table(pa.BufferReader(file.read()))

    @cached_property
    def overrides(self) -> dict[str, str]:
        """Failed checks that were overridden, `<stage>.<check>` → the written reason, as the stages before export found."""
        verdicts = [
            verdict
            for entry in self.lake.list(f"releases/{self.release_id}/_quality/")
            if not entry.key.endswith("/export.json")
            for verdict in orjson.loads(self.lake.get(entry.key)[0])
        ]
        return {f"{v['stage']}.{v['check']}": v["accepted"] for v in verdicts if v.get("accepted")}

    @cached_property
    def snapshot_id(self) -> SnapshotId:
        """`<spec>-<as_of>-<8 hex>` over spec, code, extractor and converter versions, inputs, parent (SEMANTICS §0) and overrides."""
        intake = self.table(DELIVERIES).committed().facts
        digest = identity(
            spec=self.spec.digest,
            as_of=f"{self.as_of:%Y-%m-%dT%H:%M:%SZ}",
            parent=intake["parent"],
            versions={
                "code": code_version(),
                "extractor": self.table(EXTRACTIONS).committed().facts["extractor"],
                "converter": self.table(PARSES).committed().facts["converter"],
            },
            inputs=intake["inputs"],
            overrides=self.overrides,
        )
        return SnapshotId.of(self.release_id, digest)


@runtime_checkable
class Stage(Protocol):
    """One step from tables to tables; `pipeline.stages` has a row for each."""

    name: str

    def plan(self, run: Run, round: int = 0, /) -> list[Shard]:
        """Return the shards of a round, the same for the same inputs; one at least, so that an empty table has its empty part."""

    def work(self, run: Run, shard: Shard, round: int = 0, /) -> None:
        """Do one shard of a round: idempotent; the last round writes `part-<shard>` of every table that the stage writes."""

    def finish(self, run: Run, /) -> Metrics:
        """Commit the tables, whose parts all exist, and return the metrics."""


def pdf_shards(run: Run) -> list[Shard]:
    """One shard for each range of the SHA-1 space."""
    return [Shard(i) for i in range(run.pdf_shards)]


def paper_shards(run: Run) -> list[Shard]:
    """One shard for each bucket of papers."""
    return [Shard(i) for i in range(run.paper_shards)]


def commit_all(
    run: Run, tables: str | tuple[Table, ...], shards: int, facts: Mapping[str, Any] | None = None
) -> Metrics:
    """Commit `shards` parts of each table, or of each that the named stage writes; return their rows."""
    if isinstance(tables, str):
        tables = stage_row(tables).written_tables
    return {f"rows.{table.name}": float(run.table(table).commit(range(shards), facts).rows) for table in tables}


def count_outcomes(run: Run, table: Table, column: str = "outcome") -> Metrics:
    """How many rows of a committed table have each outcome, as `<column>.<value>`, and `rows`."""
    counts = {word or "none": n for (word,), n in run.table(table).counts(column).items()}
    return {"rows": float(sum(counts.values())), **{f"{column}.{word}": float(n) for word, n in sorted(counts.items())}}
