"""The state folder is private, is chosen once, and contains generated secrets."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from devtools.local.state import PORTS, SECRETS, TYPED, State, require_free
from s2corpus.errors import UserError


@pytest.fixture
def state(tmp_path: Path) -> State:
    made = State(tmp_path / "state")
    made.create()
    made.choose_ports({})
    return made


def modes(root: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [root, *root.rglob("*")]}


def test_state_folder_is_private(state: State) -> None:
    assert modes(state.root) == {0}


def test_secrets_are_generated_and_different(state: State, tmp_path: Path) -> None:
    other = State(tmp_path / "other")
    other.create()
    values = [*state.secrets().values(), *other.secrets().values()]
    assert set(state.secrets()) == set(SECRETS)
    assert len(set(values)) == 2 * len(SECRETS)
    for name, value in state.secrets().items():
        assert len(value) >= (20 if name in TYPED else 44), "80 bits, or 256 bits if no person types it"


def test_ports_and_secrets_are_chosen_once(state: State) -> None:
    ports, secrets = state.ports(), state.secrets()
    again = State(state.root)
    again.create()
    again.choose_ports({})
    assert (again.ports(), again.secrets()) == (ports, secrets)
    assert set(ports) == set(PORTS)
    assert len(set(ports.values())) == len(PORTS)


def test_explicit_port_replaces_the_chosen_one(state: State) -> None:
    before = state.ports()
    state.choose_ports({"airflow": 18080})
    state.choose_ports({})
    assert state.ports() == before | {"airflow": 18080}


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="is not empty and no state folder"):
        State(tmp_path).create()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_folder_open_to_others_is_refused(state: State) -> None:
    state.root.chmod(0o755)
    with pytest.raises(UserError, match="holds passwords but others may enter"):
        state.create()


def test_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(UserError, match="cannot make the state folder"):
        State(tmp_path / "state").create()


def test_port_in_use_is_reported_with_its_owner() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(UserError, match=rf"port {port} of airflow is in use by process \d+"):
            require_free("airflow", port)
    require_free("airflow", port)
