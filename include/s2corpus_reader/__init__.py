"""Read snapshots of a corpus: open them, iterate over documents, look up papers, verify files and apply deltas."""

from __future__ import annotations

from s2corpus_reader.deltas import apply
from s2corpus_reader.errors import SnapshotError, UnreachableError
from s2corpus_reader.snapshot import Snapshot, open_snapshot

__all__ = ["Snapshot", "SnapshotError", "UnreachableError", "apply", "open"]


def open(
    address: str,
    *,
    endpoint: str | None = None,
    access_key_id: str | None = None,
    secret_access_key: str | None = None,
    region: str | None = None,
    anonymous: bool = False,
) -> Snapshot:
    """Open a snapshot from the address of its folder, or the latest snapshot from the address of its spec's folder.

    An address is a local path, `s3://…` or `https://…`. The other arguments apply to S3. Their defaults come from the
    environment (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, …). Set `anonymous` for public buckets: requests are then not
    signed.

    Raises:
        SnapshotError: the address contains no snapshot.
        UnreachableError: the server does not respond.
    """
    options: dict[str, object] = {
        "endpoint": endpoint, "access_key_id": access_key_id, "secret_access_key": secret_access_key, "region": region,
        "anonymous": anonymous,
    }  # fmt: skip
    return open_snapshot(address, **options)
