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
from s2corpus.commands._lake_option import lake_option
@click.command()
@lake_option()
def command(lake): print(lake, "S2CORPUS_CATALOG" in os.environ, "AWS_ENDPOINT_URL" in os.environ)
command()
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a user with local services that were set up but do not run."""
    state = State(tmp_path / "state")
    state.create()
    state.choose_ports({})
    Services(state.root).write_environment()
    known = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "S2CORPUS_"))}
    return known | {"S2CORPUS_STATE": str(state.root), "PYTHONPATH": "include"}


def said(environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_given_lake_is_used_without_local_services(environ: dict[str, str]) -> None:
    assert said(environ, "--lake", "s3://mine") == "s3://mine False False"


def test_the_local_lake_has_its_keys_unless_the_environment_has_others(environ: dict[str, str]) -> None:
    assert said(environ, "--lake", "s3://corpus") == "s3://corpus True True"
    assert said(environ | {"AWS_PROFILE": "mine"}, "--lake", "s3://corpus") == "s3://corpus False False"


def test_lake_of_environment_is_used_without_local_services(environ: dict[str, str]) -> None:
    assert said(environ | {"S2CORPUS_LAKE": "s3://mine"}) == "s3://mine False False"


def test_default_is_lake_and_catalog_of_local_services(environ: dict[str, str]) -> None:
    assert said(environ) == "s3://corpus True True"
