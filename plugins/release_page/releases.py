"""Releases as the lake and the catalog know them: state, stages, checks, metrics, snapshot, change. Nothing here writes."""

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

from release_page.measures import Metrics, handled, outcomes
from release_page.states import Release, RunOf, StageRow, StageState, State
from s2corpus.catalog import Catalog
from s2corpus.catalog.models import Approval, ReleaseState
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake

log = logging.getLogger(__name__)
READERS = 16
"""small files read at a time"""
TREND = 12
"""releases a trend goes back"""


class Archive:
    """The releases in one lake, with the catalog's times and Airflow's runs where there are such."""

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
        """whether the DAG that works on drops is paused"""

    @property
    def uri(self) -> str:
        """The lake's address, as commands take it."""
        return self.lake.uri("releases").removesuffix("/releases")

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
        spec = id_.spec
        measured, checked = self._stages_in(release, "_metrics"), self._stages_in(release, "_quality")
        furthest = next((s for s in reversed(STAGE_NAMES) if s in measured), None)
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
            id_,
            state,
            furthest,
            snapshot,
            int(sum(v for n, v in export.items() if n.startswith("documents."))),
            int(sum(v for n, v in export.items() if n.startswith("words."))),
            int(export.get("bytes", 0)),
            _counted(diff) if diff else {},
            run,
        )

    def waiting(self) -> list[ReleaseId]:
        """Releases that the catalog knows to wait for a person: for approval, or because a check stopped them."""
        held = (ReleaseState.AWAITING, ReleaseState.STOPPED)
        known = self.catalog.releases() if self.catalog else []
        return [ReleaseId(r.release) for r in known if r.state in held and ReleaseId.known(r.release)]

    def seconds(self, release: str) -> dict[str, float]:
        """How long its stages took, those that the catalog saw end."""
        return {
            name: (_utc(run.ended_at) - _utc(run.started_at)).total_seconds()
            for name, run in self._runs(release).items()
            if run.ended_at
        }

    def file(self, snapshot: str, path: str) -> tuple[BinaryIO, int] | None:
        """A file of a snapshot and its size; None where the manifest does not list it."""
        key = f"snapshots/{snapshot}/{path}"
        manifest = self.manifest(snapshot)
        listed = {"manifest.json", *(file["path"] for file in manifest["files"])} if manifest else set()
        size = self.lake.size(key) if path in listed else None
        return (self.lake.open(key), size) if size is not None else None

    def metrics(self, release: str) -> dict[str, dict[str, float]]:
        """What its stages measured, in their order."""
        found = self._all_json(f"releases/{release}/_metrics/{stage}.json" for stage in STAGE_NAMES)
        return {stage: dict(values) for stage, values in zip(STAGE_NAMES, found, strict=True) if values}

    def verdicts(self, release: str) -> dict[str, list[dict[str, Any]]]:
        """What its checks said, by stage, in their order; with who overrode one, and why."""
        found = self._all_json(f"releases/{release}/_quality/{stage}.json" for stage in STAGE_NAMES)
        return {
            stage: [{"accepted": None, "accepted_by": None, **v} for v in verdicts]
            for stage, verdicts in zip(STAGE_NAMES, found, strict=True)
            if verdicts is not None
        }

    def people(self, release: str) -> list[Approval]:
        """What people said of it: whether to publish it, and over which checks they went on; the first word first."""
        return self.catalog.approvals(release) if self.catalog else []

    def stages(self, release: str, metrics: Metrics, verdicts: Mapping[str, list[dict[str, Any]]]) -> list[StageRow]:
        """Every stage in order, with how it went."""
        runs = self._runs(release)
        rows = []
        for name in STAGE_NAMES:
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
                    outcomes(name, metrics.get(name, {})),
                    said,
                    handled(name, metrics.get(name, {})),
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

    def tables(self, snapshot: str) -> list[dict[str, Any]]:
        """The snapshot's tables, those of the S2ORC paper; none where it was made before there were such."""
        found: dict[str, Any] = self._json(f"snapshots/{snapshot}/stats.json") or {}
        return list(found.get("tables", ()))

    def yanked(self, snapshot: str) -> dict[str, Any] | None:
        """When and why the snapshot was withdrawn."""
        found: dict[str, Any] | None = self._json(f"snapshots/{SnapshotId(snapshot).spec}/yanked/{snapshot}")
        return found

    def download_lines(self, snapshot: str, manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What to type to have a part of the snapshot: (what, command)."""
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        option = f" --endpoint-url {endpoint}" if endpoint else ""
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

    def _snapshot(self, release: str, spec: str, folders: Sequence[str] | None) -> tuple[str | None, State | None]:
        """The snapshot the release made and its state; None where it is not whole."""
        made = [
            name
            for name in (self.lake.folders("snapshots/") if folders is None else folders)
            if re.fullmatch(rf"{re.escape(release)}-[0-9a-f]{{8}}", name)
        ]
        if not made:
            return None, None
        try:
            latest = pointer.read_latest(self.lake, spec).snapshot
        except UserError as error:  # a damaged pointer of one spec hides no release
            log.warning("%s", error)
            latest = None
        if latest in made:
            return latest, State.LATEST
        published = [name for name in pointer.list_published(self.lake, spec) if name in made]
        if published:
            return published[-1], State.PUBLISHED
        if yanked := [name for name in made if pointer.was_published(self.lake, name)]:
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
