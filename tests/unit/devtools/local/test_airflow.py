"""Local services set Airflow's configuration."""

from __future__ import annotations

import importlib.util
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml

from devtools.local.airflow import AirflowPart, airflow_environ
from devtools.local.state import State, project


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    state = State(tmp_path / "state")
    state.create()
    state.choose_ports({"airflow": 18080})
    return airflow_environ(state)


def test_every_setting_exists_in_this_airflow(environ: dict[str, str]) -> None:
    spec = importlib.util.find_spec("airflow")
    assert spec and spec.origin
    known = yaml.safe_load((Path(spec.origin).parent / "config_templates/config.yml").read_text())
    options = {f"AIRFLOW__{section}__{option}".upper() for section in known for option in known[section]["options"]}
    assert {name for name in environ if name.startswith("AIRFLOW__")} <= options


def test_settings_have_the_port_and_folders_of_this_state(environ: dict[str, str], tmp_path: Path) -> None:
    assert environ["AIRFLOW__API__PORT"] == "18080"
    assert environ["AIRFLOW__API__BASE_URL"] == "http://127.0.0.1:18080"
    assert environ["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] == "http://127.0.0.1:18080/execution/"
    assert environ["AIRFLOW_HOME"] == str(tmp_path / "state" / "airflow")
    assert environ["AIRFLOW__CORE__DAGS_FOLDER"] == str(project() / "dags")
    assert environ["PYTHONPATH"].split(os.pathsep) == [str(project() / "include"), str(project())]


@pytest.mark.parametrize(("answer", "problem"), [(200, None), (503, "answers 503 to tasks")])
def test_api_server_is_healthy_once_it_answers_tasks(tmp_path: Path, answer: int, problem: str | None) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answer if self.path == "/execution/health" else 200)
            self.end_headers()
            self.wfile.write(json.dumps({"metadatabase": {"status": "healthy"}}).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        state = State(tmp_path / "state")
        state.create()
        state.choose_ports({"airflow": server.server_port})
        assert AirflowPart(state, "api_server", {}).problem() == problem
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
