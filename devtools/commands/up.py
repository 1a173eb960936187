"""`make up`: start the local services."""

from __future__ import annotations

import click

from s2corpus.commands._options import Command

_SERVICES = ("s3", "postgres", "extractor", "airflow")
_PORT = click.IntRange(1024, 65535)


@click.command(cls=Command, epilog=("python -m devtools up --port-airflow 8080\neval $(python -m devtools env)"))
@click.option("--only", multiple=True, type=click.Choice(_SERVICES), help="Start only this service; may be repeated.")
@click.option(
    "--workers",
    default=2,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Number of workers of the embedded extractor.",
)
@click.option("--port-airflow", type=_PORT, help="Port of Airflow.")
@click.option("--port-s3", type=_PORT, help="Port of S3.")
@click.option("--port-postgres", type=_PORT, help="Port of PostgreSQL.")
@click.option("--port-extractor", type=_PORT, help="Port of the embedded extractor.")
def command(only: tuple[str, ...], workers: int, **ports: int | None) -> None:
    """Start the local services.

    Start S3 (SeaweedFS), PostgreSQL, the embedded extractor (unless GROBID_URL names a GROBID) and Airflow on 127.0.0.1.
    Healthy services continue to run. Ports are chosen once and stored with the passwords in the state folder: `.s2corpus` in
    the project, or S2CORPUS_STATE.
    """
    from devtools.local import Services, default_state
    from devtools.local.airflow import ADMIN, APPROVER

    explicit = {name.removeprefix("port_"): port for name, port in ports.items() if port is not None}
    state = default_state()
    endpoints = Services(state).up(set(only) or None, workers, explicit)
    if not only or "airflow" in only:
        passwords = state / "airflow" / "passwords.json"
        click.echo(f"Airflow: {endpoints.airflow_url} (passwords of the users {ADMIN} and {APPROVER}: {passwords})")
