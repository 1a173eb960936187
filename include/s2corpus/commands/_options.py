"""Share options, help texts and error messages between commands."""

from __future__ import annotations

import functools
import gzip
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click

from s2corpus.errors import TransientError, UserError
from s2corpus.ids import ReleaseId
from s2corpus.storage.lake import Lake, open_lake
from s2corpus_reader import SnapshotError, UnreachableError
from s2corpus_reader.errors import describe
from s2orc_parse.outputs import ProgressLine, format_progress

P = ParamSpec("P")
R = TypeVar("R")
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
_AWS = {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"}
"""environment variables that select another S3"""
_GROUP_OPTIONS = "group_options"
"""attribute of a command's function"""
_DAMAGE_ERRORS = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, TypeError, ValueError, gzip.BadGzipFile, zlib.error,
)  # fmt: skip
"""Errors that a damaged snapshot can cause. Arrow's and JSON's errors are subclasses."""


def current_account() -> str:
    """Return the name of the account that runs this process. Variables such as USER, which `getpass` reads, do not count."""
    import pwd

    with suppress(KeyError):  # in some containers the account has no name
        return pwd.getpwuid(os.getuid()).pw_name
    return f"uid {os.getuid()}"


class Command(click.Command):
    """A command that may use options of the group. One example per line of its `epilog` is printed under the heading "Examples"."""

    @property
    def _group_options(self) -> dict[str, tuple[str, Callable[[Any], Any]]]:
        """Options of the group that the command uses: name → parameter, and the function that returns its value."""
        return getattr(self.callback, _GROUP_OPTIONS, {})

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with its options of the group; refuse the others."""
        given: dict[str, Any] = ctx.find_root().obj or {}
        if unused := [name for name, value in given.items() if value and name not in self._group_options]:
            raise click.UsageError(f"No such option: --{unused[0]}", ctx)
        for name, (parameter, resolve) in self._group_options.items():
            ctx.params[parameter] = resolve(given.get(name))
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the names of the group's options that the command uses."""
        super().format_options(ctx, formatter)
        if self._group_options:
            names = ", ".join(f"--{name}" for name in self._group_options)
            formatter.write(f"\n{'':{formatter.current_indent}}  See corpus --help for {names}.\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples without line breaks, so that they can be copied."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def with_examples(*examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command; its help ends with the examples."""
    return click.command(cls=Command, epilog="\n".join(examples))


def lake_option(*, needed: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a command that uses the group's option `--lake`; the parameter is `lake`.

    The lake is the value of the option, or S2CORPUS_LAKE, or the lake of the local services, in this order. The command
    uses the addresses and keys of the local services in the last case, and if the option names their lake and the
    environment has no AWS keys. If `needed`, the command raises UserError if no lake is found.
    """

    def resolve_lake(given: str | None) -> str | None:
        if given is None:
            use_local_services()
            given = os.environ.get("S2CORPUS_LAKE")
        elif not os.environ.keys() & _AWS and given == (local := local_environment()).get("S2CORPUS_LAKE"):
            os.environ.update(local)
        if given is None and needed:
            raise UserError("no lake given: use --lake or set S2CORPUS_LAKE to s3://bucket[/prefix] or a folder")
        return given

    return functools.partial(_use_group_option, "lake", "lake", resolve_lake)


def json_option(command: Callable[P, R]) -> Callable[P, R]:
    """Mark a command that uses the group's option `--json`; the parameter is `as_json`."""
    return _use_group_option("json", "as_json", bool, command)


def _use_group_option(
    name: str, parameter: str, resolve: Callable[[Any], Any], command: Callable[P, R]
) -> Callable[P, R]:
    setattr(command, _GROUP_OPTIONS, {**getattr(command, _GROUP_OPTIONS, {}), name: (parameter, resolve)})
    return command


@contextmanager
def progress_bar(
    label: str, unit: str, size: float = 1, *, quiet: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows progress, given the finished and the total number of items, on a terminal only.

    The bar has the rate, in units of `size` items a second, and the remaining time.
    """
    line, began = ProgressLine(quiet=quiet), time.monotonic()

    def show(done: int, total: int) -> None:
        line.show(lambda: format_progress(label, done, total, time.monotonic() - began, unit, size))

    try:
        yield show
    finally:
        line.clear()


@contextmanager
def file_progress(label: str, snapshot: Lake) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows progress over the files of a snapshot, given the path of each, on a terminal only."""
    done = total = 0
    with suppress(FileNotFoundError, *_DAMAGE_ERRORS):
        total = len(json.loads(snapshot.get("manifest.json")[0])["files"]) if sys.stderr.isatty() else 0
    with progress_bar(label, "files") as show:

        def count(_path: str) -> None:
            nonlocal done
            done += 1
            show(done, max(total, done) if total else 0)

        yield count


def open_release(uri: str, name: str) -> tuple[Lake, ReleaseId]:
    """Open the lake that contains a release, given by its id, or by its corpus for the release of the latest snapshot.

    Raises:
        UserError: the lake does not contain the release.
    """
    from s2corpus.pipeline.reports import find_release

    lake = open_lake(uri)
    return lake, find_release(lake, name)


def use_local_services() -> None:
    """Add the addresses and keys of the local services to the environment.

    The environment does not change if it contains S2CORPUS_LAKE, or if the local services were not set up.
    """
    if "S2CORPUS_LAKE" not in os.environ:
        os.environ.update(local_environment())


def local_state() -> Path:
    """Return the state folder of the local services: S2CORPUS_STATE, or else `.s2corpus` in this checkout."""
    return Path(os.environ.get("S2CORPUS_STATE") or Path(__file__).resolve().parents[3] / ".s2corpus")


def list_local_logs() -> list[Path]:
    """Return the folders with the logs of the local services and of Airflow's tasks."""
    return [folder for pattern in ("logs", "airflow/logs", "airflow/*/logs") for folder in local_state().glob(pattern)]


def local_environment() -> dict[str, str]:
    """Return the environment variables that the setup of the local services wrote to `environment.json`.

    The result is empty if the file is missing or malformed.
    """
    try:
        environment: dict[str, str] = json.loads((local_state() / "environment.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return environment


def reads_snapshot(command: Callable[P, R]) -> Callable[P, R]:
    """Wrap a command so that errors of a damaged snapshot become one readable message.

    Raises:
        UserError: the snapshot is damaged or of another version.
        TransientError: the snapshot cannot be reached.
    """

    @functools.wraps(command)
    def read(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except SnapshotError as error:
            raise UserError(str(error)) from error
        except UnreachableError as error:
            raise TransientError(str(error)) from error
        except _DAMAGE_ERRORS as error:
            what = describe(error)
            raise UserError(
                f"the snapshot cannot be read ({type(error).__name__}: {what}): it is damaged or of another version; "
                f"run corpus verify to find the damage"
            ) from error

    return read
