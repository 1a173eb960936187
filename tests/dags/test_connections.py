"""docs/deployment.md: lake and catalog come from Airflow's connections, as a secrets backend stores them, if no variable names the lake."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from devtools.local import Endpoints
from tests.releases import ROOT

pytestmark = [pytest.mark.airflow, pytest.mark.services]
TASK = """
from s2corpus_airflow.connections import apply_connections
apply_connections()
"""
TRIGGERER = """
import asyncio
from s2corpus_airflow.connections import apply_connections_in_triggerer
asyncio.run(apply_connections_in_triggerer())
"""
READ = """
import os
from s2corpus.catalog import Catalog
from s2corpus.storage.lake import lake_uri, open_lake
lake = open_lake(lake_uri())
lake.put("connected", b"1")
Catalog.from_environment()
print(lake.root, lake.get("connected")[0], sorted(name for name in os.environ if name.startswith("AWS_")))
"""


def run(code: str, home: Path, connections: dict[str, object]) -> subprocess.CompletedProcess[str]:
    """Run code in a process whose only settings are a secrets backend and its connections."""
    (home / "connections.json").write_text(json.dumps(connections))
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environ |= {
        "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("include", "plugins")),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__SECRETS__BACKEND": "airflow.secrets.local_filesystem.LocalFilesystemBackend",
        "AIRFLOW__SECRETS__BACKEND_KWARGS": json.dumps({"connections_file_path": str(home / "connections.json")}),
    }
    return subprocess.run([sys.executable, "-c", code], env=environ, cwd=home, capture_output=True, text=True)


@pytest.mark.parametrize("component", [TASK, TRIGGERER], ids=["task", "triggerer"])
def test_lake_and_catalog_come_from_a_secrets_backend(component: str, services: Endpoints, tmp_path: Path) -> None:
    variables = services.environ()
    catalog = urlsplit(variables["S2CORPUS_CATALOG"])
    done = run(component + READ, tmp_path, {
        "s2corpus_lake": {
            "conn_type": "aws", "login": variables["AWS_ACCESS_KEY_ID"], "password": variables["AWS_SECRET_ACCESS_KEY"],
            "extra": {"lake": "s3://corpus/guest", "endpoint_url": variables["AWS_ENDPOINT_URL"],
                      "region_name": "us-east-1"},
        },
        "s2corpus_catalog": {
            "conn_type": "postgres", "host": catalog.hostname, "port": catalog.port, "login": catalog.username,
            "password": catalog.password, "schema": catalog.path.lstrip("/"),
        },
    })  # fmt: skip
    assert done.stdout.splitlines()[-1:] == ["s3://corpus/guest b'1' []"], done.stderr[-2000:]


@pytest.mark.parametrize(
    ("connections", "error"),
    [
        ({}, "add the Airflow connection s2corpus_lake of type aws"),
        ({"s2corpus_lake": {"conn_type": "aws"}}, '{"lake":'),
    ],
)
def test_missing_address_of_the_lake_is_named(connections: dict[str, object], error: str, tmp_path: Path) -> None:
    assert error in run(TASK, tmp_path, connections).stderr.splitlines()[-1]
