"""SPEC §10.18: events of snapshots are signals. Consumers read `latest.json`, and ignore events that no release sent."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from s2corpus.snapshot import pointer
from s2corpus.storage.lake import open_lake

pytestmark = pytest.mark.airflow
LATEST = "sample-20230201-0a1b2c3d"
SENT = {"snapshot": "sample-20990101-00000000", "manifest": "s3://elsewhere/manifest.json", "sequence": 3}


def trigger(*extras: dict[str, Any] | None) -> Any:
    """Return the events that triggered a run, by asset."""
    from airflow.sdk import Asset

    return {Asset("corpus_snapshot__sample"): [SimpleNamespace(extra=extra) for extra in extras]}


@pytest.mark.parametrize(
    "extra",
    [None, {}, {"from_rest_api": True}, SENT | {"from_rest_api": True}],
    ids=["none", "empty", "rest", "forged"],
)
def test_consumers_ignore_events_that_no_release_sent(load: Callable[..., Any], extra: dict[str, Any] | None) -> None:
    from airflow.sdk.exceptions import AirflowSkipException

    for consumer in (load("example_consumer").count_documents, load("corpus_datasets").plan):
        with pytest.raises(AirflowSkipException, match="no release sent these events"):
            consumer.function(triggering_asset_events=trigger(extra))


def test_consumer_reads_the_latest_snapshot_whatever_the_event_names(load: Callable[..., Any], tmp_path: Path) -> None:
    lake, name = open_lake(str(tmp_path / "lake")), "v2/train/00.jsonl.gz"
    file = {"path": name, "rows": 7, "bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    manifest = {"format": "s2corpus-snapshot-1", "snapshot": LATEST, "spec": "sample", "as_of": "2023-02-01T00:00:00Z"}
    lake.put(f"snapshots/{LATEST}/{name}", b"")
    lake.put(
        f"snapshots/{LATEST}/manifest.json", orjson.dumps(manifest | {"rules": {"export.files": 1}, "files": [file]})
    )
    pointer.publish(lake, LATEST)
    consumer = load("example_consumer")
    assert consumer.count_documents.function(triggering_asset_events=trigger({}, SENT)) == {"train": 7}
