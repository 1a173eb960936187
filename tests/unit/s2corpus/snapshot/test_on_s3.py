"""SPEC §10.12: a snapshot on a real S3 server is exported, published, verified, pushed and read."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import duckdb
import pytest

from devtools.local import Endpoints
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import reader
from s2corpus.snapshot.pointer import publish
from s2corpus.snapshot.verify import verify
from s2corpus.storage.lake import Lake, open_lake
from tests.unit.s2corpus.snapshot.release import SPEC, build, lay_out, papers

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def lake(services: Endpoints) -> Iterator[Lake]:
    """Yield a separate part of the local services' bucket."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in services.environ().items():
            patch.setenv(name, value)
        yield open_lake(f"{os.environ['S2CORPUS_LAKE']}/on-s3")


@pytest.fixture(scope="module")
def run(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = lay_out(lake, tmp_path_factory.mktemp("scratch"), SPEC, papers(40), buckets=2)
    build(made)
    publish(made.lake, made.snapshot_id)
    return made


def test_snapshot_on_s3_passes_verification(run: Run) -> None:
    assert list(verify(reader.open_snapshot(f"{run.lake.root}/snapshots/{SPEC.name}"))) == []


def test_killed_push_to_a_bucket_resumes(run: Run) -> None:
    to = f"{run.lake.root}/mirror"
    command = [sys.executable, "-m", "s2corpus", "push", f"{run.lake.root}/snapshots/{run.snapshot_id}", to]
    target = open_lake(to)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while sum(1 for _ in target.list("")) < 50:  # The progress of an upload is recorded every 20 files.
            assert process.poll() is None, "the upload ended before it was killed"
        process.kill()
    assert target.size("manifest.json") is None
    total = sum(1 for _ in run.lake.list(f"snapshots/{run.snapshot_id}/")) - 1
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    sent, present = map(int, re.findall(r"\d+", said.partition(": ")[2]))
    assert sent + present == total and present >= 40 and present % 20 == 0
    assert list(verify(target)) == []


def test_iceberg_tables_on_s3_are_read_by_duckdb(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyiceberg")
    from s2corpus.snapshot import iceberg

    catalog = iceberg.open_catalog(f"sqlite:///{tmp_path}/catalog.db")
    counts = iceberg.register(catalog, reader.open_snapshot(f"{run.lake.root}/snapshots/{run.snapshot_id}"))
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        for name in ("httpfs", "avro", "iceberg"):
            spec = importlib.util.find_spec(f"duckdb_extension_{name}")
            if spec is None or not spec.submodule_search_locations:
                pytest.skip(f"duckdb-extension-{name} is not installed")
            (extension,) = Path(spec.submodule_search_locations[0]).rglob("*.duckdb_extension")
            connection.execute(f"LOAD '{extension}'")
        endpoint = urlsplit(os.environ["AWS_ENDPOINT_URL"])
        connection.execute(
            f"CREATE SECRET (TYPE s3, KEY_ID '{os.environ['AWS_ACCESS_KEY_ID']}', SECRET '{os.environ['AWS_SECRET_ACCESS_KEY']}', "
            f"ENDPOINT '{endpoint.netloc}', URL_STYLE 'path', USE_SSL {endpoint.scheme == 'https'})"
        )
        for name in ("documents", "links"):
            at = catalog.load_table(f"{SPEC.name}.{name}").metadata_location
            assert connection.execute(f"SELECT count(*) FROM iceberg_scan('{at}')").fetchone() == (counts[name],), name
    assert counts["documents"] > 10
