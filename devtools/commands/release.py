"""`python -m devtools release`: a release of a user's own folder of PDFs, by Airflow."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from s2corpus.commands._options import Command


class _ReleaseCommand(Command):
    """Adds the keys of `records.jsonl` to the help; their list is read from the code that checks them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the keys."""
        from s2corpus.sources.record import DROP_KEYS

        super().format_options(ctx, formatter)
        with formatter.section("Keys of records.jsonl"):
            formatter.write_text(", ".join(sorted(DROP_KEYS)))


@click.command(cls=_ReleaseCommand, epilog="python -m devtools release ~/papers\nmake release PDFS=~/papers")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Build a corpus of your own PDFs under the local Airflow.

    FOLDER contains the PDFs, also in subfolders. The release spec is include/releases/own.yaml.

    Metadata files at the top of FOLDER are optional. crossref*.json or crossref*.jsonl (also .gz) contains Crossref works: an
    answer of the REST API, or one work a line. records.jsonl has one JSON object for each file, with its `name` or `file_sha1`:

    \b
    {"name": "a.pdf", "title": "On a", "authors": ["Ada Byron"], "doi": "10.1000/a"}
    """
    from devtools.local.release import make_release, own_interval, print_next_steps, start_services
    from devtools.own_papers import deliver_own, own_files, own_metadata
    from devtools.papers_report import format_papers_report
    from s2corpus.storage.lake import open_lake

    metadata = own_metadata(folder)
    names = ", ".join(path.name for path in metadata) or "no metadata files"
    click.echo(f"{len(own_files(folder))} PDFs and {names} in {folder}")
    click.echo("Starting S3, PostgreSQL, the extractor and Airflow")
    endpoints = start_services()
    lake = open_lake(endpoints.environ()["S2CORPUS_LAKE"])
    uploaded, drop = deliver_own(lake, folder)
    for warning in uploaded.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(f"Delivered as drop {drop}; building the release")
    start, end = own_interval(uploaded.ready_at)
    run = make_release(endpoints, "own", start, end, {"drops": [drop]}, scheduled=False)
    click.echo()
    click.echo(format_papers_report(run))
    if not metadata:
        click.echo()
        click.echo(describe_missing_metadata(folder))
    print_next_steps(endpoints)


def describe_missing_metadata(folder: Path) -> str:
    """Return what metadata would add to a release without any, and how to deliver it."""
    path = shlex.quote(str(folder))
    return f"""Metadata
  This release has no metadata but what the PDFs contain. Metadata would add or correct titles, authors, years, venues and
  DOIs. Works without a PDF become link targets, so that more bibliography entries are linked.
  Crossref     Save works as {path}/crossref.json, for example by
               curl 'https://api.crossref.org/works?filter=doi:10.18653/v1/n18-3011' > {path}/crossref.json
  Other        Write {path}/records.jsonl: python -m devtools release --help lists its keys
  Then         make release PDFS={path}
  Or deliver   corpus deliver --source crossref --delivery own-works works.json   (seen by later releases of new folders)"""
