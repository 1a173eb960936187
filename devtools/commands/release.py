"""`python -m devtools release`: add a folder of papers to a corpus and build a release, by Airflow."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._options import Command


@click.command(cls=Command, epilog="python -m devtools release ~/papers\nmake release PDFS=~/papers")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("corpus", default="own")
def command(folder: Path, corpus: str) -> None:
    """Add a folder of papers to a corpus, and build its release under the local Airflow.

    FOLDER contains PDFs, JATS or LaTeX, also in subfolders. CORPUS is the name of a spec (`corpus init`), `own` by default. The release
    contains everything that was added before.

    Metadata files at the top of FOLDER are optional. crossref*.json or crossref*.jsonl (also .gz) contains Crossref works: an
    answer of the REST API, or one work a line. records.jsonl has one JSON object for each file (docs/drops.md lists the keys):

    \b
    {"name": "a.pdf", "title": "On a", "authors": ["Ada Byron"], "doi": "10.1000/a"}
    """
    from devtools.local.interruption import STOP, announce, end_with_a_sentence
    from devtools.local.release import make_release, own_interval, print_next_steps, start_services
    from devtools.papers_report import format_papers_report
    from s2corpus.commands._options import progress_bar
    from s2corpus.deliveries.adding import add_papers, check_papers
    from s2corpus.pipeline.quality import read_metrics
    from s2corpus.spec import find_spec, load_spec
    from s2corpus.storage.lake import open_lake

    end_with_a_sentence()
    spec = load_spec(find_spec(corpus))
    check_papers(folder)
    click.echo("Starting S3, PostgreSQL, the extractor and Airflow")
    endpoints = start_services()
    lake = open_lake(endpoints.environ()["S2CORPUS_LAKE"])
    with progress_bar("uploading", "MB", 1e6) as progress:
        added = add_papers(lake, spec, folder, progress=progress)
    for warning in (*added.uploaded.warnings, *(added.works.warnings if added.works else ())):
        click.echo(f"warning: {warning}", err=True)
    announce(f"the drop {added.id} is delivered, and Airflow processes it. {STOP}")
    click.echo(f"Delivered as drop {added.id}; building the release")
    start, end = own_interval(added.uploaded.ready_at)
    run = make_release(endpoints, spec.name, start, end, scheduled=False)
    click.echo()
    click.echo(format_papers_report(run))
    if not read_metrics(run)["intake"].get("records"):
        click.echo("\nThis release has only the metadata in the PDFs: docs/openalex.md shows how to add metadata.")
    print_next_steps(endpoints)
