"""`corpus build`: build a release without Airflow, in this process or a few child processes."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import click

from s2corpus.commands._help import PATH, Command
from s2corpus.commands._lake_option import lake_option


@click.command(
    cls=Command, epilog="corpus build include/releases/sample.yaml --as-of 2023-02-01 --lake ./lake --from sample"
)
@click.argument("spec", type=PATH)
@click.option(
    "--as-of",
    required=True,
    type=click.DateTime(["%Y-%m-%d"]),
    help="Use only drops and deliveries that were ready before this day (UTC).",
)
@lake_option()
@click.option(
    "--from",
    "tree",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="First deliver this folder with drops/ and sources/.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of child processes for the shards.",
)
@click.option("--publish/--no-publish", default=True, show_default=True, help="Point latest.json to the snapshot.")
def command(spec: Path, as_of: datetime, lake: str, tree: Path | None, workers: int, publish: bool) -> None:
    """Build a release without Airflow, stage by stage.

    SPEC is a release spec (YAML). GROBID_URL names the extractor; if it is not set, the command starts the embedded extractor.
    """
    from s2corpus.deliveries.upload import deliver_tree
    from s2corpus.extractors.embedded import embedded_extractor
    from s2corpus.pipeline import runner
    from s2corpus.pipeline.run import Run
    from s2corpus.pipeline.stages import STAGE_NAMES
    from s2corpus.pipeline.summary import format_summary, list_losses
    from s2corpus.snapshot.pointer import check_pointer
    from s2corpus.spec import load_spec

    run = Run.open(load_spec(spec), as_of.replace(tzinfo=UTC), lake=lake)
    check_pointer(run.lake, run.spec.name)
    if tree:
        deliver_tree(run.lake, tree)
    with ExitStack() as stack:
        if "GROBID_URL" not in os.environ:
            url, token = stack.enter_context(embedded_extractor(workers=2))
            os.environ |= {"GROBID_URL": url, "S2CORPUS_EXTRACTOR_TOKEN": token}
        for number, name in enumerate(STAGE_NAMES, 1):
            click.echo(f"[{number}/{len(STAGE_NAMES)}] {name}", err=True)
            runner.run_stage(run, name, workers=workers)
    for line in list_losses(run):
        click.echo(f"fewer than {run.parent}: {line}", err=True)
    if publish:
        runner.publish(run)
    else:
        runner.record_unpublished(run)
    click.echo(format_summary(run))
