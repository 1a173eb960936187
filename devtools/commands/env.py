"""`python -m devtools env`: the local services' addresses and keys for a shell."""

from __future__ import annotations

import shlex

import click

from s2corpus.commands._options import Command


@click.command(cls=Command, epilog="eval $(python -m devtools env) && airflow dags list")
def command() -> None:
    """Print the addresses and keys of the local services.

    The output is `export …` lines for a shell, with the settings of Airflow.
    """
    from devtools.local import Services, default_state

    for name, value in Services(default_state()).endpoints().environ().items():
        click.echo(f"export {name}={shlex.quote(value)}")
