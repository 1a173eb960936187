"""`python -m devtools release`: add a folder of papers to a corpus and build a release, by Airflow."""

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
@click.argument("corpus", default="own")
def command(folder: Path, corpus: str) -> None:
    """Add a folder of papers to a corpus, and build its release under the local Airflow.

    FOLDER contains PDFs, JATS or LaTeX, also in subfolders. CORPUS is the name of a spec (`corpus init`), `own` by default. The release
    contains everything that was added before.

    Metadata files at the top of FOLDER are optional. crossref*.json or crossref*.jsonl (also .gz) contains Crossref works: an
    answer of the REST API, or one work a line. records.jsonl has one JSON object for each file, with its `name` or `file_sha1`:

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
    run = make_release(endpoints, spec.name, start, end, {}, scheduled=False)
    click.echo()
    click.echo(format_papers_report(run))
    if not read_metrics(run)["intake"].get("records"):
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
  Or add       corpus add own --source crossref works.json   (part of the next release)"""
