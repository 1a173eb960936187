"""Types of options, and the help text of a command: its description, its options, then examples that can be copied."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)


class Command(click.Command):
    """A command whose `epilog` has one example a line, printed without line breaks under the heading "Examples"."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples without line breaks, so that they can be copied."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")
