"""s2corpus: from scientific PDFs and metadata to an S2ORC-style corpus release."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2corpus_reader.snapshot import Snapshot

__version__ = "0.1.0"


def open(name: str, lake: str | None = None) -> Snapshot:
    """A published snapshot, by its address, a spec's address for the latest, or its id in `lake`: see `snapshot.lookup.Snapshot`."""
    from s2corpus.snapshot import reader
    from s2corpus_reader import snapshot as lookup

    return lookup.Snapshot(reader.open_snapshot(name, lake))
