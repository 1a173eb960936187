"""`make status`: how the local services are."""

from __future__ import annotations

import sys

import click

from s2corpus.commands._options import Command


@click.command(cls=Command, epilog="python -m devtools status || python -m devtools up")
def command() -> None:
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
        memory = f"{status.memory / 1e6:.0f} MB" if status.memory else ""
        condition = f"{status.condition} ({status.reason})" if status.reason else str(status.condition)
        click.echo(f"{status.name:22} {condition:10} {pid:12} {memory:>8}  {status.url}")
        if status.log:
            click.echo(f"{'':22} log {status.log}")
    click.echo(f"Airflow's tasks log into {services.state.root / 'airflow' / 'logs'}")
    passwords = services.state.root / "airflow" / "passwords.json"
    click.echo(
        f"Airflow's users are {ADMIN} and {APPROVER}, who may approve what {ADMIN} started; their passwords: {passwords}"
    )
    if any(status.condition not in (Condition.RUNNING, Condition.EXTERNAL) for status in statuses):
        sys.exit(1)
