"""Restore the catalog from the lake (docs/recovery.md)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson

from s2corpus.catalog import MAX_NAME, Catalog
from s2corpus.catalog.models import Approval, Release, ReleaseDecision, ReleaseState
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.acceptance import read_acceptances
from s2corpus.snapshot.markers import list_markers
from s2corpus.storage.lake import Lake

LOST = (
    "start and end times of stages",
    "rejections and refused approvals",
    "marks of evaluations (published results remain in snapshots/<spec>/evaluated/)",
)
"""content of a lost catalog that the lake does not contain"""


def rebuild_catalog(catalog: Catalog, lake: Lake, *, dry_run: bool) -> Iterator[tuple[Release, bool]]:
    """Yield each release of the lake, and whether it was (or would be) added to the catalog."""
    existing = {release.release for release in catalog.releases()}
    for name in lake.folders("releases/"):
        if not ReleaseId.is_valid(name):
            continue
        release, decisions = describe_release(lake, ReleaseId(name))
        is_new = name not in existing
        if is_new and not dry_run:
            is_new = catalog.restore_release(release, decisions)
            for stage in _stages(lake, name):
                catalog.end_stage(name, stage, *_results(lake, name, stage))
        yield release, is_new


def describe_release(lake: Lake, id_: ReleaseId) -> tuple[Release, list[Approval]]:
    """Return the catalog's row of a release and its decisions, as the lake records them.

    A release is `published` if one of its snapshots was ever published, `unpublished` if it has a complete snapshot, `stopped` if a
    check stopped it, and otherwise `failed`. Times are the times of the publication, or `as_of` if none is recorded.
    """
    published = {s: facts for s, facts in list_markers(lake, id_.spec, "published").items() if s.release == id_}
    newest = max(published, key=lambda s: str(published[s]["at"]), default=None)
    decisions = [
        Approval(
            release=str(id_), what=check, who=override.by[:MAX_NAME], answer=ReleaseDecision.ACCEPTED,
            reason=override.reason, at=datetime.fromisoformat(override.at),
        )
        for check, override in sorted(read_acceptances(lake, id_).items())
    ]  # fmt: skip
    for facts in published.values():
        if approval := facts.get("approved"):
            decisions.append(
                Approval(
                    release=str(id_), what="publish", who=str(approval.get("by", ""))[:MAX_NAME],
                    answer=ReleaseDecision.APPROVED, reason=str(approval.get("note", "")),
                    at=datetime.fromisoformat(str(approval.get("at") or facts["at"])),
                )
            )  # fmt: skip
    if newest is not None:
        state, ended = ReleaseState.PUBLISHED, datetime.fromisoformat(published[newest]["at"])
        snapshot: str | None = str(newest)
    else:
        complete = [s for s in _snapshots(lake, id_) if lake.size(f"snapshots/{s}/manifest.json") is not None]
        snapshot, ended = max(complete, default=None), id_.as_of
        state = (
            ReleaseState.UNPUBLISHED
            if snapshot
            else ReleaseState.STOPPED
            if _is_stopped(lake, id_)
            else ReleaseState.FAILED
        )
    row = Release(
        release=str(id_),
        spec=id_.spec,
        as_of=id_.as_of,
        state=state,
        snapshot=snapshot,
        started_at=ended,
        ended_at=ended,
    )
    return row, decisions


def _snapshots(lake: Lake, id_: ReleaseId) -> list[str]:
    return [
        name for name in lake.folders("snapshots/") if SnapshotId.is_valid(name) and SnapshotId(name).release == id_
    ]


def _stages(lake: Lake, release: str) -> list[str]:
    keys = [entry.key for entry in lake.list(f"releases/{release}/_quality/")]
    return [key.rpartition("/")[2].removesuffix(".json") for key in keys]


def _results(lake: Lake, release: str, stage: str) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return the metrics and verdicts of a stage."""
    folder = f"releases/{release}"
    verdicts: list[dict[str, Any]] = orjson.loads(lake.get(f"{folder}/_quality/{stage}.json")[0])
    try:
        metrics: dict[str, float] = orjson.loads(lake.get(f"{folder}/_metrics/{stage}.json")[0])
    except FileNotFoundError:
        metrics = {}
    return metrics, verdicts


def _is_stopped(lake: Lake, id_: ReleaseId) -> bool:
    """Return whether a blocking check of a release failed and was not overridden."""
    verdicts = (verdict for stage in _stages(lake, id_) for verdict in _results(lake, id_, stage)[1])
    return any(verdict["verdict"] == "block" and verdict.get("accepted") is None for verdict in verdicts)
