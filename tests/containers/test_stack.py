"""docs/deployment.md#what-is-tested: the containers build a release with the same snapshot although the worker's is killed.

First processes reap children, the PDF reader reaches no other network, helpers end without warnings, and Spark runs jobs.
"""

import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from devtools.local.airflow_runs import AirflowRuns
from devtools.sample.truth import Truth
from s2corpus.pipeline.run import Run
from tests.containers.conftest import ADDRESS, ADMINISTRATOR, Stack
from tests.e2e.operating import Operator
from tests.waiting import until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
AIRFLOW = ("airflow-api-server", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer", "airflow-worker")
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
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)
    print(True)
except OSError:
    print(False)
"""
COUNT = """
import pyarrow as pa
from pyarrow import compute
from pyspark.sql import SparkSession

def double(batches):
    for batch in batches:
        yield pa.record_batch([compute.multiply(batch.column(0), 2)], names=["id"])

spark = SparkSession.builder.remote("sc://spark:15002").getOrCreate()
rows = spark.range(1000).mapInArrow(double, "id long").collect()
print(sum(row.id for row in rows))
"""


def test_killed_worker_stops_no_release(stack: Stack, tiny: tuple[Path, Truth], released: tuple[Run, Truth]) -> None:
    papers, _ = tiny
    for path in (papers, *papers.parents[:2], *papers.rglob("*")):
        path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
    assert int(stack.run_as("deliver", "python", "-c", DELIVER, folders=(f"{papers}:/papers:ro",))) > 0
    client = AirflowRuns(f"http://{ADDRESS}:8080", ADMINISTRATOR, stack.read_secret("admin_password"))
    assert client.call("GET", "pools/grobid")["slots"] == 2
    operator = Operator(client, "corpus_release__sample")
    client.wait_for_dag(operator.dag)
    client.unpause(operator.dag)
    run = operator.run_of(INTERVAL)

    def is_in_the_middle() -> bool:
        return any(name in MIDDLE and task["state"] == "running" for (name, _), task in operator.tasks(run).items())

    until(is_in_the_middle, lambda: operator.why(run))
    worker = stack.container("airflow-worker")
    # Kill the container with all its processes, as the kernel does when memory runs out.
    os.kill(int(stack.engine.docker("inspect", "--format", "{{.State.Pid}}", worker)), signal.SIGKILL)
    assert operator.end(run, seconds=2400) == "success", operator.why(run)
    tasks = operator.tasks(run)
    assert {name for (name, _), task in tasks.items() if task["try_number"] > 1}, "no task was running at the kill"
    assert int(stack.engine.docker("inspect", "--format", "{{.RestartCount}}", worker)) == 1
    assert stack.run_as("consumer", "corpus", "verify", released[0].snapshot_id) == ""
    done = next(task for (name, _), task in tasks.items() if name == "export.quality")
    assert any("export" in line for line in client.log(operator.dag, run, done))


def test_first_process_reaps_children(stack: Stack) -> None:
    for service in (*AIRFLOW, "extractor"):
        assert stack.execute(service, "cat", "/proc/1/comm") == "tini\n", service


def test_reader_of_pdfs_reaches_no_other_network(stack: Stack) -> None:
    networks = "{{range $name, $it := .NetworkSettings.Networks}}{{println $name $it.IPAddress}}{{end}}"
    addresses = stack.engine.docker("inspect", "--format", networks, stack.container("airflow-api-server")).split()
    for address in addresses[1::2]:
        for service, is_reached in (("extractor", False), ("airflow-worker", True)):
            answer = stack.execute(service, "python", "-c", CONNECT, address, "8080")
            assert answer == f"{is_reached}\n", f"{service} to {address}"


def test_worker_and_extractor_share_pdfaltos_output(stack: Stack) -> None:
    code = "from pdf2tei.pages.alto_cache import Writer; print(Writer.find() is not None)"
    assert stack.execute("airflow-worker", "python", "-c", code) == "True\n"


def test_helpers_end_without_warnings(stack: Stack) -> None:
    assert "Warning" not in stack.compose("logs", "s3-init", "airflow-settings")


def test_client_without_java_uses_spark_elsewhere(stack: Stack) -> None:
    stack.compose("--profile", "spark", "up", "--detach", "--no-build", "--wait", "spark")
    assert stack.run_as("worker", "python", "-W", "ignore", "-c", COUNT) == "999000\n"
