"""
### An example of a downstream DAG

Runs whenever `latest.json` of `sample` was moved to a newly published snapshot. An event is only a signal: people can create events
with any content. The tasks therefore read `latest.json`, and ignore events that no release sent. This example counts the documents
of each split according to the manifest. Copy the file and replace the counting with training or indexing.

If `S2CORPUS_COPIES` names a folder, the DAG also stores copies there. Each new copy is built from the previous copy and the delta
between them. It is equal to the published snapshot.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Asset, task
from airflow.sdk.exceptions import AirflowSkipException
from s2corpus_airflow import events
from s2corpus_airflow.connections import apply_connections

SNAPSHOT = Asset("corpus_snapshot__sample")


def _latest(triggering_asset_events: Any) -> Any:
    """Open the snapshot that `latest.json` names. A run that only other events triggered is skipped."""
    import s2corpus_reader
    from s2corpus.storage.lake import lake_uri

    if triggering_asset_events and not events.has_content(triggering_asset_events[SNAPSHOT]):
        raise AirflowSkipException("no release sent these events")
    apply_connections()
    return s2corpus_reader.open(f"{lake_uri()}/snapshots/sample")


@task(multiple_outputs=False, inlets=[SNAPSHOT], execution_timeout=timedelta(hours=1))
def count_documents(*, triggering_asset_events: Any = None) -> dict[str, int]:
    """Return the number of documents by split of the latest snapshot."""
    manifest = _latest(triggering_asset_events).manifest
    counts: dict[str, int] = {}
    for file in manifest["files"]:
        if file["path"].startswith("v2/"):
            split = file["path"].rpartition("/")[0].removeprefix("v2/")
            counts[split] = counts.get(split, 0) + file["rows"]
    print(f"{manifest['snapshot']}: {counts}")
    return counts


@task(inlets=[SNAPSHOT], execution_timeout=timedelta(hours=6), max_active_tis_per_dag=1)
def keep_a_copy(*, triggering_asset_events: Any = None) -> str | None:
    """Store a copy of the latest snapshot; apply a delta if an earlier copy exists. Return its path."""
    import os
    from pathlib import Path

    from s2corpus.storage.lake import lake_uri
    from s2corpus_reader.following import follow

    copies = os.environ.get("S2CORPUS_COPIES")
    if not copies:
        return None
    snapshot = _latest(triggering_asset_events).manifest["snapshot"]
    return str(follow(f"{lake_uri()}/snapshots/{snapshot}", Path(copies)))


with DAG("example_consumer", schedule=[SNAPSHOT], doc_md=__doc__, tags=["example"], catchup=False):
    count_documents()
    keep_a_copy()
