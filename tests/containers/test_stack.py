"""The services of docker-compose.yaml run correctly.

First processes reap children, the PDF reader reaches no other network, and Spark runs jobs.
"""

from __future__ import annotations

import pytest

from tests.containers.conftest import Stack

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
AIRFLOW = ("airflow-api-server", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer", "airflow-worker")
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
    code = "from pdf2tei.alto_cache import Writer; print(Writer.find() is not None)"
    assert stack.execute("airflow-worker", "python", "-c", code) == "True\n"


def test_client_without_java_uses_spark_elsewhere(stack: Stack) -> None:
    stack.compose("--profile", "spark", "up", "--detach", "--no-build", "--wait", "spark")
    assert stack.run_as("worker", "python", "-W", "ignore", "-c", COUNT) == "999000\n"
