"""`python -m devtools …`: the sample, the demo, releases on this machine, and the local services."""

from __future__ import annotations

import click

import devtools.commands
from s2corpus.cli import Commands, run


class _Tools(Commands):
    package = devtools.commands


@click.group(cls=_Tools, context_settings={"help_option_names": ["-h", "--help"]})
def tools() -> None:
    """Try the project in a checkout: generate a sample, run the demo, start the local services."""


def main() -> None:
    """Run the command line of the tools."""
    run(tools, "python -m devtools")
