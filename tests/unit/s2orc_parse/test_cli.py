"""`s2orc-parse` reads files by their form, writes one line per input, and names rejects.

It uses all cores, keeps the order, and writes complete output files or none.
"""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2orc_parse import jats, outputs
from tests.unit.s2orc_parse.tei import teis


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (b'<j:article xmlns:j="x">', "jats"), (b"<TEI><note>the article <article></note></TEI>", None), (b' {"docId": "S1"', "elsevier"),
    ],
)  # fmt: skip
def test_form_is_detected_from_the_first_bytes(head: bytes, form: str | None) -> None:
    assert jats.detect_kind(head) == form


@pytest.mark.parametrize(
    ("names", "status", "said"),
    [
        (["a.tei.xml"], 0, "1 documents: 1 parsed, 0 rejected"),
        (["a.tei.xml", "b.tar.gz", "c.xml"], 1, "3 documents: 1 parsed, 2 rejected (1 bad_tei:not_tei, 1 damaged)"),
        (["a.tei.xml", "d.tar.gz"], 1, "2 documents: 1 parsed, 1 rejected (1 unreadable)"),
        (["a.tei.xml", "e.xml"], 1, "2 documents: 1 parsed, 1 rejected (1 pdf)"),
        (["a.tei.xml", "none.xml"], 2, "none.xml does not exist: give files of TEI"),
    ],
)
def test_exit_status_tells_whether_all_have_parses(names: list[str], status: int, said: str, tmp_path: Path) -> None:
    for name, data in (
        ("a.tei.xml", teis.document("<p>one</p>")),
        ("b.tar.gz", b"\x1f\x8b"),
        ("c.xml", b"<html/>"),
        ("e.xml", b"%PDF-1.7"),
    ):
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
