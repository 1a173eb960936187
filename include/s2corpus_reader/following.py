"""Store copies of published snapshots, and update a copy to a later snapshot. Needs the extra `arrow`."""

from __future__ import annotations

import tempfile
from operator import itemgetter
from pathlib import Path
from typing import Any

import s2corpus_reader
from s2corpus_reader.bounded import copy_file
from s2corpus_reader.deltas import read_manifest
from s2corpus_reader.difference import write_delta
from s2corpus_reader.errors import SnapshotError, describe
from s2corpus_reader.files import SnapshotFile, describe_file
from s2corpus_reader.folder import Files, Folder
from s2corpus_reader.snapshot import SNAPSHOT_ID, Snapshot

_MANIFEST = "manifest.json"


def follow(published: str, copies: Path, **options: Any) -> Path:
    """Create a byte-identical copy of a published snapshot in `copies/<id>`, and return its path.

    If an earlier snapshot of the spec has a local copy and is still published, apply the delta between the two snapshots to that
    copy. The newest such copy is used. Otherwise fetch every file. An existing copy is left unchanged.

    Args:
        published: the address of the snapshot.
        copies: the folder of the copies.
        options: the arguments of `s2corpus_reader.open` for S3.
    """
    source = Folder(published, **options)
    manifest = Snapshot(source).manifest
    new = SNAPSHOT_ID.fullmatch(str(manifest["snapshot"]))
    if new is None:
        raise SnapshotError(f"{published}: {str(manifest['snapshot'])[:100]!r} is not the id of a snapshot")
    copy = copies / new[0]
    if (copy / _MANIFEST).is_file():
        return copy
    found = (SNAPSHOT_ID.fullmatch(path.parent.name) for path in copies.glob(f"*/{_MANIFEST}"))
    local = (id_ for id_ in found if id_ is not None and id_[1] == new[1] and id_[2] < new[2])
    for old in sorted(local, key=itemgetter(2), reverse=True):
        try:
            earlier = Folder(f"{source.root.rpartition('/')[0]}/{old[0]}", **options)
            earlier.open(_MANIFEST).close()
        except (FileNotFoundError, SnapshotError):  # it was pruned
            continue
        with tempfile.TemporaryDirectory(prefix=".delta-", dir=copies) as scratch:
            write_delta(earlier, source, Path(scratch) / "delta")
            s2corpus_reader.apply(Path(scratch) / "delta", str(copies / old[0]), copy)
        return copy
    fetch(source, copy)
    return copy


def fetch(snapshot: Files, copy: Path) -> None:
    """Copy a snapshot to a local folder. Files that an interrupted call copied are compared, not fetched again.

    Raises:
        SnapshotError: a file differs from the manifest.
    """
    manifest, files = read_manifest(snapshot)
    for file in files.values():
        target = copy / file.path
        if target.is_file() and describe_file(file.path, target).sha256 == file.sha256:
            continue
        fetch_file(snapshot, file, target)
    part = copy / f".{_MANIFEST}"  # A copy with a manifest is complete: a full disk must not leave a part of one.
    part.write_bytes(manifest)
    part.replace(copy / _MANIFEST)


def fetch_file(snapshot: Files, file: SnapshotFile, target: Path) -> None:
    """Copy a file of a snapshot, and compare its SHA-256 with the manifest.

    Raises:
        SnapshotError: the file differs from the manifest.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        copy_file(snapshot, file.path, target, file.bytes)
        if (found := describe_file(file.path, target).sha256) != file.sha256:
            raise ValueError(f"the SHA-256 is {found}; the manifest expects {file.sha256}")
    except (ValueError, FileNotFoundError) as error:
        raise SnapshotError(
            f"{snapshot.root}/{file.path} differs from the manifest: {describe(error)}: run corpus verify"
        ) from None
