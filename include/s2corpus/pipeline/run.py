"""The protocol of all stages, and the run that they process.

A stage is `plan → work (mapped over shards) → finish`. `work` is idempotent, writes only `part-<shard>` of the stage's
tables, and may run on any machine, twice or concurrently; `finish` commits the tables. Stages exchange data only through tables and the
facts of their commits.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pyarrow.compute as pc

from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.stage_rows import Shards
from s2corpus.pipeline.stages import stage_row
from s2corpus.snapshot.manifest import hash_inputs
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.content_store import ContentStore
from s2corpus.storage.exchange import Exchange
from s2corpus.storage.lake import Lake, lake_uri, open_lake
from s2corpus.storage.parts import NotCommitted, OtherColumns, TableRef
from s2corpus.tables.intake import DELIVERIES, PDFS
from s2corpus.tables.papers import MEMBERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES
from s2corpus.tables.schema import Table, paper_shard, pdf_shard
from s2corpus.version import code_version
from s2orc_parse.scratch import private

MAX_SHARDS = 16_384
"""maximum shards of a stage; if it is reached, shards are larger"""
Metrics = dict[str, float]
ACCEPTED = "_accepted.json"
"""file of a release with the overrides of its checks"""
OF_RUN = "run."
"""beginning of the names of metrics that two runs of a release may give different values. They are not part of the snapshot"""
Row = dict[str, Any]
TableRow = TypeVar("TableRow")


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a stage's work: its number, which names its output parts, and its parameters."""

    index: int
    params: Mapping[str, Any] = field(default_factory=dict)


class ReleaseTables:
    """The tables of one release in `releases/<release>/`, or of a batch of drops in its own folder."""

    def __init__(self, lake: Lake, release: str, batch_folder: str | None = None) -> None:
        self.lake = lake
        self.folder = batch_folder or f"releases/{release}"
        self._refs: dict[str, TableRef[Any]] = {}

    def __call__(self, table: Table[TableRow]) -> TableRef[TableRow]:
        """Return a table. Cached, so that its commit is read once and a task always uses the same commit."""
        if table.name not in self._refs:
            self._refs[table.name] = TableRef(self.lake, f"{self.folder}/{table.name}", table)
        return self._refs[table.name]

    def table(self, table: Table[TableRow]) -> TableRef[TableRow]:
        """Return a table, by name."""
        return self(table)

    @cached_property
    def pdf_shards(self) -> int:
        """Number of parts of every table sharded by `pdf`; intake determines it from the number of PDFs."""
        return int(self(PDFS).committed().facts["pdf_shards"])

    @cached_property
    def paper_shards(self) -> int:
        """Number of buckets of every table sharded by `paper`; cluster determines it from the number of papers."""
        return int(self(MEMBERS).committed().facts["paper_shards"])

    @cached_property
    def file_counts(self) -> tuple[int, int]:
        """Numbers of files per set and split, and in each folder of `corpus/`; cluster determines them like the buckets."""
        files, corpus_files = self(MEMBERS).committed().facts["files"]
        return int(files), int(corpus_files)

    def rows(
        self,
        table: Table,
        where: pc.Expression | None,
        columns: Sequence[str] | None = None,
        shard: int | None = None,
        size: int = 1024,
    ) -> Iterator[Row]:
        """Yield matching rows; yield nothing if the stage has not run or has no such part. `size` rows are in memory.

        Raises:
            OtherColumns: another version wrote the table.
        """
        try:
            yield from self(table).rows(columns, shard=shard, where=where, batch_size=size)
        except OtherColumns:
            raise
        except NotCommitted:
            return

    def of_paper(self, table: Table, paper_id: str, columns: Sequence[str] | None = None) -> list[Row]:
        """Return the rows of a paper."""
        shard = paper_shard(paper_id, self.paper_shards)
        return list(self.rows(table, pc.field("paper_id") == paper_id, columns, shard, 64))

    def of_pdf(self, table: Table, sha1: str) -> list[Row]:
        """Return the rows of a PDF."""
        return list(self.rows(table, pc.field("file_sha1") == sha1, None, pdf_shard(sha1, self.pdf_shards)))


