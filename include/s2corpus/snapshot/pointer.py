"""Which snapshot is the newest published one: a pointer moved by conditional writes, and a mark for each publication.

`snapshots/<spec>/latest.json` points at a whole snapshot; `published/<id>`, `yanked/<id>` and `restored/<id>` beside it say what
happened. A snapshot that was ever pointed at is never changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from s2corpus.errors import LostRace, UserError
from s2corpus.ids import SnapshotId, spec_name
from s2corpus.rules import MIN_REASON
from s2corpus.storage.lake import ABSENT, Conflict
from s2corpus_reader.bounded import MAX_SMALL_BYTES, read_object

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake


_REPAIR = "restore it from a backup, or delete it and publish the newest snapshot again"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What `latest.json` says."""

    snapshot: str | None
    """null after the only snapshot was yanked"""
    manifest: str | None = None
    """the manifest's key"""
    manifest_sha256: str | None = None


def latest(lake: Lake, spec: str) -> Pointer:
    """The pointer of a spec; it points at nothing before the first publication.

    Raises:
        UserError: `latest.json` is damaged.
    """
    return _read(lake, spec)[0]


def read_pointer(lake: Lake, key: str, spec: str) -> Pointer:
    """Read the `latest.json` of a spec, and accept only the id of a snapshot of that spec.

    Raises:
        FileNotFoundError: there is none.
        UserError: it is damaged.
    """
    where = lake.uri(key)
    try:
        value = read_object(lake, key, MAX_SMALL_BYTES)
    except ValueError as error:
        raise UserError(f"{where} is damaged ({error}): {_REPAIR}") from None
    if "snapshot" not in value:
        raise UserError(f"{where} is damaged (it has no snapshot): {_REPAIR}")
    snapshot = value["snapshot"]
    if snapshot is None:
        return Pointer(None)
    if not isinstance(snapshot, str) or not SnapshotId.known(snapshot):
        raise UserError(f"{where} is damaged ({str(snapshot)[:100]!r} is not a snapshot id): {_REPAIR}")
    if SnapshotId(snapshot).spec != spec:
        raise UserError(f"{where} is damaged ({snapshot} is not a snapshot of {spec}): {_REPAIR}")
    manifest, sha256 = value.get("manifest"), value.get("manifest_sha256")
    if manifest != f"snapshots/{snapshot}/manifest.json":
        raise UserError(f"{where} is damaged (its manifest is {str(manifest)[:100]!r}): {_REPAIR}")
    if not isinstance(sha256, str) or not re.fullmatch("[0-9a-f]{64}", sha256):
        raise UserError(f"{where} is damaged (its manifest_sha256 is {str(sha256)[:100]!r}): {_REPAIR}")
    return Pointer(snapshot, manifest, sha256)


def check_pointer(lake: Lake, spec: str) -> None:
    """Check before any work that a release of the spec can be published.

    Raises:
        UserError: `latest.json` is damaged, or names a snapshot that has no manifest.
    """
    pointer = latest(lake, spec)
    if pointer.manifest is not None and lake.size(pointer.manifest) is None:
        raise UserError(
            f"{lake.uri(f'snapshots/{spec}/latest.json')} names {pointer.snapshot}, which has no manifest.json: {_REPAIR}"
        )


def is_published(lake: Lake, snapshot: str) -> bool:
    """Whether the snapshot was ever pointed at, yanked or not."""
    return was_published(lake, snapshot) or latest(lake, SnapshotId(snapshot).spec).snapshot == snapshot


def was_published(lake: Lake, snapshot: str) -> bool:
    """Return whether the publication of a snapshot is recorded."""
    return lake.size(_mark(SnapshotId.parse(snapshot).spec, "published", snapshot)) is not None


def published(lake: Lake, spec: str) -> list[SnapshotId]:
    """Snapshots of a spec that are published and not yanked, oldest first by (as_of, id)."""
    return sorted(_marked(lake, spec, "published") - _marked(lake, spec, "yanked"), key=_order)


