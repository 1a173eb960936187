"""Follow a release under Airflow in the terminal until it ends."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from datetime import datetime
from typing import Any

from devtools.local.airflow_runs import AirflowRuns
from s2corpus.errors import UserError
from s2corpus.pipeline.stages import STAGE_NAMES
from s2orc_parse.outputs import format_progress

_BAD = ("failed", "upstream_failed")
_DONE = ("success", "skipped")


def follow(client: AirflowRuns, dag: str, run_id: str, *, seconds: float = 3600, quiet: bool = False) -> None:
    """Print a line with the duration of each stage when it ends, and the progress in between.

    If `quiet`, no lines are printed for stages. If the run waits for an earlier run or for an approval, print it.

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
                if not quiet:
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
                f"the run {run_id} of {dag} has not ended after {seconds:.0f} s; it goes on: {client.url}/dags/{dag}"
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
    failed = sorted(
        (task for task in tasks if task["state"] in _BAD), key=lambda task: (task["state"], task["end_date"] or "")
    )
    if not failed:
        return f"the run {run_id} of {dag} failed without a failed task: see the scheduler's log (`make status`)"
    first = failed[0]
    lines = client.log(dag, run_id, first)
    link = f"{client.url}/dags/{dag}/runs/{run_id}/tasks/{first['task_id']}"
    return "\n".join(
        [f"{first['task_id']} failed; its log ends:", *(f"    {line}" for line in lines[-12:]), f"  see {link}"]
    )


def _say(line: str) -> None:
    _progress("")
    print(line, flush=True)


def _progress(line: str) -> None:
    """Print a line that the next line replaces, on a terminal only."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{line[:150]}", end="", flush=True)
