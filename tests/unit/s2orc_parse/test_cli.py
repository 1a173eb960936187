"""`corpus parse` and `s2orc-parse` read files by their form, write one line per input, and name rejects.

They use all cores, keep the order, and write complete output files or none.
"""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from s2corpus.commands.parses import parse_command
from s2corpus.errors import UserError
from s2orc_parse import jats, outputs
from tests.unit.s2orc_parse.jats import articles
from tests.unit.s2orc_parse.tei import teis

SHA1 = "0123456789abcdef0123456789abcdef01234567"
ELSEVIER = '{"docId": "S1", "metadata": {"title": "On tests"}, "body_text": [{"sentence": "Text.", "startOffset": 0, "secId": "s1"}]}'


def run(*arguments: object) -> Result:
    return CliRunner().invoke(parse_command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_folder_gives_one_line_or_one_reject_per_file(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "inner").mkdir(parents=True)
    (folder / f"{SHA1}.tei.xml").write_bytes(teis.document("<p>one</p>"))
    (folder / "inner/b.nxml").write_bytes(articles.article("<p>two</p>"))
    (folder / "inner/c.json").write_text(ELSEVIER)
    (folder / "inner/d.xml").write_bytes(articles.article(""))
    (folder / "notes.txt").write_text("not read")
    result = run(folder, "--out", tmp_path / "out.jsonl", "--rejects", tmp_path / "bad.jsonl")
    parses = [json.loads(line) for line in (tmp_path / "out.jsonl").open()]
    assert [(p["paper_id"], p["_pdf_hash"], p["provenance"]["extractor"], p["body_text"][0]["text"]) for p in parses] == [
        (None, SHA1, "grobid", "one"), ("b", "", "jats", "two"), ("c", "", "elsevier-json", "Text."),
    ]  # fmt: skip
    assert json.loads((tmp_path / "bad.jsonl").read_bytes()) == {"name": "d", "outcome": "bad_jats:no_body"}
    assert re.search(r"4 documents: 3 parsed, 1 rejected \(1 bad_jats:no_body\), \d+\.\d s$", result.stderr, re.M)


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (b'<j:article xmlns:j="x">', "jats"),
        (b"<TEI><note>the article <article></note></TEI>", None),
        (b' {"docId": "S1"', "elsevier"),
    ],
)
def test_form_is_detected_from_the_first_bytes(head: bytes, form: str | None) -> None:
    assert jats.detect_kind(head) == form


@pytest.mark.parametrize("key", ["file_sha1", "pdf_sha1"])  # The second key is the name up to 0.1.0.
def test_parquet_file_of_teis_is_converted(key: str, tmp_path: Path) -> None:
    rows = {key: [SHA1, "f" * 40], "tei": [teis.document("<p>one</p>"), None], "outcome": ["ok", "no_content"]}
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    result = run(tmp_path / "x.parquet", "--schema", "gorc")
    assert [json.loads(line)["s2_pdf_hash"] for line in result.stdout.splitlines()] == [SHA1]
    assert f"{'f' * 40}: bad_tei:empty" in result.stderr


def test_wrong_input_gives_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_bytes(b"PAR")
    pq.write_table(pa.table({"id": ["1"]}), tmp_path / "columns.parquet")
    for path in (tmp_path / "missing", tmp_path / "empty", tmp_path / "text.parquet", tmp_path / "columns.parquet"):
        with pytest.raises(UserError, match=str(path)):
            run(path)


@pytest.mark.parametrize(
    ("names", "status", "said"),
    [
        (["a.tei.xml"], 0, "1 documents: 1 parsed, 0 rejected"),
        (["a.tei.xml", "b.tar.gz", "c.xml"], 1, "3 documents: 1 parsed, 2 rejected (1 bad_tei:not_tei, 1 damaged)"),
        (["a.tei.xml", "d.tar.gz"], 1, "2 documents: 1 parsed, 1 rejected (1 unreadable)"),
        (["a.tei.xml", "none.xml"], 2, "none.xml does not exist: give files of TEI"),
    ],
)
def test_exit_status_tells_whether_all_have_parses(names: list[str], status: int, said: str, tmp_path: Path) -> None:
    for name, data in (("a.tei.xml", teis.document("<p>one</p>")), ("b.tar.gz", b"\x1f\x8b"), ("c.xml", b"<html/>")):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "d.tar.gz").symlink_to("/proc/self/mem")  # Its first byte cannot be read.
    command = [sys.executable, "-m", "s2orc_parse.cli", *names, "--rejects", "rejects.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    if status < 2:
        assert [json.loads(line)["paper_id"] for line in done.stdout.splitlines()] == ["a"]
        rejects = [json.loads(line)["name"] for line in (tmp_path / "rejects.jsonl").open()]
        assert rejects == [name.removesuffix(".xml") for name in names[1:]]


PROGRAM = """
import os, signal
from s2orc_parse.cores import map_in_order
from s2orc_parse.errors import UserError

# The work cannot be pickled.
found = list(map_in_order(lambda n: (n * n, os.getpid()), range(500), cores=3))
assert [square for square, _ in found] == [n * n for n in range(500)]
assert len({pid for _, pid in found}) > 1
def end(n):
    if n == 300:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
try:
    list(map_in_order(end, range(400), cores=2))
except UserError as error:
    print(error)
"""


def test_many_items_are_processed_in_parallel_and_in_order() -> None:
    """A separate process is used, because this process has threads."""
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (found.returncode, "because memory ran out" in found.stdout) == (0, True), found.stderr


def test_output_replaces_the_file_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    with pytest.raises(ValueError, match="ours"), outputs.atomic_path(path) as temporary:
        temporary.write_text("half")
        raise ValueError("ours")
    assert path.read_text() == "before" and [p.name for p in tmp_path.iterdir()] == ["out"]
    (link := tmp_path / "link").symlink_to(path)
    with outputs.open_atomic(link) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert link.is_symlink() and path.read_text() == "after"
    os.umask(before := os.umask(0))
    assert path.stat().st_mode & 0o777 == 0o666 & ~before
    with outputs.atomic_path(Path("/dev/null")) as temporary:
        assert temporary == Path("/dev/null")


@pytest.mark.parametrize(
    ("number", "name", "error"),
    [
        (errno.EACCES, "out", "out cannot be written: you have no right to write there; the old file is unchanged"),
        (errno.EACCES, "other", "other"),
        (errno.ENOSPC, "out", "No space left on device"),  # The disk of `out` has space: another disk is full.
    ],
)
def test_only_errors_of_the_output_are_explained(tmp_path: Path, number: int, name: str, error: str) -> None:
    with pytest.raises((UserError, OSError), match=error), outputs.atomic_path(tmp_path / "out"):
        raise OSError(number, os.strerror(number), str(tmp_path / name))
    assert not list(tmp_path.iterdir())
