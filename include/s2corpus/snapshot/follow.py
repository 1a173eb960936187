"""Update a local copy of a corpus to a published snapshot."""

from __future__ import annotations

import tempfile
from pathlib import Path

import s2corpus_reader
from s2corpus.ids import SnapshotId
from s2corpus.snapshot import delta, push
from s2corpus.storage.lake import Lake, open_lake
from s2corpus_reader.bounded import read_object


def follow(published: Lake, copies: Path) -> Path:
    """Create a byte-identical copy of a published snapshot in `copies/<id>`, and return its path.

    If an earlier snapshot of the spec has a local copy and is still published, apply the delta between the two snapshots to that
    copy. The newest such copy is used. Otherwise fetch every file. An existing copy is left unchanged.
    """
    new = SnapshotId.parse(str(read_object(published, push.MANIFEST).get("snapshot")))
    copy = copies / new
    if (copy / push.MANIFEST).is_file():
        return copy
    snapshots = published.root.rstrip("/").rpartition("/")[0]
    ids = (path.parent.name for path in copies.glob(f"*/{push.MANIFEST}"))
    local = [SnapshotId(id_) for id_ in ids if SnapshotId.is_valid(id_)]
    earlier = [s for s in local if s.spec == new.spec and s.release.day < new.release.day]
    for old in sorted(earlier, key=lambda s: s.release.day, reverse=True):
        source = open_lake(f"{snapshots}/{old}", confined=True)
        if source.size(push.MANIFEST) is not None:
            with tempfile.TemporaryDirectory(prefix=".delta-", dir=copies) as scratch:
                folder = Path(scratch) / "delta"
                delta.write_delta(source, published, folder)
                s2corpus_reader.apply(folder, open_lake(str(copies / old), confined=True), copy)
            return copy
    push.push_to_lake(published, open_lake(str(copy)))
    return copy