class Run(ReleaseTables):
    """One release in progress: the spec, its `as_of` instant, and its tables.

    `batch_folder` is the folder of the tables in the lake if the run is not a release but a batch of drops.
    """

    def __init__(
        self, spec: ReleaseSpec, as_of: datetime, lake: Lake, scratch: Path, batch_folder: str | None = None
    ) -> None:
        self.spec, self.as_of, self.scratch, self.batch_folder = spec, as_of, scratch, batch_folder
        self.release_id = ReleaseId.from_spec(spec.name, as_of)
        super().__init__(lake, self.release_id, batch_folder)

    @staticmethod
    def open(spec: ReleaseSpec, as_of: datetime, *, lake: str | None = None, scratch: Path | None = None) -> Run:
        """Create the run of a spec as of an instant (UTC), in the given lake or in the lake of `S2CORPUS_LAKE`."""
        if as_of.tzinfo is None:
            raise ValueError("as_of needs a time zone")
        return Run(spec, as_of.astimezone(UTC), open_lake(lake or lake_uri()), scratch or private())

    def store(self, table: Table[TableRow], *folders: str) -> ContentStore[TableRow]:
        """Return a content store `<table>/<folders…>/`, which is shared by releases."""
        return ContentStore(self.lake, "/".join((table.name, *folders)), table)

    def exchange(self, name: str) -> Exchange:
        """Return the folder of the lake for rows that the rounds of a stage exchange."""
        return Exchange(self.lake.root, f"{self.folder}/{name}")

    def put_plan(self, stage: str, shards: list[Shard], round: int = 0) -> None:
        """Store the plan of a stage's round, so that `finish` uses the same shards despite new deliveries."""
        data = orjson.dumps([{"index": s.index, "params": dict(s.params)} for s in shards])
        self.lake.put(self.plan_key(stage, round), data)

    def read_plan(self, stage: str, round: int = 0) -> list[Shard]:
        """Return the shards of the last plan of a stage's round."""
        data, _ = self.lake.get(self.plan_key(stage, round))
        return [Shard(**item) for item in orjson.loads(data)]

    def plan_key(self, stage: str, round: int = 0) -> str:
        """Return the key of the plan of a stage's round."""
        return f"{self.folder}/_plans/{stage}{f'.round-{round}' if round else ''}.json"

    @cached_property
    def parent(self) -> SnapshotId | None:
        """Id of the parent snapshot, found by intake: the newest published one of this spec with a smaller as_of."""
        parent: str | None = self.table(DELIVERIES).committed().facts["parent"]
        return None if parent is None else SnapshotId.parse(parent)

    @cached_property
    def overrides(self) -> dict[str, str]:
        """Overridden checks of all stages before export: `<stage>.<check>` → the written reason."""
        if self.lake.size(f"releases/{self.release_id}/{ACCEPTED}") is None:
            return {}
        verdicts = [
            verdict
            for entry in self.lake.list(f"releases/{self.release_id}/_quality/")
            if not entry.key.endswith("/export.json")
            for verdict in orjson.loads(self.lake.get(entry.key)[0])
        ]
        return {f"{v['stage']}.{v['check']}": v["accepted"] for v in verdicts if v.get("accepted")}

    @cached_property
    def snapshot_id(self) -> SnapshotId:
        """`<spec>-<as_of>-<8 hex>`. The digits hash spec, versions, inputs, parent and overrides (SPEC §0.15)."""
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


class Stage(ABC):
    """One step from tables to tables; listed in `pipeline.stages`."""

    name: str
    exchange: str | None = None
    """folder of the rows that the rounds exchange"""

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """Return the shards of a round: one for each range of files or bucket of papers, or a single one.

        A stage with another division defines its own plan. Equal inputs give equal shards. Return at least one, so that an empty table
        has a part.
        """
        row = stage_row(self.name)
        if row.shards is Shards.ONE or (row.meets_first and round == 0):
            return [Shard(0)]
        count = run.pdf_shards if row.shards is Shards.PDFS else run.paper_shards
        return [Shard(index) for index in range(count)]

    @abstractmethod
    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Process one shard of a round.

        Must be idempotent. The last round writes `part-<shard>` of all the stage's tables.
        """

    def finish(self, run: Run) -> Metrics:
        """Commit the tables, after all parts exist, remove the exchanged rows, and return the metrics."""
        metrics = commit_all(run, self.name, len(self.plan(run, stage_row(self.name).rounds - 1)))
        if self.exchange:
            run.exchange(self.exchange).remove()
        return metrics


def load_stage(name: str) -> Stage:
    """Return the stage of that name; only its own module is imported."""
    module = importlib.import_module(f"s2corpus.stages.{name}")
    stage: Stage = getattr(module, f"{name.capitalize()}Stage")()
    return stage


def commit_all(
    run: Run, tables: str | tuple[Table, ...], shards: int, facts: Mapping[str, Any] | None = None
) -> Metrics:
    """Commit `shards` parts of the given tables, or of the tables that the named stage writes; return the row counts."""
    if isinstance(tables, str):
        tables = stage_row(tables).written_tables
    return {f"rows.{table.name}": float(run.table(table).commit(range(shards), facts).rows) for table in tables}


def count_outcomes(run: Run, table: Table, column: str = "outcome") -> Metrics:
    """Return the number of rows of a committed table by outcome as `<column>.<value>`, and in total as `rows`."""
    counts = {outcome or "none": float(n) for (outcome,), n in run.table(table).counts(column).items()}
    return {"rows": float(sum(counts.values())), **{f"{column}.{outcome}": n for outcome, n in sorted(counts.items())}}


def list_columns(table: Table, *excluded: str) -> list[str]:
    """Return the columns of a table except the given columns."""
    return [c.name for c in table.columns if c.name not in excluded]
