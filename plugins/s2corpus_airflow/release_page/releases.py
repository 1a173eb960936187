"""Read releases from the lake and the catalog: state, stages, checks, metrics, snapshot and changes. This module is read-only."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from shlex import quote
from typing import Any, BinaryIO

import orjson

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Approval, ReleaseState
from s2corpus.deliveries.expected import read_awaited
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import markers, pointer
from s2corpus.storage.lake import Lake
from s2corpus_airflow.release_page.measures import Metrics, count_items, list_outcomes
from s2corpus_airflow.release_page.states import DagRun, ListedRelease, ReleaseStatus, RunOf, StageState, StageStatus

log = logging.getLogger(__name__)
READERS = 16
"""number of threads that read small files"""
TREND = 12
"""maximum number of releases in a trend"""


class Archive:
    """The releases in one lake, with times from the catalog and runs from Airflow if these are available."""

    def __init__(
        self,
        lake: Lake,
        catalog: Catalog | None = None,
        run_of: RunOf | None = None,
        drops_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        self.lake = lake
        self.catalog = catalog
        self.run_of = run_of
        self.drops_paused = drops_paused
        """return whether the DAG that processes drops is paused"""

    @property
    def uri(self) -> str:
        """The URI of the lake, as a shell's word for the option --lake."""
        return quote(self.lake.uri("releases").removesuffix("/releases"))

    def ids(self, spec: str | None = None) -> list[ReleaseId]:
        """Return the ids of all releases or of one spec's releases, sorted by (as_of, spec), newest first."""
        found = [ReleaseId(name) for name in self.lake.folders("releases/") if ReleaseId.is_valid(name)]
        return sorted((r for r in found if spec in (None, r.spec)), key=lambda r: (r.day, r.spec), reverse=True)

    def has(self, release: str) -> bool:
        """Return whether the release exists."""
        return ReleaseId.is_valid(release) and bool(next(self.lake.list(f"releases/{release}/"), None))

    def releases(self, ids: Sequence[str]) -> list[ListedRelease]:
        """Return the releases with these ids, in the same order."""
        snapshots = self.lake.folders("snapshots/")
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(lambda release: self.release(release, snapshots), ids))

    def release(self, release: str, snapshots: Sequence[str] | None = None) -> ListedRelease:
        """Return one release. `snapshots` are the names in `snapshots/`; they are listed if it is None."""
        id_ = ReleaseId(release)
        spec = id_.spec
        measured, checked = self._list_stages_in(release, "_metrics"), self._list_stages_in(release, "_quality")
        furthest = next((s for s in reversed(STAGE_NAMES) if s in measured), None)
        snapshot, state = self._snapshot(release, spec, snapshots)
        run = self.run_of(spec, id_.as_of) if self.run_of else None
        canceled = run is not None and run.state == "failed"
        if state is ReleaseStatus.COMPLETE and not canceled and self.catalog:
            decisions = {ReleaseState.AWAITING: ReleaseStatus.AWAITING, ReleaseState.REJECTED: ReleaseStatus.REJECTED}
            row = self.catalog.release(release)
            state = decisions.get(ReleaseState(row.state), state) if row else state
        if state is None:
            state = self._state_without_snapshot(release, furthest if furthest in checked else None, run)
        export = (self._json(f"releases/{release}/_metrics/export.json") or {}) if "export" in measured else {}
        diff = self._json(f"snapshots/{snapshot}/diff.json") if snapshot else None
        return ListedRelease(
            id_,
            state,
            furthest,
            snapshot,
            int(sum(v for n, v in export.items() if n.startswith("documents."))),
            int(sum(v for n, v in export.items() if n.startswith("words."))),
            int(export.get("bytes", 0)),
            _count_changes(diff) if diff else {},
            run,
            None if snapshot else read_awaited(self.lake, id_),
        )

    def _state_without_snapshot(self, release: str, checked_stage: str | None, run: DagRun | None) -> ReleaseStatus:
        """Return the state by the checks of the latest stage and by the run in Airflow."""
        verdicts = self._all_json([f"releases/{release}/_quality/{checked_stage}.json"])[0] if checked_stage else ()
        if any(v["verdict"] == "block" and not v.get("accepted") for v in verdicts or ()):
            return ReleaseStatus.STOPPED
        states = {"failed": ReleaseStatus.FAILED, "queued": ReleaseStatus.RUNNING, "running": ReleaseStatus.RUNNING}
        return states.get(run.state, ReleaseStatus.UNFINISHED) if run else ReleaseStatus.UNFINISHED

    def list_undecided(self) -> list[ReleaseId]:
        """Return the ids of releases that need a decision: they await approval, or a check stopped them."""
        undecided = (ReleaseState.AWAITING, ReleaseState.STOPPED)
        rows = self.catalog.releases() if self.catalog else []
        return [ReleaseId(r.release) for r in rows if r.state in undecided and ReleaseId.is_valid(r.release)]

    def seconds(self, release: str) -> dict[str, float]:
        """Return the duration in seconds of each stage that ended, from the catalog."""
        return {stage: seconds for stage, (_, seconds) in self._times(release).items() if seconds is not None}

    def file(self, snapshot: str, path: str) -> tuple[BinaryIO, int] | None:
        """Open a file of a snapshot; return it with its size, or None if the manifest does not list it."""
        key = f"snapshots/{snapshot}/{path}"
        manifest = self.manifest(snapshot)
        listed = {"manifest.json", *(file["path"] for file in manifest["files"])} if manifest else set()
        size = self.lake.size(key) if path in listed else None
        return (self.lake.open(key), size) if size is not None else None

    def metrics(self, release: str) -> dict[str, dict[str, float]]:
        """Return the metrics of each stage that committed, in the order of the stages."""
        found = self._all_json(f"releases/{release}/_metrics/{stage}.json" for stage in STAGE_NAMES)
        return {stage: dict(values) for stage, values in zip(STAGE_NAMES, found, strict=True) if values}

    def verdicts(self, release: str) -> dict[str, list[dict[str, Any]]]:
        """Return the verdicts of each checked stage, in order, with the user and reason of each override."""
        found = self._all_json(f"releases/{release}/_quality/{stage}.json" for stage in STAGE_NAMES)
        return {
            stage: [{"accepted": None, "accepted_by": None, **v} for v in verdicts]
            for stage, verdicts in zip(STAGE_NAMES, found, strict=True)
            if verdicts is not None
        }

    def approvals(self, release: str) -> list[Approval]:
        """Return the decisions of users: approvals, rejections and overridden checks, oldest first."""
        return self.catalog.approvals(release) if self.catalog else []

    def stages(self, release: str, metrics: Metrics, verdicts: Mapping[str, list[dict[str, Any]]]) -> list[StageStatus]:
        """Return a row for every stage, in order, with its state, times, outcomes and verdicts."""
        times = self._times(release)
        rows = []
        for name in STAGE_NAMES:
            started, seconds = times.get(name, (None, None))
            rows.append(
                StageStatus(
                    name,
                    _get_stage_state(started is not None and seconds is None, metrics.get(name), verdicts.get(name)),
                    started,
                    seconds,
                    list_outcomes(name, metrics.get(name, {})),
                    verdicts.get(name, []),
                    count_items(name, metrics.get(name, {})),
                )
            )
        return rows

    def trend(self, release: str) -> list[ReleaseId]:
        """Return the release and at most TREND - 1 earlier releases of its spec, oldest first."""
        last = ReleaseId(release)
        return [r for r in self.ids(last.spec) if r.day <= last.day][:TREND][::-1]

    def manifest(self, snapshot: str) -> dict[str, Any] | None:
        """Return the manifest of a snapshot; None if it does not exist."""
        return self._json(f"snapshots/{snapshot}/manifest.json")

    def diff(self, snapshot: str) -> dict[str, Any] | None:
        """Return the changes since the snapshot's parent; None if it has no parent."""
        return self._json(f"snapshots/{snapshot}/diff.json")

    def tables(self, snapshot: str) -> list[dict[str, Any]]:
        """Return the tables of a snapshot that mirror the S2ORC paper. Old snapshots have none."""
        return list((self._json(f"snapshots/{snapshot}/stats.json") or {}).get("tables", ()))

    def read_yank(self, snapshot: str) -> dict[str, Any] | None:
        """Return when and why the snapshot was withdrawn; None if it was not."""
        return self._json(f"snapshots/{SnapshotId(snapshot).spec}/yanked/{snapshot}")

    def list_download_commands(self, snapshot: str, manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the commands that download the snapshot or a part of it, as pairs of part and command."""
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        option = f" --endpoint-url {quote(endpoint)}" if endpoint else ""
        root = quote(self.lake.uri(f"snapshots/{snapshot}"))
        folders = sorted({"/".join(f["path"].split("/")[:-1]) for f in manifest["files"] if f["path"].count("/")})
        if not root.startswith("s3://"):
            return [("everything", f"cp -r {root} .")]
        return [
            ("everything", f"aws s3 sync {root}/ {snapshot}/{option}"),
            *(
                (folder, f"aws s3 sync {root}/{quote(folder)}/ {snapshot}/{quote(folder)}/{option}")
                for folder in folders
            ),
            ("the index", f"aws s3 cp {root}/index.parquet .{option}"),
            ("the manifest", f"aws s3 cp {root}/manifest.json .{option}"),
        ]

    def _snapshot(
        self, release: str, spec: str, folders: Sequence[str] | None
    ) -> tuple[str | None, ReleaseStatus | None]:
        """Return the name and state of the release's snapshot; the name is None if no complete snapshot exists.

        The state of a release that has no complete snapshot, and never had one, is None.
        """
        built = [
            name
            for name in (self.lake.folders("snapshots/") if folders is None else folders)
            if re.fullmatch(rf"{re.escape(release)}-[0-9a-f]{{8}}", name)
        ]
        try:
            latest = pointer.read_latest(self.lake, spec).snapshot
        except UserError as error:  # other releases remain visible if the pointer of one spec is damaged
            log.warning("%s", error)
            latest = None
        if latest in built:
            return latest, ReleaseStatus.LATEST
        published = [name for name in markers.list_published(self.lake, spec) if name in built]
        if published:
            return published[-1], ReleaseStatus.PUBLISHED
        if complete := [name for name in built if self.lake.size(f"snapshots/{name}/manifest.json") is not None]:
            yanked = [name for name in complete if markers.has_publication_marker(self.lake, name)]
            return (yanked[-1], ReleaseStatus.YANKED) if yanked else (complete[-1], ReleaseStatus.COMPLETE)
        is_pruned = any(s.release == release for s in markers.list_marked(self.lake, spec, "yanked"))
        return None, ReleaseStatus.PRUNED if is_pruned else None

    def _list_stages_in(self, release: str, folder: str) -> set[str]:
        return {
            entry.key.rpartition("/")[2].removesuffix(".json")
            for entry in self.lake.list(f"releases/{release}/{folder}/")
        }

    def _times(self, release: str) -> dict[str, tuple[datetime, float | None]]:
        """Return when each stage began, and its duration in seconds if it ended, from the catalog."""
        runs = self.catalog.stages(release) if self.catalog else []
        return {
            run.stage: (
                _utc(run.started_at),
                (_utc(run.ended_at) - _utc(run.started_at)).total_seconds() if run.ended_at else None,
            )
            for run in runs
        }

    def _json(self, key: str) -> dict[str, Any] | None:
        try:
            content: dict[str, Any] = orjson.loads(self.lake.get(key)[0])
        except FileNotFoundError:
            return None
        return content

    def _all_json(self, keys: Iterable[str]) -> list[Any]:
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(self._json, keys))


def _get_stage_state(is_running: bool, metrics: Any, verdicts: list[dict[str, Any]] | None) -> StageState:
    if is_running:
        return StageState.RUNNING
    if metrics is None:
        return StageState.NOT_REACHED
    if verdicts is None:
        return StageState.UNCHECKED
    worst = {"warn" if v["accepted"] and v["verdict"] == "block" else v["verdict"] for v in verdicts}
    return StageState.BLOCKED if "block" in worst else StageState.WARNED if "warn" in worst else StageState.PASSED


def _count_changes(diff: Mapping[str, Any]) -> dict[str, int]:
    return {
        change: sum(diff[change]["documents"].values())
        for change in ("added", "removed", "moved", "changed")
        if change in diff
    }


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
