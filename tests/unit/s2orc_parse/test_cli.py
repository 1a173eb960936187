"""`s2orc-parse` converts every format, one line per document, and names rejected inputs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.s2orc_parse.tei import teis


@pytest.mark.parametrize(
    ("names", "status", "said"),
    [
        (["a.tei.xml"], 0, "1 documents: 1 parsed, 0 rejected"),
        (["a.tei.xml", "b.tar.gz", "c.xml"], 1, "3 documents: 1 parsed, 2 rejected (1 bad_tei:not_tei, 1 damaged)"),
        (["a.tei.xml", "none.xml"], 2, "none.xml does not exist: give files of TEI"),
    ],
)
def test_exit_status_tells_whether_all_have_parses(names: list[str], status: int, said: str, tmp_path: Path) -> None:
    for name, data in (("a.tei.xml", teis.document("<p>one</p>")), ("b.tar.gz", b"\x1f\x8b"), ("c.xml", b"<html/>")):
        (tmp_path / name).write_bytes(data)
    command = [sys.executable, "-m", "s2orc_parse.cli", *names, "--rejects", "rejects.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    if status < 2:
        assert [json.loads(line)["paper_id"] for line in done.stdout.splitlines()] == ["a"]
        rejects = [json.loads(line)["name"] for line in (tmp_path / "rejects.jsonl").open()]
        assert rejects == [name.removesuffix(".xml") for name in names[1:]]
