"""How drops and deliveries stand: the state of each, with what releases and the DAG that works on drops add to it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from s2corpus.deliveries import status
from s2corpus.deliveries.ready import iso
from s2corpus.deliveries.status import Row, State
from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import NotCommitted, TableRef
from s2corpus.tables import DELIVERIES

RELEASED, PAUSED = "released", "paused"
NAMES = (*map(str, State), RELEASED, PAUSED)
"""every standing"""
log = logging.getLogger(__name__)
_NOT_TAKEN = (State.WRITING, State.REFUSED, State.UNWANTED)


@dataclass(frozen=True, slots=True)
class Standing:
    """A drop or delivery and how it stands."""

    row: Row
    name: str
    """one of NAMES"""
    snapshots: tuple[str, ...]
    """the newest published snapshots, one of a spec, that hold it"""

    @property
    def outcome(self) -> str:
        """The standing in one word, a refusal with its reason."""
        return self.row.outcome if self.name == self.row.state else self.name

    @property
    def detail(self) -> str:
        """Why, or where it is."""
        if self.name == RELEASED:
            return f"in {', '.join(self.snapshots)}"
        if self.name == PAUSED:
            return "ready, but the DAG pdf_drops is paused in Airflow: unpause it; releases take it all the same"
        if self.row.detail is None and self.row.ready_at is not None and self.row.ready_at > iso(datetime.now(UTC)):
            return f"ready_at is {self.row.ready_at}: only releases after that time take it"
        return self.row.detail or ""


def standings(lake: Lake, *, paused: bool = False, max_rows: int | None = None) -> Iterator[Standing]:
    """Every drop and delivery in the lake and how it stands, or the last `max_rows` by name.

    `paused` says that the DAG `pdf_drops` is: what it would work on is then `paused`, not `waiting`.
    """
    taken = _taken(lake)
    for row in status.listed(lake, max_rows):
        holds = [] if row.state in _NOT_TAKEN else taken.get(row.folder, [])
        holds = [(snapshot, said) for snapshot, said in holds if row.ready_at in (None, said["ready_at"])]
        name = str(row.state)
        if holds:
            name, said = RELEASED, holds[-1][1]
            if row.key is None:  # a release took it before the DAG did
                counts = {key: said[key] for key in ("ready_at", "files", "rows", "dropped")}
                row = replace(row, **counts)
        elif paused and row.state in (State.WAITING, State.ANNOUNCED):
            name = PAUSED
        yield Standing(row, name, tuple(snapshot for snapshot, _ in holds))


def _taken(lake: Lake) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """What the newest published snapshot of each spec took: folder → snapshots, each with its row of the table `deliveries`."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for spec in lake.folders("snapshots/"):
        if SnapshotId.known(spec):
            continue
        try:
            snapshot = pointer.read_latest(lake, spec).snapshot
        except UserError as error:  # one spec's damaged pointer hides no other spec's drops
            log.warning("%s", error)
            continue
        if not snapshot:
            continue
        table = TableRef(lake, f"releases/{SnapshotId(snapshot).release}/{DELIVERIES.name}", DELIVERIES)
        try:
            rows = table.read().to_pylist()
        except NotCommitted:
            continue  # its tables were deleted, the snapshot stays
        for row in rows:
            if row["outcome"] == "taken":
                folder = status.folder_of(row["kind"], row["source"], row["delivery"])
                found.setdefault(folder, []).append((snapshot, row))
    return found
