"""The current code builds a release from a lake that version 0.1.0 made, and everything promised to be permanent is
unchanged (tests/data/README.md).
"""

import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest

from s2corpus.pipeline.run import Run
from s2corpus.snapshot.verify import verify
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.papers import ALIASES, CLUSTERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES
from s2orc_parse import tei
from tests import standin_grobid
from tests.releases import ROOT, build, spec

pytestmark = pytest.mark.slow
LAKE = ROOT / "tests" / "data" / "lake-0.1.0.tar.xz"


@pytest.fixture(scope="module")
def yesterday(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the lake and return its folder."""
    folder = tmp_path_factory.mktemp("lake")
    with tarfile.open(LAKE) as archive:
        archive.extractall(folder)  # Our own file: the argument `filter` begins with Python 3.11.4.
    return folder


@pytest.fixture(scope="module")
def released(yesterday: Path) -> tuple[Run, Mapping[str, int]]:
    """Build the next month's release; return it and the number of uploads by PDF.

    The stand-in extractor has the name and version of the extractor that 0.1.0 used (s2corpus-layout).
    """
    (version,) = {path.parent.parent.name for path in (yesterday / "stored_tei/s2corpus-layout").glob("*/*/*.parquet")}
    with (
        standin_grobid.StandIn(version={"name": "s2corpus-layout", "version": version}) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("GROBID_URL", server.url)
        run = Run(spec(), datetime(2023, 3, 1, tzinfo=UTC), LocalLake(yesterday), yesterday)
        build(run)
        return run, server.uploads


def test_old_extractions_are_reused_and_parsed_again(released: tuple[Run, Mapping[str, int]], yesterday: Path) -> None:
    run, sent = released
    kept = {
        sha1
        for path in (yesterday / "stored_tei").rglob("*.parquet")
        for sha1 in pq.read_table(path, columns=["pdf_sha1"])["pdf_sha1"].to_pylist()
    }
    rows = run.table(EXTRACTIONS).read(["file_sha1", "outcome"]).to_pylist()
    assert {row["file_sha1"] for row in rows} == kept and not sent
    parses = run.table(PARSES).read(["parse_id", "outcome"]).to_pylist()
    assert {row["parse_id"].rsplit(":", 1)[1] for row in parses} == {tei.CONVERTER_VERSION} != {"1"}
    assert {row["outcome"] for row in parses} == {"ok"}


def test_papers_retain_ids_and_aliases(released: tuple[Run, Mapping[str, int]], yesterday: Path) -> None:
    run, _ = released
    (old,) = yesterday.glob("snapshots/sample-20230201-*")
    assert run.parent == old.name
    assert list(verify(LocalLake(yesterday / "snapshots" / run.snapshot_id))) == []
    before = dict(zip(*pq.read_table(old / "clusters.parquet").select(["record_id", "paper_id"]).columns, strict=True))
    papers = {str(record): str(paper) for record, paper in before.items()}
    now = {row["record_id"]: row["paper_id"] for row in run.table(CLUSTERS).read().to_pylist()}
    aliases = {row["alias"]: row["paper_id"] for row in run.table(ALIASES).read().to_pylist()}
    assert papers
    for record, paper in papers.items():
        if record in now:
            assert paper in (now[record], *aliases) and aliases.get(paper, paper) == now[record], record
    for row in pq.read_table(old / "aliases.parquet").to_pylist():
        assert row["alias"] in aliases
    manifest = orjson.loads((old / "manifest.json").read_bytes())
    assert manifest["versions"]["code"] == "0.1.0"
