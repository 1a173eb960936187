"""Prune snapshots: delete the files of snapshots that consumers no longer read."""

from __future__ import annotations

from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId, check_spec_name
from s2corpus.snapshot.markers import list_marked, list_published, write_marker
from s2corpus.snapshot.pointer import read_latest
from s2corpus.storage.lake import Lake


def list_prunable(lake: Lake, spec: str, keep: int) -> list[SnapshotId]:
    """Return the snapshots that can be deleted, oldest first: all except the latest and the newest `keep` published snapshots.

    Raises:
        UserError: no snapshot of the spec was ever published.
    """
    if not lake.folders(f"snapshots/{check_spec_name(spec)}/"):
        specs = sorted({SnapshotId(name).spec for name in lake.folders("snapshots/") if SnapshotId.is_valid(name)})
        raise UserError(f"no snapshot of {spec} was ever published; specs with snapshots: {', '.join(specs) or 'none'}")
    kept = {*list_published(lake, spec)[-keep:], read_latest(lake, spec).snapshot}
    marked = list_marked(lake, spec, "published") | list_marked(lake, spec, "yanked")
    return sorted(
        (s for s in marked - kept if next(lake.list(f"snapshots/{s}/"), None)), key=lambda s: (s.release.day, s)
    )


def prune(lake: Lake, snapshot: str) -> int:
    """Withdraw a snapshot, delete its files and return their number. Deletion starts with the manifest, to mark the rest as incomplete.

    Raises:
        UserError: `latest.json` points to the snapshot.
    """
    spec = SnapshotId.parse(snapshot).spec
    if read_latest(lake, spec).snapshot == snapshot:
        raise UserError(f"latest.json points to {snapshot}: first publish another snapshot, or yank this one")
    write_marker(lake, spec, "yanked", snapshot, {"reason": "pruned"})
    lake.delete(f"snapshots/{snapshot}/manifest.json")
    others = list(lake.list(f"snapshots/{snapshot}/"))
    for entry in others:
        lake.delete(entry.key)
    return 1 + len(others)
