"""A user's folder of PDFs is delivered with the metadata files next to them."""

import gzip
import json
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from s2corpus.deliveries.adding import add_papers
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.spec_files import load_spec
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import PDFS, RECORDS
from tests.releases import ROOT
from tests.unit.s2corpus.deliveries.samples import deliver, intake, lines

OWN = load_spec(ROOT / "include/releases/own.yaml")
WORK = {"DOI": "10.1000/A", "type": "journal-article", "title": ["On a"]}
ANSWER = json.dumps({"status": "ok", "message-type": "work-list", "message": {"items": [WORK]}}).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (papers := tmp_path / "papers").mkdir()
    (papers / "a.pdf").write_bytes(b"%PDF-1.4 a")
    return papers


def release(lake: Lake, tmp_path: Path, folder: Path) -> Run:
    added = add_papers(lake, OWN, folder)
    run = Run(OWN, added.uploaded.ready_at.astimezone(UTC) + timedelta(seconds=1), lake, tmp_path)
    intake(run)
    return run


@pytest.mark.parametrize(
    ("name", "data"),
    [("crossref-2026.jsonl", json.dumps(WORK).encode()), ("crossref_works.json.gz", gzip.compress(ANSWER))],
)
def test_crossref_file_next_to_pdfs_gives_records(
    name: str, data: bytes, lake: Lake, tmp_path: Path, folder: Path
) -> None:
    (folder / name).write_bytes(data)
    run = release(lake, tmp_path, folder)
    records = {row["record_id"]: row["title"] for row in run.table(RECORDS).rows()}
    assert records == {"crossref:10.1000/a": "On a"}
    assert len(list(run.table(PDFS).rows())) == 1


@pytest.mark.parametrize("data", [b"<html>Too many requests</html>", ANSWER[:90]])
def test_broken_crossref_file_stops_the_delivery(data: bytes, lake: Lake, folder: Path) -> None:
    (folder / "crossref.json").write_bytes(data)
    with pytest.raises(UserError, match=r"crossref\.json cannot be read as crossref: .*Nothing was delivered"):
        add_papers(lake, OWN, folder)
    assert not list(lake.list(""))


def test_own_release_ignores_deliveries_of_other_releases(lake: Lake, tmp_path: Path, folder: Path) -> None:
    deliver(lake, "sources/crossref/2023-01", {"works.json": json.dumps(WORK).encode()})
    deliver(lake, "sources/acl/own-acl", lines({"record_id": "acl:1", "title": "Delivered with an id of own papers"}))
    run = release(lake, tmp_path, folder)
    assert [row["record_id"] for row in run.table(RECORDS).rows()] == ["acl:1"]


def test_source_pattern_selects_deliveries() -> None:
    spec = ReleaseSpec(name="t", sources=("acl", "*/own-*"))
    assert spec.selects_delivery("acl", "1") and spec.selects_delivery("crossref", "own-1")
    assert not spec.selects_delivery("crossref", "1") and not spec.selects_delivery("own-source", "2023")


@pytest.mark.parametrize("pattern", ["", "/", "a/", "/b", "a/b/c"])
def test_malformed_source_pattern_is_rejected(pattern: str) -> None:
    with pytest.raises(ValidationError, match="is not a pattern of a source"):
        ReleaseSpec(name="t", sources=(pattern,))
