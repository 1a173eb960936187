"""The state folder is private and contains generated secrets.

A command uses the lake of its option, its environment or the local services, with the matching addresses and keys.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from devtools.local.services import Services
from devtools.local.state import SECRETS, TYPED, State
from s2corpus.errors import UserError


@pytest.fixture
def state(tmp_path: Path) -> State:
    made = State(tmp_path / "state")
    made.create()
    made.choose_ports()
    return made


def test_state_folder_is_private(state: State) -> None:
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [state.root, *state.root.rglob("*")]} == {0}
    state.root.chmod(0o755)
    with pytest.raises(UserError, match="contains passwords, but other users may enter"):
        state.create()


def test_secrets_are_generated_and_different(state: State, tmp_path: Path) -> None:
    other = State(tmp_path / "other")
    other.create()
    values = [*state.secrets().values(), *other.secrets().values()]
    assert set(state.secrets()) == set(SECRETS)
    assert len(set(values)) == 2 * len(SECRETS)
    for name, value in state.secrets().items():
        assert len(value) >= (20 if name in TYPED else 44), "80 bits, or 256 bits if no person types it"


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="is not empty and no state folder"):
        State(tmp_path).create()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


COMMAND = """
import os, sys
from s2corpus.commands._options import lake_option, with_examples
@with_examples()
@lake_option()
def command(lake): print(lake, "S2CORPUS_CATALOG" in os.environ, "AWS_ENDPOINT_URL" in os.environ)
command([], obj={"lake": sys.argv[1] if sys.argv[1:] else None})
"""


@pytest.mark.parametrize(
    ("variables", "arguments", "expected"),
    [
        ({}, ["s3://mine"], "s3://mine False False"), ({}, ["s3://corpus"], "s3://corpus True True"),
        ({"AWS_PROFILE": "mine"}, ["s3://corpus"], "s3://corpus False False"), ({}, [], "s3://corpus True True"),
    ],
)  # fmt: skip
def test_local_lake_is_default_unless_environment_has_another(
    variables: dict[str, str], arguments: list[str], expected: str, tmp_path: Path
) -> None:
    state = State(tmp_path / "state")
    state.create()
    state.choose_ports()
    Services(state.root).write_environment()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "S2CORPUS_"))}
    environ |= {"S2CORPUS_STATE": str(state.root), "PYTHONPATH": "include", **variables}
    command = [sys.executable, "-c", COMMAND, *arguments]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
