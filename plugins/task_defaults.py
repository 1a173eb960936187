"""Define how every task of the corpus' DAGs fails: transient errors are retried; other errors fail at once and send an alert.

The module is in this folder because every component can import it, and DAG files do not import each other.
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
"""errors to retry: an unavailable server, a lost connection, Airflow's API server without its database (the last name)

The library converts errors of boto3, Arrow and DuckDB to the first name (`s2corpus/storage/transient.py`).
"""
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
