"""What every task of the corpus' DAGs does when it fails: transient errors are retried, everything else fails at once and is reported.

Here, because every component finds this folder, and DAG files do not import each other.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import corpus_alerts
from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule

MAY_PASS = (
    "s2orc_parse.errors.TransientError",
    "builtins.ConnectionError",
    "builtins.TimeoutError",
    "sqlalchemy.exc.OperationalError",
    "airflow.sdk.exceptions.AirflowRuntimeError",
)
"""A server down, a connection lost, Airflow's API server without its database (the last); the library turns boto3's, Arrow's and
DuckDB's into the first (`s2corpus/storage/transient.py`)."""
DEFAULT_ARGS: dict[str, Any] = {
    "retries": 3,
    "retry_delay": timedelta(seconds=10),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=10),
    "retry_policy": ExceptionRetryPolicy(
        rules=[RetryRule(exception=name, action=RetryAction.RETRY, reason="may pass") for name in MAY_PASS],
        default=RetryAction.FAIL,
    ),
    "on_failure_callback": corpus_alerts.task_failed,
}
