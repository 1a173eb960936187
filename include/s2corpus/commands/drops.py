"""`corpus drops`: what has arrived, what became of it, and working on what is new."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option, local_environment


@click.command(cls=Command, epilog=("corpus drops\ncorpus drops --state refused\ncorpus drops --process"))
@click.option("--process", is_flag=True, help="First process new drops and those that an earlier run did not finish.")
@click.option("--state", help="Show only drops in this state.")
@lake_option()
@click.option(
    "--specs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of release specs, which select the drops.  [default: include/releases]",
)
def command(process: bool, state: str | None, lake: str, specs: Path | None) -> None:
    """List drops and deliveries with their state.

    Each line has the state (released, waiting, paused, refused …), the folder, counts and details. Unusable records of a
    drop's records.jsonl follow. docs/drops.md describes the states.

    --process does the work of the DAG pdf_drops without Airflow: it registers new drops and runs select, extract (by
    GROBID_URL) and postprocess for their PDFs. The next release uses the results.
    """
    from s2corpus.drops import processing
    from s2corpus.drops.standing import NAMES, iterate_drop_statuses
    from s2corpus.errors import UserError
    from s2corpus.spec import read_specs, releases_folder
    from s2corpus.storage.lake import open_lake

    if state and state not in NAMES:
        raise UserError(f"no state {state!r}: expected one of {', '.join(NAMES)}")
    opened = open_lake(lake)
    if process:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        known, wrong = read_specs(specs or releases_folder())
        if wrong:
            raise UserError("; ".join(wrong))
        processing.process(opened, known)
    counts: Counter[str] = Counter()
    for found in iterate_drop_statuses(opened, paused=_paused(lake)):
        if state in (None, found.name):
            row = found.row
            counts[found.name] += 1
            click.echo("\t".join([found.outcome, row.name, row.counts, found.detail]).rstrip("\t"))
            for warning in row.warnings:
                click.echo(f"\t{row.name}\t{warning}")
    click.echo(", ".join(f"{n} {word}" for word, n in sorted(counts.items())) or "nothing has arrived", err=True)


def _paused(lake: str) -> bool:
    """Whether the local Airflow, where one runs over this lake, has the DAG paused that works on drops."""
    from s2corpus.deployment.airflow_client import AirflowClient
    from s2corpus.errors import TransientError, UserError

    services = local_environment()
    if services.get("S2CORPUS_LAKE", "").rstrip("/") != lake.rstrip("/"):
        return False
    try:
        client = AirflowClient(*(services[f"AIRFLOW_{name}"] for name in ("URL", "USER", "PASSWORD")))
        return bool(client.call("GET", "dags/pdf_drops", absent={}).get("is_paused"))
    except (UserError, TransientError, OSError):
        return False
