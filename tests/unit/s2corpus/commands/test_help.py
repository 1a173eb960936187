"""Every `--help` has examples with existing options, and imports none of the large libraries."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

LARGE = ("sqlalchemy", "pyarrow", "duckdb", "airflow", "pandas", "numba", "numpy", "scipy", "pydantic", "boto3")
PROBE = """
import contextlib, io, json, sys
from devtools.cli import tools
from s2corpus.cli import corpus
for group, name in ((corpus, "corpus"), (tools, "python -m devtools")):
    for arguments in ([], *([command] for command in group.list_commands(None))):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            group([*arguments, "--help"], prog_name=name, standalone_mode=False)
        large = sorted(set(sys.modules) & set(sys.argv[1:]))
        print(json.dumps([" ".join([name, *arguments]), text.getvalue(), large]))
"""


@pytest.fixture(scope="module")
def helps() -> list[tuple[str, str, list[str]]]:
    """Return each command line with its help and the large libraries that its process has imported so far."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *LARGE],
        capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[4],
    )  # fmt: skip
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def test_help_imports_no_large_library(helps: list[tuple[str, str, list[str]]]) -> None:
    assert len(helps) > 30
    assert [(command, large) for command, _, large in helps if large] == []


def test_each_example_names_existing_options(helps: list[tuple[str, str, list[str]]]) -> None:
    for command, text, _ in helps:
        if command in ("corpus", "python -m devtools"):
            continue
        options, _, examples = text.partition("\nExamples:\n")
        assert examples.strip(), command
        own = [line for line in examples.splitlines() if command in line]
        assert own, command
        for line in own:
            words = shlex.split(line.partition(command)[2].partition("&&")[0].partition("||")[0])
            assert [w for w in words if w.startswith("--") and w not in options] == [], line
