"""`corpus check` names the outcome of every file and line before delivery, and `corpus add` warns of the same."""

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import Result

from tests.commands import invoke
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS
from tests.unit.s2orc_parse.jats import articles
from tests.unit.s2orc_parse.tei import teis

WORK = json.dumps({"DOI": "10.1000/a", "type": "journal-article", "title": ["On a"]}).encode()
LATEX = rb"\documentclass{article}\begin{document}Some words.\end{document}"


def outcomes(result: Result) -> dict[str, tuple[str, str]]:
    rows = [line.split("\t") for line in result.stdout.splitlines() if "\t" in line]
    return {name: (outcome, "".join(rest)) for outcome, name, *rest in rows}


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Return a folder with usable files only."""
    folder = tmp_path / "papers"
    folder.mkdir()
    files = {
        "a.pdf": KINDS["paper"][0](), "2004.14974.tex": LATEX, "b.nxml": articles.article("<p>two</p>"),
        "records.jsonl": b'{"name": "a.pdf", "title": "On a"}\n', "crossref.json": WORK,
    }  # fmt: skip
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_usable_folder_passes(papers: Path) -> None:
    result = invoke("check", papers)
    assert result.exit_code == 0, result.output
    assert {name: outcome for name, (outcome, _) in outcomes(result).items()} == {
        "records.jsonl": "metadata", "crossref.json": "metadata", "a.pdf": "selected", "2004.14974.tex": "latex", "b.nxml": "article",
    }  # fmt: skip
    assert result.stderr == "5 files: 1 article, 1 latex, 2 metadata, 1 selected; 0 need a look\n"


UNUSED = {
    "c.pdf": (KINDS["html"][0](), "unreadable", ""), "copy.pdf": (KINDS["paper"][0](), "copy", "the same bytes as a.pdf"),
    "paper.zip": (b"PK\x03\x04", "not_read", "archives are not unpacked"), "d": (b"%PDF-1.7", "not_read", "its name must end in .pdf"),
    "e.xml": (teis.document("<p>one</p>"), "not_read", "TEI is not read from drops"),
    "source.tex": (LATEX, "no_arxiv_id", '"arxiv_id": "…"'), "2004.14975.gz": (b"\x1f\x8b", "damaged", ""),
    "f.nxml": (articles.article(""), "bad_jats:no_body", ""),
    "sub/crossref.json": (WORK, "not_read", "corpus add CORPUS --source crossref crossref.json"),
    "record.jsonl": (b"{}", "not_read", "did you mean records.jsonl"), "sub/records.jsonl": (b"{}", "not_read", "move it there"),
    "notes.txt": (b"", "not_read", "no release reads it"), ".hidden": (b"", "not_delivered", "hidden"),
}  # fmt: skip


def test_each_unused_file_has_an_outcome_and_a_reason(papers: Path) -> None:
    for name, (data, _, _) in UNUSED.items():
        (papers / name).parent.mkdir(exist_ok=True)
        (papers / name).write_bytes(data)
    (papers / "gone.pdf").symlink_to("nowhere")
    result = invoke("check", papers)
    assert result.exit_code == 1, result.output
    found = outcomes(result)
    for name, (_, outcome, detail) in UNUSED.items():
        assert found[name][0] == outcome and detail in found[name][1], name
    assert found["gone.pdf"] == ("not_delivered", "not a file, or a broken link")
    assert len(found) == len(UNUSED) + 6


def test_each_unused_line_has_a_warning(papers: Path) -> None:
    lines = [{"name": "a.pdf", "licence": "CC0"}, {"name": "A"}, {"name": "a.pdf", "titel": "x"}]
    (papers / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = invoke("check", papers)
    assert result.exit_code == 1
    found = outcomes(result)
    assert found["records.jsonl"] == ("metadata", "3 lines describe 1 files")
    assert found["records.jsonl, line 1"] == ("warning", "licence: is read as license")
    assert 'did you mean "a.pdf"?' in found["records.jsonl, line 2"][1]


@pytest.mark.parametrize(
    ("data", "outcome", "said"),
    [
        (WORK, 0, "1 record"), (b"", 1, "no entries"), (b"<html>Too many requests</html>", 1, "malformed at "),
        (WORK + b"\n" + WORK[:20], 1, "1 malformed, 1 record"),
    ],
)  # fmt: skip
def test_metadata_file_shows_records_and_dropped_entries(tmp_path: Path, data: bytes, outcome: int, said: str) -> None:
    (path := tmp_path / "works.jsonl").write_bytes(data)
    result = invoke("check", "--source", "crossref", path)
    assert (result.exit_code, said in result.stdout) == (outcome, True), result.output


def test_misspelt_source_names_the_similar_one(tmp_path: Path) -> None:
    (path := tmp_path / "works.json").write_bytes(WORK)
    for command in (("check",), ("add", "own", "--lake", tmp_path / "lake")):
        error = invoke(*command, "--source", "crosref", path).exception
        assert "no source is called 'crosref' (did you mean crossref?)" in str(error)
    assert not (tmp_path / "lake").exists() or not list((tmp_path / "lake").rglob("*.json"))


def test_id_that_no_corpus_takes_is_refused(papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (specs := tmp_path / "specs").mkdir()
    (specs / "monthly.yaml").write_text("name: monthly\ndrops: ['2026-*']\n")
    monkeypatch.setenv("S2CORPUS_RELEASES", str(specs))
    lake = tmp_path / "lake"
    said = "the corpus monthly does not take mine: its drops are 2026-*"
    assert said in str(invoke("add", "monthly", papers, "--as", "mine", "--lake", lake).exception)
    assert "no such release spec (did you mean monthly?)" in str(
        invoke("add", "montly", papers, "--lake", lake).exception
    )
    assert not lake.exists() or not list(lake.rglob("*.pdf"))
    with zipfile.ZipFile(papers / "paper.zip", "w"):
        pass
    result = invoke("add", "monthly", papers, "--lake", lake)
    assert result.exit_code == 0 and list((lake / "drops").glob("2026-*/_READY")), result.output
    assert "warning: paper.zip: archives are not unpacked" in result.stderr
