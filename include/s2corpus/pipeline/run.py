"""The protocol of all stages, and the run that they process.

A stage is `plan → work (mapped over shards) → finish`. `work` is idempotent, writes only `part-<shard>` of the stage's
tables, and may run anywhere and twice; `finish` commits the tables. Stages exchange data only through tables and the
facts of their commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import orjson

from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.stages import stage_row
from s2corpus.snapshot.manifest import hash_inputs
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
    """One part of a stage's work: its number, which names its output parts, and its parameters."""

    index: int
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One release in progress: the spec, its `as_of` instant, and the location of its tables."""

    spec: ReleaseSpec
    as_of: datetime
    lake: Lake
    scratch: Path
    within: str | None = None
    """folder of the tables in the lake if the run is not a release but a batch of drops"""
    _tables: dict[str, TableRef[Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @staticmethod
    def of(spec: ReleaseSpec, as_of: datetime, *, lake: str | None = None, scratch: Path | None = None) -> Run:
        """Create the run of a spec as of an instant (UTC), in the given lake or in the lake of `S2CORPUS_LAKE`."""
        if as_of.tzinfo is None:
            raise ValueError("as_of needs a time zone")
        return Run(spec, as_of.astimezone(UTC), open_lake(lake or lake_uri()), scratch or private())

    @property
    def release_id(self) -> ReleaseId:
        """The release's id, which is its folder in the lake."""
        return ReleaseId.from_spec(self.spec.name, self.as_of)

    @property
    def folder(self) -> str:
        """The folder of the run's tables and plans in the lake."""
        return self.within or f"releases/{self.release_id}"

    def table(self, table: Table[Row]) -> TableRef[Row]:
        """Return a table of this release. Its commit is read once, so that a task always uses the same commit."""
        if table.name not in self._tables:
            self._tables[table.name] = TableRef(self.lake, f"{self.folder}/{table.name}", table)
        return self._tables[table.name]

    def store(self, table: Table[Row], *where: str) -> ContentStore[Row]:
        """Return a content store `<table>/<where…>/`, which is shared by releases."""
        return ContentStore(self.lake, "/".join((table.name, *where)), table)

    def put_plan(self, stage: str, shards: list[Shard], round: int = 0) -> None:
        """Store the plan of a stage's round, so that `finish` uses the same shards despite new deliveries."""
        data = orjson.dumps([{"index": s.index, "params": dict(s.params)} for s in shards])
        self.lake.put(self._plan_key(stage, round), data)

    def read_plan(self, stage: str, round: int = 0) -> list[Shard]:
        """Return the shards of the last plan of a stage's round."""
        data, _ = self.lake.get(self._plan_key(stage, round))
        return [Shard(**item) for item in orjson.loads(data)]

    def _plan_key(self, stage: str, round: int) -> str:
        return f"{self.folder}/_plans/{stage}{f'.round-{round}' if round else ''}.json"

    @cached_property
    def pdf_shards(self) -> int:
        """Number of parts of every table sharded by `pdf`; intake determines it from the number of PDFs."""
        return int(self.table(PDFS).committed().facts["pdf_shards"])

    @cached_property
    def paper_shards(self) -> int:
        """Number of buckets of every table sharded by `paper`; cluster determines it from the number of papers."""
        return int(self.table(MEMBERS).committed().facts["paper_shards"])

    @cached_property
    def parent(self) -> SnapshotId | None:
        """Id of the parent snapshot: the newest published snapshot of this spec with a smaller as_of, as found by
        intake.
        """
        parent: str | None = self.table(DELIVERIES).committed().facts["parent"]
        return None if parent is None else SnapshotId.parse(parent)

    @cached_property
    def overrides(self) -> dict[str, str]:
        """Overridden checks of all stages before export: `<stage>.<check>` → the written reason."""
        verdicts = [
            verdict
            for entry in self.lake.list(f"releases/{self.release_id}/_quality/")
            if not entry.key.endswith("/export.json")
            for verdict in orjson.loads(self.lake.get(entry.key)[0])
        ]
        return {f"{v['stage']}.{v['check']}": v["accepted"] for v in verdicts if v.get("accepted")}

    @cached_property
    def snapshot_id(self) -> SnapshotId:
        """`<spec>-<as_of>-<8 hex>`: a hash of spec, code, extractor and converter versions, inputs, parent and
        overrides.

        See SPEC §0.15.
        """
        intake = self.table(DELIVERIES).committed().facts
        digest = hash_inputs(
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
        return SnapshotId.from_digest(self.release_id, digest)


@runtime_checkable
class Stage(Protocol):
    """One step from tables to tables; listed in `pipeline.stages`."""

    name: str

    def plan(self, run: Run, round: int = 0, /) -> list[Shard]:
        """Return the shards of a round.

        Equal inputs give equal shards. Return at least one, so that an empty table has a part.
        """

    def work(self, run: Run, shard: Shard, round: int = 0, /) -> None:
        """Process one shard of a round.

        Must be idempotent. The last round writes `part-<shard>` of all the stage's tables.
        """

    def finish(self, run: Run, /) -> Metrics:
        """Commit the tables, after all parts exist, and return the metrics."""


def list_pdf_shards(run: Run) -> list[Shard]:
    """Return one shard for each range of the SHA-1 space."""
    return [Shard(i) for i in range(run.pdf_shards)]


def list_paper_shards(run: Run) -> list[Shard]:
    """Return one shard for each bucket of papers."""
    return [Shard(i) for i in range(run.paper_shards)]


def commit_all(
    run: Run, tables: str | tuple[Table, ...], shards: int, facts: Mapping[str, Any] | None = None
) -> Metrics:
    """Commit `shards` parts of the given tables, or of the tables that the named stage writes; return the row counts."""
    if isinstance(tables, str):
        tables = stage_row(tables).written_tables
    return {f"rows.{table.name}": float(run.table(table).commit(range(shards), facts).rows) for table in tables}


def count_outcomes(run: Run, table: Table, column: str = "outcome") -> Metrics:
    """Return the number of rows of a committed table by outcome as `<column>.<value>`, and `rows`."""
    counts = {word or "none": n for (word,), n in run.table(table).counts(column).items()}
    return {"rows": float(sum(counts.values())), **{f"{column}.{word}": float(n) for word, n in sorted(counts.items())}}
