"""docs/hostile-input.md: names that are not UTF-8, names with line ends, and broken links each cause one outcome or one error message."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from devtools.own_papers import own_files
from s2corpus.cli import corpus
from s2corpus.errors import UserError

NOT_UTF8 = os.fsdecode(b"caf\xe9")
TEI = (
    b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title level="a">T</title></titleStmt>'
    b"</fileDesc></teiHeader><text><body><div><head>One</head><p>Words.</p></div></body></text></TEI>"
)
TEX = b"\\documentclass{article}\\begin{document}\\section{One}Words of a paper.\\end{document}"


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(corpus, arguments)
    assert done.exception is None or isinstance(done.exception, (SystemExit, UserError)), done.exception
    return done


def lines(path: Path) -> list[dict[str, str]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize(("command", "suffix", "data"), [("parse", ".tei.xml", TEI), ("latex", ".tex", TEX)])
def test_every_name_has_one_outcome(command: str, suffix: str, data: bytes, tmp_path: Path) -> None:
    (folder := tmp_path / "in").mkdir()
    for name in (NOT_UTF8, "two\nlines", "tab\there", "plain"):
        (folder / f"{name}{suffix}").write_bytes(data)
    (folder / f"dangling{suffix}").symlink_to("nowhere")
    (folder / f"folder{suffix}").mkdir()
    out, rejects = tmp_path / "out.jsonl", tmp_path / "rejects.jsonl"
    assert run(command, str(folder), "--out", str(out), "--rejects", str(rejects)).exit_code == 0
    assert sorted(line["paper_id"] for line in lines(out)) == ["caf\\xe9", "plain", "tab\\there", "two\\nlines"]
    assert [line["outcome"] for line in lines(rejects)] == ["unreadable"]


def test_unusable_names_of_a_drop_are_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "b.pdf").symlink_to("nowhere")
    assert own_files(tmp_path) == [tmp_path / "a.pdf"]
    assert "b.pdf: skipped" in caplog.text
    (tmp_path / f"{NOT_UTF8}.pdf").write_bytes(b"%PDF-1.4")
    with pytest.raises(UserError, match=r"1 file name\(s\) that a drop cannot have, such as .*xe9"):
        own_files(tmp_path)
