"""Releases as the lake and the catalog know them: state, stages, checks, metrics, snapshot, change. Nothing here writes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import orjson

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Approval, ReleaseState
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.registry import STAGES
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake

READERS = 16
"""small files read at a time"""
TREND = 12
"""releases a trend goes back"""

Metrics = Mapping[str, Mapping[str, float]]


class State(StrEnum):
    """How far a release is."""

    LATEST = "latest"
    PUBLISHED = "published"
    YANKED = "yanked"
    AWAITING = "awaits approval"
    REJECTED = "rejected"
    COMPLETE = "not published"
    STOPPED = "stopped by a check"
    FAILED = "failed"
    RUNNING = "running"
    UNFINISHED = "unfinished"


class StageState(StrEnum):
    """How far a stage is."""

    PASSED = "passed"
    WARNED = "warned"
    BLOCKED = "blocked"
    MEASURED = "not yet checked"
    BEGUN = "begun"
    ABSENT = "not reached"


@dataclass(frozen=True, slots=True)
class DagRun:
    """What Airflow says of the run that makes a release."""

    id: str
    state: str
    failed: list[str] = field(default_factory=list)
    """the first tasks that failed"""


RunOf = Callable[[str, datetime], DagRun | None]
"""the latest run of a spec's DAG for an instant"""


