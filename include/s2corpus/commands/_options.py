"""Share options, help texts and error messages between commands."""

from __future__ import annotations

import functools
import gzip
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click

from s2corpus.errors import TransientError, UserError
from s2corpus.ids import ReleaseId
from s2corpus.storage.lake import Lake, open_lake
from s2corpus_reader import SnapshotError, UnreachableError
from s2corpus_reader.errors import describe

P = ParamSpec("P")
R = TypeVar("R")
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
_AWS = {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"}
"""environment variables that select another S3"""
_DAMAGE_ERRORS = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, TypeError, ValueError, gzip.BadGzipFile, zlib.error,
)  # fmt: skip
"""Errors that a damaged snapshot can cause. Arrow's and JSON's errors are subclasses."""


class Command(click.Command):
    """A command with one example per line of its `epilog`, printed without line breaks under the heading "Examples"."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples without line breaks, so that they can be copied."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def with_examples(*examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command; its help ends with the examples."""
    return click.command(cls=Command, epilog="\n".join(examples))


def lake_option(*also: str, needed: bool = True) -> Callable[[Any], Any]:
    """Return a decorator that adds the option `--lake` to a command.

    The lake is the value of the option, or S2CORPUS_LAKE, or the lake of the local services, in this order. The command
    uses the addresses and keys of the local services in the last case, and if the option names their lake and the
    environment has no AWS keys.

    Args:
        also: other names of the option.
        needed: raise UserError if no lake is found.
    """

    def resolve_lake(_ctx: click.Context, _param: click.Parameter, given: str | None) -> str | None:
        if given is None:
            use_local_services()
            given = os.environ.get("S2CORPUS_LAKE")
        elif not os.environ.keys() & _AWS and given == (local := local_environment()).get("S2CORPUS_LAKE"):
            os.environ.update(local)
        if given is None and needed:
            raise UserError("no lake given: use --lake or set S2CORPUS_LAKE to s3://bucket[/prefix] or a folder")
        return given

    help_text = "s3://bucket[/prefix] or a folder.  [default: S2CORPUS_LAKE, else the lake of the local services]"
    return click.option("--lake", *also, callback=resolve_lake, help=help_text)


def open_release(uri: str, release: str) -> Lake:
    """Open the lake that contains a release.

    Raises:
        UserError: the lake does not contain the release.
    """
    lake = open_lake(uri)
    releases = lake.folders("releases/")
    if not ReleaseId.is_valid(release) or release not in releases:
        raise UserError(
            f"{release}: no such release in {lake.root}; existing releases: {', '.join(releases) or 'none'}"
        )
    return lake


def use_local_services() -> None:
    """Add the addresses and keys of the local services to the environment.

    The environment does not change if it contains S2CORPUS_LAKE, or if the local services were not set up.
    """
    if "S2CORPUS_LAKE" not in os.environ:
        os.environ.update(local_environment())


def local_environment() -> dict[str, str]:
    """Return the environment variables that the setup of the local services wrote to `environment.json`.

    The file is in the state folder: S2CORPUS_STATE, or else `.s2corpus` in this checkout. The result is empty if the file is
    missing or malformed.
    """
    state = os.environ.get("S2CORPUS_STATE") or Path(__file__).resolve().parents[3] / ".s2corpus"
    try:
        environment: dict[str, str] = json.loads((Path(state) / "environment.json").read_text("utf-8"))
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


def open_lake_of(folder: Lake, snapshot: str, advice: str) -> Lake:
    """Open the lake that contains the folder of a snapshot.

    Raises:
        UserError: the folder is not in a lake; the message ends with `advice`.
    """
    root, _, name = folder.root.rstrip("/").rpartition("/snapshots/")
    if not root or name != snapshot:
        raise UserError(f"{folder.root} is not in a lake (…/snapshots/{snapshot}): {advice}")
    return open_lake(root)
