"""Define the command line `corpus`: run stages on files without Airflow, and read snapshots."""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import NoReturn

import click

import s2corpus.commands
from s2corpus.errors import TransientError, UserError, suggest
from s2orc_parse.scratch import private


class Commands(click.Group):
    """A group of commands. Only the module of the requested command is imported."""

    sections: Mapping[str, tuple[str, ...]] = {
        "Release commands": (
            "init",
            "check",
            "add",
            "build",
            "list",
            "status",
            "drops",
            "accept",
            "report",
            "explain",
            "evaluate",
            "compare",
            "preview",
        ),
        "Snapshot commands": (
            *(
                "read",
                "verify",
                "diff",
                "delta",
                "apply",
                "push",
                "register",
                "publish",
                "yank",
                "restore",
                "takedown",
                "correct",
                "prune",
            ),
            *("dataset", "similar"),
        ),
        "Maintenance commands": ("catalog", "doctor"),
        "File commands": (*("convert", "select", "records", "cluster", "link", "clean", "calibrate"),),
    }
    """heading of `--help` → names of its commands, in the order of use"""
    modules: Mapping[str, tuple[str, ...]] = {
        "corpora": ("init", "add", "list", "status"),
        "releases": ("drops", "build", "accept", "report"),
        "snapshots": ("read", "verify", "diff", "delta", "apply"),
        "publishing": ("push", "register", "publish", "prune"),
        "actions": ("yank", "restore", "takedown", "correct"),
        "papers": ("cluster", "explain"),
    }
    """module → its functions `<name>_command`. Another command is the function `command` of the module with its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options of the group, which may also follow the command."""
        options = [p for p in self.params if isinstance(p, click.Option) and not p.is_eager]
        is_flag = {name: option.is_flag for option in options for name in option.opts}
        first: list[str] = []
        rest: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                rest += [word, *words]
            elif is_flag.get(word.partition("=")[0]) is None:
                rest.append(word)
            elif is_flag.get(word, True):
                first.append(word)
            elif (value := next(words, None)) is None:
                raise click.BadOptionUsage(word, f"Option {word!r} requires an argument.", ctx)
            else:
                first += [word, value]
        return super().parse_args(ctx, [*first, *rest])

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return [name for names in self.sections.values() for name in names]

    def _find_function(self, name: str) -> tuple[str, str]:
        """Return the module and the function of a command."""
        return next(((m, f"{name}_command") for m, names in self.modules.items() if name in names), (name, "command"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command.

        Raises:
            UsageError: there is no such command; the message contains a similar name.
        """
        if cmd_name not in (names := self.list_commands(ctx)):
            raise click.UsageError(f"no command {cmd_name!r}{suggest(cmd_name, names)}", ctx)
        module, function = self._find_function(cmd_name)
        try:
            command: click.Command = getattr(importlib.import_module(f"s2corpus.commands.{module}"), function)
        except ModuleNotFoundError as missing:
            return _not_installed(cmd_name, missing)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section with the first sentence of each command, without importing the commands."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self._read_summary(name)) for name in names])

    def _read_summary(self, name: str) -> str:
        """Return the first line of the docstring of the command's function."""
        module, function = self._find_function(name)
        for node in ast.parse(files(s2corpus.commands).joinpath(f"{module}.py").read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                return (ast.get_docstring(node) or "").partition("\n")[0].removesuffix(".")
        return ""


def _not_installed(name: str, missing: ModuleNotFoundError) -> click.Command:
    """Return a replacement for a command with missing packages; it reports what to install."""
    message = (
        f"corpus {name} needs {missing.name}: pip install 's2corpus[airflow,local]', or `make setup` in a checkout"
    )

    def refuse(**_: object) -> None:
        raise UserError(message)

    settings = {"ignore_unknown_options": True}
    return click.Command(
        name, callback=refuse, params=[click.Argument(["anything"], nargs=-1)], help=message, context_settings=settings
    )


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(s2corpus.__version__, prog_name="corpus")
@click.option(
    "--lake", help="s3://bucket[/prefix] or a folder.  [default: S2CORPUS_LAKE, else the lake of the local services]"
)
@click.option("--json", is_flag=True, help="Print JSON: one document, or one per line.")
@click.pass_context
def corpus(ctx: click.Context, lake: str | None, json: bool) -> None:
    """Build S2ORC-style corpora from scientific PDFs, and read their snapshots.

    `corpus COMMAND --help` describes a command, with examples. `--lake` and `--json` may follow the command.
    """
    ctx.obj = {"lake": lake, "json": json}


def main() -> None:
    """Run the command line `corpus`."""
    run(corpus, "corpus")


def run(group: click.Group, name: str) -> None:
    """Run a command line.

    Print a `UserError`, or an error of a disk or file, as one sentence on stderr and exit with status 2. Exit with status 3 after a
    transient error. SIGTERM ends a command like Ctrl-C: incomplete files are removed.
    """
    # Imported modules are never garbage: scanning them repeatedly would take a tenth of the start of a short command.
    gc.set_threshold(50_000)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            private()  # set the folder of `tempfile` before the command uses it
            group(prog_name=name)
        finally:
            sys.stdout.flush()
    except (UserError, TransientError) as error:
        _exit_with_error(name, error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        from s2corpus.storage.error_kinds import convert_environment_error

        environment_error = convert_environment_error(error)
        if environment_error is None:
            raise
        _exit_with_error(name, environment_error)


def _exit_with_error(name: str, error: UserError | TransientError) -> NoReturn:
    """Print the error and exit with status 2, or 3 if it is transient."""
    is_permanent = isinstance(error, UserError)
    click.echo(f"{name}: {error}{'' if is_permanent else ' (trying again may help)'}", err=True)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # do not retry output that could not be written
    sys.exit(2 if is_permanent else 3)
