"""The shell blocks of docs/tutorial.md run in order and print the output on the page; the README's command runs too."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from devtools.sample.truth import Truth
from tests import children
from tests.doc_blocks import DOCS, read_blocks
from tests.releases import ROOT
from tests.unit.s2orc_parse.tei.teis import document

pytestmark = pytest.mark.slow


def test_tutorial_runs_and_prints_its_output(tmp_path: Path, tiny: tuple[Path, Truth]) -> None:
    """Compare the output after each shell block; times and folders may differ. The sample exists before the tutorial makes it."""
    shutil.copytree(tiny[0], tmp_path / "try" / "sample")
    for name in ("include", "devtools"):
        (tmp_path / name).symlink_to(ROOT / name)
    with children.program() as programs:
        path = f"{programs}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{tmp_path}:{ROOT / 'include'}"}
        environment.pop("GROBID_URL", None)
        run_blocks(tmp_path, environment)


def test_command_of_the_readme_runs_as_printed(tmp_path: Path) -> None:
    (line,) = re.findall(r"(?m)^(corpus parse .*?)  +#", (ROOT / "README.md").read_text("utf-8"))
    (tmp_path / "a.tei.xml").write_bytes(document("<div><head>One</head><p>Some words.</p></div>"))
    with children.program() as programs:
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, check=True)
    assert "Some words." in (tmp_path / "parses.jsonl").read_text()


def run_blocks(folder: Path, environment: dict[str, str]) -> None:
    printed = None
    for block in read_blocks(DOCS / "tutorial.md"):
        if block.language == "text" and printed is not None:
            for line in block.code.splitlines():
                assert comparable(line) in comparable(printed), line
            printed = None
        elif block.language == "bash" and not block.excuse:
            words = ["bash", "-ec", block.code]
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, f"{block.code}\n{done.stderr[-3000:]}"
            printed = done.stdout


def comparable(text: str) -> str:
    """Return the text without times, folders and repeated spaces."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "TIME", text)
    return re.sub(r" +", " ", re.sub(r"\S*try/lake", "LAKE", text)).strip()
