"""The parameters of datasets, and the counts, checks and tables that their steps return."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from s2corpus_reader.files import SnapshotFile
from s2orc_parse.errors import UserError
from s2orc_parse.parse_model import ParseKind

Row = dict[str, Any]
Share = Annotated[float, Field(ge=0, le=1)]


def hash_number(text: str) -> int:
    """Return the first 64 bits of the SHA-256 hash of a text, for reproducible random choices."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


class DatasetBlocked(UserError):
    """A blocking check failed: the dataset is not published."""


class Params(BaseModel):
    """The parameters of a dataset. The docstring of a field is its meaning in the dataset's card."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


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
    licenses: Counter[str] = field(default_factory=Counter)
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
        self.licenses.update(other.licenses)
        self.files += other.files

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "funnel": [[*key, number] for key, number in self.funnel.items()],
            "tally": dict(sorted(self.tally.items())),
            "licenses": dict(sorted(self.licenses.items())),
            "files": [file.as_json() for file in self.files],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> StepResult:
        """Return the result that `as_json` wrote."""
        return cls(
            Counter({(step, outcome): number for step, outcome, number in value["funnel"]}),
            Counter(value["tally"]),
            Counter(value["licenses"]),
            [SnapshotFile(**file) for file in value["files"]],
        )
