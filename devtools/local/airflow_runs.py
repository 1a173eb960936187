"""Start and follow runs of DAGs through Airflow's REST API."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from s2corpus.deployment.http import AirflowClient
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.stages import STAGE_NAMES
from s2orc_parse.outputs import format_progress

_BAD = ("failed", "upstream_failed")
_DONE = ("success", "skipped")


class AirflowRuns(AirflowClient):
    """A client that starts and follows runs."""

    def wait_for_dag(self, dag: str, seconds: float = 90) -> None:
        """Wait until Airflow has read the DAG.

        Raises:
            UserError: a DAG file has an import error. TransientError: the DAG is missing after `seconds`.
        """
        deadline = time.monotonic() + seconds
        while not self.call("GET", f"dags/{dag}", absent={}):
            errors = self.call("GET", "importErrors")["import_errors"]
            if errors:
                raise UserError(
                    f"{errors[0]['filename']} cannot be imported: {errors[0]['stack_trace'].strip().splitlines()[-1]}"
                )
            if time.monotonic() > deadline:
                raise TransientError(
                    f"Airflow has not read the DAG {dag} after {seconds:.0f} s: see the log of its dag-processor"
                )
            time.sleep(0.5)

    def unpause(self, dag: str) -> None:
        """Unpause the DAG, so that the scheduler starts its runs."""
        self.call("PATCH", f"dags/{dag}", {"is_paused": False})

    def run_of(self, dag: str, start: datetime) -> dict[str, Any] | None:
        """Return the latest run with this start of its data interval, or None."""
        runs: list[dict[str, Any]] = self.call("GET", f"dags/{dag}/dagRuns?limit=100&order_by=-id")["dag_runs"]
        starts = ((run, run["data_interval_start"]) for run in runs)
        return next((run for run, begins in starts if begins and datetime.fromisoformat(begins) == start), None)

    def trigger(
        self, dag: str, start: datetime, end: datetime, conf: Mapping[str, Any], logical_date: datetime | None = None
    ) -> str:
        """Start a run for a data interval and return its id.

        The logical date defaults to now. It must be unique for the DAG, and between its start and end dates.
        """
        now = datetime.now(UTC)
        body = {
            # Without a logical date, the task context has no data interval.
            "logical_date": (logical_date or now).isoformat(), "run_after": now.isoformat(),
            "data_interval_start": start.isoformat(), "data_interval_end": end.isoformat(), "conf": dict(conf),
        }  # fmt: skip
        run_id: str = self.call("POST", f"dags/{dag}/dagRuns", body)["dag_run_id"]
        return run_id

    def running(self, dag: str) -> list[str]:
        """Return the ids of the DAG's running runs, oldest first."""
        runs = self.call("GET", f"dags/{dag}/dagRuns?limit=100&order_by=id&state=running")["dag_runs"]
        return [run["dag_run_id"] for run in runs]

    def clear(self, dag: str, run_id: str) -> None:
        """Clear all tasks of a run, so that Airflow runs them again."""
        self.call("POST", f"dags/{dag}/dagRuns/{quote(run_id)}/clear", {"dry_run": False, "only_failed": False})

    def state(self, dag: str, run_id: str) -> str:
        """Return the state of a run: queued, running, success or failed."""
        state: str = self.call("GET", f"dags/{dag}/dagRuns/{quote(run_id)}")["state"]
        return state

    def tasks(self, dag: str, run_id: str) -> list[dict[str, Any]]:
        """Return the task instances of a run; each mapped instance is a separate item."""
        found: list[dict[str, Any]] = []
        while True:
            path = f"dags/{dag}/dagRuns/{quote(run_id)}/taskInstances?limit=1000&offset={len(found)}"
            page = self.call("GET", path)
            found += page["task_instances"]
            if len(found) >= page["total_entries"] or not page["task_instances"]:
                return found

    def log(self, dag: str, run_id: str, task: Mapping[str, Any]) -> list[str]:
        """Return the log lines of the last try of a task instance."""
        path = (
            f"dags/{dag}/dagRuns/{quote(run_id)}/taskInstances/{task['task_id']}/logs/{task['try_number']}"
            f"?map_index={task['map_index']}&full_content=true"
        )
        content = self.call("GET", path, absent={"content": []})["content"]
        lines = []
        for line in content:
            lines.append(str(line.get("event", line)) if isinstance(line, dict) else str(line))
            if isinstance(line, dict):
                lines += [f"{detail['exc_type']}: {detail['exc_value']}" for detail in line.get("error_detail") or ()]
        return [line for line in lines if line.strip() and not line.startswith("::")]