def publish(lake: Lake, snapshot: str, approval: Mapping[str, str] | None = None) -> Pointer:
    """Point at a whole snapshot, unless a published one is of a later instant. Doing it twice changes nothing.

    `approval` says who approved it, when and with which note: it is kept in the publication's mark.

    Raises:
        UserError: the snapshot is not whole, or was yanked.
        LostRace: another publisher was first; trying again looks at what it published.
    """
    spec = SnapshotId.parse(snapshot).spec
    pointer, etag = _read(lake, spec)
    if lake.size(_mark(spec, "yanked", snapshot)) is not None:
        raise UserError(f"{snapshot} was yanked: what is published again has to be another snapshot, with another id")
    new = _pointing_at(lake, snapshot)
    if pointer != new and (
        pointer.snapshot is None or SnapshotId(pointer.snapshot).release.day <= SnapshotId(snapshot).release.day
    ):
        _move(lake, spec, new, etag)
        pointer = new
    facts = {"manifest_sha256": new.manifest_sha256, **({"approved": dict(approval)} if approval else {})}
    _set_mark(lake, spec, "published", snapshot, facts)
    return pointer


def yank(lake: Lake, snapshot: str, reason: str) -> Pointer:
    """Withdraw a published snapshot: the pointer moves back to the newest one left. Its files stay.

    Raises:
        UserError: it was never published, or no reason is given.
        LostRace: another publisher moved the pointer meanwhile.
    """
    spec = SnapshotId.parse(snapshot).spec
    if not is_published(lake, snapshot):
        known = ", ".join(published(lake, spec)) or "none"
        raise UserError(f"{snapshot} was never published; published are: {known}")
    _check_reason(reason)
    pointer, etag = _read(lake, spec)
    back = None
    if pointer.snapshot == snapshot:
        left = [id_ for id_ in published(lake, spec) if id_ != snapshot]
        back = _pointing_at(lake, left[-1]) if left else Pointer(None)  # before the mark: it may be damaged
    _set_mark(lake, spec, "yanked", snapshot, {"reason": reason.strip()})
    if back is not None:
        _move(lake, spec, back, etag)
    return back or pointer


def restore(lake: Lake, snapshot: str, reason: str) -> Pointer:
    """Undo the yank of a snapshot whose files are still there: if it is the newest one, the pointer moves to it. It is recorded.

    Raises:
        UserError: it was not yanked, its files are pruned or others than were published, or no reason is given.
        LostRace: another publisher moved the pointer meanwhile; trying again goes on.
    """
    spec = SnapshotId.parse(snapshot).spec
    _check_reason(reason)
    try:
        yanked = _read_mark(lake, _mark(spec, "yanked", snapshot))
    except FileNotFoundError:
        known = ", ".join(sorted(_marked(lake, spec, "yanked"))) or "none"
        raise UserError(f"{snapshot} is not yanked; yanked are: {known}") from None
    noted = _read_mark(lake, _mark(spec, "published", snapshot)).get("manifest_sha256")
    if (found := _pointing_at(lake, snapshot).manifest_sha256) != noted:
        raise UserError(f"{snapshot}: its manifest's SHA-256 is {found}, it was published with {noted}: not restored")
    key = _mark(spec, "restored", snapshot)
    before = orjson.loads(lake.get(key)[0]) if lake.size(key) is not None else []
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lake.put(key, orjson.dumps([*before, {"reason": reason.strip(), "at": at, "yanked": yanked}]))
    lake.delete(_mark(spec, "yanked", snapshot))
    return publish(lake, snapshot)


def _check_reason(reason: str) -> None:
    if len(reason.strip()) < MIN_REASON:
        raise UserError(f"{reason!r} is not a reason; write why, in at least {MIN_REASON} characters")


def prunable(lake: Lake, spec: str, keep: int) -> list[SnapshotId]:
    """Published or yanked snapshots that are not among the newest `keep` published ones, oldest first; never the latest.

    Raises:
        UserError: nothing of such a spec was ever published.
    """
    if not lake.folders(f"snapshots/{spec_name(spec)}/"):
        known = sorted({SnapshotId(name).spec for name in lake.folders("snapshots/") if SnapshotId.known(name)})
        raise UserError(
            f"{spec}: no snapshot of it was ever published; there are some of: {', '.join(known) or 'none'}"
        )
    kept = {*published(lake, spec)[-keep:], latest(lake, spec).snapshot}
    marked = _marked(lake, spec, "published") | _marked(lake, spec, "yanked")
    return sorted((s for s in marked - kept if next(lake.list(f"snapshots/{s}/"), None)), key=_order)


