"""`corpus …`: every stage on files without Airflow, and reading what was published."""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import pkgutil
import signal
import sys
from typing import NoReturn

import click

import s2corpus.commands
from s2corpus.errors import TransientError, UserError
from s2orc_parse.scratch import private


class Commands(click.Group):
    """Finds a command as the module of its name in a package, and imports only the one that runs."""

    package = s2corpus.commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the package's public modules."""
        names = (m.name for m in pkgutil.iter_modules(self.package.__path__))
        return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of the module of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        try:
            module = importlib.import_module(f"{self.package.__name__}.{cmd_name.replace('-', '_')}")
        except ModuleNotFoundError as missing:
            return _not_installed(cmd_name, missing)
        command: click.Command = module.command
        return command


def _not_installed(name: str, missing: ModuleNotFoundError) -> click.Command:
    """A command in the place of one whose packages are not installed: it says what to install."""
    sentence = (
        f"corpus {name} needs {missing.name}: pip install 's2corpus[airflow,local]', or `make setup` in a checkout"
    )

    def refuse(**_: object) -> None:
        raise UserError(sentence)

    settings = {"ignore_unknown_options": True}
    return click.Command(
        name, callback=refuse, params=[click.Argument(["anything"], nargs=-1)], help=sentence, context_settings=settings
    )


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(s2corpus.__version__, prog_name="corpus")
def corpus() -> None:
    """Build S2ORC-style corpora from scientific PDFs: every stage on files, and reading snapshots."""


def main() -> None:
    """Run the command line `corpus`."""
    run(corpus, "corpus")


def run(group: click.Group, name: str) -> None:
    """Run a command line.

    A `UserError`, and what a disk or a file refuses, is one sentence on stderr and exit status 2; a transient error has exit status 3.
    SIGTERM ends a command as Ctrl-C does: what is half written is removed.
    """
    gc.set_threshold(
        50_000
    )  # what is imported stays: looking through it again and again is a tenth of a short command's start
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            private()
            group(prog_name=name)
        finally:
            sys.stdout.flush()
    except (UserError, TransientError) as error:
        _end(name, error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        from s2corpus.storage.transient import of_the_surroundings

        meant = of_the_surroundings(error)
        if meant is None:
            raise
        _end(name, meant)


def _end(name: str, error: UserError | TransientError) -> NoReturn:
    """One sentence, and the exit status: 2, or 3 for a transient error."""
    lasting = isinstance(error, UserError)
    click.echo(f"{name}: {error}{'' if lasting else ' (trying again may help)'}", err=True)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what it could not take is not tried again
    sys.exit(2 if lasting else 3)
