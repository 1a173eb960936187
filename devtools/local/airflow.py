"""Run the four processes of Airflow, each as a service, with shared settings."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import psutil

from devtools.local import process
from devtools.local.postgres import Postgres
from devtools.local.service import LocalService
from devtools.local.state import State, project
from s2corpus.deployment.http import ask
from s2corpus.deployment.settings import load_settings, read_settings
from s2corpus.errors import UserError
from s2corpus.version import EXCLUDED_MODULES, code_version, sources_hash

ADMIN, APPROVER = "admin", "approver"
"""User names: the administrator, and the user who approves what the administrator started or delivered."""
# Name of the process in Airflow's health report → its command. The API server provides the report.
PARTS = {
    "api_server": ["api-server", "--host", "127.0.0.1"],
    "scheduler": ["scheduler", "--skip-serve-logs"],
    "triggerer": ["triggerer", "--skip-serve-logs"],
    "dag_processor": ["dag-processor"],
}


def airflow_environ(state: State) -> dict[str, str]:
    """Return Airflow's settings as environment variables: every setting that differs from its default."""
    secrets, port = state.secrets(), state.ports()["airflow"]
    home = state.root / "airflow"
    url = f"http://127.0.0.1:{port}"
    settings = {
        "CORE__DAGS_FOLDER": project() / "dags",
        "CORE__PLUGINS_FOLDER": project() / "plugins",
        "CORE__EXECUTOR": "LocalExecutor",
        "CORE__PARALLELISM": max(2, min(4, (os.cpu_count() or 2) + 1)),
        "CORE__LOAD_EXAMPLES": False,
        "CORE__FERNET_KEY": secrets["airflow-fernet"],
        "CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "CORE__SIMPLE_AUTH_MANAGER_USERS": f"{ADMIN}:admin,{APPROVER}:user",
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": home / "passwords.json",  # `make up` and `make status` print it
        "DATABASE__SQL_ALCHEMY_CONN": Postgres(state).database_url("airflow"),
        "API__HOST": "127.0.0.1",
        "API__PORT": port,
        "API__BASE_URL": url,
        "API__WORKERS": 1,
        "API__SECRET_KEY": secrets["airflow-session"],
        "API_AUTH__JWT_SECRET": secrets["airflow-jwt"],
        # Runs of many small tasks spend their time here: by default an idle scheduler sleeps 1 s.
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": 0.2,
        # By default Airflow may notice the end of a task only at the next heartbeat, after five seconds. The task's
        # supervisor waits on the sockets that the ending process closes. If the supervisor is faster than the kernel,
        # no socket is left to wait on (Airflow 3.3.2, `_monitor_subprocess`).
        "WORKERS__MIN_HEARTBEAT_INTERVAL": 1,
        # After the scheduler's process group is killed, its tasks are adopted within a minute. The default is six
        # minutes.
        "SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": 5,
        "SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": 30,
        "SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": 5,
        "SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": 15,
        "SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": 15,
        # New and changed DAG files appear within seconds; the default is five minutes. Changes in files that they read,
        # such as a new release's spec, appear within Airflow's own 30 s. Parsing all DAG files takes seconds of CPU.
        "DAG_PROCESSOR__REFRESH_INTERVAL": 5,
        # A busy machine may need longer than Airflow's 30 and 50 s to import a DAG file.
        "CORE__DAGBAG_IMPORT_TIMEOUT": 150,
        "DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": 180,
        "DAG_PROCESSOR__BUNDLE_REFRESH_CHECK_INTERVAL": 2,
        "LOGGING__BASE_LOG_FOLDER": home / "logs",
    }
    return {f"AIRFLOW__{name}": str(value) for name, value in settings.items()} | {
        "AIRFLOW_HOME": str(home),
        # On one machine, checking costs little.
        "S2CORPUS_DROPS_SECONDS": os.environ.get("S2CORPUS_DROPS_SECONDS", "5"),
        "PYTHONPATH": f"{project() / 'include'}:{project() / 'deploy' / 'preload'}:{project()}",
    }


def _sources() -> str:
    """Return a hash of all modules that tasks import: the modules that make releases, drops and datasets."""
    others = (*(f"s2corpus/{name}" for name in EXCLUDED_MODULES), "s2corpus_datasets")
    return f"{code_version()} {sources_hash(*(project() / 'include' / name for name in others))}"


