"""Status of drops and deliveries: their state, and whether a release contains them or the DAG is paused."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from s2corpus.deliveries import status
from s2corpus.deliveries.ready import Refused, folder_of, iso, read_ready
from s2corpus.deliveries.status import Arrival, ArrivalState, ArrivalStatus
from s2corpus.errors import UnreadableObject, UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.outcomes import Refusal
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables.intake import DELIVERIES

RELEASED, PAUSED = "released", "paused"
NAMES = (*map(str, ArrivalState), RELEASED, PAUSED)
"""All names of a status."""
log = logging.getLogger(__name__)
_NEVER_PUBLISHED = (ArrivalState.WRITING, ArrivalState.REFUSED, ArrivalState.NOT_SELECTED)


@dataclass(frozen=True, slots=True)
class DropStatus:
    """Status of a drop or delivery."""

    row: ArrivalStatus
    name: str
    """one of NAMES"""
    snapshots: tuple[str, ...]
    """newest published snapshots with this drop, one per spec"""

    @property
    def identity(self) -> tuple[str, str, str]:
        """Kind, source (empty for a drop) and id."""
        return Arrival(self.row.folder, self.row.mark).identity

    @property
    def outcome(self) -> str:
        """Status as one word; a refusal includes its reason."""
        return self.row.outcome if self.name == self.row.state else self.name

    @property
    def detail(self) -> str:
        """Reason for the status, or the snapshots with this drop."""
        if self.name == RELEASED:
            return f"in {', '.join(self.snapshots)}"
        if self.name == PAUSED:
            return (
                "ready, but the DAG pdf_drops is paused in Airflow: unpause it; releases include this drop regardless"
            )
        if self.row.detail is None and self.row.ready_at is not None and self.row.ready_at > iso(datetime.now(UTC)):
            return f"ready_at is {self.row.ready_at}: only releases after that time include it"
        return self.row.detail or ""


def iterate_drop_statuses(lake: Lake, *, paused: bool = False, max_rows: int | None = None) -> Iterator[DropStatus]:
    """Yield the status of every drop and delivery in the lake, or of the last `max_rows` by name.

    `paused`: the DAG `pdf_drops` is paused; report pending drops as `paused` instead of `waiting`.
    """
    seen = _deliveries_in_releases(lake)
    for row in status.iterate_statuses(lake, max_rows):
        deliveries = [] if row.state in _NEVER_PUBLISHED else seen.get(row.folder, [])
        is_pending = row.state in (ArrivalState.WAITING, ArrivalState.ANNOUNCED)
        if is_pending and deliveries and all(d["outcome"] != "taken" for _, d in deliveries):
            row = _add_outcome(lake, row, *deliveries[-1])
        deliveries = [
            (snapshot, d)
            for snapshot, d in deliveries
            if d["outcome"] == "taken" and row.ready_at in (None, d["ready_at"])
        ]
        name = str(row.state)
        if deliveries:
            name, delivery = RELEASED, deliveries[-1][1]
            if row.key is None:  # The release ran before the DAG registered this folder.
                counts = {key: delivery[key] for key in ("ready_at", "files", "rows", "dropped")}
                row = replace(row, **counts)
        elif paused and row.state in (ArrivalState.WAITING, ArrivalState.ANNOUNCED):
            name = PAUSED
        yield DropStatus(row, name, tuple(snapshot for snapshot, _ in deliveries))


def _add_outcome(lake: Lake, row: ArrivalStatus, name: str, delivery: dict[str, Any]) -> ArrivalStatus:
    """Return the row with the outcome of a snapshot or release (`name`) that did not take it, unless `_READY` has changed since."""
    outcome, _, reason = delivery["outcome"].partition(":")
    ready_at = None
    try:
        if ready := read_ready(lake, *Arrival(row.folder, row.mark).identity):
            ready_at = ready.ready_at
    except Refused:
        pass
    except UnreadableObject:
        ready_at = delivery["ready_at"]
    if ready_at != delivery["ready_at"] or outcome not in (ArrivalState.REFUSED, ArrivalState.UNREADABLE_OBJECT):
        return row
    return replace(
        row, state=ArrivalState(outcome), refusal=Refusal(reason) if reason else None, ready_at=ready_at,
        detail=f"{delivery['detail']} (not in {name})", files=delivery["files"],
    )  # fmt: skip


def _deliveries_in_releases(lake: Lake) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Return the drops and deliveries by folder, with their rows of the table `deliveries`.

    The rows are from the newest snapshot of each spec. Its newest release adds the rows that it refused, even if a check stopped it.
    """
    names = (ReleaseId(name) for name in lake.folders("releases/") if ReleaseId.is_valid(name))
    newest = {release.spec: release for release in sorted(names, key=lambda release: release.day)}
    seen: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for spec in sorted(newest.keys() | {name for name in lake.folders("snapshots/") if not SnapshotId.is_valid(name)}):
        try:
            snapshot = pointer.read_latest(lake, spec).snapshot
        except UserError as error:  # A damaged pointer of one spec must not hide drops of other specs.
            log.warning("%s", error)
            snapshot = None
        if snapshot:
            for row in _read_rows(lake, SnapshotId(snapshot).release):
                seen.setdefault(folder_of(row["kind"], row["source"], row["delivery"]), []).append((snapshot, row))
        release = newest.get(spec)
        if release and not (snapshot and SnapshotId(snapshot).release == release):
            for row in _read_rows(lake, release):
                if row["outcome"] != "taken":
                    seen.setdefault(folder_of(row["kind"], row["source"], row["delivery"]), []).append((release, row))
    return seen


def _read_rows(lake: Lake, release: ReleaseId) -> list[dict[str, Any]]:
    """Return the rows of the table `deliveries` of a release; none if it is not committed, or was deleted."""
    try:
        rows: list[dict[str, Any]] = (
            TableRef(lake, f"releases/{release}/{DELIVERIES.name}", DELIVERIES).read().to_pylist()
        )
    except NotCommitted:
        return []
    return rows
