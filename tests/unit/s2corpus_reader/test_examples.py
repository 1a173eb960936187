"""The examples of the reader's README and of docs/reading.md#s3 run unchanged, except for the endpoint and keys of a real S3 server."""

import importlib.util
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import s2corpus_reader
from devtools.local import Endpoints
from s2corpus.pipeline.run import Run
from s2corpus.snapshot.pointer import publish
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import open_lake
from tests.releases import ROOT
from tests.unit.s2corpus.snapshot.release import build, lay_out, papers

pytestmark = pytest.mark.services
PAGES = (Path(s2corpus_reader.__file__).with_name("README.md"), ROOT / "docs" / "reading.md")
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    if "s3.example.org" in block
]
SPEC = ReleaseSpec.model_validate({"name": "s2_v2", "export": {"files": 2}})


@pytest.fixture(scope="module")
def run(services: Endpoints, tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in services.environ().items():
            patch.setenv(name, value)
        lake = open_lake(f"{os.environ['S2CORPUS_LAKE']}/reader")
        made = lay_out(lake, tmp_path_factory.mktemp("scratch"), SPEC, papers(40), buckets=2)
        publish(build(made).lake, made.snapshot_id)
        return made


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0])
def test_example_runs(
    block: str,
    run: Run,
    services: Endpoints,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module in re.findall(r"^import (\w+)", block, re.MULTILINE):
        pytest.importorskip(module)
    spec = importlib.util.find_spec("duckdb_extension_httpfs")  # The extension that INSTALL would download.
    folders = spec.submodule_search_locations if spec else None
    extension = next(Path(folders[0]).rglob("*.duckdb_extension")) if folders else ""
    variables = services.environ()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "S2CORPUS_LAKE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    endpoint = variables["AWS_ENDPOINT_URL"]
    lake = f"{variables['S2CORPUS_LAKE'].removeprefix('s3://')}/reader"
    with monkeypatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        snapshot = s2corpus_reader.open(f"s3://{lake}/snapshots/s2_v2")
        doi = next(snapshot.documents("s2orc", columns=["doi"]))["doi"][0].as_py()
    for old, new in (
        ("corpus/snapshots/", f"{lake}/snapshots/"),
        ('Bucket="corpus", Prefix="snapshots/', f'Bucket="{lake.partition("/")[0]}", Prefix="reader/snapshots/'),
        ('Bucket="corpus"', f'Bucket="{lake.partition("/")[0]}"'),
        ("SNAPSHOT", str(run.snapshot_id)),
        ("https://s3.example.org", endpoint),
        ("s3.example.org", urlsplit(endpoint).netloc),
        ("USE_SSL true", f"USE_SSL {str(endpoint.startswith('https')).lower()}"),
        ("SECRET'", f"{variables['AWS_SECRET_ACCESS_KEY']}'"),
        ('"SECRET"', f'"{variables["AWS_SECRET_ACCESS_KEY"]}"'),
        ('"KEY"', f'"{variables["AWS_ACCESS_KEY_ID"]}"'),
        ("'KEY'", f"'{variables['AWS_ACCESS_KEY_ID']}'"),
        ('db.sql("INSTALL httpfs")\n', ""),
        ("LOAD httpfs", f"LOAD '{extension}'"),
        ("10.18653/v1/2020.acl-main.447", doi),
    ):
        block = block.replace(old, new)
    exec(compile(block, "example", "exec"), {})
    printed = capsys.readouterr().out.strip()
    assert printed and printed not in ("[]", "None", "0")
