"""The twelve stages of a release, in order: start reading here.

A stage `x` is the class `XStage` in `stages/x.py` or in the package `stages/x/`. It has three methods (`pipeline.run.Stage`):

- `plan` lists the shards of a round;
- `work` does one shard of a round: it may run on any machine, twice or concurrently, and writes only its own parts;
- `finish` commits the tables and returns the metrics.

Its checks are the queries in `sql/quality/x.sql`. The DAG and `corpus build` follow this table.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2corpus.pipeline.run import Stage
    from s2corpus.tables.schema import Table


class Shards(StrEnum):
    """The way in which the work of a stage is divided."""

    PLANNED = "planned"
    """by the stage's own plan, which is stored"""
    PDFS = "pdfs"
    """ranges of SHA-1, equal for all stages"""
    PAPERS = "papers"
    """buckets of paper ids, equal for all stages"""


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage: its name, the tables that it reads and writes, its shards, and its rounds of work."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    shards: Shards
    rounds: int = 1
    """number of rounds; each round except the last sends rows to the next"""
    determines: Shards | None = None
    """the shards of later stages; this stage fixes their number"""

    @property
    def read_tables(self) -> tuple[Table, ...]:
        """The tables that the stage reads."""
        return _tables(self.reads)

    @property
    def written_tables(self) -> tuple[Table, ...]:
        """The tables that the stage writes."""
        return _tables(self.writes)


def _tables(names: tuple[str, ...]) -> tuple[Table, ...]:
    from s2corpus.tables.schema import TABLES  # Arrow is imported here, because DAG files need only the names

    return tuple(TABLES[name] for name in names)


PIPELINE = (
    StageRow(
        "intake",
        reads=(),  # drops/ and sources/
        writes=("pdfs", "latex_sources", "articles", "records", "notices", "deliveries"),
        shards=Shards.PLANNED,  # a drop or a delivery each
        rounds=2,
        determines=Shards.PDFS,
    ),
    StageRow("select", reads=("pdfs",), writes=("selections",), shards=Shards.PDFS),
    StageRow("extract", reads=("pdfs", "selections"), writes=("extractions",), shards=Shards.PLANNED),
    StageRow(
        "postprocess",
        reads=("pdfs", "selections", "extractions", "latex_sources", "articles"),
        writes=("parses", "pdf_records", "latex_parses", "article_parses"),
        shards=Shards.PDFS,
    ),
    StageRow(
        "cluster",
        reads=("records", "pdf_records"),
        writes=("edges", "clusters", "aliases", "members"),
        shards=Shards.PLANNED,  # one, which distributes its own work
        determines=Shards.PAPERS,
    ),
    StageRow(
        "vote",
        reads=("members", "pdfs", "latex_sources", "latex_parses", "articles", "article_parses", "notices"),
        writes=("papers",),
        shards=Shards.PAPERS,
        rounds=3,
    ),
    StageRow(
        "assemble",
        reads=("papers", "parses", "latex_parses", "article_parses"),
        writes=("fulltexts", "entries"),
        shards=Shards.PAPERS,
        rounds=3,
    ),
    StageRow("filter", reads=("papers", "fulltexts", "members", "aliases"), writes=("filtered",), shards=Shards.PAPERS),
    StageRow(
        "link",
        reads=("papers", "members", "filtered", "fulltexts", "entries"),
        writes=("links", "contexts"),
        shards=Shards.PAPERS,
        rounds=3,
    ),
    StageRow(
        "clean", reads=("papers", "members", "filtered", "fulltexts"), writes=("documents",), shards=Shards.PAPERS
    ),
    StageRow("split", reads=("documents", "papers"), writes=("splits", "duplicates"), shards=Shards.PLANNED),  # one
    StageRow(
        "export",
        reads=(
            "documents",
            "splits",
            "papers",
            "members",
            "filtered",
            "fulltexts",
            "links",
            "contexts",
            "aliases",
            "clusters",
            "duplicates",
        ),
        writes=(),  # snapshots/<id>/
        shards=Shards.PAPERS,
        rounds=2,
    ),
)
STAGE_NAMES = tuple(row.name for row in PIPELINE)


def stage_row(name: str) -> StageRow:
    """Return the row of a stage."""
    return PIPELINE[STAGE_NAMES.index(name)]


def find_planning_stage(name: str) -> str:
    """Return the stage that determines the shards of a stage, or the stage itself if it has a plan."""
    shards = stage_row(name).shards
    return next((row.name for row in PIPELINE if row.determines is shards), name)


def load_stage(name: str) -> Stage:
    """Return the stage of that name; only its own module is imported."""
    module = importlib.import_module(f"s2corpus.stages.{name}")
    stage: Stage = getattr(module, f"{name.capitalize()}Stage")()
    return stage
