"""Find a snapshot by its address or name."""

from __future__ import annotations

import re
from pathlib import Path

from s2corpus.errors import UserError
from s2corpus.ids import SPEC_NAME, SnapshotId
from s2corpus.snapshot.pointer import read_pointer
from s2corpus.storage.lake import Lake, NotALakeFile, lake_uri, open_lake
from s2corpus_reader.bounded import MAX_SMALL_BYTES, read_object


def open_snapshot(name: str, lake: str | None = None) -> Lake:
    """Open the folder of a snapshot by its address, or by its id in the lake. The name of a spec opens its latest snapshot.

    A folder of this name below the current folder is opened first.

    Raises:
        UserError: the snapshot does not exist.
    """
    if Path(name) in Path().iterdir() and any((Path(name) / key).is_file() for key in ("manifest.json", "latest.json")):
        name = str(Path(name).resolve())
    elif "/" not in name:
        if not SnapshotId.is_valid(name) and not re.fullmatch(SPEC_NAME, name):
            raise UserError(
                f"{name!r} is neither an address (s3://…/snapshots/<id>), nor a snapshot id <spec>-<YYYYMMDD>-<8 hex>, "
                "nor the name of a spec"
            )
        try:
            root = lake or lake_uri()
        except UserError as error:
            if not Path(name).is_dir():
                raise
            below = "; a lake has its snapshots in snapshots/<spec>" if (Path(name) / "snapshots").is_dir() else ""
            raise UserError(
                f"the folder {name} has no manifest.json and no latest.json: expected the folder of a snapshot or of a spec{below}. "
                f"To open the corpus {name} of a lake: {error}"
            ) from None
        name = f"{root.rstrip('/')}/snapshots/{name}"
    folder = open_lake(name, confined=True)
    for key in ("manifest.json", "latest.json"):
        folder.check_file(key)
    if folder.size("manifest.json") is not None:
        return folder
    if folder.size("latest.json") is None:
        raise UserError(
            f"{name}: no manifest.json and no latest.json found: expected the folder of a snapshot or of a spec"
        )
    snapshot = read_pointer(folder, "latest.json", folder.root.rpartition("/")[2]).snapshot
    if snapshot is None:
        raise UserError(f"{name}: all its snapshots were yanked")
    found = open_lake(f"{folder.root.rpartition('/')[0]}/{snapshot}", confined=True)
    if found.size("manifest.json") is None:
        raise UserError(f"{folder.uri('latest.json')} names {snapshot}, but {found.root} has no manifest.json")
    return found


def open_lake_of(folder: Lake, snapshot: str, advice: str) -> Lake:
    """Open the lake that contains the folder of a snapshot.

    Raises:
        UserError: the folder is not in a lake; the message ends with `advice`.
    """
    root, _, name = folder.root.rstrip("/").rpartition("/snapshots/")
    if not root or name != snapshot:
        raise UserError(f"{folder.root} is not in a lake (…/snapshots/{snapshot}): {advice}")
    return open_lake(root)


def published_manifests(snapshot: Lake) -> set[str]:
    """Return the SHA-256s of the published manifest, from the marker of the snapshot and from the pointer.

    The set is empty for a copy outside its lake. An unreadable marker or pointer adds a value that matches no manifest.
    """
    folder, _, id_ = snapshot.root.rpartition("/")
    if not SnapshotId.is_valid(id_):
        return set()
    spec, found = SnapshotId(id_).spec, set()
    for key in (f"published/{id_}", "latest.json"):
        try:
            recorded = read_object(open_lake(folder), f"{spec}/{key}", MAX_SMALL_BYTES)
            if key != "latest.json" or recorded["snapshot"] == id_:
                found.add(str(recorded["manifest_sha256"]))
        except (ValueError, LookupError, TypeError, NotALakeFile):
            found.add(f"{key} cannot be read")
        except FileNotFoundError:
            continue
    return found
