"""Astro's keys in `airflow_settings.yaml` are converted to the input of Airflow's REST API.

The number of task slots follows from a worker's memory and cores.

Requests that create nothing are repeated if Airflow's database refuses them.

The image's /clean-logs deletes the logs that the Airflow chart expects.
"""

import os
import subprocess
import time
from pathlib import Path

import pytest

from devtools.local.state import project
from s2corpus.deployment import http
from s2corpus.deployment.settings import Settings, read_settings
from s2corpus.deployment.slots import available_memory, compute_slots
from s2corpus.errors import UserError
from s2corpus.spec_files import load_spec


def read(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "airflow_settings.yaml"
    path.write_text(text)
    return read_settings(path)


def test_project_settings_have_the_pool_and_no_secret() -> None:
    settings = read_settings(project() / "airflow_settings.yaml")
    assert [pool["name"] for pool in settings["pools"]] == ["grobid"]
    assert settings["pools"][0]["slots"] >= 1
    assert not [connection for connection in settings["connections"] if "password" in connection]


def test_every_kind_of_entry_is_translated(tmp_path: Path) -> None:
    text = """
    airflow:
      pools: [{pool_name: grobid, pool_slot: 3, pool_description: in flight}]
      connections: [{conn_id: s3, conn_type: aws, conn_host: h, conn_port: 9000, conn_extra: {region: x}}]
      variables: [{variable_name: color, variable_value: blue}, {variable_name: null_}]
    """
    settings = read(tmp_path, text)
    assert settings["pools"] == [{"name": "grobid", "slots": 3, "description": "in flight"}]
    assert settings["connections"] == [
        {"connection_id": "s3", "conn_type": "aws", "host": "h", "port": 9000, "extra": '{"region": "x"}'}
    ]
    assert settings["variables"] == [{"key": "color", "value": "blue"}, {"key": "null_", "value": None}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "is not YAML"),
        ("airflow: {pools: [{pool: a}]}", "unknown key 'pool' in pools, allowed are pool_name"),
        ("airflow: {connections: [{conn_id: a, conn_uri: 'http://h'}]}", "conn_uri of a"),
    ],
)
def test_wrong_settings_file_gives_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UserError, match=r"airflow_settings\.yaml") as error:
        read(tmp_path, text)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


SPECS = [load_spec(path) for path in sorted((project() / "include" / "releases").glob("*.yaml"))]


@pytest.mark.parametrize(
    ("memory", "cores", "slots"), [(16_000_000_000, 8, 6), (1_000_000_000, 8, 1), (512_000_000_000, 4, 8)]
)
def test_slots_follow_memory_within_one_and_two_per_core(memory: int, cores: int, slots: int) -> None:
    assert compute_slots(memory, cores, SPECS) == slots


def test_memory_is_that_of_the_container(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("3000000000\n")
    (tmp_path / "unlimited").write_text("max\n")
    machine = available_memory([tmp_path / "absent", tmp_path / "unlimited"])
    assert available_memory([tmp_path / "memory.max"]) == min(3_000_000_000, machine)


def test_request_refused_by_the_database_is_repeated_unless_it_creates(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(201, b'{"access_token": "t"}'), (500, b""), (200, b"7"), (500, b"locked")]
    monkeypatch.setattr(http, "ask", lambda *_, **__: http.HttpResponse(*answers.pop(0)))
    client = http.AirflowClient("http://127.0.0.1:1", "op", "password")
    assert client.call("PATCH", "dags/a/dagRuns/b", {"state": "failed"}) == 7
    with pytest.raises(UserError, match="HTTP 500"):
        client.call("POST", "backfills", {})


SCRIPTS = Path(__file__).resolve().parents[4] / "deploy" / "image"


def test_only_old_and_large_logs_are_deleted(tmp_path: Path) -> None:
    """A log is kept for 15 days unless variables state days, minutes or a size."""

    def clean(**variables: str) -> set[str]:
        days = {"logs/a b/old.log": 16, "logs/new.log": 14, "logs/newest.log": 1, "logs/old.pid": 100, "other.log": 100}
        for name, age in days.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"x" * 400_000)
            os.utime(tmp_path / name, (time.time() - age * 86_400,) * 2)
        environ = {"PATH": os.environ["PATH"], "AIRFLOW_HOME": str(tmp_path), **variables}
        subprocess.run(["bash", SCRIPTS / "clean-logs", "--once"], env=environ, check=True)
        return {name for name in days if not (tmp_path / name).exists()}

    assert clean() == {"logs/a b/old.log"}
    short = {"AIRFLOW__LOG_RETENTION_DAYS": "13", "AIRFLOW__LOG_RETENTION_MINUTES": "60"}
    assert clean(**short) == {"logs/a b/old.log", "logs/new.log"}
    assert clean(AIRFLOW__LOG_MAX_SIZE_BYTES="900000") == {"logs/a b/old.log", "logs/new.log"}
