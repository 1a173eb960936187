"""Equal arguments give a sample with equal bytes, and a complete sample is not changed."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from devtools import sample
from devtools.sample import Truth
from s2corpus.errors import UserError


def contents(folder: Path) -> dict[str, str]:
    files = sorted(f for f in folder.rglob("*") if f.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def test_equal_seed_gives_equal_bytes_with_any_workers(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    sample.tiny(tmp_path, workers=3)
    assert contents(tiny[0]) == contents(tmp_path)


def test_complete_sample_is_not_changed(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    shutil.copytree(tiny[0], tmp_path, dirs_exist_ok=True)
    times = {f: f.stat().st_mtime_ns for f in tmp_path.rglob("*")}
    assert sample.tiny(tmp_path) == tiny[1]
    assert {f: f.stat().st_mtime_ns for f in tmp_path.rglob("*")} == times


def test_incomplete_sample_is_completed(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    shutil.copytree(tiny[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / "drops/2023-01-a/bracket.pdf").unlink()
    sample.tiny(tmp_path)
    assert contents(tmp_path) == contents(tiny[0])


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match="not empty and holds no sample"):
        sample.tiny(tmp_path)
    assert [f.name for f in tmp_path.iterdir()] == ["thesis.tex"]
