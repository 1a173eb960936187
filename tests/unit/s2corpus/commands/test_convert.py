"""`corpus convert` gives one line or one named reject for each file, and does no finished work twice."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from s2corpus.errors import UserError
from tests.commands import invoke
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS
from tests.unit.s2orc_parse.jats import articles
from tests.unit.s2orc_parse.tei import teis

SHA1 = "0123456789abcdef0123456789abcdef01234567"
ELSEVIER = '{"docId": "S1", "metadata": {"title": "On tests"}, "body_text": [{"sentence": "Text.", "startOffset": 0, "secId": "s1"}]}'
LATEX = r"\documentclass{article}\begin{document}Some words.\end{document}"


def run(*arguments: object) -> Result:
    return invoke("convert", *arguments)


def ids(path: Path) -> list[str]:
    return [json.loads(line)["paper_id"] for line in path.open()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a paper, its copy, and an HTML page with a PDF's name."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, kind in (("a.pdf", "paper"), ("b.PDF", "paper"), ("c.pdf", "html")):
        (folder / name).write_bytes(KINDS[kind][0]())
    return folder


def test_each_format_gives_a_line_with_the_file_name(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "inner").mkdir(parents=True)
    (folder / f"{SHA1}.tei.xml").write_bytes(teis.document("<p>one</p>"))
    (folder / "inner/b.nxml").write_bytes(articles.article("<p>two</p>"))
    (folder / "inner/c.json").write_text(ELSEVIER)
    (folder / "inner/d.xml").write_bytes(articles.article(""))
    (folder / "inner/e.tex").write_text(LATEX)
    (folder / "notes.txt").write_text("not read")
    result = run(folder, "--out", tmp_path / "out.jsonl", "--rejects", tmp_path / "bad.jsonl")
    parses = [json.loads(line) for line in (tmp_path / "out.jsonl").open()]
    assert [(p["paper_id"], p["provenance"]["extractor"], p["body_text"][0]["text"]) for p in parses] == [
        (SHA1, "grobid", "one"), ("b", "jats", "two"), ("c", "elsevier-json", "Text."), ("e", "pandoc", "Some words."),
    ]  # fmt: skip
    assert parses[0]["_pdf_hash"] == SHA1
    assert json.loads((tmp_path / "bad.jsonl").read_bytes()) == {
        "name": f"{folder}/inner/d.xml",
        "outcome": "bad_jats:no_body",
    }
    assert "5 files: 4 parsed, 1 rejected (1 bad_jats:no_body)" in result.stderr
    assert "ignored files: 1 .txt;" in result.stderr
    assert result.exit_code == 1


def test_equal_names_get_different_ids(tmp_path: Path) -> None:
    names = ["a.xml", "b.nxml", "b.xml", "x/c.xml", "y/c.xml", "y/d.xml", "z/b.nxml.xml"]
    for name in names:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(teis.document("<p>one</p>"))
    assert run(tmp_path / "in", tmp_path / "in/y/../a.xml", "--out", tmp_path / "out").exit_code == 0
    # The stem of z/b.nxml.xml is the name of b.nxml, so both are raised to their next form.
    assert ids(tmp_path / "out") == ["a", "b.nxml", "b.xml", "x/c.xml", "y/c.xml", "d", "b.nxml.xml"]


def test_content_decides_the_format(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.pdf").rename(tmp_path / "paper")
    (folder / "b.PDF").rename(tmp_path / "b.xml")
    with StandIn() as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        result = run(tmp_path / "paper", tmp_path / "b.xml", "--out", tmp_path / "out")
        assert (result.exit_code, ids(tmp_path / "out")) == (0, ["paper", "b"]), result.output
        assert server.uploads.total() == 1


def test_wrong_input_gives_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "missing", tmp_path / "empty"):
        assert isinstance(error := run(path).exception, UserError) and str(path) in str(error)
    (tmp_path / "empty/a.xml").write_bytes(teis.document("<p>one</p>"))
    assert "is in the folder of the TEI" in str(run(tmp_path / "empty", "--tei", tmp_path).exception)


def test_interrupted_conversion_continues(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF without a final outcome keeps the TEI of all others next to the output until the next run."""
    out, partial = tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    paper, html = (hashlib.sha1((folder / name).read_bytes()).hexdigest() for name in ("a.pdf", "c.pdf"))
    faults = {html: "502"}
    with StandIn(faults=lambda upload: faults.get(upload.sha1)) as server:
        monkeypatch.setenv("GROBID_URL", f"{server.url},")
        result = run(folder, "--out", out, "--seconds", 1)
        assert (result.exit_code, ids(out)) == (1, ["a", "b"]), result.output
        assert f"{folder}/c.pdf: gave_up:" in result.stderr
        assert (partial / "a.tei.xml").read_bytes() == server.recorded(paper)
        faults[html], before = "BAD_INPUT_DATA", server.uploads[html]
        assert run(folder, "--out", out, "--rejects", tmp_path / "bad").exit_code == 1
        assert json.loads((tmp_path / "bad").read_bytes())["outcome"] == "failed:BAD_INPUT_DATA"
        assert server.uploads == {paper: 1, html: before + 1}
        assert not partial.exists()


def test_tei_is_reused_by_content_and_version(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, tei = tmp_path / "out.jsonl", tmp_path / "tei"
    with StandIn() as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        for _ in range(2):
            assert run(folder / "a.pdf", "--out", out, "--tei", tei).exit_code == 0
            assert server.uploads.total() == 1
        (row,) = map(json.loads, (tei / "extractions.jsonl").open())
        assert (row["file"], row["paper_id"], row["version"]) == (f"{folder}/a.pdf", "a", "0.8.2")
        (tei / "a.tei.xml").write_text("damaged")
        run(folder / "a.pdf", "--out", out, "--tei", tei)
        assert server.uploads.total() == 2
        server.version = "0.9.0"
        run(folder / "a.pdf", "--out", out, "--tei", tei)
        assert server.uploads.total() == 3


def test_embedded_extractor_converts_without_any_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROBID_URL", raising=False)
    command = [sys.executable, "-m", "s2corpus", "convert", str(folder / "a.pdf"), "--in-flight", "1", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    paper = json.loads(done.stdout)
    assert (paper["paper_id"], paper["provenance"]["extractor"]) == ("a", "s2corpus-layout")
