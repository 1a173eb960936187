"""Airflow's API server on SQLite in a separate folder, for tests that need its pages and permissions. No scheduler runs."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.compose import ROOT, free_ports


@contextmanager
def api_server(
    home: Path,
    settings: Mapping[str, str],
    commands: list[list[str]],
    passwords: Mapping[str, str],
    before: Callable[[dict[str, str]], None] = lambda environ: None,
) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Run Airflow's commands, call `before` with their environment, and start the server.

    Yield its address, a token for each user of `passwords`, and the environment. The log must contain no traceback.
    """
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "S2CORPUS"))},
        "PYTHONPATH": f"{ROOT / 'include'}:{ROOT / 'deploy' / 'preload'}:{ROOT}", "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__API__BASE_URL": url, "AIRFLOW__API__WORKERS": "1", "AIRFLOW__API__SECRET_KEY": secrets.token_hex(16),
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32), **settings,
    }  # fmt: skip
    log = home / "log"
    airflow = [sys.executable, "-m", "airflow"]
    with log.open("ab") as out:
        for command in (["db", "migrate"], *commands):
            done = subprocess.run([*airflow, *command], cwd=home, env=environ, stdout=out, stderr=out)
            assert done.returncode == 0, log.read_text()[-3000:]
        before(environ)
        server = [*airflow, "api-server", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(server, cwd=home, env=environ, stdout=out, stderr=out, start_new_session=True)
    try:
        deadline = time.monotonic() + 300
        while True:
            try:
                tokens = {name: _token(url, name, word) for name, word in passwords.items()}
                break
            except (httpx.TransportError, ValueError):
                assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-3000:]
                time.sleep(0.5)
        yield url, tokens, environ
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
    assert "Traceback" not in log.read_text(), log.read_text()[-3000:]


def _token(url: str, name: str, password: str) -> str:
    answer = httpx.post(f"{url}/auth/token", json={"username": name, "password": password}, timeout=60)
    return str(answer.json()["access_token"])
