"""The option `--lake` of every command that works in one."""

from __future__ import annotations

import os
from collections.abc import Callable
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

    said = "s3://bucket[/prefix] or a folder; else what S2CORPUS_LAKE names, else the lake of the local services."
    return click.option("--lake", *also, callback=named, help=said)


def use_local_services() -> None:
    """Where no lake is named and local services were set up, take their addresses and keys into this process's environment."""
    if "S2CORPUS_LAKE" not in os.environ:
        from s2corpus.local import Services, default_state

        if (default_state() / "ports.json").exists():
            os.environ.update(Services(default_state()).endpoints().environ())
