"""`python -m devtools release`: a release of a user's own folder of PDFs, by Airflow."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: python -m devtools release ~/papers")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Build a corpus of the PDFs in FOLDER (and its subfolders) under the local Airflow, by the spec `own`.

    A records.jsonl in FOLDER may say of a file: {"name": …, "open_access": …, "licence": …, "published": …}.
    """
    from devtools.local.release import make_release, own_interval, print_next_steps, start_services
    from s2corpus.deliveries.upload import deliver_own, own_files
    from s2corpus.pipeline.summary import format_papers_report
    from s2corpus.storage.lake import open_lake

    click.echo(f"{len(own_files(folder))} PDFs in {folder}; starting S3, PostgreSQL, the extractor and Airflow")
    endpoints = start_services()
    lake = open_lake(endpoints.environ()["S2CORPUS_LAKE"])
    drop, ready_at = deliver_own(lake, folder)
    click.echo(f"delivered as drop {drop}; building the release")
    start, end = own_interval(ready_at)
    run = make_release(endpoints, "own", start, end, {"drops": [drop]}, scheduled=False)
    click.echo()
    click.echo(format_papers_report(run))
    print_next_steps(endpoints, run)