def follow(client: AirflowRuns, dag: str, run_id: str, *, seconds: float = 3600) -> None:
    """Print a line with the duration of each stage when it ends, and the progress in between.

    If the run waits for an earlier run or for an approval, print it.

    Raises:
        UserError: the run failed or takes too long. After a failure, the message contains the task, its last output and
        the path of its log.
    """
    began = time.monotonic()
    printed: set[str] = set()
    waits = ""
    while True:
        tasks = client.tasks(dag, run_id)
        # While tasks run, skip one request: the API server answers it in addition to the requests of the tasks. If a
        # run was ended by hand, some of its tasks never get a state.
        state = "running" if any(task["state"] == "running" for task in tasks) else client.state(dag, run_id)
        if state in ("success", "failed"):
            tasks = client.tasks(dag, run_id)  # with their final states
        groups = _by_stage(tasks)
        for stage, done in groups.items():
            if stage not in printed and all(task["state"] in _DONE for task in done):
                printed.add(stage)
                count = sum(task["state"] == "success" for task in done)
                _say(f"  {stage:<12} {_duration(done):5.1f} s  {count} task{'s' if count > 1 else ''}")
        if state == "success":
            _progress("")
            return
        if (reason := _find_wait(client, dag, run_id, state, tasks)) != waits:
            waits = reason
            if waits:
                _say(f"  waits for {waits}")
        if state == "failed":
            _progress("")
            raise UserError(_why(client, dag, run_id, tasks))
        running = {task["task_id"] for task in tasks if task["state"] == "running"}
        count = sum(task["state"] == "success" for task in tasks)
        now = ", ".join(sorted(running)) or "waiting for the scheduler"
        stages = len([stage for stage in printed if stage in STAGE_NAMES])
        line = format_progress("stages", stages, len(STAGE_NAMES), time.monotonic() - began, "stages")
        _progress(f"  {line}; {count} tasks done, now: {now}")
        if time.monotonic() - began > seconds:
            raise UserError(
                f"the run {run_id} of {dag} has not ended after {seconds:.0f} s; it continues: {client.url}/dags/{dag}"
            )
        time.sleep(1)


def _find_wait(client: AirflowRuns, dag: str, run_id: str, state: str, tasks: list[dict[str, Any]]) -> str:
    """Return the approval or the earlier run that a run waits for; empty if it waits for neither."""
    states = {task["task_id"]: task["state"] for task in tasks}
    if _awaits_approval(tasks):
        return f"an approval: {client.url}/dags/{dag}/runs/{run_id}/tasks/approve"
    if state != "queued" and states.get("intake.plan") != "up_for_reschedule":
        return ""
    earlier = next((run for run in client.running(dag) if run != run_id), None)
    if earlier is None:
        return ""
    link = f"{client.url}/dags/{dag}/runs/{earlier}"
    approval = ", which waits for an approval" if _awaits_approval(client.tasks(dag, earlier)) else ""
    return f"the earlier run {earlier}{approval}: {link}"


def _awaits_approval(tasks: list[dict[str, Any]]) -> bool:
    return any(task["task_id"] == "approve" and task["state"] in ("awaiting_input", "deferred") for task in tasks)


def _by_stage(tasks: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    groups = defaultdict(list)
    for task in tasks:
        groups[task["task_id"].partition(".")[0]].append(task)
    return dict(sorted(groups.items(), key=lambda item: (*STAGE_NAMES, item[0]).index(item[0])))


def _duration(tasks: list[dict[str, Any]]) -> float:
    ends = [datetime.fromisoformat(task["end_date"]) for task in tasks if task["end_date"]]
    starts = [datetime.fromisoformat(task["start_date"]) for task in tasks if task["start_date"]]
    return (max(ends) - min(starts)).total_seconds() if ends and starts else 0.0


def _why(client: AirflowRuns, dag: str, run_id: str, tasks: list[dict[str, Any]]) -> str:
    bad = (task for task in tasks if task["state"] in _BAD)
    failed = sorted(bad, key=lambda task: (task["state"], task["end_date"] or ""))
    if not failed:
        return f"the run {run_id} of {dag} failed without a failed task: see the scheduler's log (`make status`)"
    first = failed[0]
    lines = client.log(dag, run_id, first)
    link = f"{client.url}/dags/{dag}/runs/{run_id}/tasks/{first['task_id']}"
    tail = "".join(f"    {line}\n" for line in lines[-12:])
    return f"{first['task_id']} failed; its log ends:\n{tail}  see {link}"


def _say(line: str) -> None:
    _progress("")
    print(line, flush=True)


def _progress(line: str) -> None:
    """Print a line that the next line replaces, on a terminal only."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{line[:150]}", end="", flush=True)
