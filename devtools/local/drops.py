"""Process drops with the local Airflow before a release, and follow them in the terminal."""

from __future__ import annotations

import time
from collections import Counter

from devtools.local.services import Endpoints
from s2corpus.deliveries.status import ArrivalState, listed
from s2corpus.deployment.airflow_client import AirflowClient
from s2corpus.errors import TransientError
from s2corpus.storage.lake import Lake

DAG = "pdf_drops"
_PENDING = (ArrivalState.WAITING, ArrivalState.ANNOUNCED, ArrivalState.REGISTERED)


def process_drops(endpoints: Endpoints, lake: Lake, *, seconds: float = 900) -> str:
    """Process every new drop and delivery with the DAG `pdf_drops`; return the number processed, by outcome.

    Raises:
        TransientError: some are still pending after `seconds`.
    """
    client = AirflowClient(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
    client.wait_for_dag(DAG)
    client.unpause(DAG)
    deadline = time.monotonic() + seconds
    while True:
        rows = list(listed(lake))
        pending = sum(row.state in _PENDING for row in rows)
        if not pending:
            counts = Counter(row.outcome for row in rows)
            return ", ".join(f"{n} {outcome.replace(':', ': ')}" for outcome, n in sorted(counts.items()))
        if time.monotonic() > deadline:
            raise TransientError(
                f"{pending} of {len(rows)} drops and deliveries are still pending after {seconds:.0f} s: "
                f"see {client.url}/dags/{DAG}"
            )
        time.sleep(1)
