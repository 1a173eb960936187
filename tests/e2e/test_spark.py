"""Spark as docker-compose.yaml and docs/scaling.md start it: a master and two workers run with their own commands. Of compose, also
Connect, and the lake is on S3.

Only the workers' environment contains the lake's keys. Executors read and write the lake with this package, so only
Spark's own jars are needed.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import psutil
import pyarrow as pa
import pytest

from devtools.bench import cluster_records
from devtools.sample.truth import Truth
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.cluster import ClusterStage
from s2corpus.storage.lake import open_lake
from s2corpus.storage.spark import SparkEngine
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES, MEMBERS
from s2corpus.tables.parses import PDF_RECORDS
from tests import compose
from tests.e2e.test_guides import BLOCKS
from tests.releases import AS_OF, ROOT, copy_lake, snapshot_bytes, spec
from tests.waiting import until

pytest.importorskip("pyspark.sql.connect.session")
pytestmark = [
    pytest.mark.services, pytest.mark.long, pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17"),
]  # fmt: skip


@dataclass
class Spark:
    """The running Spark: the address of Connect, and the first processes of the workers."""

    remote: str
    workers: list[subprocess.Popen[bytes]]
    s3_port: int

    def executors(self) -> list[psutil.Process]:
        """Return the executor processes of both workers."""
        found = []
        for worker in self.workers:
            for child in psutil.Process(worker.pid).children(recursive=True):
                with suppress(psutil.Error):  # The process has just ended.
                    if "CoarseGrainedExecutorBackend" in " ".join(child.cmdline()):
                        found.append(child)
        return found


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spark]:
    """Start compose's services of the profile `spark`, with two workers. The test supplies host names, ports and folders."""
    partition: Path = tmp_path_factory.mktemp("spark")
    (partition / "s3").mkdir()
    master, web, connect = compose.free_ports(3)
    found = compose.services({})
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    beside = {"PATH": path, "PARTITION": str(partition), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOG_DIR": str(partition)}
    running: dict[str, subprocess.Popen[bytes]] = {}

    def start(name: str, service: str, places: dict[str, str], *more: str) -> None:
        command = [*compose.here(found[service]["command"], places), *more]
        environ = compose.here(found[service]["environment"], places) | beside
        with (partition / f"{name}.log").open("wb") as log:
            running[name] = subprocess.Popen(
                command, env=environ, cwd=partition, stdout=log, stderr=log, start_new_session=True
            )

    # A Connect client sets variables for its whole process, which local sessions of later tests would read.
    with compose.s3_server(partition / "s3") as ports, mock.patch.dict(os.environ):
        places = {
            "spark://spark-master:7077": f"spark://127.0.0.1:{master}", "spark-master": "127.0.0.1", "7077": str(master), "8081": str(web),
            "15002": str(connect), "http://s3:8333": f"http://127.0.0.1:{ports['s3']}",
            "/usr/local/airflow/kernels": str(ROOT / "include" / "s2corpus" / "__pycache__"), "/usr/local/airflow": str(ROOT),
            "/run/secrets": str(partition / "s3" / "keys"),
        }  # fmt: skip
        try:
            start("master", "spark-master", places | {"/scratch": str(partition)})
            until(lambda: _listens(master), "no master")
            for name, port in zip(("one", "two"), compose.free_ports(2), strict=True):
                (partition / name).mkdir()
                start(
                    name, "spark-worker", places | {"/scratch": str(partition / name), "8081": str(port)}, "--cores", "1",
                )  # fmt: skip
            conf = ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.connect.grpc.binding.address=127.0.0.1"]
            start("connect", "spark", places | {"/scratch": str(partition)}, *conf)
            until(lambda: _listens(connect), "no Spark Connect")
            made = Spark(f"sc://127.0.0.1:{connect}", [running["one"], running["two"]], ports["s3"])
            until(lambda: len(made.executors()) == 2, "no executor on each worker")
            yield made
        finally:
            for process in reversed(running.values()):
                for child in psutil.Process(process.pid).children(recursive=True):
                    with suppress(psutil.Error):
                        child.kill()
                process.kill()
                process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_clusters_of_spark_equal_local_clusters(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cluster 20,000 records of the lake on DuckDB and on the executors; kill an executor between two statements."""
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{spark.s3_port}"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", compose.KEYS["S3_WORKER_ACCESS_KEY"]),
        ("AWS_SECRET_ACCESS_KEY", compose.KEYS["S3_WORKER_SECRET_KEY"]),
    ):
        monkeypatch.setenv(name, value)
    run = Run(ReleaseSpec(name="rounds"), datetime(2023, 2, 1, tzinfo=UTC), open_lake("s3://corpus"), tmp_path)
    rows = [{name: row.get(name) for name in RECORDS.schema.names} for row in cluster_records.rows(20_000, Random(0))]
    for number in range(4):
        run.table(RECORDS).write(number, pa.Table.from_pylist(rows[number::4], RECORDS.schema))
    run.table(RECORDS).commit(range(4))
    for table, facts in ((PDF_RECORDS, {}), (DELIVERIES, {"inputs": "", "parent": None})):
        run.table(table).write(0, [])
        run.table(table).commit([0], facts)

    def clustered(engine: str) -> dict[str, pa.Table]:
        monkeypatch.setenv("ENGINE", engine)
        stage = ClusterStage()
        stage.work(run, stage.plan(run)[0])
        stage.finish(run)
        found = {table.name: run.table(table).read() for table in (EDGES, CLUSTERS, ALIASES)}
        return found | {f"members {n}": run.table(MEMBERS).read(shard=n) for n in range(run.paper_shards)}

    expected = clustered("")
    until(lambda: len(spark.executors()) == 2, "two executors")
    victim = spark.executors()[0]
    real = SparkEngine.map

    def kill_in_the_middle(self: SparkEngine, name: str, *arguments: Any) -> None:
        if name == "edges_1":  # The executor stores parts of all tables so far.
            victim.kill()
        real(self, name, *arguments)

    monkeypatch.setattr(SparkEngine, "map", kill_in_the_middle)
    found = clustered(spark.remote)
    assert not victim.is_running()
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        assert found[name].equals(table), name
    assert expected["clusters"].num_rows >= 20_000


def test_commands_of_the_page_build_the_same_snapshot(
    released: tuple[Run, Truth], reference: dict[str, str], extractor: Mapping[str, str], tmp_path: Path
) -> None:
    """Run the block of docs/scaling.md: a master and two workers of this Python. Kill an executor between two stages of Spark."""
    (block,) = (code for page, _, code, excuse in BLOCKS if page == "scaling" and not excuse)
    (port,) = compose.free_ports(1)
    command = block.replace("7077", str(port)).replace(
        "build own", f"build sample --as-of 2023-02-01 --lake {tmp_path}/lake"
    )
    copy_lake(released, tmp_path)
    log = {"enabled": "true", "dir": str(tmp_path / "log"), "compress": "false", "rolling.enabled": "false"}
    (tmp_path / "log").mkdir()
    (tmp_path / "spark-defaults.conf").write_text(
        "".join(f"spark.eventLog.{name} {value}\n" for name, value in log.items())
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    others = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}  # of Connect
    environ = others | {"PATH": path, "SPARK_CONF_DIR": str(tmp_path), **extractor}

    def events(name: str) -> list[dict[str, Any]]:
        lines = [line for file in (tmp_path / "log").iterdir() for line in file.read_text().splitlines()]
        return [json.loads(line) for line in lines if f'"SparkListener{name}"' in line and line.endswith("}")]

    with (tmp_path / "out").open("wb") as out:
        shell = subprocess.Popen(["bash", "-euc", command], env=environ, cwd=tmp_path, stdout=out, stderr=out)
    try:
        found = Spark("", [shell], 0)
        until(
            lambda: shell.poll() is not None or (len(found.executors()) == 2 and len(events("StageCompleted")) > 20),
            "no stages on two executors",
        )
        assert shell.poll() is None, (tmp_path / "out").read_text()[-3000:]
        found.executors()[0].kill()
        assert shell.wait(900) == 0, (tmp_path / "out").read_text()[-3000:]
    finally:
        for child in psutil.Process(shell.pid).children(recursive=True) if shell.poll() is None else ():
            child.kill()
        shell.kill()
    assert events("ExecutorRemoved")
    tasks = [event["Task Metrics"] for event in events("TaskEnd") if "Task Metrics" in event]
    assert sum(task["Shuffle Write Metrics"]["Shuffle Bytes Written"] for task in tasks) > 0
    run = Run(spec(), AS_OF, open_lake(str(tmp_path / "lake")), tmp_path)
    assert snapshot_bytes(run) == reference
