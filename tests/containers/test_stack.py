"""The services of docker-compose.yaml when they run: first processes, networks, logs, and Spark."""

from __future__ import annotations

import pytest

from tests.containers.conftest import Stack

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
AIRFLOW = ("airflow-api-server", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer", "airflow-worker")
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


def test_reader_of_pdfs_has_no_way_out(stack: Stack) -> None:
    for service, is_connected in (("extractor", False), ("airflow-worker", True)):
        routes = [line.split() for line in stack.execute(service, "cat", "/proc/net/route").splitlines()[1:]]
        assert any(destination == "00000000" for _, destination, *_ in routes) is is_connected, service


def test_helpers_end_without_warnings(stack: Stack) -> None:
    logs = stack.compose("logs", "s3-init", "airflow-settings")
    assert "Warning" not in logs


def test_client_without_java_uses_spark_elsewhere(stack: Stack) -> None:
    stack.compose("--profile", "spark", "up", "--detach", "--no-build", "--wait", "spark")
    assert stack.run_as("worker", "python", "-W", "ignore", "-c", COUNT) == "999000\n"
