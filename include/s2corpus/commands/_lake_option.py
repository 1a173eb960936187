"""Define the option `--lake` of all commands that use a lake."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from s2corpus.errors import UserError

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake

_AWS = {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"}
"""environment variables that select another S3"""


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
    from s2corpus.ids import ReleaseId
    from s2corpus.storage.lake import open_lake

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
