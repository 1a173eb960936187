"""`python -m devtools …`: the sample, the demo, releases on this machine, and the local services."""

from __future__ import annotations

from collections.abc import Mapping

import click

import devtools.commands
from s2corpus.cli import Commands, run


class _Tools(Commands):
    package = devtools.commands
    sections: Mapping[str, tuple[str, ...]] = {
        "Release commands": ("demo", "release", "sample"),
        "Service commands": ("up", "status", "env", "down"),
    }
    modules: Mapping[str, tuple[str, ...]] = {"services": ("up", "status", "env", "down")}


@click.group(cls=_Tools, context_settings={"help_option_names": ["-h", "--help"]})
def tools() -> None:
    """Try the project in a checkout: build releases under the local Airflow.

    `python -m devtools COMMAND --help` describes a command, with examples.
    """


def main() -> None:
    """Run the command line of the tools."""
    run(tools, "python -m devtools")
