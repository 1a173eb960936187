"""Every `--help` has examples with existing options, and imports none of the large libraries."""

from __future__ import annotations

import importlib
import json
import pkgutil
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

import devtools.commands
import s2corpus.commands
from devtools.cli import tools
from s2corpus.cli import Commands, corpus

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


@pytest.mark.parametrize(("group", "package"), [(corpus, s2corpus.commands), (tools, devtools.commands)])
def test_each_command_is_in_one_section(group: Commands, package: ModuleType) -> None:
    modules = [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    commands = [value for m in modules for value in vars(m).values() if isinstance(value, click.Command)]
    context = click.Context(group)
    names = group.list_commands(context)
    assert len({*names}) == len(names) == len(commands)
    assert {group.get_command(context, name) for name in names} == {*commands}


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
