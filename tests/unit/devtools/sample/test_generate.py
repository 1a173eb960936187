"""Equal arguments give a sample with equal bytes, and a complete sample is not changed."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from devtools.commands.sample import command
from devtools.sample import Truth, tiny, truths
from devtools.sample.broken import blank, treat
from s2corpus.errors import UserError


def contents(folder: Path) -> dict[str, str]:
    files = sorted(f for f in folder.rglob("*") if f.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def test_equal_seed_gives_equal_bytes_with_any_workers(made: tuple[Path, Truth], tmp_path: Path) -> None:
    tiny(tmp_path, workers=3)
    assert contents(made[0]) == contents(tmp_path)


def test_damaged_pdfs_have_equal_bytes(sample: Path) -> None:
    pdf = (sample / "drops/2023-01-a/two-drops.pdf").read_bytes()
    for treatment in ("encrypt", "owner_password", "rotate", "truncate"):
        assert treat(pdf, treatment) == treat(pdf, treatment) != pdf, treatment
    assert blank() == blank()


def test_command_writes_a_tiny_sample(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--tiny", "--out", str(tmp_path / "new" / "sample")])
    assert result.exit_code == 0, result.output
    assert "9 PDFs, 8 papers, for a release as of 2023-02-01T00:00:00Z" in result.output
    assert len(truths(tmp_path / "new" / "sample")[0].papers) == 8


def test_other_seed_gives_other_papers(made: tuple[Path, Truth], tmp_path: Path) -> None:
    one, other = made[1], tiny(tmp_path, seed=2)
    assert not {p.title for p in one.papers} & {p.title for p in other.papers}
    assert not {p.sha1 for p in one.pdfs} & {p.sha1 for p in other.pdfs}


def test_complete_sample_is_not_changed(made: tuple[Path, Truth], tmp_path: Path) -> None:
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    times = {f: f.stat().st_mtime_ns for f in tmp_path.rglob("*")}
    assert tiny(tmp_path) == made[1]
    assert {f: f.stat().st_mtime_ns for f in tmp_path.rglob("*")} == times


@pytest.mark.parametrize("lost", ["drops/2023-01-a/bracket.pdf", pytest.param("truth.json", marks=pytest.mark.long)])
def test_incomplete_sample_is_completed(made: tuple[Path, Truth], tmp_path: Path, lost: str) -> None:
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    whole = contents(tmp_path)
    (tmp_path / lost).unlink()
    tiny(tmp_path)
    assert contents(tmp_path) == whole


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match="not empty and holds no sample"):
        tiny(tmp_path)
    assert [f.name for f in tmp_path.iterdir()] == ["thesis.tex"]
