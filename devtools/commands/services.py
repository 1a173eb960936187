"""Commands for the local services: `up`, `status`, `env` and `down`."""

from __future__ import annotations

import shlex
import sys

import click

from s2corpus.commands._options import with_examples


@with_examples("python -m devtools up")
def up_command() -> None:
    """Start the local services.

    Start S3 (SeaweedFS), PostgreSQL, the embedded extractor (unless GROBID_URL names a GROBID) and Airflow on 127.0.0.1.
    Healthy services continue to run. Ports are chosen once and stored with the passwords in the state folder: `.s2corpus` in
    the project, or S2CORPUS_STATE.
    """
    from devtools.local import Services, default_state
    from devtools.local.airflow import ADMIN, APPROVER

    state = default_state()
    endpoints = Services(state).up()
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


@with_examples("python -m devtools down")
def down_command() -> None:
    """Stop the local services.

    Data, ports and passwords remain in the state folder. Remove the folder to delete them.
    """
    from devtools.local import Services, default_state

    Services(default_state()).down()
