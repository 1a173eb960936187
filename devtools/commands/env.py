"""`python -m devtools env`: the local services' addresses and keys for a shell."""

from __future__ import annotations

import shlex

import click

from devtools.local import Services, default_state


@click.command(epilog="Example: eval $(python -m devtools env) && airflow dags list")
def command() -> None:
    """Print `export …` lines: where the local services answer, with their keys, and Airflow's settings."""
    for name, value in Services(default_state()).endpoints().environ().items():
        click.echo(f"export {name}={shlex.quote(value)}")
