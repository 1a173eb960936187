"""`corpus deliver`: deliver papers as a drop, or metadata of a source."""

from __future__ import annotations

import getpass
import time
from pathlib import Path

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option
from s2corpus.commands._outputs import ProgressLine


@click.command(
    cls=Command,
    epilog=(
        "corpus deliver papers --drop 2026-11-21 --lake s3://corpus\ncorpus deliver --source crossref 2026-11-*.json.gz"
    ),
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--drop", help="Deliver PATHS, one folder, as the drop of this id.")
@click.option("--source", help="Deliver PATHS, files or folders, as metadata of this source (docs/sources.md).")
@click.option("--delivery", help="With --source: id of the delivery.  [default: the current time]")
@click.option("--full", is_flag=True, help="With --source: replace all earlier deliveries of this source.")
@click.option(
    "--by", help="Airflow user who delivers; cannot approve a release of the delivery.  [default: current user]"
)
@lake_option("--to")
def command(
    paths: tuple[Path, ...],
    drop: str | None,
    source: str | None,
    delivery: str | None,
    full: bool,
    by: str | None,
    lake: str,
) -> None:
    """Deliver papers as a drop, or metadata of a source.

    A drop is a folder of PDFs, TEI, JATS or LaTeX with its subfolders; a delivery is files of one source. `_READY` is uploaded last.
    After an interruption, run the same command again: it sends only missing files. The `records.jsonl` of a drop is checked
    first: if intake would refuse this file, nothing is uploaded. Every unusable record is shown.
    """
    from s2corpus.deliveries.upload import deliver, files_below, new_delivery
    from s2corpus.errors import UserError
    from s2corpus.storage.lake import open_lake

    by = by or getpass.getuser()
    if (drop is None) == (source is None):
        raise UserError("give either --drop ID, for a folder of papers, or --source NAME, for files of metadata")
    if drop is not None:
        if len(paths) != 1 or delivery is not None or full:
            raise UserError("a drop is one folder; --delivery and --full are for --source")
        delivery_, files = new_delivery("drop", "", drop, by=by), files_below(paths[0])
    else:
        id_ = delivery or time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())
        delivery_ = new_delivery("delivery", str(source), id_, "full" if full else "delta", by)
        files = {}
        for path in paths:
            for name, file in (files_below(path) if path.is_dir() else {path.name: path}).items():
                if files.setdefault(name, file) != file:
                    raise UserError(f"{file}: {files[name]} has the same name in the delivery: rename one")
    line = ProgressLine()

    def show_progress(done: int, total: int) -> None:
        line.show(lambda: f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB")

    opened = open_lake(lake)
    delivered = deliver(opened, delivery_, files, progress=show_progress)
    line.clear()
    for warning in delivered.warnings:
        click.echo(f"warning: {warning}", err=True)
    counts = f"{delivered.sent} files sent" + (f", {delivered.kept} already in the lake" if delivered.kept else "")
    click.echo(f"{opened.uri(delivered.folder)}: {counts}, ready at {delivered.ready_at.isoformat()}")
