"""Start and follow runs of DAGs through Airflow's REST API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from s2corpus.deployment.http import AirflowClient
from s2corpus.errors import TransientError, UserError


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
