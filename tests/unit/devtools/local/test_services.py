"""`make up` starts S3, PostgreSQL and the extractor.

They accept their keys only, and connections from this machine only.
"""

from __future__ import annotations

import ipaddress
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import psycopg2
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from devtools.cli import tools
from devtools.local import Condition, Services, process
from s2corpus.deployment.http import ask
from s2corpus.errors import UserError
from tests.unit.devtools.local.refusing import refuses

pytestmark = pytest.mark.services
ONLY = {"s3", "postgres", "extractor"}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    local = Services(tmp_path_factory.mktemp("local") / "state")
    try:
        local.up(ONLY)
        yield local
    finally:
        local.down()


def pids(local: Services) -> dict[str, int]:
    return {status.name: status.pid for status in local.status() if status.condition is Condition.RUNNING}


def s3(local: Services, **keys: Any) -> Any:
    environ = local.endpoints().environ()
    given = {name: environ[name.upper()] for name in ("aws_access_key_id", "aws_secret_access_key")} | keys
    address, region = environ["AWS_ENDPOINT_URL"], environ["AWS_DEFAULT_REGION"]
    return boto3.client("s3", endpoint_url=address, region_name=region, **given)


def connect(local: Services, database: str, **changes: Any) -> Any:
    port, password = local.state.ports()["postgres"], local.state.secrets()[f"{database}-database"]
    given: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": port,
        "dbname": database,
        "user": database,
        "password": password,
    }
    return psycopg2.connect(**(given | changes))


def test_second_up_restarts_nothing_and_keeps_objects(local: Services) -> None:
    before, client = pids(local), s3(local)
    assert set(before) == ONLY
    client.put_object(Bucket="corpus", Key="a/b", Body=b"bytes")
    local.up(ONLY)
    assert pids(local) == before
    assert client.get_object(Bucket="corpus", Key="a/b")["Body"].read() == b"bytes"


@pytest.mark.parametrize("wrong", [{"aws_secret_access_key": "wrong"}, {"aws_access_key_id": "any"}])
def test_wrong_keys_open_no_bucket(local: Services, wrong: dict[str, str]) -> None:
    with pytest.raises(ClientError, match=r"SignatureDoesNotMatch|InvalidAccessKeyId"):
        s3(local, **wrong).list_objects_v2(Bucket="corpus")


@pytest.mark.parametrize("database", ["airflow", "catalog"])
def test_database_owner_is_not_a_superuser(local: Services, database: str) -> None:
    with connect(local, database) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE probe (n int)")
        cursor.execute("DROP TABLE probe")
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            cursor.execute("SELECT pg_read_file('/etc/passwd')")


SUPERUSER = {"user": "postgres", "password": "postgres", "dbname": "postgres"}


@pytest.mark.parametrize(
    "changes", [{"password": ""}, {"password": "wrong"}, {"user": "postgres"}, {"dbname": "catalog"}, SUPERUSER]
)
def test_postgresql_requires_a_password(local: Services, changes: dict[str, object]) -> None:
    with pytest.raises(psycopg2.OperationalError, match=r"password|permission denied"):
        connect(local, "airflow", **changes)


def test_every_listening_socket_is_on_loopback_and_known(local: Services) -> None:
    ours = {member.pid for service in local._all() for member in local._members(service)}
    found = [listener for listener in process.listeners() if listener.pid in ours]
    assert {listener.port for listener in found} == set(local.state.ports().values()) - {local.state.ports()["airflow"]}
    assert not [listener for listener in found if not ipaddress.ip_address(listener.address).is_loopback]


@pytest.mark.parametrize(
    "port", ["s3", "s3-grpc", "master", "master-grpc", "filer", "filer-grpc", "volume", "volume-grpc", "admin", "admin-grpc", "extractor"]
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_port_answers_without_its_key(local: Services, port: str, scheme: str) -> None:
    # The extractor returns 404 for an unknown path; from another service, 404 would be an answer without a key.
    statuses = {400, 401, 403, *([404] if port == "extractor" else [])}
    for path in (
        "/", "/corpus", "/buckets/corpus/", "/dir/assign", "/dir/status", "/vol/status", "/cluster/status", "/metrics",
        "/debug/pprof/", "/stats/counter", "/ui/index.html", "/dir/lookup?volumeId=1", "/api/version", "/col/delete?collection=corpus",
    ):  # fmt: skip
        refuses(urllib.request.Request(f"{scheme}://127.0.0.1:{local.state.ports()[port]}{path}"), statuses)


def test_extractor_requires_its_token(local: Services) -> None:
    environ = local.endpoints().environ()
    headers = {"Authorization": f"Bearer {environ['S2CORPUS_EXTRACTOR_TOKEN']}"}
    assert ask(f"{environ['GROBID_URL']}/api/isalive", headers=headers).status == 200


def test_secrets_are_not_in_command_lines_or_logs(local: Services) -> None:
    # An access key id is the name in a request, not its secret: SeaweedFS logs it.
    secrets = [value for name, value in local.state.secrets().items() if name != "s3-access-key"]
    members = [member for service in local._all() for member in local._members(service)]
    shown = [Path(f"/proc/{member.pid}/cmdline").read_text(errors="replace") for member in members]
    shown += [path.read_text(errors="replace") for path in local.state.logs.iterdir()]
    assert len(shown) > len(ONLY)
    assert not [text for text in shown if any(secret in text for secret in secrets)]


def test_own_grobid_replaces_the_embedded_extractor(local: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    before = local.endpoints().environ()
    monkeypatch.setenv("GROBID_URL", before["GROBID_URL"])
    assert local.endpoints().environ() == before, "the address of the embedded extractor is recognized"
    monkeypatch.setenv("GROBID_URL", "http://grobid.example:8070/")
    monkeypatch.setenv("NO_PROXY", "example.org")
    environ = local.endpoints().environ()
    assert environ["GROBID_URL"] == "http://grobid.example:8070" and "S2CORPUS_EXTRACTOR_TOKEN" not in environ
    assert environ["NO_PROXY"] == "example.org,127.0.0.1,localhost", "local requests use no proxy"
    assert {status.name: status.condition for status in local.status()}["extractor"] is Condition.EXTERNAL


def test_commands_show_running_services(local: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_STATE", str(local.state.root))
    status = CliRunner().invoke(tools, ["status"])
    assert status.exit_code == 1  # Airflow does not run.
    for name, pid in pids(local).items():
        assert any(line.startswith(name) and f"pid {pid}" in line for line in status.output.splitlines())
        assert str(local.state.logs / f"{name}.log") in status.output
    exported = CliRunner().invoke(tools, ["env"]).output
    assert f"export AWS_ENDPOINT_URL=http://127.0.0.1:{local.state.ports()['s3']}\n" in exported


def test_wipe_asks_before_it_removes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_STATE", str(tmp_path / "state"))
    local = Services(tmp_path / "state")
    local.up({"postgres"})
    shown = CliRunner().invoke(tools, ["down", "--wipe"])
    assert shown.exit_code == 0
    assert f"would remove {local.state.root / 'postgres'}" in shown.output
    assert pids(local).keys() == {"postgres"}
    assert CliRunner().invoke(tools, ["down", "--wipe", "--yes"]).exit_code == 0
    assert not local.state.root.exists()


def test_folder_without_state_and_unknown_service_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="is not a state folder"):
        Services(tmp_path).wipe()
    assert (tmp_path / "thesis.tex").exists()
    with pytest.raises(UserError, match="no service 'redis': there are s3, postgres, extractor, airflow"):
        Services(tmp_path / "state").up({"redis"})
