"""The local services recover from a crash of any process.

`up` repairs them, `down` leaves nothing behind, and processes of other programs are not touched.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import psycopg2
import pytest

from devtools.local import Condition, Endpoints, Services, process
from devtools.local.process import Process
from devtools.local.state import project
from s2corpus.deployment.http import ask
from s2corpus.errors import UserError

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

pytestmark = pytest.mark.services
ONLY = {"s3", "postgres"}


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("services") / "state"


@pytest.fixture
def local(state: Path) -> Iterator[Services]:
    """Return the local services, stopped. All tests share the data, because creating a database takes a second."""
    local = Services(state)
    try:
        yield local
    finally:
        local.down()


def pids(local: Services) -> dict[str, int]:
    return {status.name: status.pid for status in local.status() if status.pid}


def members(local: Services, name: str) -> list[Process]:
    return [member for service in local._all() if service.name == name for member in local._members(service)]


def kill(processes: list[Process]) -> None:
    for victim in processes:
        process.send(victim, signal.SIGKILL)
    while any(process.alive(victim) for victim in processes):
        time.sleep(0.01)


def query(endpoints: Endpoints, statement: str) -> list[tuple[object, ...]]:
    url = endpoints.environ()["S2CORPUS_CATALOG"].replace("postgresql+psycopg2", "postgresql")
    connection = psycopg2.connect(url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


def bucket(endpoints: Endpoints) -> S3Client:
    environ = endpoints.environ()
    return boto3.client(
        "s3",
        endpoint_url=environ["AWS_ENDPOINT_URL"],
        region_name=environ["AWS_DEFAULT_REGION"],
        aws_access_key_id=environ["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environ["AWS_SECRET_ACCESS_KEY"],
    )


@pytest.mark.long
def test_data_survive_kills_and_clean_stops(local: Services) -> None:
    endpoints = local.up(ONLY)
    bucket(endpoints).put_object(Bucket="corpus", Key="k", Body=b"kept")
    query(endpoints, "CREATE TABLE IF NOT EXISTS kept (n int)")
    query(endpoints, "INSERT INTO kept VALUES (7)")
    time.sleep(1)  # Data that PostgreSQL has not written by now is lost only if the machine crashes.
    kill(members(local, "s3") + members(local, "postgres"))
    assert {s.reason for s in local.status() if s.name in ONLY} == {"died"}
    for _ in range(2):
        endpoints = local.up(ONLY)
        assert bucket(endpoints).get_object(Bucket="corpus", Key="k")["Body"].read() == b"kept"
        assert query(endpoints, "SELECT n FROM kept") == [(7,)]
        local.down()
        assert not members(local, "s3") + members(local, "postgres")


def test_only_the_killed_service_is_started(local: Services) -> None:
    """Kill the first process of each service without waiting for its end: its children are still ending while `up` begins."""
    endpoints = local.up(ONLY)
    for name in ONLY:
        before = pids(local)
        os.kill(before[name], signal.SIGKILL)
        local.up(ONLY)
        assert {service for service, pid in pids(local).items() if pid != before[service]} == {name}
    assert query(endpoints, "SELECT 1") == [(1,)]


@pytest.mark.long
def test_hanging_process_is_replaced(local: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devtools.local.services._CONVALESCENCE", 1.0)
    monkeypatch.setattr("devtools.local.s3.ask", lambda *a, **k: ask(*a, **k, seconds=0.5))
    local.up({"s3"})
    before = pids(local)
    os.kill(before["s3"], signal.SIGSTOP)
    local.up({"s3"})
    assert pids(local)["s3"] != before["s3"]
    assert not process.identify(before["s3"])


def test_recycled_pid_is_not_touched(local: Services) -> None:
    local.up({"postgres"})
    kill(members(local, "postgres"))
    with subprocess.Popen(["sleep", "60"]) as stranger:
        record = local.state.root / "run" / "postgres.json"
        record.write_text(json.dumps(json.loads(record.read_text()) | {"pid": stranger.pid}))
        (local.state.root / "postgres/data/postmaster.pid").write_text(f"{stranger.pid}\n")
        assert "postgres" not in pids(local)
        local.up({"postgres"})
        assert "postgres" in pids(local)
        local.down()
        assert stranger.poll() is None
        stranger.kill()


@pytest.mark.long
@pytest.mark.parametrize("lost", ["run", "everything"])
def test_unrecorded_services_are_found_and_stopped(local: Services, lost: str) -> None:
    local.up(ONLY)
    running = members(local, "s3") + members(local, "postgres")
    for path in (local.state.root / "run").iterdir():
        path.unlink()
    if lost == "everything":  # A user removed the folder while the services ran.
        subprocess.run(["rm", "-rf", str(local.state.root)], check=True)
    local.up(ONLY)
    assert not any(process.alive(old) for old in running)


@pytest.mark.long
def test_concurrent_ups_start_everything_once(local: Services) -> None:
    code = (
        "import sys, pathlib; from devtools.local import Services; "
        f"s = Services(pathlib.Path(sys.argv[1])); s.up({ONLY!r}); print(sorted((t.name, t.pid) for t in s.status() if t.pid))"
    )

    def up(_: int) -> str:
        command = [sys.executable, "-c", code, str(local.state.root)]
        environ = os.environ | {"PYTHONPATH": str(project() / "include")}
        return subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout

    with ThreadPoolExecutor() as pool:
        assert len(set(pool.map(up, range(3)))) == 1


def test_occupied_port_gives_one_sentence_and_changes_nothing(local: Services) -> None:
    local.up({"postgres"})
    before, other = local.state.ports(), socket.create_server(("127.0.0.1", 0))
    said = rf"port \d+ of postgres is in use by process {os.getpid()} "
    with other, pytest.raises(UserError, match=said):
        local.up({"postgres"}, ports={"postgres": other.getsockname()[1]})
    assert local.state.ports() == before
    local.down()
    with socket.create_server(("127.0.0.1", before["postgres"])), pytest.raises(UserError, match=said):
        local.up({"postgres"})
    local.up({"postgres"})


def test_failed_service_is_named_with_its_log(local: Services) -> None:
    local.up({"postgres"})
    local.down()
    settings = local.state.root / "postgres/data/postgresql.conf"
    before = settings.read_text()
    settings.write_text("nonsense")
    with pytest.raises(UserError, match=r"postgres did not start: it ended at once.*logs/postgres\.log"):
        local.up({"postgres"})
    assert not pids(local)
    settings.write_text(before)


@pytest.mark.airflow
@pytest.mark.long
def test_only_killed_parts_of_airflow_are_started(tmp_path: Path) -> None:
    local = Services(tmp_path / "state")
    try:
        local.up()
        before = pids(local)
        local.up()
        assert pids(local) == before and len(before) == 7
        kill(members(local, "airflow-scheduler"))
        conditions = {status.name: status.condition for status in local.status()}
        assert conditions.pop("airflow-scheduler") is Condition.STOPPED
        assert set(conditions.values()) == {Condition.RUNNING}
        local.up()
        assert {name for name, pid in pids(local).items() if pid != before[name]} == {"airflow-scheduler"}
        health = json.load(urllib.request.urlopen(f"{local.endpoints().airflow_url}/api/v2/monitor/health"))
        assert {entry["status"] for entry in health.values()} == {"healthy"}
        kill([member for service in local._all() for member in local._members(service)])
        local.up()
        assert {status.condition for status in local.status()} == {Condition.RUNNING}
    finally:
        local.down()
    assert not [member for service in local._all() for member in local._members(service)]
