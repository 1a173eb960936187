"""The README's shell blocks run as they are printed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.releases import ROOT
from tests.ui.conftest import PUBLISHED, Built

_BLOCKS = re.findall(r"^```\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
_LINES = [line.partition("  #")[0].strip() for block in _BLOCKS for line in block.splitlines()]
MAKE = [line for line in _LINES if re.match(r"(\w+=\S+ )*make ", line)]
CORPUS = [line for line in _LINES if re.match(r"(\.venv/bin/)?corpus ", line)]


def shell(line: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """What a shell in the checkout makes of a line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "include"), **environ}
    return subprocess.run(["bash", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


def test_the_readme_has_commands() -> None:
    assert len(MAKE) >= 4 and len(CORPUS) >= 2


@pytest.mark.parametrize("line", MAKE)
def test_a_make_line_names_a_target_and_its_variables(line: str) -> None:
    """Dry: what demo, test and release do is tested where they are."""
    done = shell(re.sub(r"\bmake\b", "make --dry-run", line))
    assert done.returncode == 0 and done.stdout.strip(), done.stderr
    for variable in re.findall(r"make .*\b([A-Z]+)=", line):
        assert f"$({variable})" in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("line", CORPUS)
def test_a_corpus_line_runs_as_it_is_printed(line: str, built: Built) -> None:
    """With the snapshot's whole name where the README has dots."""
    assert line.startswith(".venv/bin/corpus "), "in a checkout the command is .venv/bin/corpus"
    snapshot, lake = built.runs[PUBLISHED].snapshot_id, Path(built.lake)
    printed = line.replace("s3://…/", f"{lake}/").replace("sample-20230201-…", snapshot)
    assert "…" not in printed
    done = shell(printed, S2CORPUS_LAKE=str(lake))
    assert done.returncode == 0 and (done.stdout + done.stderr).strip(), done.stderr[-2000:]
