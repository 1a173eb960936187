"""`make down`: stop the local services, and on request remove their data."""

from __future__ import annotations

import click

from s2corpus.commands._options import Command


@click.command(
    cls=Command,
    epilog=("python -m devtools down\npython -m devtools down --wipe\npython -m devtools down --wipe --yes"),
)
@click.option("--wipe", is_flag=True, help="List the data that would be deleted.")
@click.option("--yes", is_flag=True, help="With --wipe: delete the data.")
def command(wipe: bool, yes: bool) -> None:
    """Stop the local services.

    Data, ports and passwords remain unless you use --wipe --yes.
    """
    from devtools.local import Services, default_state

    services = Services(default_state())
    if not wipe:
        services.down()
        return
    if yes:
        services.wipe()
        click.echo(f"removed {services.state.root}")
        return
    for path, size in services.contents():
        click.echo(f"would remove {path}  {size / 1e6:,.1f} MB")
    click.echo(
        "nothing was removed: `python -m devtools down --wipe --yes` stops the services and removes these folders"
    )
