"""
### An example of a downstream DAG

Runs whenever a snapshot of `sample` is published. It needs only the event, which contains the manifest's address. This example counts
the documents of each split according to the manifest. Copy the file and replace the counting with training or indexing.

If `S2CORPUS_COPIES` names a folder, the DAG also stores copies there. Each new copy is built from the previous copy and the delta
between them. It is equal to the published snapshot.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Asset, task

SNAPSHOT = Asset("corpus_snapshot__sample")


@task(inlets=[SNAPSHOT], execution_timeout=timedelta(hours=1))
def count_documents(*, triggering_asset_events: Any = None) -> dict[str, int]:
    """Return the number of documents by split of the snapshot that was just published."""
    import orjson

    from s2corpus.storage.lake import open_lake

    (event,) = triggering_asset_events[SNAPSHOT][-1:]
    folder, _, name = event.extra["manifest"].rpartition("/")
    manifest = orjson.loads(open_lake(folder).get(name)[0])
    counts: dict[str, int] = {}
    for file in manifest["files"]:
        if file["path"].startswith("v2/"):
            split = file["path"].rpartition("/")[0].removeprefix("v2/")
            counts[split] = counts.get(split, 0) + file["rows"]
    print(f"{event.extra['snapshot']}: {counts}")
    return counts


@task(inlets=[SNAPSHOT], execution_timeout=timedelta(hours=6), max_active_tis_per_dag=1)
def keep_a_copy(*, triggering_asset_events: Any = None) -> str | None:
    """Store a copy of the snapshot that was just published; apply a delta if an earlier copy exists. Return its path."""
    import os
    from pathlib import Path

    from s2corpus_reader.following import follow

    copies = os.environ.get("S2CORPUS_COPIES")
    if not copies:
        return None
    (event,) = triggering_asset_events[SNAPSHOT][-1:]
    return str(follow(event.extra["manifest"].rpartition("/")[0], Path(copies)))


with DAG("example_consumer", schedule=[SNAPSHOT], doc_md=__doc__, tags=["example"], catchup=False):
    count_documents()
    keep_a_copy()
