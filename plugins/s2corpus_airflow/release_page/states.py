"""Define the state of a release, of its stages and of its run in Airflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from s2corpus.ids import RELEASE_DAG, ReleaseId


class ReleaseStatus(StrEnum):
    """The state of a release."""

    LATEST = "latest"
    PUBLISHED = "published"
    YANKED = "yanked"
    PRUNED = "pruned"
    AWAITING = "awaits approval"
    REJECTED = "rejected"
    COMPLETE = "not published"
    STOPPED = "stopped by a check"
    FAILED = "failed"
    RUNNING = "running"
    UNFINISHED = "unfinished"


class StageState(StrEnum):
    """The state of a stage."""

    PASSED = "passed"
    WARNED = "warned"
    BLOCKED = "blocked"
    UNCHECKED = "not yet checked"
    RUNNING = "begun"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A task that failed, mapped or not."""

    id: str
    map_index: int = -1

    @property
    def path(self) -> str:
        """The path of the task's logs in Airflow, below its run."""
        mapped = f"/mapped/{self.map_index}" if self.map_index >= 0 else ""
        return f"tasks/{quote(self.id, safe='')}{mapped}"

    def __str__(self) -> str:
        return self.id if self.map_index < 0 else f"{self.id}[{self.map_index}]"


@dataclass(frozen=True, slots=True)
class DagRun:
    """The Airflow run that builds a release."""

    id: str
    state: str
    failed: list[FailedTask] = field(default_factory=list)
    """the first failed tasks"""


RunOf = Callable[[str, datetime], DagRun | None]
"""returns the latest run of a spec's DAG for an instant"""


@dataclass(frozen=True, slots=True)
class ListedRelease:
    """One release, as shown in the list."""

    id: ReleaseId
    state: ReleaseStatus
    stage: str | None
    """the latest stage with metrics"""
    snapshot: str | None
    documents: int
    words: int
    bytes: int
    diff: Mapping[str, int] = field(default_factory=dict)
    """documents added, removed, moved, changed since the parent; empty without a parent"""
    run: DagRun | None = None
    awaited: tuple[list[str], datetime | None] | None = None
    """expected drops that are missing, and the end of the wait, or None if the release continued"""

    @property
    def run_path(self) -> str | None:
        """The path of the run in Airflow, or None without a run."""
        return f"dags/{RELEASE_DAG}{self.spec}/runs/{quote(self.run.id, safe='')}" if self.run else None

    @property
    def spec(self) -> str:
        """The spec's name."""
        return self.id.spec

    @property
    def date(self) -> str:
        """The instant that the release sees: an ISO date, with the time unless it is midnight."""
        return self.id.date


@dataclass(frozen=True, slots=True)
class StageStatus:
    """One stage of a release."""

    name: str
    state: StageState
    started: datetime | None
    seconds: float | None
    outcomes: list[tuple[str, int]]
    """greatest count first"""
    verdicts: list[dict[str, Any]]
    handled: int = 0

    @property
    def throughput(self) -> float | None:
        """Items processed per second; `pipeline.stages` declares the item."""
        return self.handled / self.seconds if self.seconds and self.handled else None
