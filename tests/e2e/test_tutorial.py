"""The shell blocks of docs/tutorial.md run in order and print the output on the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from devtools.sample.truth import Truth
from tests.releases import ROOT

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(bash|text)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_tutorial_runs_and_prints_its_output(tmp_path: Path, tiny: tuple[Path, Truth]) -> None:
    """Run all blocks except the first, which creates the environment that runs this test. Times, hashes and folders may differ.

    The sample is complete before the tutorial generates it.
    """
    shutil.copytree(tiny[0], tmp_path / "try" / "sample")
    for name in ("include", "devtools"):
        (tmp_path / name).symlink_to(ROOT / name)
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{tmp_path}:{ROOT / 'include'}"}
    environment.pop("GROBID_URL", None)
    printed = ""
    assert "make setup" in BLOCKS[0][1]
    for language, block in BLOCKS[1:]:
        if language == "text":
            for line in block.splitlines():
                assert comparable(line) in comparable(printed), line
            continue
        done = subprocess.run(
            ["bash", "-ec", block], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{block}\n{done.stderr[-3000:]}"
        printed = done.stdout


def comparable(text: str) -> str:
    """Return the text without times, folders and repeated spaces."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "TIME", text)
    return re.sub(r" +", " ", re.sub(r"\S*try/lake", "LAKE", text)).strip()
