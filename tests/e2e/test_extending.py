"""Changes that docs/extending.md lists work in a copy of the package and need exactly the listed files."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")
pytestmark = pytest.mark.slow
RELEASE = """import sys; from pathlib import Path
from s2corpus.pipeline import quality, runner
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from tests.unit.s2corpus.snapshot.release import build, lay_out, papers, snapshot_folder
spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2}, "quality": {"drift_min_n": 1000}})
run = lay_out(LocalLake(Path("lake")), Path("."), spec, papers(12), buckets=2)"""


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def block(page: str, first: str) -> str:
    """Return the code block of a page that begins with `first`."""
    codes: list[str] = re.findall(r"```\w+\n(.*?)```", read(f"docs/{page}"), re.DOTALL)
    return next(code for code in codes if code.startswith(first)).rstrip("\n")


TEMPLATES = jinja2.Environment(keep_trailing_newline=True)
TEMPLATES.globals |= {
    "read": read, "block": block, "release": RELEASE,
    "build": RELEASE.replace("papers(12)", "papers(40)") + "\nfolder = snapshot_folder(build(run))",
}  # fmt: skip
Change = dict[str, Any]
CHANGES: list[Change] = yaml.safe_load(Path(__file__).with_name("extending.yaml").read_text("utf-8"))


def make_copy(change: Change, folder: Path, left_out: str | None = None) -> dict[str, str]:
    """Copy the package with the change, and return the environment that imports the copy."""
    for name in ("include", "sql", "docs"):  # With the compiled kernels: only changed files compile again.
        shutil.copytree(ROOT / name, folder / name)
    if left_out is not None:
        for name in ("tests", "dags", "plugins", "devtools"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("test_extending.py"))
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "Makefile", "mkdocs.yml", "pyproject.toml"):
            shutil.copy(ROOT / name, folder / name)
    for name, edits in change["files"].items():
        if name == left_out:
            continue
        text = TEMPLATES.from_string(edits).render() if isinstance(edits, str) else (folder / name).read_text("utf-8")
        for old, new in edits.items() if isinstance(edits, dict) else ():
            assert old in text, f"{name}: {old!r}"
            text = text.replace(old, TEMPLATES.from_string(new).render(), 1)
        (folder / name).write_text(text, "utf-8")
    # Register the entry points, as the package's pyproject.toml does.
    (info := folder / "other-1.dist-info").mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    kinds = {
        "s2corpus.sources": "repository", "s2corpus.extractors": "docling", "s2corpus.filters": "few_references",
        "s2corpus.cleaning_rules": "repeated_lines", "s2corpus_datasets": "titles",
    }  # fmt: skip
    points = [f"[{kind}]\n{file} = {file}\n" for kind, file in kinds.items() if f"{file}.py" in change["files"]]
    (info / "entry_points.txt").write_text("".join(points))
    folders = os.pathsep.join(map(str, (folder / "include", folder, ROOT)))
    return {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change["name"]))
def test_documented_change_needs_only_its_files(change: Change, tmp_path: Path) -> None:
    listed = next(row for row in PAGE.splitlines() if row.startswith(f"| {change['name']} |"))
    assert set(re.findall(r"`([\w./]+)`", listed.split("|")[2])) == set(change["files"])
    environment, acts = make_copy(change, tmp_path), TEMPLATES.from_string(change["acts"]).render()
    command = [sys.executable, "-c", acts]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


FORGOTTEN = [(change, *forgotten) for change in CHANGES for forgotten in change.get("forgotten", ())]
IDS = [f"{change['name']}-{left_out or '-'}" for change, left_out, *_ in FORGOTTEN]


@pytest.mark.parametrize(("change", "left_out", "tests", "message"), FORGOTTEN, ids=IDS)
def test_forgotten_part_is_named(change: Change, left_out: str, tests: str, message: str, tmp_path: Path) -> None:
    environment = make_copy(change, tmp_path, left_out)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and message in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
