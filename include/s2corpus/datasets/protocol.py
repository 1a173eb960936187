"""What a dataset is: which papers it takes, what it keeps of each, what needs all of them, and which files it writes.

A dataset is made in steps that may run on many machines: `rows` for each paper of each shard of the snapshot, kept by the content
of the shard; `choose`, once, from what was kept; `write`, for each shard; `finish`, once. Then `checks`, then the manifest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from s2corpus_reader.files import File

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.outputs import Outputs
    from s2corpus.datasets.source import Paper

Row = dict[str, Any]
Share = Annotated[float, Field(ge=0, le=1)]
Number = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class Params(BaseModel):
    """Every threshold of a dataset: its docstring says what it means and where it is from."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(slots=True)
class Funnel:
    """How many of what went into each step, and what became of each: every input has one outcome."""

    seen: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, step: str, outcome: str, number: int = 1) -> None:
        """Note that `number` inputs of a step had this outcome."""
        self.outcomes[step, str(outcome)] += number

    def enter(self, step: str, number: int = 1) -> None:
        """Note that `number` inputs came to a step."""
        self.seen[step] += number

    def add(self, other: Funnel) -> None:
        """Add another shard's counts."""
        self.seen.update(other.seen)
        self.outcomes.update(other.outcomes)

    def rows(self) -> list[tuple[str, str, int]]:
        """(step, outcome, count): `in` first, then the outcomes, most frequent first."""
        found = []
        for step, number in self.seen.items():
            found.append((step, "in", number))
            of_step = [(outcome, n) for (at, outcome), n in self.outcomes.items() if at == step]
            found += [(step, outcome, n) for outcome, n in sorted(of_step, key=lambda item: (-item[1], item[0]))]
        return found

    def as_json(self) -> list[list[Any]]:
        """The counts as lists, in an order that does not depend on the shards'."""
        return [[step, "in", n] for step, n in self.seen.items()] + [
            [step, outcome, n] for (step, outcome), n in sorted(self.outcomes.items())
        ]

    @classmethod
    def of_json(cls, rows: Iterable[list[Any]]) -> Funnel:
        """The funnel that `as_json` wrote."""
        funnel = cls()
        for step, outcome, n in rows:
            if outcome == "in":
                funnel.seen[step] += n
            else:
                funnel.outcomes[step, outcome] += n
        return funnel


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold of a dataset: how many offend, and why that matters."""

    name: str
    offending: int
    reason: str
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Files of a dataset that have one schema, as the card, Croissant and the Hub's YAML list them: split → path with one `*`."""

    name: str
    schema: pa.Schema
    splits: Mapping[str, str]


@dataclass(slots=True)
class Made:
    """What the steps made: counts over all shards, and the files."""

    funnel: Funnel = field(default_factory=Funnel)
    tally: Counter[str] = field(default_factory=Counter)
    """whatever else a dataset counts, by its own names"""
    licences: Counter[str] = field(default_factory=Counter)
    """papers of which something was kept, by licence"""
    files: list[File] = field(default_factory=list)

    def add(self, other: Made) -> None:
        """Add what another shard made."""
        self.funnel.add(other.funnel)
        self.tally.update(other.tally)
        self.licences.update(other.licences)
        self.files += other.files

    def as_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "funnel": self.funnel.as_json(),
            "tally": dict(sorted(self.tally.items())),
            "licences": dict(sorted(self.licences.items())),
            "files": [file.as_json() for file in self.files],
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Made:
        """What `as_json` wrote."""
        return cls(
            Funnel.of_json(value["funnel"]),
            Counter(value["tally"]),
            Counter(value["licences"]),
            [File(**file) for file in value["files"]],
        )


class Dataset(Protocol):
    """One dataset. It knows nothing of Airflow, of where shards run, or of how files reach the lake."""

    name: str
    version: str
    """of its rules: raise it when any output may come out different; a part of the key of what is kept"""
    about: str
    """what it is, and the paper that describes it"""
    params: type[Params]
    schema: pa.Schema
    """of the rows that are kept of a shard"""
    order: tuple[str, ...]
    """columns that the kept rows of a shard are sorted by; none: by paper, as they come"""
    needs: tuple[str, ...]
    """modules beside the core's: of the extra `datasets`"""
    paper: Mapping[str, float]
    """metric → what the paper that describes the dataset reports of its own, shown beside ours"""

    def rows(self, params: Any, paper: Paper, made: Made) -> Iterator[Row]:
        """What is kept of a paper. Pure: the same paper and parameters give the same rows and counts."""

    def choose(self, job: Job) -> dict[str, Any]:
        """What has to be decided over all shards, as JSON: thresholds of a sample, for example."""

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write a shard's files from what was kept."""

    def finish(self, job: Job, choice: Mapping[str, Any], made: Made, out: Outputs) -> dict[str, float]:
        """Write what is about all shards, and return the metrics."""

    def checks(self, job: Job, made: Made, metrics: Mapping[str, float]) -> list[Check]:
        """What must hold beyond what holds of every dataset."""

    def tables(self, params: Any) -> list[Table]:
        """Its data files, for those who load them."""
