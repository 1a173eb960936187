"""Build a release's datasets with the local Airflow after its snapshot is published, as `make demo DATASETS=1` does."""

from __future__ import annotations

import time
from pathlib import Path

from devtools.local.airflow_runs import AirflowRuns
from devtools.local.follow import follow
from devtools.local.services import Endpoints
from s2corpus.datasets.description import summary
from s2corpus.datasets.job import Job
from s2corpus.datasets.source import open_published_snapshot
from s2corpus.datasets.spec import DatasetSpec, datasets_folder, read_dataset_specs
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.run import Run


def await_datasets(endpoints: Endpoints, release: str) -> list[tuple[DatasetSpec, str | None]]:
    """Enable the DAGs of a release spec's datasets, which run for its next snapshot.

    Return each dataset with its newest run so far.
    """
    specs, wrong = read_dataset_specs(datasets_folder())
    if wrong:
        raise UserError("; ".join(wrong))
    client = _client(endpoints)
    asked = []
    for spec in specs:
        if release in spec.releases:
            dag = _dag(spec, release)
            client.wait_for_dag(dag)
            client.unpause(dag)
            asked.append((spec, _newest(client, dag)))
    return asked


def make_datasets(endpoints: Endpoints, run: Run, asked: list[tuple[DatasetSpec, str | None]]) -> None:
    """Follow the runs that publishing the snapshot started, and print the outcome of each dataset.

    Raises:
        UserError: a run failed; the message contains the place and the reason.
    """
    client = _client(endpoints)
    for spec, before in asked:
        dag = _dag(spec, run.spec.name)
        run_id = _await_run(client, dag, before)
        print(f"Airflow run {run_id}: {client.url}/dags/{dag}/runs/{run_id}", flush=True)
        follow(client, dag, run_id, quiet=True)
    for spec, _ in asked:
        source = open_published_snapshot(run.lake, run.spec.name, f"{run.as_of:%Y-%m-%dT%H:%M:%SZ}")
        print()
        print(summary(Job(spec, source, run.lake, Path(run.scratch))))


def _client(endpoints: Endpoints) -> AirflowRuns:
    return AirflowRuns(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)


def _dag(spec: DatasetSpec, release: str) -> str:
    return f"corpus_dataset__{spec.name}__{release}"


def _newest(client: AirflowRuns, dag: str) -> str | None:
    runs = client.call("GET", f"dags/{dag}/dagRuns?limit=1&order_by=-id")["dag_runs"]
    return str(runs[0]["dag_run_id"]) if runs else None


def _await_run(client: AirflowRuns, dag: str, before: str | None) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (found := _newest(client, dag)) not in (None, before):
            return str(found)
        time.sleep(0.3)
    raise TransientError(f"publishing the snapshot started no run of {dag}: see the scheduler's log (`make status`)")
