"""The base class of datasets, and the counts, checks and tables that its steps return.

The steps may run on many machines. `rows` reads each paper of a shard; its rows are cached by the content of the shard.
`choose` runs once on all rows. `write` runs for each shard. `finish` runs once. `checks` and the manifest follow.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from s2corpus_reader.files import SnapshotFile
from s2orc_parse.parse_model import ParseKind

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job, Outputs
    from s2corpus.datasets.source import SnapshotPaper

Row = dict[str, Any]
Share = Annotated[float, Field(ge=0, le=1)]


def hash_number(text: str) -> int:
    """Return the first 64 bits of the SHA-256 hash of a text, for reproducible random choices."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


class Params(BaseModel):
    """The parameters of a dataset. The docstring of a field is its meaning in the dataset's card."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TextParams(Params):
    """The parameters of a dataset that reads full texts."""

    kinds: tuple[ParseKind, ...] = (ParseKind.PDF, ParseKind.LATEX, ParseKind.JATS, ParseKind.ELSEVIER)
    """kinds of full text in order of preference; the first available kind is used"""


@dataclass(frozen=True, slots=True)
class DatasetCheck:
    """A check of a dataset: the number of violations and the reason why they matter."""

    name: str
    violations: int
    reason: str
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class DatasetTable:
    """Data files with one schema, for the card, Croissant and the Hub's YAML. `splits` maps a split to a path with one `*`."""

    name: str
    schema: pa.Schema
    splits: Mapping[str, str]


@dataclass(slots=True)
class StepResult:
    """The counts and files that steps produced, for one shard or all shards."""

    funnel: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(step, outcome) → number. Outcome `in` counts inputs; every input must have one outcome, see the check `outcomes_sum`."""
    tally: Counter[str] = field(default_factory=Counter)
    """additional counts, named by the dataset"""
    licences: Counter[str] = field(default_factory=Counter)
    """number of papers with rows, by license"""
    files: list[SnapshotFile] = field(default_factory=list)

    def add_input(self, step: str, number: int = 1) -> None:
        """Count `number` inputs of a step."""
        self.funnel[step, "in"] += number

    def add_outcome(self, step: str, outcome: str, number: int = 1) -> None:
        """Count `number` inputs of a step with this outcome. Another shard or task may count the inputs."""
        self.funnel[step, str(outcome)] += number

    def list_funnel(self) -> list[tuple[str, str, int]]:
        """Return (step, outcome, count) by step: `in` first, then the outcomes in descending order of frequency."""
        steps = [step for step, outcome in self.funnel if outcome == "in"]
        rows = [(*key, number) for key, number in self.funnel.items() if key[0] in steps]
        return sorted(rows, key=lambda row: (steps.index(row[0]), row[1] != "in", -row[2], row[1]))

    def add(self, other: StepResult) -> None:
        """Add the result of another shard or step."""
        self.funnel.update(other.funnel)
        self.tally.update(other.tally)
        self.licences.update(other.licences)
        self.files += other.files

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "funnel": [[*key, number] for key, number in self.funnel.items()],
            "tally": dict(sorted(self.tally.items())),
            "licences": dict(sorted(self.licences.items())),
            "files": [file.as_json() for file in self.files],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> StepResult:
        """Return the result that `as_json` wrote."""
        return cls(
            Counter({(step, outcome): number for step, outcome, number in value["funnel"]}),
            Counter(value["tally"]),
            Counter(value["licences"]),
            [SnapshotFile(**file) for file in value["files"]],
        )


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
