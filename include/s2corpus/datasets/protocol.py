"""The interface of a dataset, and the counts, checks and tables that its steps return.

The steps may run on many machines. `rows` reads each paper of a shard; its rows are cached by the content of the shard.
`choose` runs once on all rows. `write` runs for each shard. `finish` runs once. `checks` and the manifest follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from s2corpus_reader.files import SnapshotFile

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.outputs import Outputs
    from s2corpus.datasets.source import SnapshotPaper

Row = dict[str, Any]
Share = Annotated[float, Field(ge=0, le=1)]
Number = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class Params(BaseModel):
    """The thresholds of a dataset, each with its meaning and source."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(slots=True)
class Funnel:
    """The number of inputs and outcomes of each step. Every input has one outcome."""

    seen: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, step: str, outcome: str, number: int = 1) -> None:
        """Count `number` inputs of a step with this outcome."""
        self.outcomes[step, str(outcome)] += number

    def enter(self, step: str, number: int = 1) -> None:
        """Count `number` inputs of a step."""
        self.seen[step] += number

    def add(self, other: Funnel) -> None:
        """Add another shard's counts."""
        self.seen.update(other.seen)
        self.outcomes.update(other.outcomes)

    def rows(self) -> list[tuple[str, str, int]]:
        """Return (step, outcome, count): `in` first, then the outcomes in descending order of frequency."""
        found = []
        for step, number in self.seen.items():
            found.append((step, "in", number))
            of_step = [(outcome, n) for (at, outcome), n in self.outcomes.items() if at == step]
            found += [(step, outcome, n) for outcome, n in sorted(of_step, key=lambda item: (-item[1], item[0]))]
        return found

    def as_json(self) -> list[list[Any]]:
        """Return the counts as lists, independent of the order of shards."""
        return [[step, "in", n] for step, n in self.seen.items()] + [
            [step, outcome, n] for (step, outcome), n in sorted(self.outcomes.items())
        ]

    @classmethod
    def of_json(cls, rows: Iterable[list[Any]]) -> Funnel:
        """Return the funnel that `as_json` wrote."""
        funnel = cls()
        for step, outcome, n in rows:
            if outcome == "in":
                funnel.seen[step] += n
            else:
                funnel.outcomes[step, outcome] += n
        return funnel


@dataclass(frozen=True, slots=True)
class DatasetCheck:
    """A check of a dataset: the number of violations and the reason why they matter."""

    name: str
    offending: int
    reason: str
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class DatasetTable:
    """Files with one schema, as listed in the card, Croissant and Hugging Face YAML. Splits map to paths with one `*`."""

    name: str
    schema: pa.Schema
    splits: Mapping[str, str]


@dataclass(slots=True)
class Made:
    """The output of the steps: counts over all shards, and files."""

    funnel: Funnel = field(default_factory=Funnel)
    tally: Counter[str] = field(default_factory=Counter)
    """additional counts, named by the dataset"""
    licences: Counter[str] = field(default_factory=Counter)
    """number of papers with rows, by license"""
    files: list[SnapshotFile] = field(default_factory=list)

    def add(self, other: Made) -> None:
        """Add the output of another shard."""
        self.funnel.add(other.funnel)
        self.tally.update(other.tally)
        self.licences.update(other.licences)
        self.files += other.files

    def as_json(self) -> dict[str, Any]:
        """Return the output as JSON."""
        return {
            "funnel": self.funnel.as_json(),
            "tally": dict(sorted(self.tally.items())),
            "licences": dict(sorted(self.licences.items())),
            "files": [file.as_json() for file in self.files],
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Made:
        """Return the output that `as_json` wrote."""
        return cls(
            Funnel.of_json(value["funnel"]),
            Counter(value["tally"]),
            Counter(value["licences"]),
            [SnapshotFile(**file) for file in value["files"]],
        )


class Dataset(Protocol):
    """A dataset. Its code does not depend on Airflow, the placement of shards, or the upload of files."""

    name: str
    version: str
    """version of the rules, part of the cache key: raise it if any output may change"""
    about: str
    """description, with the paper that defines the dataset"""
    params: type[Params]
    schema: pa.Schema
    """schema of the rows that `rows` yields"""
    order: tuple[str, ...]
    """columns that sort the rows of a shard; if empty, rows follow the order of papers"""
    needs: tuple[str, ...]
    """required modules of the extra `datasets`"""
    paper: Mapping[str, float]
    """metric → value in the paper that defines the dataset, for comparison"""

    def rows(self, params: Any, paper: SnapshotPaper, made: Made) -> Iterator[Row]:
        """Yield the rows of a paper. The same paper and parameters always give the same rows and counts."""

    def choose(self, job: Job) -> dict[str, Any]:
        """Return decisions that need all shards, as JSON: for example the threshold of a sample."""

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write the files of a shard from its rows."""

    def finish(self, job: Job, choice: Mapping[str, Any], made: Made, out: Outputs) -> dict[str, float]:
        """Write the files that cover all shards, and return the metrics."""

    def checks(self, job: Job, made: Made, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Return the checks that only this dataset needs."""

    def tables(self, params: Any) -> list[DatasetTable]:
        """Return the tables of data files for consumers."""