@dataclass(frozen=True, slots=True)
class Release:
    """One release, as the list shows it."""

    id: str
    spec: str
    as_of: str
    """YYYYMMDD"""
    state: State
    stage: str | None
    """the furthest stage that was measured"""
    snapshot: str | None
    documents: int
    words: int
    bytes: int
    diff: Mapping[str, int] = field(default_factory=dict)
    """documents added, removed, moved, changed since the parent; empty without one"""
    run: DagRun | None = None

    @property
    def date(self) -> str:
        """The instant it sees, as an ISO date."""
        return f"{self.as_of[:4]}-{self.as_of[4:6]}-{self.as_of[6:]}"


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage of a release."""

    name: str
    state: StageState
    started: datetime | None
    seconds: float | None
    outcomes: list[tuple[str, int]]
    """greatest first"""
    verdicts: list[dict[str, Any]]


class Archive:
    """The releases in one lake, with the catalog's times and Airflow's runs where there are such."""

    def __init__(self, lake: Lake, catalog: Catalog | None = None, run_of: RunOf | None = None) -> None:
        self.lake = lake
        self.catalog = catalog
        self.run_of = run_of

    def ids(self, spec: str | None = None) -> list[ReleaseId]:
        """Releases, newest first by (as_of, spec)."""
        found = [ReleaseId(name) for name in self.lake.folders("releases/") if ReleaseId.known(name)]
        return sorted((r for r in found if spec in (None, r.spec)), key=lambda r: (r.day, r.spec), reverse=True)

    def has(self, release: str) -> bool:
        """Whether there is such a release."""
        return ReleaseId.known(release) and bool(next(self.lake.list(f"releases/{release}/"), None))

    def releases(self, ids: Sequence[str]) -> list[Release]:
        """These releases, in order."""
        snapshots = self.lake.folders("snapshots/")
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(lambda release: self.release(release, snapshots), ids))

    def release(self, release: str, snapshots: Sequence[str] | None = None) -> Release:
        """One release; `snapshots` are the folders of `snapshots/`, where they were read already."""
        id_ = ReleaseId(release)
        spec, as_of = id_.spec, id_.day
        measured, checked = self._stages_in(release, "_metrics"), self._stages_in(release, "_quality")
        furthest = next((s for s in reversed(STAGES) if s in measured), None)
        snapshot, state = self._snapshot(release, spec, snapshots)
        run = self.run_of(spec, id_.as_of) if self.run_of else None
        cancelled = run is not None and run.state == "failed"
        if state is State.COMPLETE and not cancelled and self.catalog and (known := self.catalog.release(release)):
            answered = {ReleaseState.AWAITING: State.AWAITING, ReleaseState.REJECTED: State.REJECTED}
            state = answered.get(ReleaseState(known.state), state)
        if state is None:
            blocked = furthest in checked and any(
                v["verdict"] == "block" and not v.get("accepted")
                for v in self._json(f"releases/{release}/_quality/{furthest}.json") or ()
            )
            state = State.STOPPED if blocked else State.UNFINISHED
            if run and not blocked:
                state = {"failed": State.FAILED, "queued": State.RUNNING, "running": State.RUNNING}.get(
                    run.state, state
                )
        export = (self._json(f"releases/{release}/_metrics/export.json") or {}) if "export" in measured else {}
        diff = self._json(f"snapshots/{snapshot}/diff.json") if snapshot else None
        return Release(
            release,
            spec,
            as_of,
            state,
            furthest,
            snapshot,
            int(sum(v for n, v in export.items() if n.startswith("documents."))),
            int(sum(v for n, v in export.items() if n.startswith("words."))),
            int(export.get("bytes", 0)),
            _counted(diff) if diff else {},
            run,
        )

    def metrics(self, release: str) -> dict[str, dict[str, float]]:
        """What its stages measured, in their order."""
        found = self._all_json(f"releases/{release}/_metrics/{stage}.json" for stage in STAGES)
        return {stage: dict(values) for stage, values in zip(STAGES, found, strict=True) if values}

    def verdicts(self, release: str) -> dict[str, list[dict[str, Any]]]:
        """What its checks said, by stage, in their order; with who overrode one, and why."""
        found = self._all_json(f"releases/{release}/_quality/{stage}.json" for stage in STAGES)
        return {
            stage: [{"accepted": None, "accepted_by": None, **v} for v in verdicts]
            for stage, verdicts in zip(STAGES, found, strict=True)
            if verdicts is not None
        }

    def people(self, release: str) -> list[Approval]:
        """What people said of it: whether to publish it, and over which checks they went on; the first word first."""
        return self.catalog.approvals(release) if self.catalog else []

    def stages(self, release: str, metrics: Metrics, verdicts: Mapping[str, list[dict[str, Any]]]) -> list[StageRow]:
        """Every stage in order, with how it went."""
        runs = self._runs(release)
        rows = []
        for name in STAGES:
            run = runs.get(name)
            started = _utc(run.started_at) if run else None
            ended = _utc(run.ended_at) if run and run.ended_at else None
            said = verdicts.get(name, [])
            rows.append(
                StageRow(
                    name,
                    _stage_state(started is not None and ended is None, metrics.get(name), verdicts.get(name)),
                    started,
                    (ended - started).total_seconds() if started and ended else None,
                    _outcomes(name, metrics.get(name, {})),
                    said,
                )
            )
        return rows

    def trend(self, release: str) -> list[ReleaseId]:
        """The release and those of its spec before it, at most TREND, oldest first."""
        last = ReleaseId(release)
        return [r for r in self.ids(last.spec) if r.day <= last.day][:TREND][::-1]

    def manifest(self, snapshot: str) -> dict[str, Any] | None:
        """The snapshot's manifest."""
        found: dict[str, Any] | None = self._json(f"snapshots/{snapshot}/manifest.json")
        return found

    def diff(self, snapshot: str) -> dict[str, Any] | None:
        """What changed since the snapshot's parent; None without one."""
        found: dict[str, Any] | None = self._json(f"snapshots/{snapshot}/diff.json")
        return found

    def yanked(self, snapshot: str) -> dict[str, Any] | None:
        """When and why the snapshot was withdrawn."""
        found: dict[str, Any] | None = self._json(f"snapshots/{SnapshotId(snapshot).spec}/yanked/{snapshot}")
        return found

    def download_lines(self, snapshot: str, manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What to type to have a part of the snapshot: (what, command)."""
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        option = f" --endpoint-url {endpoint}" if endpoint else ""
        root = self.lake.uri(f"snapshots/{snapshot}")
        folders = sorted({"/".join(f["path"].split("/")[:-1]) for f in manifest["files"] if f["path"].count("/")})
        if not root.startswith("s3://"):
            return [("everything", f"cp -r {root} .")]
        return [
            ("everything", f"aws s3 sync {root}/ {snapshot}/{option}"),
            *((folder, f"aws s3 sync {root}/{folder}/ {snapshot}/{folder}/{option}") for folder in folders),
            ("the index", f"aws s3 cp {root}/index.parquet .{option}"),
            ("the manifest", f"aws s3 cp {root}/manifest.json .{option}"),
        ]

    def _snapshot(self, release: str, spec: str, folders: Sequence[str] | None) -> tuple[str | None, State | None]:
        """The snapshot the release made and its state; None where it is not whole."""
        made = [
            name
            for name in (self.lake.folders("snapshots/") if folders is None else folders)
            if re.fullmatch(rf"{re.escape(release)}-[0-9a-f]{{8}}", name)
        ]
        if not made:
            return None, None
        latest = pointer.latest(self.lake, spec).snapshot
        if latest in made:
            return latest, State.LATEST
        published = [name for name in pointer.published(self.lake, spec) if name in made]
        if published:
            return published[-1], State.PUBLISHED
        if yanked := [name for name in made if pointer.is_published(self.lake, name)]:
            return yanked[-1], State.YANKED
        whole = [name for name in made if self.lake.size(f"snapshots/{name}/manifest.json") is not None]
        return (whole[-1], State.COMPLETE) if whole else (None, None)

    def _stages_in(self, release: str, folder: str) -> set[str]:
        return {
            entry.key.rpartition("/")[2].removesuffix(".json")
            for entry in self.lake.list(f"releases/{release}/{folder}/")
        }

    def _runs(self, release: str) -> dict[str, Any]:
        return {run.stage: run for run in self.catalog.stages(release)} if self.catalog else {}

    def _json(self, key: str) -> Any:
        try:
            return orjson.loads(self.lake.get(key)[0])
        except FileNotFoundError:
            return None

    def _all_json(self, keys: Iterable[str]) -> list[Any]:
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(self._json, keys))


RATES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "PDFs selected": ("select", ("outcome.selected",), ("rows",)),
    "PDFs extracted": ("extract", ("outcome.ok",), ("rows",)),
    "papers kept": ("filter", ("outcome.kept",), ("rows",)),
    "entries linked": ("link", ("linked",), ("rows",)),
    "s2orc kept": ("clean", ("s2orc.kept",), ("s2orc.rows",)),
}
"""rates whose trend is drawn: stage, what is counted, of what"""


def rates(metrics: Metrics) -> dict[str, float | None]:
    """The rates of a release, each a share of 1; None where there is nothing to share."""
    found: dict[str, float | None] = {}
    for label, (stage, counted, of) in RATES.items():
        values = metrics.get(stage, {})
        total = sum(values.get(name, 0) for name in of)
        found[label] = sum(values.get(name, 0) for name in counted) / total if total else None
    return found


def _ranked(values: Mapping[str, float], prefix: str) -> list[tuple[str, int]]:
    found = [(name.removeprefix(prefix), int(n)) for name, n in values.items() if name.startswith(prefix) and n]
    return sorted(found, key=lambda item: (-item[1], item[0]))


def _outcomes(stage: str, values: Mapping[str, float]) -> list[tuple[str, int]]:
    if stage == "link":
        return [("unlinked" if word == "none" else word, n) for word, n in _ranked(values, "reason.")]
    if stage in ("clean", "split"):
        found = [(n, int(v)) for n, v in values.items() if n.count(".") == 1 and n[:5] in ("s2orc", "s2ag.") and v]
        return sorted(
            (item for item in found if item[0].partition(".")[2] not in ("rows", "words")),
            key=lambda item: (-item[1], item[0]),
        )
    return _ranked(values, "outcome.") or _ranked(values, "documents.") or _ranked(values, "rows.")


def _stage_state(begun: bool, measured: Any, verdicts: list[dict[str, Any]] | None) -> StageState:
    if begun:
        return StageState.BEGUN
    if measured is None:
        return StageState.ABSENT
    if verdicts is None:
        return StageState.MEASURED
    words = {"warn" if v["accepted"] and v["verdict"] == "block" else v["verdict"] for v in verdicts}
    return StageState.BLOCKED if "block" in words else StageState.WARNED if "warn" in words else StageState.PASSED


def _counted(diff: Mapping[str, Any]) -> dict[str, int]:
    return {
        change: sum(diff[change]["documents"].values())
        for change in ("added", "removed", "moved", "changed")
        if change in diff
    }


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
