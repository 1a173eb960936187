"""`make demo`: a release of the sample by Airflow, compared with its truth."""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import click


@click.command(epilog="Example: python -m devtools demo, then `corpus read <snapshot> --sample 1`.")
@click.option("--datasets", is_flag=True, help="Then the datasets of include/datasets/ that are made of it.")
def command(datasets: bool) -> None:
    """Build a release of about sixty generated papers under Airflow, and compare it with what is known of them."""
    from devtools import sample
    from devtools.local import default_state
    from devtools.local.datasets import await_datasets, make_datasets
    from devtools.local.release import kernels_being_compiled, make_release, print_how_on, start_services
    from devtools.local.state import State
    from devtools.sample.compare import TABLES as COMPARED
    from devtools.sample.compare import compare
    from s2corpus.deliveries.upload import deliver_tree
    from s2corpus.storage.lake import open_lake
    from s2corpus.tables import TABLES

    began = time.monotonic()

    def step(text: str) -> None:
        click.echo(f"[{time.monotonic() - began:4.0f} s] {text}")

    step("starting S3, PostgreSQL, the extractor and Airflow, and typesetting the sample papers beside")
    State(default_state()).create()
    folder = default_state() / "sample"
    click.get_current_context().with_resource(kernels_being_compiled())
    with ThreadPoolExecutor(1) as beside:
        made = beside.submit(sample.generate, folder)
        endpoints = start_services()
        truth = made.result()
    lake = open_lake(endpoints.environ()["S2CORPUS_LAKE"])
    sent = deliver_tree(lake, folder)
    step(f"{len(truth.pdfs)} PDFs, {sent} new files delivered to {lake.root}; building the release")
    end = datetime.fromisoformat(truth.as_of).astimezone(UTC)
    start = end.replace(month=end.month - 1) if end.month > 1 else end.replace(year=end.year - 1, month=12)
    asked = await_datasets(endpoints, "sample") if datasets else []
    run = make_release(endpoints, "sample", start, end, {}, scheduled=True)
    manifest, _ = lake.get(f"snapshots/{run.snapshot_id}/manifest.json")
    click.echo()
    click.echo(str(compare(truth, {name: run.table(TABLES[name]).read() for name in COMPARED})))
    click.echo(f"  Manifest     sha256 {hashlib.sha256(manifest).hexdigest()}")
    if asked:
        step("building the datasets")
        make_datasets(endpoints, run, asked)
    print_how_on(endpoints)
    step("done")
