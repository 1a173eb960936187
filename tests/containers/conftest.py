"""Fixtures that all container tests share: the engine, the images and the running stack."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import compose
from tests.containers.engine import IMAGES, CannotStart, Engine, build_images, build_stand_ins, running_engine
from tests.releases import ROOT

ADDRESS = "127.77.0.1"
"""The address where the page is published: a loopback address of this machine that no other service uses."""
TARGETS = {"airflow": "s2corpus-airflow:latest", "spark": "s2corpus-spark:latest"}
ADMINISTRATOR = "operator"


@dataclass
class Stack:
    """The services of docker-compose.yaml, with the values of their `.env`."""

    engine: Engine
    env_file: Path
    values: dict[str, str]

    def read_secret(self, name: str) -> str:
        """Return a secret of deploy/make_secrets.py."""
        return Path(self.values["SECRETS"], name).read_text("utf-8").strip()

    def compose(self, *arguments: str) -> str:
        """Run `docker compose` on the project's file, as docs/deployment.md does."""
        return self.engine.docker("compose", "--file", str(compose.FILE), "--env-file", str(self.env_file), *arguments)

    def container(self, service: str) -> str:
        """Return the id of a service's container, which may have ended."""
        (found,) = self.compose("ps", "--all", "--quiet", service).split()
        return found

    def execute(self, service: str, *command: str) -> str:
        """Run a command in a service's container."""
        return self.engine.docker("exec", self.container(service), *command)

    def run_as(self, identity: str, *command: str, folders: tuple[str, ...] = ()) -> str:
        """Run a command in a new container of the image that reaches the lake as one of its identities."""
        environ = {
            "S2CORPUS_LAKE": "s3://corpus", "AWS_ENDPOINT_URL": "http://s3:8333", "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_SHARED_CREDENTIALS_FILE": "/run/secrets/keys",
        }  # fmt: skip
        folders = (*folders, f"{self.values['SECRETS']}/s3_{identity}:/run/secrets/keys:ro")
        options = [f"--env={name}={value}" for name, value in environ.items()] + [f"--volume={it}" for it in folders]
        limits = ("--cap-drop=ALL", "--tmpfs=/tmp:mode=1777", "--tmpfs=/home/airflow:uid=50000,mode=0700")
        network = f"--network={self.values['COMPOSE_PROJECT_NAME']}_lake"
        run = ("run", "--rm", "--read-only", network, *limits, *options, TARGETS["airflow"])
        return self.engine.docker(*run, *command)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Yield a container engine that has the images of the stand-ins and of the project."""
    try:
        with running_engine() as found:
            build_stand_ins(found)
            build_images(found, TARGETS)
            yield found
    except CannotStart as reason:
        pytest.skip(f"no container engine can start here: {reason}")


@pytest.fixture(scope="session")
def stack(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Start all services except GROBID and Spark on new volumes; yield them when they are healthy."""
    folder = tmp_path_factory.mktemp("stack")
    subprocess.run([sys.executable, str(ROOT / "deploy/make_secrets.py"), str(folder / "secrets")], check=True)
    values = IMAGES | {
        "SECRETS": str(folder / "secrets"), "COMPOSE_PROJECT_NAME": "s2corpus-test", "COMPOSE_PROFILES": "extractor",
        "AIRFLOW_BIND": ADDRESS, "AIRFLOW_BASE_URL": f"http://{ADDRESS}:8080", "AIRFLOW_USERS": f"{ADMINISTRATOR}:admin",
        "AIRFLOW_ADMIN_USER": ADMINISTRATOR, "WORKER_MEMORY": "8g",
    }  # fmt: skip
    env_file = folder / "env"
    env_file.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    found = Stack(engine, env_file, values)
    try:
        found.compose("up", "--detach", "--no-build", "--wait")
        yield found
    except AssertionError as error:
        states = found.compose("ps", "--all", "--format", "{{.Service}} {{.Status}}")
        raise AssertionError(f"{error}\n{states}\n{found.compose('logs', '--tail', '15')}") from None
    finally:
        found.compose("--profile", "extractor", "--profile", "spark", "down", "--volumes", "--timeout", "20")
