"""`make down`: stop the local services, and on request remove their data."""

from __future__ import annotations

import click

from devtools.local import Services, default_state


@click.command(
    epilog="Example: python -m devtools down; down --wipe lists what would go, down --wipe --yes removes it."
)
@click.option("--wipe", is_flag=True, help="Show what removing all data of the local services would remove.")
@click.option("--yes", is_flag=True, help="With --wipe: do it.")
def command(wipe: bool, yes: bool) -> None:
    """Stop the local services. Data, ports and passwords stay, unless --wipe --yes says otherwise."""
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
