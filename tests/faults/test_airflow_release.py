"""Processes killed while Airflow builds a release: it goes on, and the snapshot's bytes are those of a release nobody disturbed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from s2corpus.lake import open_lake
from s2corpus.local import Endpoints, Services
from s2corpus.local.airflow_client import AirflowClient
from s2corpus.local.deliver import deliver_tree
from s2corpus.sample.truth import Truth
from s2corpus.stages.base import Run
from tests.releases import AS_OF, build, run_in, snapshot_bytes, spec

pytestmark = [pytest.mark.services, pytest.mark.airflow, pytest.mark.slow]
DAG = "corpus_release__sample"


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory, tiny: tuple[Path, Truth]) -> Iterator[tuple[Services, Endpoints]]:
    """All services in a state folder of their own, with the tiny sample delivered."""
    local = Services(tmp_path_factory.mktemp("airflow") / "state")
    with pytest.MonkeyPatch.context() as patch:
        try:
            endpoints = local.up()
            for name, value in endpoints.environ().items():
                patch.setenv(name, value)
            deliver_tree(open_lake("s3://corpus"), tiny[0])
            yield local, endpoints
        finally:
            local.down()


@pytest.fixture(scope="module")
def reference(
    airflow: tuple[Services, Endpoints], tiny: tuple[Path, Truth], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The same release, built without Airflow and undisturbed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("S2CORPUS_CATALOG")
        run = run_in(tmp_path_factory.mktemp("reference"), spec(), tiny[0])
        build(run)
        return snapshot_bytes(run)


def published(tmp_path: Path) -> dict[str, str]:
    return snapshot_bytes(Run(spec(), AS_OF, open_lake("s3://corpus"), tmp_path))


def start(client: AirflowClient) -> str:
    """A run of the sample's one interval: the scheduler's own, or, where that was made before, the same again."""
    client.wait_for_dag(DAG)
    client.unpause(DAG)
    deadline = time.monotonic() + 120
    while (found := client.run_of(DAG, AS_OF.replace(month=1))) is None:
        assert time.monotonic() < deadline, "the scheduler makes no run"
        time.sleep(0.2)
    run_id: str = found["dag_run_id"]
    if found["state"] == "success":
        client.clear(DAG, run_id)
    return run_id


def running(client: AirflowClient, run_id: str, *tasks: str) -> dict[str, object]:
    """The first of these tasks that runs, as soon as one does."""
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        for task in client.tasks(DAG, run_id):
            if task["task_id"] in tasks and task["state"] == "running" and task["pid"]:
                return task
        assert client.state(DAG, run_id) in ("queued", "running"), "the run ended before the fault"
        time.sleep(0.05)
    raise AssertionError(f"none of {tasks} ever ran")


def wait(client: AirflowClient, run_id: str) -> None:
    deadline = time.monotonic() + 900
    while (state := client.state(DAG, run_id)) not in ("success", "failed"):
        assert time.monotonic() < deadline, "the run does not end"
        time.sleep(0.5)
    assert state == "success", [
        (t["task_id"], t["state"]) for t in client.tasks(DAG, run_id) if t["state"] != "success"
    ]


def test_a_task_killed_in_the_middle_is_done_again(
    airflow: tuple[Services, Endpoints], reference: dict[str, str], tmp_path: Path
) -> None:
    endpoints = airflow[1]
    client = AirflowClient(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
    run_id = start(client)
    victim = running(client, run_id, "select.work", "extract.work", "postprocess.work")
    os.kill(int(str(victim["pid"])), signal.SIGKILL)
    wait(client, run_id)
    again = [
        task
        for task in client.tasks(DAG, run_id)
        if (task["task_id"], task["map_index"]) == (victim["task_id"], victim["map_index"])
    ]
    assert again[0]["try_number"] > 1, "the kill came too late to disturb"
    assert published(tmp_path) == reference


def test_a_scheduler_killed_with_its_group_is_taken_up_where_it_was(
    airflow: tuple[Services, Endpoints], reference: dict[str, str], tmp_path: Path
) -> None:
    local, endpoints = airflow
    client = AirflowClient(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
    run_id = start(client)
    running(client, run_id, "cluster.work", "vote.work", "assemble.work")
    scheduler = next(status for status in local.status() if status.name == "airflow-scheduler")
    os.killpg(scheduler.pid, signal.SIGKILL)
    killed = time.monotonic()
    local.up()
    restarted = time.monotonic()
    done = {(t["task_id"], t["map_index"]) for t in client.tasks(DAG, run_id) if t["state"] == "success"}
    while client.state(DAG, run_id) == "running":
        if {(t["task_id"], t["map_index"]) for t in client.tasks(DAG, run_id) if t["state"] == "success"} - done:
            break
        time.sleep(0.2)
    print(f"restarted after {restarted - killed:.0f} s, the release went on {time.monotonic() - restarted:.0f} s later")
    wait(client, run_id)
    assert published(tmp_path) == reference
