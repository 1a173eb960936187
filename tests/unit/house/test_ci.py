"""Continuous integration prints a clear warning if the real papers are missing, and fails if they are required."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("shared", "required", "code", "said"),
    [
        (False, "", 0, "../shared/data IS ABSENT"),
        (False, "required", 1, "S2CORPUS_REAL_DATA=required: put the folder beside the checkout"),
        (True, "required", 0, ""),
    ],
)
def test_missing_real_papers_cause_a_warning_or_a_failure(
    tmp_path: Path, shared: bool, required: str, code: int, said: str
) -> None:
    checkout, programs = tmp_path / "checkout", tmp_path / "bin"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")
    programs.mkdir()
    (programs / "make").write_text('#!/bin/sh\necho "make $1"\n')
    (programs / "make").chmod(0o755)
    if shared:
        (tmp_path / "shared" / "data").mkdir(parents=True)
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "S2CORPUS_REAL_DATA": required}
    done = subprocess.run([checkout / ".ci" / "run"], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == code and said in done.stderr and bool(done.stderr) is bool(said)
    expected = ["lint", "docs", "test", *["test-real"] * shared, "test-containers"] if code == 0 else []
    assert done.stdout.split("\n")[:-1] == [f"make {target}" for target in expected]
