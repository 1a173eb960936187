"""With FAB's auth manager and deploy/airflow-roles.json, a real API server allows each role exactly its own actions."""

import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from tests.airflow_server import api_server
from tests.releases import ROOT

pytestmark = [pytest.mark.airflow, pytest.mark.long]
ALL = "/api/v2/dags?dag_id_pattern=~"
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
SUCCESS = {"new_state": "success"}
CLEAR = {"dry_run": False, "dag_run_id": "one", "task_ids": ["select.work"]}
XCOM = {"key": "return_value", "value": "Approve"}
BACKFILL = {"dag_id": "corpus_release__s2_v2", "from_date": "2026-01-01T00:00:00Z", "to_date": "2026-02-01T00:00:00Z"}
ANSWER = {"chosen_options": ["Approve"], "params_input": {}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """Start the API server with exactly the settings and roles of deploy/; yield its address and a token for a user of each role."""
    pytest.importorskip("airflow.providers.fab.auth_manager")
    home: Path = tmp_path_factory.mktemp("airflow")
    (home / "dags").mkdir()
    passwords = {name: secrets.token_urlsafe(12) for name in ROLES}

    def add_users(environ: dict[str, str]) -> None:
        users = [word for name, role in ROLES.items() for word in (name, role, passwords[name])]
        subprocess.run([sys.executable, "-c", USERS, *users], env=environ, cwd=home, check=True)

    deployed = yaml.safe_load((ROOT / "deploy" / "compose.fab.yaml").read_text("utf-8"))["x-fab"]
    settings = deployed | {
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
    }
    roles = ["roles", "import", str(ROOT / "deploy" / "airflow-roles.json")]
    with api_server(home, settings, [roles], passwords, add_users) as (url, tokens, _):
        yield url, tokens


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
        ("PATCH", DAG, {"is_paused": False}, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("PATCH", ALL, {"is_paused": False}, {"reader": 403, "deliverer": 200, "approver": 403}),
        ("PATCH", RUN, {"state": "failed"}, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("POST", f"{RUN}/clear", {"dry_run": False}, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("PATCH", f"{RUN}/taskInstances/approve", SUCCESS, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("PATCH", f"{RUN}/taskInstances/select.work/0", SUCCESS, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("DELETE", f"{RUN}/taskInstances/approve", None, {"reader": 403, "deliverer": 403, "approver": 403}),
        ("POST", f"{DAG}/clearTaskInstances", CLEAR, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("POST", f"{RUN}/taskInstances/approve/xcomEntries", XCOM, {"reader": 403, "deliverer": 403, "approver": 403}),
        ("POST", "/api/v2/backfills", BACKFILL, {"reader": 403, "deliverer": 404, "approver": 403}),
        ("POST", "/api/v2/assets/events", {"asset_id": 1}, {"reader": 403, "deliverer": 404, "approver": 403}),
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

    Users who deliver and operate do not approve. They may mark tasks as success, which publishes nothing (SPEC §10.16). Users who approve
    do not start, clear, mark or stop runs. No user writes XComs or reads connections.
    """
    assert {who: ask(server, who, method, path, body) for who in answers} == answers
    assert ask(server, None, method, path, body) == 401
