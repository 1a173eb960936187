"""Process drops and make a release with the local Airflow, as `make demo` and `make release` do."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from devtools.local import Services, default_state
from devtools.local.airflow import APPROVER
from devtools.local.airflow_runs import AirflowRuns, follow
from devtools.local.interruption import STOP, announce
from devtools.local.services import Endpoints
from s2corpus.deliveries.status import ArrivalState, iterate_statuses
from s2corpus.errors import TransientError
from s2corpus.ids import RELEASE_DAG
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.summary import format_summary
from s2corpus.spec_files import load_spec, releases_folder
from s2corpus.storage.lake import Lake

COMMAND = os.path.relpath(Path(sys.executable).parent / "corpus")
"""The command line of this environment, as a user types it."""
DROPS = "pdf_drops"
_PENDING = (ArrivalState.WAITING, ArrivalState.ANNOUNCED, ArrivalState.REGISTERED)
_Found = TypeVar("_Found")


def _client(endpoints: Endpoints) -> AirflowRuns:
    return AirflowRuns(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)


def _await(found: Callable[[], _Found | None], seconds: float, why: str) -> _Found:
    """Return the first value of `found` that is not None; raise `TransientError` after `seconds`."""
    deadline = time.monotonic() + seconds
    while (value := found()) is None:
        if time.monotonic() > deadline:
            raise TransientError(why)
        time.sleep(0.3)
    return value


def start_services() -> Endpoints:
    """Start (or reuse) all local services, and point this process at them."""
    endpoints = Services(default_state()).up()
    os.environ.update(endpoints.environ())
    return endpoints


def make_release(endpoints: Endpoints, spec: str, start: datetime, end: datetime, *, scheduled: bool) -> Run:
    """Run the release of an interval under Airflow and follow it; return the finished run.

    The scheduler creates the run of a scheduled spec; this function waits for it. If that run exists already, it is run
    again. The run of any other spec is triggered.

    Raises:
        UserError: the run failed; the message contains the place and the reason.
    """
    dag = f"{RELEASE_DAG}{spec}"
    client = _client(endpoints)
    client.wait_for_dag(dag)
    found = client.run_of(dag, start)
    if found and found["state"] in ("success", "failed") and scheduled:
        client.clear(dag, found["dag_run_id"])
    client.unpause(dag)
    if scheduled:
        why = f"the scheduler has made no run of {dag} for {start:%Y-%m-%d}: see its log (`make status`)"
        run_id = str(_await(lambda: client.run_of(dag, start), 90, why)["dag_run_id"])
    else:
        run_id = client.trigger(dag, start, end, {})
    link = f"{client.url}/dags/{dag}/runs/{run_id}"
    announce(f"the run {run_id} of {dag} continues in Airflow. To stop it, mark it as failed: {link}. {STOP}")
    print(f"Airflow run {run_id}: {link}", flush=True)
    follow(client, dag, run_id)
    run = Run.open(load_spec(releases_folder() / f"{spec}.yaml"), end)
    print()
    print(format_summary(run, command=COMMAND))
    return run


def process_drops(endpoints: Endpoints, lake: Lake) -> str:
    """Process every new drop and delivery with the DAG `pdf_drops`; return the number processed, by outcome.

    Raises:
        TransientError: some are still pending after 15 minutes.
    """
    client = _client(endpoints)
    client.wait_for_dag(DROPS)
    client.unpause(DROPS)

    def processed() -> str | None:
        rows = list(iterate_statuses(lake))
        if any(row.state in _PENDING for row in rows):
            return None
        counts = Counter(row.outcome for row in rows)
        return ", ".join(f"{n} {outcome.replace(':', ': ')}" for outcome, n in sorted(counts.items()))

    return _await(processed, 900, f"drops are still pending: see `corpus drops` and {client.url}/dags/{DROPS}")


def own_interval(ready_at: datetime) -> tuple[datetime, datetime]:
    """Return the interval (UTC) of a drop: the day before the second after `ready_at`.

    So each folder of a day has a separate release.
    """
    end = ready_at.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
    return end - timedelta(days=1), end


def print_next_steps(endpoints: Endpoints, *hints: str) -> None:
    """Print the releases page with its login, more lines (`hints`), and the commands that stop and delete."""
    page = f"{endpoints.airflow_url}/plugin/corpus-releases"
    more = "".join(f"\n  {hint}" for hint in hints)
    passwords = os.path.relpath(default_state() / "airflow" / "passwords.json")
    print(f"""
  The releases   {page}
                 user {endpoints.airflow_user}, password {endpoints.airflow_password}
                 user {APPROVER}, who may approve what {endpoints.airflow_user} started: password in {passwords}
                 Open a release to see its funnel and checks. Search for a title to see the steps of one paper:
                 its records, the vote for each field, and why it is in the corpus or not.{more}
  Stop           make down   (the data remain in {os.path.relpath(default_state())})
  Delete         make down && rm -r {os.path.relpath(default_state())}
""")
