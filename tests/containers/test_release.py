"""The containers of docker-compose.yaml build a release although its Celery worker is killed on the way."""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from devtools.local.airflow_runs import AirflowRuns
from devtools.sample.truth import Truth
from tests.containers.conftest import ADDRESS, ADMINISTRATOR, Stack
from tests.e2e.operating import Operator

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
INTERVAL = datetime(2023, 1, 1, tzinfo=UTC)
MIDDLE = {"extract.work", "postprocess.work", "cluster.work"}
DELIVER = """
import pathlib, shutil
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.storage.lake import open_lake
papers = pathlib.Path("/tmp/papers")
papers.mkdir()
for name in ("drops", "sources"):
    shutil.copytree(f"/papers/{name}", papers / name)
print(deliver_tree(open_lake("s3://corpus"), papers))
"""
READ = """
import gzip, json
from s2corpus.snapshot.reader import open_snapshot
snapshot = open_snapshot("sample", "s3://corpus")
keys = [entry.key for entry in snapshot.list("v2/") if entry.key.endswith(".jsonl.gz")]
documents = [json.loads(line) for key in keys for line in gzip.decompress(snapshot.get(key)[0]).splitlines()]
assert all(document["text"] for document in documents)
print(len(documents))
"""


def kill_worker(stack: Stack) -> None:
    """Kill the worker's container with all its processes, as the kernel does when memory runs out."""
    pid = int(stack.engine.docker("inspect", "--format", "{{.State.Pid}}", stack.container("airflow-worker")))
    os.kill(pid, signal.SIGKILL)


def wait_for_middle(operator: Operator, run: str) -> None:
    """Wait until a task in the middle of the release runs."""
    deadline = time.monotonic() + 600
    while not any(name in MIDDLE and task["state"] == "running" for (name, _), task in operator.tasks(run).items()):
        assert time.monotonic() < deadline, operator.why(run)
        time.sleep(0.2)


def test_killed_worker_does_not_stop_the_release(stack: Stack, tiny: tuple[Path, Truth]) -> None:
    papers, _ = tiny
    for path in (papers, *papers.parents[:2], *papers.rglob("*")):
        path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    assert int(stack.run_as("deliver", "python", "-c", DELIVER, folders=(f"{papers}:/papers:ro",))) > 0
    client = AirflowRuns(f"http://{ADDRESS}:8080", ADMINISTRATOR, stack.values["AIRFLOW_ADMIN_PASSWORD"])
    assert client.call("GET", "pools/grobid")["slots"] == 2
    operator = Operator(client, "corpus_release__sample")
    client.wait_for_dag(operator.dag)
    client.unpause(operator.dag)
    run = operator.run_of(INTERVAL)
    wait_for_middle(operator, run)
    kill_worker(stack)
    assert operator.end(run, seconds=1200) == "success", operator.why(run)
    again = {name for (name, _), task in operator.tasks(run).items() if task["try_number"] > 1}
    assert again, "no task was running when the worker was killed"
    restarts = stack.engine.docker("inspect", "--format", "{{.RestartCount}}", stack.container("airflow-worker"))
    assert int(restarts) == 1

    assert stack.run_as("consumer", "corpus", "verify", "sample") == ""
    assert int(stack.run_as("consumer", "python", "-c", READ)) > 0
