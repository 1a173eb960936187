"""Datasets of the releases in a lake: their snapshots and PDFs. `s2corpus_datasets` makes them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property

from s2corpus.deliveries.files import ChangedInput, read_file
from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.snapshot import markers, pointer
from s2corpus.snapshot.reader import open_lake_of
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables.intake import PDFS


def open_published_snapshot(lake: Lake, release: str, as_of: str) -> Lake:
    """Return the folder of the newest published snapshot of a release spec with this `as_of` (an ISO timestamp, as in its manifest).

    Raises:
        UserError: no such snapshot is published, or `as_of` is not a timestamp.
    """
    try:
        instant = datetime.fromisoformat(as_of).replace(tzinfo=UTC)
    except ValueError:
        raise UserError(
            f"{as_of!r} is not a timestamp: expected the release's as_of, as in 2023-02-01T00:00:00Z"
        ) from None
    published = markers.list_published(lake, release)
    found = [snapshot for snapshot in published if snapshot.release.as_of == instant]
    if not found:
        available = ", ".join(published) or "none"
        raise UserError(f"no snapshot of {release} as of {as_of} is published; available: {available}")
    latest = pointer.read_latest(lake, release).snapshot
    return open_lake(lake.uri(f"snapshots/{latest if latest in found else found[-1]}"))


class ReleasePdfs:
    """The PDFs of a snapshot's release, in the lake that contains the snapshot."""

    def __init__(self, snapshot: Lake, id: str) -> None:
        self._snapshot, self._id = snapshot, id

    @cached_property
    def _tables(self) -> ReleaseTables:
        lake = open_lake_of(
            self._snapshot, self._id, "set the parameter `pdfs` to a folder with the PDFs as <SHA-1>.pdf"
        )
        return ReleaseTables(lake, str(SnapshotId(self._id).release))

    def read(self, sha1: str) -> bytes | None:
        """Return a PDF, or None if the lake no longer contains it."""
        try:
            for row in self._tables.of_pdf(PDFS, sha1):
                return read_file(self._tables.lake, row["places"][0], sha1)
        except (NotCommitted, FileNotFoundError, ChangedInput):
            pass
        return None
