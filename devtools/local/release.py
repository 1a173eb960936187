"""Make a release with the local Airflow, from delivery to summary, as `make demo` and `make release` do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from devtools.local import Services, default_state
from devtools.local.airflow_runs import AirflowRuns
from devtools.local.follow import follow
from devtools.local.services import Endpoints
from devtools.local.state import project
from s2corpus.errors import TransientError
from s2corpus.ids import RELEASE_DAG
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.summary import format_summary
from s2corpus.spec import load_spec, releases_folder
from s2corpus.storage.lake import open_lake
from s2corpus_reader.bounded import read_object
from s2corpus_reader.parquet import read_table

COMMAND = os.path.relpath(Path(sys.executable).parent / "corpus")
"""The command line of this environment, as a user types it."""


def start_services() -> Endpoints:
    """Start (or reuse) all local services, and point this process at them."""
    endpoints = Services(default_state()).up()
    os.environ.update(endpoints.environ())
    return endpoints


@contextmanager
def kernels_being_compiled() -> Iterator[None]:
    """Compile missing kernels that few rows need, in a separate process, while the block runs.

    Otherwise the stages wait for the compiler. The process has low priority: other processes get the CPU first.
    """
    command = [sys.executable, "-m", "devtools.local.kernels", "--few", str(os.getpid())]
    quiet = subprocess.DEVNULL
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPATH"] = f"{project() / 'include'}:{project()}"
    process = subprocess.Popen(command, env=environ, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    with suppress(OSError):  # Linux may share CPU time among sessions, regardless of the priority of their processes.
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
    """Run the release of an interval under Airflow and follow it; return the finished run.

    The scheduler creates the run of a scheduled spec; this function waits for it. If that run exists already, it is run
    again. The run of any other spec is triggered.

    Raises:
        UserError: the run failed; the message contains the place and the reason.
    """
    dag = f"{RELEASE_DAG}{spec}"
    client = AirflowRuns(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
    client.wait_for_dag(dag)
    found = client.run_of(dag, start)
    if found and found["state"] in ("success", "failed") and scheduled:
        client.clear(dag, found["dag_run_id"])
    client.unpause(dag)
    run_id = _await_run(client, dag, start) if scheduled else client.trigger(dag, start, end, conf)
    print(f"Airflow run {run_id}: {client.url}/dags/{dag}/runs/{run_id}", flush=True)
    follow(client, dag, run_id)
    chosen = load_spec(releases_folder() / f"{spec}.yaml")
    if conf.get("drops"):
        chosen = chosen.model_copy(update={"drops": tuple(conf["drops"])})
    run = Run.open(chosen, end)
    print()
    print(format_summary(run, command=COMMAND))
    return run


def _await_run(client: AirflowRuns, dag: str, start: datetime) -> str:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if found := client.run_of(dag, start):
            run_id: str = found["dag_run_id"]
            return run_id
        time.sleep(0.3)
    raise TransientError(f"the scheduler has made no run of {dag} for {start:%Y-%m-%d}: see its log (`make status`)")


def own_interval(ready_at: datetime) -> tuple[datetime, datetime]:
    """Return the interval (UTC) of a drop: the day before the second after `ready_at`.

    So each folder of a day has a separate release.
    """
    end = ready_at.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
    return end - timedelta(days=1), end


def format_difference(run: Run) -> str:
    """Return the number of documents added, removed, moved, changed and unchanged since the parent snapshot, with reasons.

    The last line contains the command that lists them.
    """
    snapshot = open_lake(run.lake.uri(f"snapshots/{run.snapshot_id}"))
    diff = read_object(snapshot, "diff.json")
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for row in read_table(snapshot, "changes.parquet").to_pylist():
        reason = f"from {row['former_set']} {row['former_split']}" if row["change"] == "moved" else row["reason"]
        reasons[row["change"]].update([reason] if reason else [])
    lines = []
    for change in ("added", "removed", "moved", "changed", "same"):
        counts = ", ".join(f"{n} of {set_}" for set_, n in sorted(diff[change]["documents"].items()) if n)
        why = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons[change].items()))
        lines.append(f"  {change:<12} {counts or 'none'}" + (f" ({why})" if why else ""))
    lines.append(f"  List them    {COMMAND} diff {run.parent} {run.snapshot_id} --list")
    return "\n".join(lines)


def print_next_steps(endpoints: Endpoints, *hints: str) -> None:
    """Print the releases page with its login, more lines (`hints`), and the commands that stop and delete."""
    page = f"{endpoints.airflow_url}/plugin/corpus-releases"
    more = "".join(f"\n  {hint}" for hint in hints)
    print(f"""
  The releases   {page}
                 user {endpoints.airflow_user}, password {endpoints.airflow_password}
                 Open a release to see its funnel and checks. Search for a title to see the way of one paper:
                 its records, the vote for each field, and why it is in the corpus or not.{more}
  Stop           make down   (keeps the data in {os.path.relpath(default_state())})
  Delete         {os.path.relpath(sys.executable)} -m devtools down --wipe --yes
""")
