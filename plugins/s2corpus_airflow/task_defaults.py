"""Define the common parts of all tasks of the corpus DAGs: retries, alerts, batches and labels.

Transient errors are retried; other errors fail without a retry and send an alert.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule, get_current_context

from s2corpus.errors import UserError
from s2corpus_airflow import alerts
from s2corpus_airflow.run_listener import PROBLEM

TRANSIENT_ERRORS = (
    "s2orc_parse.errors.TransientError",
    "builtins.ConnectionError",
    "builtins.TimeoutError",
    "sqlalchemy.exc.OperationalError",
    "airflow.sdk.exceptions.AirflowRuntimeError",
)
"""errors to retry: an unavailable server, a lost connection, Airflow's API server without its database (the last name)

The library converts errors of boto3, Arrow and DuckDB to the first name (`s2corpus/storage/error_kinds.py`).
"""
DEFAULT_ARGS: dict[str, Any] = {
    "retries": 3,
    "retry_delay": timedelta(seconds=10),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=10),
    "retry_policy": ExceptionRetryPolicy(
        rules=[
            RetryRule(exception=name, action=RetryAction.RETRY, reason="transient error") for name in TRANSIENT_ERRORS
        ],
        default=RetryAction.FAIL,
    ),
    "on_failure_callback": alerts.task_failed,
}


def check_pools(dag_run: Any) -> None:
    """Fail the first task of a run if another task of the run can never start (`run_listener`)."""
    if problem := (getattr(dag_run, "conf", None) or {}).get(PROBLEM):
        raise UserError(str(problem))


def divide(items: list[Any], max_tasks: int, size: int = 1) -> list[list[Any]]:
    """Divide items into at most `max_tasks` lists of `size` or, if they are too many, more items; one for each mapped task."""
    size = max(size, -(-len(items) // max_tasks))
    return [items[i : i + size] for i in range(0, len(items), size)]


def set_label(name: str, value: Any) -> None:
    """Set a variable of the task's `map_index_template`."""
    get_current_context()[name] = value  # type: ignore[literal-required]  # Airflow's type lists only its own keys
