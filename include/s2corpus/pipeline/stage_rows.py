"""The form of the table of stages (`pipeline.stages`): a row for each stage, with its tables, shards, outcomes and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from s2orc_parse.outcomes import Outcome

if TYPE_CHECKING:
    from s2corpus.tables.schema import Table


class Shards(StrEnum):
    """The way in which the work of a stage is divided."""

    PLANNED = "planned"
    """by the stage's own plan, which is stored"""
    ONE = "one"
    """one shard, which distributes its own work"""
    PDFS = "pdfs"
    """ranges of SHA-1, equal for all stages"""
    PAPERS = "papers"
    """buckets of paper ids, equal for all stages"""


@dataclass(frozen=True, slots=True)
class OutcomeColumn:
    """A column of a table with a closed list of outcomes. `lists` contains each list with the prefix of its words."""

    table: str
    column: str
    lists: tuple[tuple[str, type[Outcome]], ...]
    has_own_rules: bool = False
    """whether the rules of other packages add outcomes (`s2corpus.own_rules`)"""

    @property
    def words(self) -> dict[str, Outcome]:
        """The outcomes of the column by word, in the order of their declaration."""
        return {f"{prefix}{word}": word for prefix, words in self.lists for word in words}


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a stage, or all metrics that match a pattern."""

    pattern: str
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True)
class StageRow:
    """The declaration of a stage: tables, shards, rounds, outcomes and metrics."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    shards: Shards
    items: tuple[str, tuple[str, ...]]
    """unit of the stage's throughput, and the metrics that add up to it"""
    rounds: int = 1
    """number of rounds; each round except the last sends rows to the next"""
    meets_first: bool = False
    """whether the first round is one shard, in which rows meet on an engine"""
    determines: Shards | None = None
    """the shards of later stages; this stage fixes their number"""
    outcomes: tuple[OutcomeColumn, ...] = ()
    """columns with outcomes; the page lists the rejected rows of the first"""
    metrics: tuple[Metric, ...] = ()
    """metrics in addition to `rows`, `outcome.*` and the metrics of `pipeline.gold`"""

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
