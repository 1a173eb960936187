"""
### An example of a DAG that delivers: PubMed's update files

Once a day, this DAG lists NLM's update files and fetches new files. It checks each file against its published MD5, and delivers it as
`sources/pubmed/<its name>`. `pdf_drops` then processes the delivery. A delivered file is never fetched again. The retry fetches a
file again if it was damaged in transfer. Deliver the year's baseline first (`docs/sources.md`), then unpause this DAG.

`S2CORPUS_PUBMED` sets the URL of another folder, such as a mirror or the baseline. Copy the file for any source that publishes
checksums next to its files.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, task
from s2corpus_airflow.connections import apply_connections
from s2corpus_airflow.task_defaults import DEFAULT_ARGS

FOLDER = os.environ.get("S2CORPUS_PUBMED", "https://ftp.ncbi.nlm.nih.gov/pubmed/updatefiles/")
FILES = r"pubmed\d\dn\d{4,}\.xml\.gz"


@task(execution_timeout=timedelta(hours=6))
def deliver_new() -> list[str]:
    """Fetch and deliver the available files that were never delivered; return the ids of the new deliveries."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from s2corpus.deliveries.fetch import fetch, list_files
    from s2corpus.deliveries.upload import deliver, new_delivery
    from s2corpus.storage.lake import lake_uri, open_lake
    from s2orc_parse.scratch import private

    apply_connections()
    lake = open_lake(lake_uri())
    new = []
    for name in list_files(FOLDER, FILES):
        delivery = new_delivery("delivery", "pubmed", name.removesuffix(".xml.gz"))
        if lake.size(delivery.key("_READY")) is not None:
            continue
        with TemporaryDirectory(prefix="s2corpus-pubmed-", dir=private()) as folder:
            deliver(lake, delivery, {name: fetch(FOLDER, name, Path(folder))})
        print(f"{delivery.folder}: delivered")
        new.append(delivery.id)
    print(f"{len(new)} new update file(s)")
    return new


with DAG(
    "example_pubmed",
    description="PubMed's daily update files, fetched with their checksums and delivered",
    doc_md=__doc__,
    schedule="@daily",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    tags=["example"],
    default_args=DEFAULT_ARGS,
):
    deliver_new()
