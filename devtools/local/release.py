"""A release made by the local Airflow, from delivery to summary: what `make demo` and `make release` do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from devtools.local import Services, default_state
from devtools.local.follow import follow
from devtools.local.services import Endpoints
from devtools.local.state import project
from s2corpus.deployment.airflow_client import AirflowClient
from s2corpus.errors import TransientError
from s2corpus.ids import RELEASE_DAG
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.summary import format_summary
from s2corpus.spec import load_spec, releases_folder


def start_services() -> Endpoints:
    """Start (or reuse) all local services, and point this process at them."""
    endpoints = Services(default_state()).up()
    os.environ.update(endpoints.environ())
    return endpoints


@contextmanager
def kernels_being_compiled() -> Iterator[None]:
    """Compile the kernels that few rows need beside what the block does, where they are not yet: the stages wait for it else.

    It gets little of the processor while others need it.
    """
    command = [sys.executable, "-m", "devtools.local.kernels", "--few", str(os.getpid())]
    quiet = subprocess.DEVNULL
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPATH"] = f"{project() / 'include'}:{project()}"
    process = subprocess.Popen(command, env=environ, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    with suppress(OSError):  # Linux may share time among sessions, whatever the priority of their processes
        os.setpriority(os.PRIO_PROCESS, process.pid, 10)
        Path(f"/proc/{process.pid}/autogroup").write_text("10")
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def make_release(
    endpoints: Endpoints, spec: str, start: datetime, end: datetime, conf: Mapping[str, Any], *, scheduled: bool
) -> Run:
    """Run the release of an interval under Airflow and follow it; the run, finished.

    A scheduled spec's run is made by the scheduler and awaited, or, where it was made before, done again; else it is triggered.

    Raises:
        UserError: the run failed; the message says where and why.
    """
    dag = f"{RELEASE_DAG}{spec}"
    client = AirflowClient(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
    client.wait_for_dag(dag)
    found = client.run_of(dag, start)
    if found and found["state"] in ("success", "failed") and scheduled:
        client.clear(dag, found["dag_run_id"])
    client.unpause(dag)
    run_id = _await_run(client, dag, start) if scheduled else client.trigger(dag, start, end, conf)
    print(f"Airflow run {run_id}: {client.url}/dags/{dag}/runs/{run_id}", flush=True)
    durations = follow(client, dag, run_id)
    chosen = load_spec(releases_folder() / f"{spec}.yaml")
    if conf.get("drops"):
        chosen = chosen.model_copy(update={"drops": tuple(conf["drops"])})
    run = Run.of(chosen, end)
    print()
    print(format_summary(run, durations, command=os.path.relpath(sys.argv[0])))
    return run


def _await_run(client: AirflowClient, dag: str, start: datetime) -> str:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if found := client.run_of(dag, start):
            run_id: str = found["dag_run_id"]
            return run_id
        time.sleep(0.3)
    raise TransientError(f"the scheduler has made no run of {dag} for {start:%Y-%m-%d}: see its log (`make status`)")


def own_interval(ready_at: datetime) -> tuple[datetime, datetime]:
    """The interval (UTC) that sees a drop: the day before the second after `ready_at`, so that each folder of a day has its own release."""
    end = ready_at.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
    return end - timedelta(days=1), end


def print_how_on(endpoints: Endpoints) -> None:
    """Where to look, and how to stop."""
    state = Path(os.path.relpath(default_state()))
    print()
    print(
        f"  Airflow      {endpoints.airflow_url}  user {endpoints.airflow_user}  password {endpoints.airflow_password}"
    )
    print(
        f"  Stop it      make down   (data stay in {state}; `{os.path.relpath(sys.argv[0])} down --wipe --yes` removes them)"
    )
