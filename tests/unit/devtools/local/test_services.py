"""`make up` starts S3, PostgreSQL and the extractor, which accept their keys only, and connections from this machine only.

`up` repairs them after a crash, `down` leaves nothing behind, and processes of other programs are not touched.
"""

import ipaddress
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3
import psutil
import psycopg2
import pytest
from botocore.exceptions import ClientError

from devtools.local import Services, process
from devtools.local.process import Process

pytestmark = pytest.mark.services
ONLY = {"s3", "postgres"}
ALL = {"s3", "postgres", "extractor"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    local = Services(tmp_path_factory.mktemp("local") / "state")
    try:
        local.up(ALL)
        yield local
    finally:
        local.down()


def s3(local: Services, **keys: Any) -> Any:
    environ = local.endpoints().environ()
    given = {name: environ[name.upper()] for name in ("aws_access_key_id", "aws_secret_access_key")} | keys
    address, region = environ["AWS_ENDPOINT_URL"], environ["AWS_DEFAULT_REGION"]
    return boto3.client("s3", endpoint_url=address, region_name=region, **given)


def connect(local: Services, database: str, **changes: Any) -> Any:
    port, password = local.state.ports()["postgres"], local.state.secrets()[f"{database}-database"]
    given: dict[str, Any] = {"host": "127.0.0.1", "port": port, "password": password}
    return psycopg2.connect(**{**given, "dbname": database, "user": database, **changes})


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Services]:
    local = Services(tmp_path / "state")
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


def query(local: Services, statement: str) -> list[tuple[object, ...]]:
    with closing(connect(local, "catalog")) as connection, connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_second_up_restarts_nothing_and_keeps_objects(running: Services) -> None:
    before, client = pids(running), s3(running)
    assert set(before) == ALL
    client.put_object(Bucket="corpus", Key="a/b", Body=b"bytes")
    running.up(ALL)
    assert pids(running) == before
    assert client.get_object(Bucket="corpus", Key="a/b")["Body"].read() == b"bytes"


@pytest.mark.parametrize("wrong", [{"aws_secret_access_key": "wrong"}, {"aws_access_key_id": "any"}])
def test_wrong_keys_open_no_bucket(running: Services, wrong: dict[str, str]) -> None:
    with pytest.raises(ClientError, match=r"SignatureDoesNotMatch|InvalidAccessKeyId"):
        s3(running, **wrong).list_objects_v2(Bucket="corpus")


@pytest.mark.parametrize(
    "changes", [{"password": ""}, {"password": "wrong"}, {"user": "postgres"}, {"dbname": "catalog"}]
)
def test_postgresql_requires_a_password(running: Services, changes: dict[str, object]) -> None:
    with pytest.raises(psycopg2.OperationalError, match=r"password|permission denied"):
        connect(running, "airflow", **changes)


def check_exposure(local: Services, *absent: str) -> None:
    """Check that services listen only on their own ports of this machine, and that no command line or log has a secret."""
    members = [member for service in local._all() for member in local._members(service)]
    ids = {member.pid for member in members}
    connections = [each for each in psutil.net_connections("tcp") if each.pid in ids]
    found = {each.laddr for each in connections if each.status == psutil.CONN_LISTEN}
    assert {port for _, port in found} == {n for name, n in local.state.ports().items() if name not in absent}
    assert all(ipaddress.ip_address(address).is_loopback for address, _ in found)
    # An access key id is the name in a request, not its secret: SeaweedFS logs it.
    secrets = [value for name, value in local.state.secrets().items() if name != "s3-access-key"]
    commands = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if p.pid in ids]  # Some ended by now.
    logs = [path.read_text(errors="replace") for path in local.state.logs.iterdir()]
    shown = [" ".join(command or ()) for command in commands] + logs
    assert len(commands) > 2 and logs and not [text for text in shown if any(secret in text for secret in secrets)]


def test_sockets_are_on_loopback_and_secrets_are_not_shown(running: Services) -> None:
    check_exposure(running, "airflow")


@pytest.mark.long
def test_data_survive_kills_and_clean_stops(local: Services) -> None:
    local.up(ONLY)
    s3(local).put_object(Bucket="corpus", Key="k", Body=b"kept")
    query(local, "CREATE TABLE IF NOT EXISTS kept (n int)")
    query(local, "INSERT INTO kept VALUES (7)")
    time.sleep(1)  # Data that PostgreSQL has not written by now is lost only if the machine crashes.
    kill(members(local, "s3") + members(local, "postgres"))
    assert {s.reason for s in local.status() if s.name in ONLY} == {"died"}
    for _ in range(2):
        local.up(ONLY)
        assert s3(local).get_object(Bucket="corpus", Key="k")["Body"].read() == b"kept"
        assert query(local, "SELECT n FROM kept") == [(7,)]
        local.down()
        assert not members(local, "s3") + members(local, "postgres")


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
