"""Continuous integration warns if it finds no real papers, and fails if S2CORPUS_REAL_DATA names a missing folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("papers", "named", "code", "warning"),
    [
        ("../shared/data", "", 0, ""),
        ("papers", "papers", 0, ""),
        ("papers", "", 0, "!!! ../shared/data IS ABSENT"),
        ("../shared/data", "papers", 1, "!!! papers IS ABSENT"),
    ],
)
def test_missing_real_papers_cause_a_warning_or_a_failure(
    tmp_path: Path, papers: str, named: str, code: int, warning: str
) -> None:
    checkout, programs = tmp_path / "checkout", tmp_path / "bin"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")
    programs.mkdir()
    (programs / "make").write_text('#!/bin/sh\necho "make $1"\n')
    (programs / "make").chmod(0o755)
    (checkout / papers).mkdir(parents=True)
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "S2CORPUS_REAL_DATA": named}
    done = subprocess.run([checkout / ".ci" / "run"], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == code and warning in done.stderr and bool(done.stderr) is bool(warning)
    expected = ["lint", "docs", "test", *["test-real"] * (not warning), "test-containers"] if code == 0 else []
    assert done.stdout.split("\n")[:-1] == [f"make {target}" for target in expected]
