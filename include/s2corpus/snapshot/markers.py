"""The markers `published/<id>`, `yanked/<id>` and `restored/<id>` below `snapshots/<spec>/`, which record the events of snapshots."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson

from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.storage.lake import ABSENT, Conflict, Lake
from s2corpus_reader.bounded import MAX_SMALL_BYTES, read_object


def has_publication_marker(lake: Lake, snapshot: str) -> bool:
    """Return whether the lake has the marker `published` of a snapshot."""
    return lake.size(marker_key(SnapshotId.parse(snapshot).spec, "published", snapshot)) is not None


def is_withdrawn(lake: Lake, snapshot: str) -> bool:
    """Return whether a snapshot is yanked."""
    return lake.size(marker_key(SnapshotId.parse(snapshot).spec, "yanked", snapshot)) is not None


def explain_missing_parent(lake: Lake, release: ReleaseId) -> str:
    """Return why a release has no parent, as a sentence."""
    published, yanked = (list_marked(lake, release.spec, kind) for kind in ("published", "yanked"))
    others = {s for s in published if s.release != release}
    earlier = sorted(s for s in others if s.release.day < release.day)
    if withdrawn := [s for s in earlier if s in yanked]:
        rest = f" and {len(withdrawn) - 5} more" if len(withdrawn) > 5 else ""
        return f"It has no parent: the earlier snapshots were withdrawn ({', '.join(withdrawn[-5:])}{rest})."
    if earlier:
        return "It has no parent: no earlier snapshot was published when it was planned."
    if others:
        return f"It has no parent: the {len(others)} published snapshots of {release.spec} are of later instants."
    return f"It has no parent: it is the first snapshot of {release.spec}."


def list_published(lake: Lake, spec: str) -> list[SnapshotId]:
    """Return the snapshots of a spec that are published and not yanked, sorted by (as_of, id)."""
    return sorted(
        list_marked(lake, spec, "published") - list_marked(lake, spec, "yanked"), key=lambda s: (s.release.day, s)
    )


def list_marked(lake: Lake, spec: str, folder: str) -> set[SnapshotId]:
    """Return the snapshots with a marker in a folder."""
    names = (entry.key.rpartition("/")[2] for entry in lake.list(f"snapshots/{spec}/{folder}/"))
    return {SnapshotId(name) for name in names if SnapshotId.is_valid(name)}


def list_markers(lake: Lake, spec: str, kind: str) -> dict[SnapshotId, dict[str, Any]]:
    """Return the content of the markers of one kind (`published`, `yanked`) by snapshot, sorted by id."""
    marked = sorted(list_marked(lake, spec, kind))
    return {snapshot: read_marker(lake, marker_key(spec, kind, snapshot)) for snapshot in marked}


def read_marker(lake: Lake, key: str) -> dict[str, Any]:
    """Return the content of a marker."""
    try:
        return read_object(lake, key, MAX_SMALL_BYTES)
    except ValueError as error:
        raise UserError(f"{lake.uri(key)} is damaged ({error}): restore it from a backup") from None


def write_marker(lake: Lake, spec: str, kind: str, snapshot: str, facts: dict[str, Any]) -> None:
    """Write a marker with the facts and the time. Never overwrite an existing marker."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(Conflict):
        lake.put(marker_key(spec, kind, snapshot), orjson.dumps({**facts, "at": at}), expect=ABSENT)


def marker_key(spec: str, kind: str, snapshot: str) -> str:
    """Return the key of a marker."""
    return f"snapshots/{spec}/{kind}/{snapshot}"
