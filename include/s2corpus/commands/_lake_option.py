"""The option `--lake` of every command that works in one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from s2corpus.errors import UserError


def lake_option(*also: str, needed: bool = True) -> Callable[[Any], Any]:
    """`--lake` (`also`: other names of it); else what S2CORPUS_LAKE names; else the local services' lake.

    What is given is used with nothing of the local services.
    """

    def named(_ctx: click.Context, _param: click.Parameter, given: str | None) -> str | None:
        if given is None:
            use_local_services()
            given = os.environ.get("S2CORPUS_LAKE")
        if given is None and needed:
            raise UserError("no lake given: use --lake or set S2CORPUS_LAKE to s3://bucket[/prefix] or a folder")
        return given

    help_text = "s3://bucket[/prefix] or a folder.  [default: S2CORPUS_LAKE, else the lake of the local services]"
    return click.option("--lake", *also, callback=named, help=help_text)


def use_local_services() -> None:
    """Take the addresses and keys of the local services into the environment, if they were set up and it names no lake."""
    if "S2CORPUS_LAKE" not in os.environ:
        os.environ.update(local_environment())


def local_environment() -> dict[str, str]:
    """Return the variables that the local services of this checkout wrote when they were set up; none elsewhere."""
    state = os.environ.get("S2CORPUS_STATE") or Path(__file__).resolve().parents[3] / ".s2corpus"
    try:
        found: dict[str, str] = json.loads((Path(state) / "environment.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found
