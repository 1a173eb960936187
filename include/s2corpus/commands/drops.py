"""`corpus drops`: list drops and deliveries with their states, and process new drops."""

from __future__ import annotations

import logging
from collections import Counter

import click

from s2corpus.commands._help import Command
from s2corpus.commands._lake_option import lake_option, local_environment
from s2corpus.commands._outputs import format_counts


@click.command(cls=Command, epilog=("corpus drops\ncorpus drops --state refused\ncorpus drops --process"))
@click.option("--process", is_flag=True, help="First process new drops and those that an earlier run did not finish.")
@click.option("--state", help="Show only drops in this state.")
@lake_option()
def command(process: bool, state: str | None, lake: str) -> None:
    """List drops and deliveries with their state.

    Each line has the state (released, waiting, paused, refused …), the folder, counts and details. Unusable records of a
    drop's records.jsonl follow. docs/drops.md describes the states.

    --process does the work of the DAG pdf_drops without Airflow: it registers new drops and runs select, extract (by
    GROBID_URL) and postprocess for their PDFs. The next release uses the results. Release specs select the drops
    (S2CORPUS_RELEASES, or include/releases).
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
        specs, errors = read_specs(releases_folder())
        if errors:
            raise UserError("; ".join(errors))
        processing.process(opened, specs)
    counts: Counter[str] = Counter()
    for status in iterate_drop_statuses(opened, paused=_is_drops_dag_paused(lake)):
        if state in (None, status.name):
            row = status.row
            counts[status.name] += 1
            click.echo("\t".join([status.outcome, row.name, row.counts, status.detail]).rstrip("\t"))
            for warning in row.warnings:
                click.echo(f"\t{row.name}\t{warning}")
    click.echo(format_counts(counts) or "no drops or deliveries", err=True)


def _is_drops_dag_paused(lake: str) -> bool:
    """Return whether the local Airflow uses this lake and has paused the DAG `pdf_drops`."""
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
