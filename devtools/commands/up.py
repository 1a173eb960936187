"""`make up`: start the local services."""

from __future__ import annotations

import click

from devtools.local import Services, default_state
from devtools.local.services import NAMES

_PORT = click.IntRange(1024, 65535)


@click.command(
    epilog="Example: python -m devtools up --port-airflow 8080; `eval $(python -m devtools env)` to use them from a shell."
)
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Start only this (may be repeated).")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Of the embedded extractor.")
@click.option("--port-airflow", type=_PORT, help="Port of Airflow's pages and API.")
@click.option("--port-s3", type=_PORT, help="Port of S3.")
@click.option("--port-postgres", type=_PORT, help="Port of PostgreSQL.")
@click.option("--port-extractor", type=_PORT, help="Port of the embedded extractor.")
def command(only: tuple[str, ...], workers: int, **ports: int | None) -> None:
    """Start the local services, or only what is not running as it should.

    S3 (SeaweedFS), PostgreSQL, the embedded extractor (unless GROBID_URL names a GROBID) and Airflow, all on
    127.0.0.1. Ports are chosen once and kept, with the passwords, in the state folder: `.s2corpus` in the project, or
    S2CORPUS_STATE.
    """
    explicit = {name.removeprefix("port_"): port for name, port in ports.items() if port is not None}
    state = default_state()
    endpoints = Services(state).up(set(only) or None, workers, explicit)
    if not only or "airflow" in only:
        password = state / "airflow" / "passwords.json"
        click.echo(f"Airflow: {endpoints.airflow_url} (user {endpoints.airflow_user}, password in {password})")
