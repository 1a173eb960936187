"""Read snapshots of a corpus: open one, iterate its documents, look papers up, verify it, and follow it by deltas."""

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
    """Open a snapshot by the address of its folder, or of its spec's folder for the latest one.

    An address is a local path, `s3://…` or `https://…`. The other arguments are for S3; what is not given comes from the environment
    (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, …). `anonymous` sends no keys, for public buckets.

    Raises:
        SnapshotError: there is no snapshot. UnreachableError: the server does not answer.
    """
    options: dict[str, object] = {
        "endpoint": endpoint, "access_key_id": access_key_id, "secret_access_key": secret_access_key, "region": region,
        "anonymous": anonymous,
    }  # fmt: skip
    return open_snapshot(address, **options)
