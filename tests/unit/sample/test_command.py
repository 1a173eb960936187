"""`python -m devtools sample` writes a sample and reports its content."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from devtools.commands.sample import command
from devtools.sample import truths


def test_command_writes_a_tiny_sample(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--tiny", "--out", str(tmp_path / "new" / "sample")])
    assert result.exit_code == 0, result.output
    assert "9 PDFs, 8 papers, for a release as of 2023-02-01T00:00:00Z" in result.output
    assert len(truths(tmp_path / "new" / "sample")[0].papers) == 8


def test_command_without_folder_names_the_missing_option() -> None:
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 2 and "--out" in result.output
