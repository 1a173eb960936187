"""The code version covers exactly the files that affect the content of a release."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from s2corpus.version import EXCLUDED_MODULES, HASHED_PACKAGES, sources_hash
from tests.unit.house.test_imports import INCLUDE, LAYERS, ROOT

DECIDES_NOTHING = {".ini", ".mako", ".typed", ".pyc", ".md", ".toml", ""}
"""the catalog's migrations, marker files for tools, and prose"""
SNAPSHOT_ID = """
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.snapshot.manifest import hash_inputs
from s2corpus.version import code_version
versions = {"code": code_version(), "extractor": "e", "converter": "c"}
digest = hash_inputs(spec="0", as_of="a", parent=None, versions=versions, inputs=[], overrides={})
print(SnapshotId.from_digest(ReleaseId("s-20230101"), digest))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("include", "sql", "devtools"):
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.crfsuite")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore, symlinks=True)
    return folder


def snapshot_id(checkout: Path) -> str:
    """Return the id that the code of a checkout gives to one snapshot."""
    command = [sys.executable, "-c", SNAPSHOT_ID]
    environ = {"PYTHONPATH": str(checkout / "include"), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=checkout, env=environ).stdout


def edit(path: Path, old: str, new: str) -> str:
    """Replace a text in a file; return the file's previous content."""
    before = path.read_text("utf-8")
    assert old in before, path
    path.write_text(before.replace(old, new), "utf-8")
    return before


@pytest.mark.parametrize(
    ("file", "old"),
    [
        ("include/s2corpus/commands/build.py", "Number of child processes for the shards."),
        ("include/s2orc_parse/cli.py", "file to write"),
        ("include/pdf2tei/cli.py", "time limit per PDF"),
        ("include/s2corpus/deployment/slots.py", "WORKER_MB = 400"),
        ("devtools/sample/prose.py", "from __future__ import annotations"),
        ("devtools/training/lines.py", "from __future__ import annotations"),
        ("include/s2corpus_reader/README.md", "Reads"),
    ],
)
def test_edit_that_decides_nothing_keeps_snapshot_id(checkout: Path, file: str, old: str) -> None:
    first = snapshot_id(checkout)
    before = edit(checkout / file, old, f"{old} # edited" if file.endswith("prose.py") else old.upper())
    try:
        assert snapshot_id(checkout) == first
    finally:
        (checkout / file).write_text(before, "utf-8")


@pytest.mark.parametrize(
    ("file", "old"),
    [
        ("include/s2corpus/rules/filter.py", "min_english: Fraction = 0.9"),
        ("include/s2corpus/stages/select.py", "finish"),
        ("include/s2orc_parse/tei/converter.py", "from __future__"),
        ("include/s2corpus_reader/files.py", "LEVEL = 4"),
        ("sql/quality/filter.sql", "-- severity: block"),
    ],
)
def test_edit_that_decides_changes_snapshot_id(checkout: Path, file: str, old: str) -> None:
    first = snapshot_id(checkout)
    before = (checkout / file).read_text("utf-8")
    assert old in before
    (checkout / file).write_text(before + "\n", "utf-8")
    try:
        assert snapshot_id(checkout) != first
    finally:
        (checkout / file).write_text(before, "utf-8")


def test_build_folders_of_pip_keep_snapshot_id(checkout: Path) -> None:
    first = snapshot_id(checkout)
    built = checkout / "include/s2orc_parse/build/lib/s2orc_parse"
    built.mkdir(parents=True)
    (built / "__init__.py").write_text("")
    assert snapshot_id(checkout) == first


def test_code_version_covers_everything_that_stages_import() -> None:
    after = LAYERS[LAYERS.index("stages") + 1 :]
    assert {name.removesuffix(".py") for name in EXCLUDED_MODULES} == set(after)


def test_code_version_covers_every_kind_of_file(tmp_path: Path) -> None:
    kinds = {
        path.suffix
        for package in HASHED_PACKAGES
        for path in (INCLUDE / package).rglob("*")
        if path.is_file() and not any(p == "__pycache__" or p.endswith(".egg-info") for p in path.parts)
    }
    empty = sources_hash(tmp_path)
    for kind in sorted(kinds - DECIDES_NOTHING):
        file = tmp_path / f"file{kind}"
        file.write_text("1")
        assert sources_hash(tmp_path) != empty, f"a {kind} file may change and keep the version"
        file.unlink()


@pytest.mark.parametrize("name", ["rule.py", "check.sql", "table.csv", "model.crfsuite"])
def test_edit_and_rename_change_the_hash(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("1")
    first = sources_hash(tmp_path)
    (tmp_path / name).write_text("2")
    second = sources_hash(tmp_path)
    (tmp_path / name).rename(tmp_path / f"other-{name}")
    assert len({first, second, sources_hash(tmp_path)}) == 3
