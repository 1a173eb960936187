"""Publish, yank, restore and prune snapshots.

`snapshots/<spec>/latest.json` points to the newest published snapshot, which is complete; conditional writes move the pointer.
The markers `published/<id>`, `yanked/<id>` and `restored/<id>` in the same folder record each event. A published snapshot is
never changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from s2corpus.errors import LostRace, UserError
from s2corpus.ids import SnapshotId, check_spec_name
from s2corpus.rules import MIN_REASON
from s2corpus.storage.lake import ABSENT, Conflict, Lake
from s2corpus_reader.bounded import MAX_SMALL_BYTES, read_object

_REPAIR = "restore it from a backup, or delete it and publish the newest snapshot again"


@dataclass(frozen=True, slots=True)
class Pointer:
    """The content of `latest.json`."""

    snapshot: str | None
    """None before the first publication, and after the only snapshot was yanked"""
    manifest: str | None = None
    """key of the manifest"""
    manifest_sha256: str | None = None


def read_latest(lake: Lake, spec: str) -> Pointer:
    """Return the pointer of a spec. Before the first publication, its snapshot is None.

    Raises:
        UserError: `latest.json` is damaged.
    """
    return _read(lake, spec)[0]


def read_pointer(lake: Lake, key: str, spec: str) -> Pointer:
    """Read the `latest.json` of a spec, and accept only the id of a snapshot of that spec.

    Raises:
        FileNotFoundError: the file does not exist.
        UserError: the file is damaged.
    """
    try:
        value = read_object(lake, key, MAX_SMALL_BYTES)
        if "snapshot" not in value:
            raise ValueError("it has no snapshot")
        snapshot, manifest, sha256 = (value.get(name) for name in ("snapshot", "manifest", "manifest_sha256"))
        if snapshot is None:
            return Pointer(None)
        if not isinstance(snapshot, str) or not SnapshotId.is_valid(snapshot):
            raise ValueError(f"{str(snapshot)[:100]!r} is not a snapshot id")
        if SnapshotId(snapshot).spec != spec:
            raise ValueError(f"{snapshot} is not a snapshot of {spec}")
        if manifest != f"snapshots/{snapshot}/manifest.json":
            raise ValueError(f"its manifest is {str(manifest)[:100]!r}")
        if not isinstance(sha256, str) or not re.fullmatch("[0-9a-f]{64}", sha256):
            raise ValueError(f"its manifest_sha256 is {str(sha256)[:100]!r}")
    except ValueError as error:
        raise UserError(f"{lake.uri(key)} is damaged ({error}): {_REPAIR}") from None
    return Pointer(snapshot, manifest, sha256)


def check_pointer(lake: Lake, spec: str) -> None:
    """Check before any work that a release of the spec can be published.

    Raises:
        UserError: `latest.json` is damaged, or its snapshot has no manifest.
    """
    pointer = read_latest(lake, spec)
    if pointer.manifest is not None and lake.size(pointer.manifest) is None:
        raise UserError(
            f"{lake.uri(f'snapshots/{spec}/latest.json')} names {pointer.snapshot}, which has no manifest.json: {_REPAIR}"
        )


def was_published(lake: Lake, snapshot: str) -> bool:
    """Return whether the snapshot was ever published; it may be yanked now."""
    return has_publication_marker(lake, snapshot) or read_latest(lake, SnapshotId(snapshot).spec).snapshot == snapshot


def has_publication_marker(lake: Lake, snapshot: str) -> bool:
    """Return whether the lake has the marker `published` of a snapshot."""
    return lake.size(_marker_key(SnapshotId.parse(snapshot).spec, "published", snapshot)) is not None


def list_published(lake: Lake, spec: str) -> list[SnapshotId]:
    """Return the snapshots of a spec that are published and not yanked, sorted by (as_of, id)."""
    return sorted(
        _list_marked(lake, spec, "published") - _list_marked(lake, spec, "yanked"), key=lambda s: (s.release.day, s)
    )


def publish(lake: Lake, snapshot: str, approval: Mapping[str, str] | None = None) -> Pointer:
    """Publish a complete snapshot, and move the pointer to it unless a later snapshot is published. Repetition has no effect.

    `approval` records the approver, the time and the note; it is stored in the `published` marker.

    Raises:
        UserError: the snapshot is incomplete, or was yanked.
        LostRace: another publisher moved the pointer first. A retry compares with its snapshot.
    """
    spec = SnapshotId.parse(snapshot).spec
    pointer, etag = _read(lake, spec)
    if lake.size(_marker_key(spec, "yanked", snapshot)) is not None:
        raise UserError(f"{snapshot} was yanked: restore it, or publish another snapshot with another id")
    new = _make_pointer(lake, snapshot)
    if pointer != new and (
        pointer.snapshot is None or SnapshotId(pointer.snapshot).release.day <= SnapshotId(snapshot).release.day
    ):
        _move(lake, spec, new, etag)
        pointer = new
    facts = {"manifest_sha256": new.manifest_sha256, **({"approved": dict(approval)} if approval else {})}
    _write_marker(lake, spec, "published", snapshot, facts)
    return pointer


def yank(lake: Lake, snapshot: str, reason: str) -> Pointer:
    """Withdraw a published snapshot, and move the pointer to the newest remaining snapshot. Its files are not deleted.

    Raises:
        UserError: the snapshot was never published, or the reason is too short.
        LostRace: another publisher moved the pointer.
    """
    spec = SnapshotId.parse(snapshot).spec
    if not was_published(lake, snapshot):
        available = ", ".join(list_published(lake, spec)) or "none"
        raise UserError(f"{snapshot} was never published; published snapshots: {available}")
    _check_reason(reason)
    pointer, etag = _read(lake, spec)
    previous = None
    if pointer.snapshot == snapshot:
        remaining = [id_ for id_ in list_published(lake, spec) if id_ != snapshot]
        # Check the remaining snapshot before writing the marker: it may be damaged.
        previous = _make_pointer(lake, remaining[-1]) if remaining else Pointer(None)
    _write_marker(lake, spec, "yanked", snapshot, {"reason": reason.strip()})
    if previous is not None:
        _move(lake, spec, previous, etag)
    return previous or pointer


def restore(lake: Lake, snapshot: str, reason: str) -> Pointer:
    """Undo the yank of a snapshot, record the reason, and publish the snapshot again.

    Raises:
        UserError: the snapshot is not yanked, its files were pruned or changed, or the reason is too short.
        LostRace: another publisher moved the pointer. A retry continues.
    """
    spec = SnapshotId.parse(snapshot).spec
    _check_reason(reason)
    try:
        yanked = _read_marker(lake, _marker_key(spec, "yanked", snapshot))
    except FileNotFoundError:
        available = ", ".join(sorted(_list_marked(lake, spec, "yanked"))) or "none"
        raise UserError(f"{snapshot} is not yanked; yanked snapshots: {available}") from None
    recorded = _read_marker(lake, _marker_key(spec, "published", snapshot)).get("manifest_sha256")
    if (found := _make_pointer(lake, snapshot).manifest_sha256) != recorded:
        raise UserError(
            f"{snapshot} is not restored: the SHA-256 of its manifest is {found}; it was published with {recorded}"
        )
    key = _marker_key(spec, "restored", snapshot)
    earlier = orjson.loads(lake.get(key)[0]) if lake.size(key) is not None else []
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lake.put(key, orjson.dumps([*earlier, {"reason": reason.strip(), "at": at, "yanked": yanked}]))
    lake.delete(_marker_key(spec, "yanked", snapshot))
    return publish(lake, snapshot)


def _check_reason(reason: str) -> None:
    """Raise UserError if the reason is too short."""
    if len(reason.strip()) < MIN_REASON:
        raise UserError(f"{reason!r} is not a reason; write why, in at least {MIN_REASON} characters")


def list_prunable(lake: Lake, spec: str, keep: int) -> list[SnapshotId]:
    """Return the snapshots that can be deleted, oldest first: all except the latest and the newest `keep` published snapshots.

    Raises:
        UserError: no snapshot of the spec was ever published.
    """
    if not lake.folders(f"snapshots/{check_spec_name(spec)}/"):
        specs = sorted({SnapshotId(name).spec for name in lake.folders("snapshots/") if SnapshotId.is_valid(name)})
        raise UserError(f"no snapshot of {spec} was ever published; specs with snapshots: {', '.join(specs) or 'none'}")
    kept = {*list_published(lake, spec)[-keep:], read_latest(lake, spec).snapshot}
    marked = _list_marked(lake, spec, "published") | _list_marked(lake, spec, "yanked")
    return sorted(
        (s for s in marked - kept if next(lake.list(f"snapshots/{s}/"), None)), key=lambda s: (s.release.day, s)
    )


def prune(lake: Lake, snapshot: str) -> int:
    """Delete the files of a snapshot and return their number. Delete the manifest first, so that the rest is visibly incomplete.

    Raises:
        UserError: `latest.json` points to the snapshot.
    """
    spec = SnapshotId.parse(snapshot).spec
    if read_latest(lake, spec).snapshot == snapshot:
        raise UserError(f"latest.json points to {snapshot}: first publish another snapshot, or yank this one")
    lake.delete(f"snapshots/{snapshot}/manifest.json")
    others = list(lake.list(f"snapshots/{snapshot}/"))
    for entry in others:
        lake.delete(entry.key)
    _write_marker(lake, spec, "yanked", snapshot, {"reason": "pruned"})
    return 1 + len(others)


def _list_marked(lake: Lake, spec: str, folder: str) -> set[SnapshotId]:
    """Return the snapshots with a marker in a folder."""
    names = (entry.key.rpartition("/")[2] for entry in lake.list(f"snapshots/{spec}/{folder}/"))
    return {SnapshotId(name) for name in names if SnapshotId.is_valid(name)}


def _make_pointer(lake: Lake, snapshot: str) -> Pointer:
    """Return a pointer to a snapshot, after checking that all its files exist with the sizes in the manifest."""
    key = f"snapshots/{snapshot}/manifest.json"
    try:
        manifest, _ = lake.get(key)
    except FileNotFoundError:
        raise UserError(f"{lake.uri(key)} does not exist: the snapshot is incomplete; finish the export") from None
    try:
        files = {file["path"]: file["bytes"] for file in orjson.loads(manifest)["files"]}
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{lake.uri(key)} is damaged ({error}): run export again") from None
    sizes = {entry.key: entry.bytes for entry in lake.list(f"snapshots/{snapshot}/")}
    for path, size in files.items():
        if (found := sizes.get(f"snapshots/{snapshot}/{path}")) != size:
            state = "does not exist" if found is None else f"has {found}"
            uri = lake.uri(f"snapshots/{snapshot}/{path}")
            raise UserError(f"{uri}: the manifest has {size} bytes, but the file {state}: run export again")
    return Pointer(snapshot, key, hashlib.sha256(manifest).hexdigest())


def _read_marker(lake: Lake, key: str) -> dict[str, Any]:
    """Return the content of a marker."""
    try:
        return read_object(lake, key, MAX_SMALL_BYTES)
    except ValueError as error:
        raise UserError(f"{lake.uri(key)} is damaged ({error}): restore it from a backup") from None


def _read(lake: Lake, spec: str) -> tuple[Pointer, str]:
    """Return the pointer of a spec and its ETag."""
    key = f"snapshots/{spec}/latest.json"
    etag = lake.etag(key)  # Read the ETag first: if the pointer changes before it is read, the move conflicts.
    try:
        return read_pointer(lake, key, spec), etag
    except FileNotFoundError:
        return Pointer(None), ABSENT


def _move(lake: Lake, spec: str, pointer: Pointer, etag: str) -> None:
    """Write `latest.json`. Raise LostRace if its ETag is no longer `etag`."""
    key = f"snapshots/{spec}/latest.json"
    try:
        lake.put(key, orjson.dumps(asdict(pointer), option=orjson.OPT_INDENT_2), expect=etag)
    except Conflict:
        winner = read_latest(lake, spec).snapshot
        raise LostRace(
            f"{lake.uri(key)}: another publisher was first and published {winner}; the pointer was not moved to {pointer.snapshot}"
        ) from None


def _marker_key(spec: str, kind: str, snapshot: str) -> str:
    return f"snapshots/{spec}/{kind}/{snapshot}"


def _write_marker(lake: Lake, spec: str, kind: str, snapshot: str, facts: dict[str, Any]) -> None:
    """Write a marker with the facts and the time. Never overwrite an existing marker."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(Conflict):
        lake.put(_marker_key(spec, kind, snapshot), orjson.dumps({**facts, "at": at}), expect=ABSENT)