class AirflowPart(LocalService):
    """One process of Airflow."""

    patience = 120.0

    def __init__(self, state: State, part: str, common: Mapping[str, str]) -> None:
        self.name = f"airflow-{part.replace('_', '-')}"
        super().__init__(state)
        self.part, self.common, self.home = part, common, state.root / "airflow" / part
        port = state.ports().get("airflow", 0)
        self.api, self.port = f"http://127.0.0.1:{port}", port if part == "api_server" else 0
        # the tasks, its children, get our modules from it (deploy/preload/airflow_local_settings.py)
        self.sources = _sources() if part == "scheduler" else ""

    def prepare(self) -> None:
        """Make its working folder and the file with the passwords."""
        super().prepare()
        secrets = self.state.secrets()
        self.state.write("airflow/passwords.json", json.dumps({u: secrets[f"airflow-{u}"] for u in (ADMIN, APPROVER)}))

    def command(self) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "airflow", *PARTS[self.part]]

    def environ(self) -> Mapping[str, str]:
        """Return the environment of DAGs and tasks: all endpoints and Airflow's settings."""
        return self.common

    def problem(self) -> str | None:
        """Read Airflow's health report. Return a description of the problem, or None; the HTTP status is always 200."""
        try:
            answer = ask(f"{self.api}/api/v2/monitor/health")
            report = cast(dict[str, dict[str, str | None]], answer.json())
            if self.part == "api_server":
                # The server creates its task API at the first request. This takes seconds, and no other request is
                # answered meanwhile. Request it now, while the other processes start.
                tasks = ask(f"{self.api}/execution/health").status
        except (OSError, ValueError) as error:
            return f"no health report ({error})"
        key = "metadatabase" if self.part == "api_server" else self.part
        entry = report.get(key) or {}
        if entry.get("status") != "healthy":
            return f"{key} is {entry.get('status') or 'unknown'} in the health report"
        if self.part == "api_server":
            return None if tasks == 200 else f"answers {tasks} to tasks"
        # Only a heartbeat of this very process counts, because the report remains healthy for a while after a death.
        # The heartbeat must also follow the start of the database: a process that lost its database may survive without
        # heartbeats, waiting for its tasks.
        beat = datetime.datetime.fromisoformat(entry.get(f"latest_{self.part}_heartbeat") or "1970-01-01T00:00+00:00")
        leader, database = self.state.leader(self.name), self.state.leader("postgres")
        if leader is None or beat < _started(leader.start):
            return "has no heartbeat since its start"
        if database is not None and beat < _started(database.start):
            return "has no heartbeat since PostgreSQL's start"
        return None

    def settle(self) -> None:
        """Load `airflow_settings.yaml` after the API server answers, unless the same file was loaded last."""
        if self.part != "api_server":
            return
        path = project() / "airflow_settings.yaml"
        settings = read_settings(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        mark = self.state.root / "airflow" / "settings"
        if not mark.exists() or mark.read_text() != digest:
            load_settings(settings, self.api, ADMIN, self.state.secrets()["airflow-admin"])
            self.state.write("airflow/settings", digest)


def _started(ticks: int) -> datetime.datetime:
    """Convert a start time in clock ticks since boot to a time of day."""
    return datetime.datetime.fromtimestamp(psutil.boot_time() + ticks / os.sysconf("SC_CLK_TCK"), datetime.UTC)


@contextmanager
def migrating(state: State, environ: Mapping[str, str]) -> Iterator[None]:
    """Migrate Airflow's database to the installed version, if necessary, while the block runs."""
    version = importlib.metadata.version("apache-airflow-core")
    mark = state.root / "airflow" / "migrated"
    if mark.exists() and mark.read_text() == version:
        yield
        return
    state.folder("airflow")
    log = state.logs / "airflow-migrate.log"
    command = [sys.executable, "-m", "airflow", "db", "migrate"]
    made = process.start(command, folder=state.root / "airflow", log=log, environ=environ)
    try:
        yield
    finally:
        failed = made.wait()
    if failed:
        raise UserError(f"Airflow's database could not be migrated: see {log}")
    state.write("airflow/migrated", version)