def prune(lake: Lake, snapshot: str) -> int:
    """Delete a snapshot's files, its manifest first so that nobody takes the rest for whole; their number."""
    spec = SnapshotId.parse(snapshot).spec
    if latest(lake, spec).snapshot == snapshot:
        raise UserError(f"{snapshot} is what latest.json points at: publish another one, or yank it, first")
    lake.delete(f"snapshots/{snapshot}/manifest.json")
    deleted = 1
    for entry in list(lake.list(f"snapshots/{snapshot}/")):
        lake.delete(entry.key)
        deleted += 1
    _set_mark(lake, spec, "yanked", snapshot, {"reason": "pruned"})
    return deleted


def _order(snapshot: SnapshotId) -> tuple[str, str]:
    return snapshot.release.day, snapshot


def _marked(lake: Lake, spec: str, folder: str) -> set[SnapshotId]:
    names = (entry.key.rpartition("/")[2] for entry in lake.list(f"snapshots/{spec}/{folder}/"))
    return {SnapshotId(name) for name in names if SnapshotId.known(name)}


def _pointing_at(lake: Lake, snapshot: str) -> Pointer:
    key = f"snapshots/{snapshot}/manifest.json"
    try:
        manifest, _ = lake.get(key)
    except FileNotFoundError:
        raise UserError(f"{lake.uri(key)}: no manifest: the snapshot is not whole; run export to its end") from None
    try:
        files = [{"path": file["path"], "bytes": file["bytes"]} for file in orjson.loads(manifest)["files"]]
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{lake.uri(key)} is damaged ({error}): run export again") from None
    sizes = {entry.key: entry.bytes for entry in lake.list(f"snapshots/{snapshot}/")}
    for file in files:
        found = sizes.get(f"snapshots/{snapshot}/{file['path']}")
        if found != file["bytes"]:
            raise UserError(
                f"{lake.uri(f'snapshots/{snapshot}/' + file['path'])}: {file['bytes']} bytes in the manifest, "
                f"{'no such file' if found is None else f'{found} found'}: run export again"
            )
    return Pointer(snapshot, key, hashlib.sha256(manifest).hexdigest())


def _read_mark(lake: Lake, key: str) -> dict[str, Any]:
    try:
        return read_object(lake, key, MAX_SMALL_BYTES)
    except ValueError as error:
        raise UserError(f"{lake.uri(key)} is damaged ({error}): restore it from a backup") from None


def _read(lake: Lake, spec: str) -> tuple[Pointer, str]:
    key = f"snapshots/{spec}/latest.json"
    etag = lake.etag(key)  # first: if it changes before it is read, the move conflicts
    if etag == ABSENT:
        return Pointer(None), ABSENT
    try:
        return read_pointer(lake, key, spec), etag
    except FileNotFoundError:
        return Pointer(None), ABSENT


def _move(lake: Lake, spec: str, pointer: Pointer, etag: str) -> None:
    key = f"snapshots/{spec}/latest.json"
    try:
        lake.put(key, orjson.dumps(asdict(pointer), option=orjson.OPT_INDENT_2), expect=etag)
    except Conflict:
        winner = latest(lake, spec).snapshot
        raise LostRace(
            f"{lake.uri(key)}: another publisher was first and pointed at {winner}; {pointer.snapshot} is not pointed at"
        ) from None


def _mark(spec: str, kind: str, snapshot: str) -> str:
    return f"snapshots/{spec}/{kind}/{snapshot}"


def _set_mark(lake: Lake, spec: str, kind: str, snapshot: str, facts: dict[str, Any]) -> None:
    """Record once what happened, and when; what is recorded stays."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        lake.put(_mark(spec, kind, snapshot), orjson.dumps({**facts, "at": at}), expect=ABSENT)
    except Conflict:
        return
