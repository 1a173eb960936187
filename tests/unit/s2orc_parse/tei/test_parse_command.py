"""`corpus parse` reads files, folders and Parquet by their form, writes one line per input, and names rejected inputs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from s2corpus.commands.parses import parse_command as command
from s2corpus.errors import UserError
from s2orc_parse import jats
from tests.unit.s2orc_parse.jats import articles
from tests.unit.s2orc_parse.tei import teis

SHA1 = "0123456789abcdef0123456789abcdef01234567"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "teis" / "inner"
    inner.mkdir(parents=True)
    (inner / "b.tei.xml").write_bytes(teis.document("<p>two</p>"))
    (inner.parent / "a.xml").write_bytes(b"<html/>")
    (inner.parent / f"{SHA1}.tei.xml").write_bytes(teis.document("<p>one</p>"))
    (inner.parent / "notes.txt").write_text("not read")
    return inner.parent


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_folder_gives_one_line_or_one_reject_per_file(folder: Path, tmp_path: Path) -> None:
    result = run(folder, "--out", tmp_path / "out.jsonl", "--rejects", tmp_path / "bad.jsonl")
    assert result.exit_code == 0
    assert [(p["paper_id"], p["_pdf_hash"], p["body_text"][0]["text"]) for p in lines(tmp_path / "out.jsonl")] == [
        (None, SHA1, "one"), ("b", "", "two"),
    ]  # fmt: skip
    assert lines(tmp_path / "bad.jsonl") == [{"name": "a", "outcome": "bad_tei:not_tei"}]
    assert re.search(r"3 documents: 2 parsed, 1 rejected \(1 bad_tei:not_tei\), \d+\.\d s$", result.stderr, re.M)


def test_lines_are_printed_to_stdout_and_rejects_to_stderr(folder: Path) -> None:
    result = run(folder / f"{SHA1}.tei.xml", folder / "a.xml", "--schema", "gorc")
    assert [json.loads(line)["s2_pdf_hash"] for line in result.stdout.splitlines()] == [SHA1]
    assert "a: bad_tei:not_tei" in result.stderr


ELSEVIER = '{"docId": "S1", "metadata": {"title": "On tests"}, "body_text": [{"sentence": "Text.", "startOffset": 0, "secId": "s1"}]}'


def test_file_is_read_by_its_detected_form(tmp_path: Path) -> None:
    (tmp_path / "a.nxml").write_bytes(articles.article("<p>Text.</p>"))
    (tmp_path / "b.json").write_text(ELSEVIER)
    (tmp_path / "c.xml").write_text("<TEI><text><body><div><p>Text.</p></div></body></text></TEI>")
    (tmp_path / "d.xml").write_bytes(articles.article(""))
    result = run(tmp_path)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["paper_id"], one["provenance"]["extractor"], one["body_text"][0]["text"]) for one in found] == [
        ("a", "jats", "Text."), ("b", "elsevier-json", "Text."), ("c", "unknown", "Text."),
    ]  # fmt: skip
    assert "d: bad_jats:no_body" in result.stderr


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (articles.article("<p/>"), "jats"),
        (articles.article("<p/>").decode().encode("utf-16"), "jats"),
        (b'<?xml version="1.0"?><!-- x --><article dtd-version="1.1">', "jats"),
        (b'<j:article xmlns:j="x">', "jats"),
        (b"", None),
        (b"%PDF-1.4", None),
        (b"<TEI><note>the article <article></note></TEI>", None),
        (b' {"docId": "S1"', "elsevier"),
        (b'{"paper_id": "1", "title": "x"}', None),
    ],
)
def test_form_is_detected_from_the_first_bytes(head: bytes, form: str | None) -> None:
    assert jats.detect_kind(head) == form


@pytest.mark.parametrize("key", ["file_sha1", "pdf_sha1"])  # The second key is the name up to 0.1.0.
def test_parquet_file_of_teis_is_converted(key: str, tmp_path: Path) -> None:
    rows = {key: [SHA1, "f" * 40], "tei": [teis.document("<p>one</p>"), None], "outcome": ["ok", "no_content"]}
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    result = run(tmp_path / "x.parquet", "--out", tmp_path / "out.jsonl")
    assert [p["_pdf_hash"] for p in lines(tmp_path / "out.jsonl")] == [SHA1]
    assert f"{'f' * 40}: bad_tei:empty" in result.stderr


@pytest.mark.parametrize("wrong", ["missing", "empty folder", "no parquet", "other columns"])
def test_wrong_input_gives_one_clear_sentence(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    if wrong == "empty folder":
        path = tmp_path / "empty"
        path.mkdir()
    elif wrong == "no parquet":
        path.write_bytes(b"PAR")
    elif wrong == "other columns":
        pq.write_table(pa.table({"id": ["1"]}), path)
    with pytest.raises(UserError, match=str(path)):
        run(path)


def test_tei_is_parsed_without_unused_modules(tmp_path: Path) -> None:
    """Arrow and numpy take longer to import than a paper to convert. The others would add a fifth to the startup time."""
    (tmp_path / "a.tei.xml").write_bytes(teis.document("<p>one</p>"))
    code = (
        "import sys; from s2corpus.cli import corpus; corpus(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    )
    command = [sys.executable, "-c", code, "parse", "--quiet", str(tmp_path / "a.tei.xml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    unused = {
        "numpy",
        "pandas",
        "pyarrow",
        "tarfile",
        "importlib.metadata",
        "multiprocessing",
        "s2corpus.sources.streams",
    }
    assert '"text":"one"' in done.stdout
    assert {*unused, "s2orc_parse.jats.converter"} & set(done.stdout.split()) == set()
