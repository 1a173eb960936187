"""Compare snapshots, markers, pointers and the catalog; name each disagreement with its cure (docs/recovery.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseState
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.recovery import rebuild_catalog
from s2corpus.snapshot.markers import list_markers
from s2corpus.snapshot.pointer import move_to_newest, read_latest
from s2corpus.storage.lake import Lake


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two places of a corpus that disagree."""

    where: str
    found: str
    cure: str
    repair: Callable[[], object] | None = None
    """action of `corpus doctor --repair`; None if a person must act"""


def find_disagreements(lake: Lake, catalog: Catalog | None) -> Iterator[Disagreement]:
    """Yield each disagreement between snapshots, markers, pointers and the catalog; nothing is changed."""
    snapshots = {SnapshotId(name) for name in lake.folders("snapshots/") if SnapshotId.is_valid(name)}
    folders = {name for name in lake.folders("snapshots/") if not SnapshotId.is_valid(name)}
    published: dict[SnapshotId, dict[str, Any]] = {}
    for spec in sorted({snapshot.spec for snapshot in snapshots} | folders):
        marked, yanked = (list_markers(lake, spec, kind) for kind in ("published", "yanked"))
        published |= marked
        damaged = set()
        for snapshot, marker in marked.items():
            if snapshot not in yanked and (fault := _find_damage(lake, snapshot, marker)):
                damaged.add(snapshot)
                yield fault
        yield from _check_pointer(lake, spec, [s for s in marked if s not in yanked], damaged)
        for snapshot in sorted(s for s in snapshots - marked.keys() if s.spec == spec):
            if lake.size(f"snapshots/{snapshot}/manifest.json") is None:
                yield Disagreement(
                    str(snapshot),
                    "the export did not finish",
                    f"run the release {snapshot.release} again, or delete the folder",
                )
    if catalog is not None:
        yield from _check_catalog(lake, catalog, published)


def _find_damage(lake: Lake, snapshot: SnapshotId, marker: dict[str, Any]) -> Disagreement | None:
    """Return the difference between a published snapshot and its marker and manifest, by sizes; checksums are read by `verify`."""
    key = f"snapshots/{snapshot}/manifest.json"
    again = f"restore its files from a backup, or run the release {snapshot.release} again: equal inputs and code give equal bytes"
    try:
        data, _ = lake.get(key)
    except FileNotFoundError:
        return Disagreement(str(snapshot), f"published, but {lake.uri(key)} does not exist", again)
    if marker.get("manifest_sha256") != hashlib.sha256(data).hexdigest():
        return Disagreement(str(snapshot), f"{lake.uri(key)} is not the published manifest", again)
    sizes = {
        entry.key.removeprefix(f"snapshots/{snapshot}/"): entry.bytes for entry in lake.list(f"snapshots/{snapshot}/")
    }
    wrong = [file["path"] for file in orjson.loads(data)["files"] if sizes.get(file["path"]) != file["bytes"]]
    if wrong:
        found = f"{len(wrong)} files are missing or have another size, for example {wrong[0]}"
        return Disagreement(str(snapshot), found, again)
    return None


def _check_pointer(
    lake: Lake, spec: str, published: list[SnapshotId], damaged: set[SnapshotId]
) -> Iterator[Disagreement]:
    """Yield the difference between `latest.json` and the newest published snapshot."""
    uri = lake.uri(f"snapshots/{spec}/latest.json")
    newest = max(published, key=lambda s: (s.release.day, s), default=None)
    repair = partial(move_to_newest, lake, spec)
    cure = f"corpus doctor --repair lets it name {newest or 'no snapshot'}"
    try:
        latest = read_latest(lake, spec).snapshot
    except UserError as error:
        found = str(error)
    else:
        if latest == newest or (
            latest is not None and newest is not None and SnapshotId(latest).release == newest.release
        ):
            return
        found = f"names {latest or 'no snapshot'}; the newest published snapshot is {newest or 'none'}"
    if newest in damaged:
        yield Disagreement(uri, found, f"first restore {newest} (see there)")
    else:
        yield Disagreement(uri, found, cure, repair)


def _check_catalog(lake: Lake, catalog: Catalog, published: dict[SnapshotId, dict[str, Any]]) -> Iterator[Disagreement]:
    """Yield each release on which the catalog and the lake disagree."""
    recorded = {release.release: release for release in catalog.releases()}
    present = {name for name in lake.folders("releases/") if ReleaseId.is_valid(name)}
    missing = sorted(present - recorded.keys())
    if missing:
        yield Disagreement(
            catalog.address,
            f"{len(missing)} releases of the lake are missing, for example {missing[0]}",
            "corpus doctor --repair, or corpus catalog rebuild --write, restores them",
            lambda: list(rebuild_catalog(catalog, lake, dry_run=False)),
        )
    by_release = {str(snapshot.release): snapshot for snapshot in sorted(published)}
    for name, release in sorted(recorded.items()):
        snapshot = by_release.get(name)
        if snapshot is not None and release.state != ReleaseState.PUBLISHED and release.state != ReleaseState.RUNNING:
            yield Disagreement(
                name,
                f"{snapshot} is published, but the catalog has the state {release.state}",
                "corpus doctor --repair records the publication",
                partial(catalog.set_release_state, name, ReleaseState.PUBLISHED, str(snapshot)),
            )
        elif snapshot is None and release.state == ReleaseState.PUBLISHED:
            yield Disagreement(
                name,
                f"the catalog records the publication of {release.snapshot}, but the lake has no marker of it",
                "restore snapshots/<spec>/published/ from a backup (docs/recovery.md), or use the lake that contains the snapshot",
            )
