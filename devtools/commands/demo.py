"""`make demo`: two monthly releases of the sample by Airflow, compared with the truth."""

from __future__ import annotations

import hashlib
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from s2corpus.commands._options import Command

if TYPE_CHECKING:
    from devtools.sample.truth import Truth
    from s2corpus.pipeline.run import Run


@click.command(cls=Command, epilog="python -m devtools demo")
def command() -> None:
    """Build two sample releases and compare them with the truth.

    Deliver about sixty generated papers, and build two monthly releases under the local Airflow.
    """
    from devtools import sample
    from devtools.local import default_state
    from devtools.local.interruption import end_with_a_sentence
    from devtools.local.release import (
        COMMAND,
        make_release,
        print_next_steps,
        process_drops,
        start_services,
    )
    from devtools.local.state import State
    from devtools.sample.compare import TABLES as COMPARED
    from devtools.sample.compare import compare
    from devtools.sample.generate import truths
    from s2corpus.deliveries.upload import deliver_tree
    from s2corpus.storage.lake import open_lake
    from s2corpus.tables.schema import TABLES

    end_with_a_sentence()
    began = time.monotonic()

    def step(text: str) -> None:
        click.echo(f"\n[{time.monotonic() - began:4.0f} s] {text}")

    step("Starting S3, PostgreSQL, the extractor and Airflow; typesetting the sample papers")
    State(default_state()).create()
    folder = default_state() / "sample"
    with ThreadPoolExecutor(1) as pool:
        generated = pool.submit(sample.generate, folder)
        endpoints = start_services()
        generated.result()
    january, february = truths(folder)
    lake = open_lake(endpoints.environ()["S2CORPUS_LAKE"])
    sent = deliver_tree(lake, folder)
    step(f"Delivered {len(january.pdfs)} PDFs and their metadata ({sent} new files) to {lake.root}")
    click.echo(f"  {_describe_arrivals(january, february)}")
    click.echo("  The sensor of the DAG pdf_drops finds the new drops; the DAG extracts and parses them.")
    click.echo(f"  Drops and deliveries: {process_drops(endpoints, lake)}")

    runs: list[Run] = []
    for truth in (january, february):
        end = datetime.fromisoformat(truth.as_of).astimezone(UTC)
        start = end.replace(month=end.month - 1) if end.month > 1 else end.replace(year=end.year - 1, month=12)
        step(f"Building the release as of {end:%B %-d, %Y}: what was ready in {start:%B}" + (" is new" if runs else ""))
        runs.append(make_release(endpoints, "sample", start, end, scheduled=True))
        click.echo()
        click.echo(str(compare(truth, {name: runs[-1].table(TABLES[name]).read() for name in COMPARED})))
        manifest, _ = lake.get(f"snapshots/{runs[-1].snapshot_id}/manifest.json")
        click.echo(f"  Manifest     sha256 {hashlib.sha256(manifest).hexdigest()}")
    for old, new in pairwise(runs):
        step(f"Changes from {old.snapshot_id} to {new.snapshot_id}")
        click.echo("  The deliveries of February add, merge, split and withdraw papers; some get their PDF.")
        subprocess.run([COMMAND, "diff", old.snapshot_id, new.snapshot_id], check=True)
        click.echo(f"  List them    {COMMAND} diff {old.snapshot_id} {new.snapshot_id} --list")
    step("Done. Next steps:")
    print_next_steps(
        endpoints,
        f"A text         {COMMAND} read sample --sample 1 --text",
        "Your papers    make release PDFS=~/papers",
    )


def _describe_arrivals(january: Truth, february: Truth) -> str:
    """Return the number of PDFs in each monthly release."""
    first, second = (sum(pdf.seen for pdf in truth.pdfs) for truth in (january, february))
    return (
        f"{first} PDFs were ready before February 1; {second - first} more arrive in February. "
        "A release contains only what was ready before its date."
    )
