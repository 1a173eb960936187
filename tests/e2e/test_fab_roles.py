"""With FAB's auth manager and deploy/airflow-roles.json, a real API server allows each role exactly its own actions."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from tests.releases import ROOT

pytestmark = [pytest.mark.airflow, pytest.mark.long]
ROLES = {"reader": "Reader", "deliverer": "Operator", "approver": "Approver"}
USERS = """
import sys
from airflow.providers.fab.auth_manager.cli_commands.utils import get_application_builder
with get_application_builder() as builder:
    for name, role, password in zip(*[iter(sys.argv[1:])] * 3):
        assert builder.sm.add_user(name, name, name, name + "@localhost", builder.sm.find_role(role), password), name
"""
DAG = "/api/v2/dags/corpus_release__s2_v2"
RUN = f"{DAG}/dagRuns/one"
APPROVAL = f"{RUN}/taskInstances/approve/-1/hitlDetails"
ANSWER = {"chosen_options": ["Approve"], "params_input": {}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """Start the API server with exactly the settings and roles of deploy/; yield its address and a token for a user of each role."""
    pytest.importorskip("airflow.providers.fab.auth_manager")
    home: Path = tmp_path_factory.mktemp("airflow")
    (home / "dags").mkdir()
    deployed = yaml.safe_load((ROOT / "deploy" / "compose.fab.yaml").read_text("utf-8"))["x-fab"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "S2CORPUS"))},
        **deployed,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__SECRET_KEY": secrets.token_hex(16),
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
    }
    passwords = {name: secrets.token_urlsafe(12) for name in ROLES}
    users = [word for name, role in ROLES.items() for word in (name, role, passwords[name])]
    airflow = [sys.executable, "-m", "airflow"]
    roles = [*airflow, "roles", "import", str(ROOT / "deploy" / "airflow-roles.json")]
    with (home / "log").open("w") as log:
        for command in ([*airflow, "db", "migrate"], roles, [sys.executable, "-c", USERS, *users]):
            done = subprocess.run(command, env=environ, stdout=log, stderr=log, cwd=home, check=False)
            assert done.returncode == 0, (home / "log").read_text()[-3000:]
        process = subprocess.Popen(
            [*airflow, "api-server", "--host", "127.0.0.1", "--port", str(port)],
            env=environ, stdout=log, stderr=log, cwd=home, start_new_session=True,
        )  # fmt: skip
        try:
            deadline = time.monotonic() + 300
            while True:
                try:
                    yield url, {name: _token(url, name, word) for name, word in passwords.items()}
                    break
                except httpx.TransportError:
                    assert process.poll() is None and time.monotonic() < deadline, (home / "log").read_text()[-3000:]
                    time.sleep(0.5)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _token(url: str, name: str, password: str) -> str:
    answer = httpx.post(f"{url}/auth/token", json={"username": name, "password": password}, timeout=60)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["access_token"])


def ask(server: tuple[str, dict[str, str]], who: str | None, method: str, path: str, body: object = None) -> int:
    headers = {"Authorization": f"Bearer {server[1][who]}"} if who else {}
    return httpx.request(method, server[0] + path, headers=headers, json=body, timeout=60).status_code


# 403: not allowed. 404: allowed, but the run does not exist; the server checks the permission first.
@pytest.mark.parametrize(
    ("method", "path", "body", "answers"),
    [
        ("GET", "/api/v2/dags", None, {"reader": 200, "deliverer": 200, "approver": 200}),
        ("GET", APPROVAL, None, {"reader": 404, "deliverer": 404, "approver": 404}),
        ("PATCH", APPROVAL, ANSWER, {"reader": 403, "deliverer": 403, "approver": 404}),
        ("POST", f"{DAG}/dagRuns", {"logical_date": None}, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("PATCH", RUN, {"state": "failed"}, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("POST", f"{RUN}/clear", {"dry_run": False}, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("DELETE", RUN, None, {"reader": 403, "deliverer": 403, "approver": 403}),
        ("DELETE", DAG, None, {"reader": 403, "deliverer": 403, "approver": 403}),
        ("GET", "/api/v2/connections", None, {"reader": 403, "deliverer": 403, "approver": 403}),
        ("GET", "/api/v2/variables", None, {"reader": 403, "deliverer": 403, "approver": 403}),
    ],
)
def test_each_role_has_exactly_its_permissions(
    server: tuple[str, dict[str, str]], method: str, path: str, body: object, answers: dict[str, int]
) -> None:
    """Check the separation of duties.

    Users who deliver and operate do not approve. Users who approve do not start, clear or stop runs. No user reads
    connections.
    """
    assert {who: ask(server, who, method, path, body) for who in answers} == answers
    assert ask(server, None, method, path, body) == 401
