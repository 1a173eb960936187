"""A consumer's copies of a corpus, brought up to each published snapshot by a delta."""

from __future__ import annotations

import tempfile
from pathlib import Path

import s2corpus_reader
from s2corpus.ids import SnapshotId
from s2corpus.snapshot import delta, push
from s2corpus.storage.lake import Lake, open_lake
from s2corpus_reader.bounded import read_object


def follow(published: Lake, copies: Path) -> Path:
    """Make `copies/<id>` of a published snapshot, equal to it byte for byte; where it is.

    It comes from the newest copy that is there of an earlier snapshot of the spec, as long as that one is still published beside the new
    one, by the delta between them; else every file is fetched. What is there already is left as it is.
    """
    new = SnapshotId.parse(str(read_object(published, push.MANIFEST).get("snapshot")))
    copy = copies / new
    if (copy / push.MANIFEST).is_file():
        return copy
    beside = published.root.rstrip("/").rpartition("/")[0]
    there = [
        SnapshotId(path.parent.name) for path in copies.glob(f"*/{push.MANIFEST}") if SnapshotId.known(path.parent.name)
    ]
    earlier = sorted(
        (s for s in there if s.spec == new.spec and s.release.day < new.release.day), key=lambda s: s.release.day
    )
    for old in reversed(earlier):
        source = open_lake(f"{beside}/{old}", confined=True)
        if source.size(push.MANIFEST) is not None:
            with tempfile.TemporaryDirectory(prefix=".delta-", dir=copies) as scratch:
                made = Path(scratch) / "delta"
                delta.make(source, published, made)
                s2corpus_reader.apply(made, open_lake(str(copies / old), confined=True), copy)
            return copy
    push.push_to_lake(published, open_lake(str(copy)))
    return copy
