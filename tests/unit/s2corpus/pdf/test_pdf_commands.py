"""`corpus select` and `corpus extract` work on files."""

import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from s2corpus.cli import corpus
from s2corpus.tables.parses import SELECTIONS
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS


def run(*arguments: object) -> Result:
    return CliRunner().invoke(corpus, [str(a) for a in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a paper, a copy of the paper, and an HTML page with a PDF's file name."""
    pdfs = tmp_path / "pdfs"
    pdfs.mkdir()
    for name, kind in (("a.pdf", "paper"), ("b.PDF", "paper"), ("c.pdf", "html")):
        (pdfs / name).write_bytes(KINDS[kind][0]())
    (pdfs / "notes.txt").write_text("no PDF")
    return pdfs


def test_select_prints_outcomes_and_writes_the_table(folder: Path) -> None:
    out = folder / "selections.parquet"
    result = run("select", folder, "--out", out, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert f"selected\t{folder}/a.pdf\n" in result.stdout
    assert result.stderr == "2 PDFs: 1 selected, 1 unreadable\n"
    rows = pq.read_table(out).to_pylist()
    assert sorted(row["outcome"] for row in rows) == ["selected", "unreadable"]
    assert list(rows[0]) == SELECTIONS.schema.names


def test_extract_uses_named_grobid_and_sends_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "tei"
    sha1, html = (hashlib.sha1((folder / name).read_bytes()).hexdigest() for name in ("a.pdf", "c.pdf"))
    with StandIn(faults=lambda upload: "BAD_INPUT_DATA" if upload.sha1 == html else None) as server:
        monkeypatch.setenv("GROBID_URL", f"{server.url},")
        for _ in range(2):
            result = run("extract", folder, "--out", out)
            assert result.exit_code == 0, result.output
            assert f"failed:BAD_INPUT_DATA\t{folder}/c.pdf\n" in result.stdout
            assert server.uploads == {sha1: 1, html: 1}
        assert "2 PDFs with grobid 0.8.2: 1 failed:BAD_INPUT_DATA, 1 ok; 2 were already extracted" in result.stderr
        assert (out / f"{sha1}.tei.xml").read_bytes() == server.recorded(sha1)
        assert {json.loads(line)["file_sha1"] for line in (out / "extractions.jsonl").open()} == {sha1, html}
        (out / f"{sha1}.tei.xml").write_text("damaged")
        run("extract", folder, "--out", out)
        assert server.uploads == {sha1: 2, html: 1}
        server.version = "0.9.0"
        run("extract", folder, "--out", out)
        assert server.uploads == {sha1: 3, html: 2}


def test_extract_without_grobid_runs_the_embedded_extractor(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROBID_URL", raising=False)
    result = run("extract", folder / "a.pdf", "--out", tmp_path / "tei", "--in-flight", 1)
    assert result.exit_code == 0, result.output
    (tei,) = (tmp_path / "tei").glob("*.tei.xml")
    assert b"s2corpus-layout" in tei.read_bytes()
