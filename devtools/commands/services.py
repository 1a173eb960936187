"""Commands for the local services: `up`, `status`, `env` and `down`."""

from __future__ import annotations

import shlex
import sys

import click

from s2corpus.commands._options import with_examples

_PORT = click.IntRange(1024, 65535)


@with_examples("python -m devtools up --port-airflow 8080", "eval $(python -m devtools env)")
@click.option(
    "--only", multiple=True, type=click.Choice(("s3", "postgres", "extractor", "airflow")),
    help="Start only this service; may be repeated.",
)  # fmt: skip
@click.option(
    "--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Number of workers of the embedded extractor."
)  # fmt: skip
@click.option("--port-airflow", type=_PORT, help="Port of Airflow.")
@click.option("--port-s3", type=_PORT, help="Port of S3.")
@click.option("--port-postgres", type=_PORT, help="Port of PostgreSQL.")
@click.option("--port-extractor", type=_PORT, help="Port of the embedded extractor.")
def up_command(only: tuple[str, ...], workers: int, **ports: int | None) -> None:
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


@with_examples("python -m devtools status || python -m devtools up")
def status_command() -> None:
    """Show the state of the local services.

    Print the address and log file of each service. The exit status is 1 unless all services run.
    """
    from devtools.local import Condition, Services, default_state
    from devtools.local.airflow import ADMIN, APPROVER

    services = Services(default_state())
    statuses = services.status()
    if not statuses:
        click.echo(f"no local services in {services.state.root}: `make up` starts them")
        sys.exit(1)
    for status in statuses:
        pid = f"pid {status.pid}" if status.pid else ""
        condition = f"{status.condition} ({status.reason})" if status.reason else str(status.condition)
        click.echo(f"{status.name:22} {condition:10} {pid:12}  {status.url}")
        if status.log:
            click.echo(f"{'':22} log {status.log}")
    folder = services.state.root / "airflow"
    click.echo(f"Airflow's tasks log into {folder / 'logs'}")
    click.echo(
        f"Airflow's users are {ADMIN} and {APPROVER}, who may approve what {ADMIN} started; "
        f"their passwords: {folder / 'passwords.json'}"
    )
    if any(status.condition not in (Condition.RUNNING, Condition.EXTERNAL) for status in statuses):
        sys.exit(1)


@with_examples("eval $(python -m devtools env) && airflow dags list")
def env_command() -> None:
    """Print the addresses and keys of the local services.

    The output is `export …` lines for a shell, with the settings of Airflow.
    """
    from devtools.local import Services, default_state

    for name, value in Services(default_state()).endpoints().environ().items():
        click.echo(f"export {name}={shlex.quote(value)}")


@with_examples("python -m devtools down", "python -m devtools down --wipe", "python -m devtools down --wipe --yes")
@click.option("--wipe", is_flag=True, help="List the data that would be deleted.")
@click.option("--yes", is_flag=True, help="With --wipe: delete the data.")
def down_command(wipe: bool, yes: bool) -> None:
    """Stop the local services.

    Data, ports and passwords remain unless you use --wipe --yes.
    """
    from devtools.local import Services, default_state

    services = Services(default_state())
    if not wipe:
        services.down()
    elif yes:
        services.wipe()
        click.echo(f"removed {services.state.root}")
    else:
        for path, size in services.contents():
            click.echo(f"would remove {path}  {size / 1e6:,.1f} MB")
        click.echo(
            "nothing was removed: `python -m devtools down --wipe --yes` stops the services and removes these folders"
        )
