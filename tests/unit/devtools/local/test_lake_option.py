"""A command uses the lake of its option, its environment or the local services, with the matching addresses and keys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devtools.local.services import Services
from devtools.local.state import State

COMMAND = """
import os, click
from s2corpus.commands._options import lake_option
@click.command()
@lake_option()
def command(lake): print(lake, "S2CORPUS_CATALOG" in os.environ, "AWS_ENDPOINT_URL" in os.environ)
command()
"""


@pytest.mark.parametrize(
    ("variables", "arguments", "expected"),
    [
        ({}, ["--lake", "s3://mine"], "s3://mine False False"),
        ({}, ["--lake", "s3://corpus"], "s3://corpus True True"),
        ({"AWS_PROFILE": "mine"}, ["--lake", "s3://corpus"], "s3://corpus False False"),
        ({"S2CORPUS_LAKE": "s3://mine"}, [], "s3://mine False False"),
        ({}, [], "s3://corpus True True"),
    ],
)
def test_local_lake_is_default_unless_environment_has_another(
    variables: dict[str, str], arguments: list[str], expected: str, tmp_path: Path
) -> None:
    """The local services were set up, but do not run."""
    state = State(tmp_path / "state")
    state.create()
    state.choose_ports({})
    Services(state.root).write_environment()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "S2CORPUS_"))}
    environ |= {"S2CORPUS_STATE": str(state.root), "PYTHONPATH": "include", **variables}
    command = [sys.executable, "-c", COMMAND, *arguments]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
