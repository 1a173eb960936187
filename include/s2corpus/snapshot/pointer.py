"""Publish, yank and restore snapshots.

`snapshots/<spec>/latest.json` points to the newest published snapshot, which is complete; conditional writes move the pointer.
Markers in the same folder record each event (`markers`). A published snapshot is never changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

import orjson

from s2corpus.errors import LostRace, UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.rules import MIN_REASON
from s2corpus.snapshot.markers import (
    has_publication_marker,
    list_marked,
    list_published,
    marker_key,
    read_marker,
    write_marker,
)
from s2corpus.storage.lake import ABSENT, Conflict, Lake
from s2corpus_reader.bounded import MAX_SMALL_BYTES, read_object

_REPAIR = 'restore it from a backup, or overwrite it with {"snapshot": null} and publish the newest snapshot again'


@dataclass(frozen=True, slots=True)
class Pointer:
    """The content of `latest.json`."""

    snapshot: str | None
    """None before the first publication, and after the only snapshot was yanked"""
    manifest: str | None = None
    """key of the manifest"""
    manifest_sha256: str | None = None
    sequence: int = 0
    """number of times that the pointer was moved; 0 in a file of an older version"""


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
        sequence = value.get("sequence", 0)
        if type(sequence) is not int or sequence < 0:
            raise ValueError(f"its sequence is {str(sequence)[:100]!r}")
        if snapshot is None:
            return Pointer(None, sequence=sequence)
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
    return Pointer(snapshot, manifest, sha256, sequence)


def check_pointer(lake: Lake, release: ReleaseId) -> None:
    """Check before any work that the release can be published. A release may restore its own lost snapshot.

    Raises:
        UserError: `latest.json` is damaged, or the snapshot of another release that it names has no manifest.
    """
    pointer = read_latest(lake, release.spec)
    if pointer.snapshot is None or pointer.manifest is None or lake.size(pointer.manifest) is not None:
        return
    lost = SnapshotId(pointer.snapshot).release
    if lost != release:
        raise UserError(
            f"{lake.uri(f'snapshots/{release.spec}/latest.json')} names {pointer.snapshot}, which has no manifest.json: "
            f"restore the snapshot from a backup, or first run the release {lost} again, which gives the same bytes"
        )


def was_published(lake: Lake, snapshot: str) -> bool:
    """Return whether the snapshot was ever published; it may be yanked now."""
    return has_publication_marker(lake, snapshot) or read_latest(lake, SnapshotId(snapshot).spec).snapshot == snapshot


def publish(lake: Lake, snapshot: str, approval: Mapping[str, str] | None = None) -> Pointer:
    """Publish a complete snapshot, and move the pointer to it unless a later snapshot is published. Repetition has no effect.

    Return the pointer.

    `approval` records the approver, the time and the note; it is stored in the `published` marker.

    Raises:
        UserError: the snapshot is incomplete, or was yanked.
        LostRace: another publisher moved the pointer first. A retry compares with its snapshot.
    """
    spec = SnapshotId.parse(snapshot).spec
    pointer, etag = _read(lake, spec)
    if lake.size(marker_key(spec, "yanked", snapshot)) is not None:
        raise UserError(f"{snapshot} was yanked: restore it, or publish another snapshot with another id")
    new = _make_pointer(lake, snapshot)
    if pointer != replace(new, sequence=pointer.sequence) and (
        pointer.snapshot is None or SnapshotId(pointer.snapshot).release.day <= SnapshotId(snapshot).release.day
    ):
        pointer = _move(lake, spec, new, pointer.sequence, etag)
    facts = {"manifest_sha256": new.manifest_sha256, **({"approved": dict(approval)} if approval else {})}
    write_marker(lake, spec, "published", snapshot, facts)
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
    check_reason(reason)
    pointer, etag = _read(lake, spec)
    previous = None
    if pointer.snapshot == snapshot:
        remaining = [id_ for id_ in list_published(lake, spec) if id_ != snapshot]
        # Check the remaining snapshot before writing the marker: it may be damaged.
        previous = _make_pointer(lake, remaining[-1]) if remaining else Pointer(None)
    write_marker(lake, spec, "yanked", snapshot, {"reason": reason.strip()})
    return pointer if previous is None else _move(lake, spec, previous, pointer.sequence, etag)


def restore(lake: Lake, snapshot: str, reason: str) -> Pointer:
    """Undo the yank of a snapshot, record the reason, and publish the snapshot again.

    Raises:
        UserError: the snapshot is not yanked, its files were pruned or changed, or the reason is too short.
        LostRace: another publisher moved the pointer. A retry continues.
    """
    spec = SnapshotId.parse(snapshot).spec
    check_reason(reason)
    key = marker_key(spec, "restored", snapshot)
    earlier = orjson.loads(lake.get(key)[0]) if lake.size(key) is not None else []
    try:
        yanked = read_marker(lake, marker_key(spec, "yanked", snapshot))
    except FileNotFoundError:
        if (
            earlier and earlier[-1]["reason"] == reason.strip()
        ):  # An earlier try lost the answer of S3 after its last write.
            return publish(lake, snapshot)
        available = ", ".join(sorted(list_marked(lake, spec, "yanked"))) or "none"
        raise UserError(f"{snapshot} is not yanked; yanked snapshots: {available}") from None
    if lake.size(f"snapshots/{snapshot}/manifest.json") is None:
        raise UserError(
            f"{snapshot} was pruned: its files were deleted. Run its release again with the same code, which gives the same bytes"
        )
    recorded = read_marker(lake, marker_key(spec, "published", snapshot)).get("manifest_sha256")
    if (found := _make_pointer(lake, snapshot).manifest_sha256) != recorded:
        raise UserError(
            f"{snapshot} is not restored: the SHA-256 of its manifest is {found}; it was published with {recorded}"
        )
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lake.put(key, orjson.dumps([*earlier, {"reason": reason.strip(), "at": at, "yanked": yanked}]))
    lake.delete(marker_key(spec, "yanked", snapshot))
    return publish(lake, snapshot)


def check_reason(reason: str) -> None:
    """Raise UserError if the reason is too short."""
    if len(reason.strip()) < MIN_REASON:
        raise UserError(f"{reason!r} is not a reason; write why, in at least {MIN_REASON} characters")


def published_manifest_sha256(lake: Lake, snapshot: str) -> str | None:
    """Return the SHA-256 of the manifest with which the snapshot was published, or None if it never was."""
    spec = SnapshotId.parse(snapshot).spec
    if has_publication_marker(lake, snapshot):
        return read_marker(lake, marker_key(spec, "published", snapshot)).get("manifest_sha256")
    latest = read_latest(lake, spec)
    return latest.manifest_sha256 if latest.snapshot == snapshot else None


def move_to_newest(lake: Lake, spec: str) -> Pointer:
    """Let `latest.json` name the newest snapshot that is published and not yanked, even if the pointer is lost or damaged.

    Raises:
        UserError: the files of that snapshot are missing or have another size.
        LostRace: another publisher moved the pointer.
    """
    etag = lake.etag(f"snapshots/{spec}/latest.json")
    published = list_published(lake, spec)
    pointer = _make_pointer(lake, published[-1]) if published else Pointer(None)
    try:
        sequence = read_latest(lake, spec).sequence
    except UserError:
        sequence = 0
    return _move(lake, spec, pointer, max(sequence, _count_moves(lake, spec)), etag)


def _count_moves(lake: Lake, spec: str) -> int:
    """Return the number of publications, withdrawals and restorations, each of which moves the pointer at most once."""
    restored = (orjson.loads(lake.get(entry.key)[0]) for entry in lake.list(f"snapshots/{spec}/restored/"))
    marked = (len(list_marked(lake, spec, kind)) for kind in ("published", "yanked"))
    return sum(marked) + sum(2 * len(times) for times in restored)


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


def _read(lake: Lake, spec: str) -> tuple[Pointer, str]:
    """Return the pointer of a spec and its ETag."""
    key = f"snapshots/{spec}/latest.json"
    etag = lake.etag(key)  # Read the ETag first: if the pointer changes before it is read, the move conflicts.
    try:
        return read_pointer(lake, key, spec), etag
    except FileNotFoundError:
        return Pointer(None), ABSENT


def _move(lake: Lake, spec: str, pointer: Pointer, sequence: int, etag: str) -> Pointer:
    """Write `latest.json` with the next sequence number, and return it. Raise LostRace if its ETag is no longer `etag`."""
    key = f"snapshots/{spec}/latest.json"
    moved = replace(pointer, sequence=sequence + 1)
    try:
        lake.put(key, orjson.dumps(asdict(moved), option=orjson.OPT_INDENT_2), expect=etag)
    except Conflict:
        winner = read_latest(lake, spec).snapshot
        raise LostRace(
            f"{lake.uri(key)}: another publisher was first and published {winner}; the pointer was not moved to {pointer.snapshot}"
        ) from None
    return moved
